//! Fastpass: a centralized "zero-queue" datacenter network (SIGCOMM 2014).

pub mod paths;
