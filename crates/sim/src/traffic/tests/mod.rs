//! The flows that patterns with a file of their own make in a whole scenario.

pub(super) mod fixture;
mod on_hosts;
mod operations;
mod poisson;
