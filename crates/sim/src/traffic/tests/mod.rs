//! The flows that patterns with a file of their own make in a whole scenario.

mod operations;
mod poisson;
