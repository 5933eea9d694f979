//! Swing (Chen et al., TPDS 2022): lossless links between datacenters. What priority flow control (IEEE 802.1Qbb, "PFC")
//! needs on a long link, as arithmetic; and the relay that needs half of it.

mod grants;
pub mod holding;
pub mod model;
pub mod plan;
pub mod relay;
mod signals;
