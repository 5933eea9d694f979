//! Fastpass on this host: arbiters as processes, endpoints of this process, over loopback.

mod bed;
mod safety;
mod sessions;
