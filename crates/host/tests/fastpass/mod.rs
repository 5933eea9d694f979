//! Fastpass on this host: arbiters as processes, endpoints of this process, over loopback.

mod bed;
#[allow(dead_code, reason = "the bench uses all of it")]
mod fabric;
mod flow;
mod paths;
mod safety;
mod sessions;
