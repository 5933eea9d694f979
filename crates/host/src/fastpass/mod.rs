//! Fastpass on real hosts: arbiters and endpoints that speak FCP over UDP in sealed datagrams, and what carries a host's traffic
//! as its endpoint's grants say.

pub mod carriage;
#[cfg(feature = "tcp")]
pub mod rates;
pub mod reach;
