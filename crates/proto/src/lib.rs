//! Datacenter transports as pure state machines: no clock, no I/O, no dependencies.
#![forbid(unsafe_code)]

pub mod baseline;
pub mod fastpass;
pub mod histogram;
pub mod machine;
pub mod multipath;
pub mod parameter;
pub mod pfc;
pub mod quantity;
pub mod swift;
pub mod swing;
pub mod transport;
pub mod units;
