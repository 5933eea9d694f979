//! Congestion control of Ultra Ethernet as the simulator uet-htsim has it, which says of itself that it is not the standard.

pub mod nscc;
mod parameters;

pub use parameters::NsccParams;
