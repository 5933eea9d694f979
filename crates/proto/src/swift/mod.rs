//! Swift: delay is simple and effective for congestion control in the datacenter (SIGCOMM 2020).
//!
//! Each part of the paper has a file: [`target`] (§3.5), [`window`] (Algorithm 1), [`pacer`] (§3.6), [`control`] (fabric
//! and endpoint windows together, §3.4), [`header`] (appendix B); the parameters of all have one, too.

pub mod control;
pub mod header;
pub mod pacer;
mod parameters;
pub mod target;
pub mod window;

pub use parameters::{RtoRule, SwiftParams, Variant};
