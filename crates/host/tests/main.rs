//! The tests of this crate from outside, which are of Linux's sockets, files and threads: one program, in which each file of
//! this folder is a module.
#![cfg(target_os = "linux")]

mod agent;
mod args;
mod daemon;
mod datagram;
mod fastpass;
mod files;
mod hostile;
mod loopback;
mod network;
mod output;
mod pipeline;
#[cfg(feature = "tcp")]
mod rates;
mod relay;
mod signals;
mod slots;
#[cfg(feature = "tcp")]
mod tcp;
mod testbed;
mod threads;
mod veth;
