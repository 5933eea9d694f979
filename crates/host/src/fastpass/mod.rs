//! Fastpass on real hosts: arbiters and endpoints that speak FCP over UDP in sealed datagrams, and what carries a host's traffic
//! as its endpoint's grants say.

pub mod arbiter;
pub mod carriage;
pub mod endpoint;
pub mod kept;
pub mod link;
#[cfg(feature = "tcp")]
pub mod rates;
pub mod reach;
pub mod serve;
pub mod settings;
pub mod slots;
pub mod status;
