//! The tests of this crate from outside, which are of Linux's sockets, files and threads: one program, in which each file of
//! this folder is a module.
#![cfg(target_os = "linux")]
mod datagram;
mod network;
