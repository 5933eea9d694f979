//! Fastpass on real hosts: arbiters and endpoints that speak FCP over UDP in sealed datagrams, and what carries a host's traffic
//! as its endpoint's grants say.

pub mod carriage;
pub mod reach;
pub mod release;
pub mod slots;
