//! Congestion control of Ultra Ethernet as the simulator uet-htsim has it, which says of itself that it is not the standard: NSCC,
//! by which senders keep a window, RCCC, by which receivers grant credit, and both together.

pub mod credit;
pub mod credited;
pub mod demand;
pub mod nscc;
mod parameters;
pub mod pull_pacer;
pub mod rccc;
pub(super) mod waiting;

pub use parameters::NsccParams;
pub use rccc::{NsccRcccParams, RcccParams};
