//! What a run leaves: a summary, tables with a unit in every column's name, and a digest.

mod baseline;
pub mod counters;
mod digest;
pub mod fairness;
mod link_samples;
mod measured;
pub mod observer;
mod outcome;
mod samples;
mod summary;
mod tables;

pub use outcome::{Column, Interrupted, Outcome, Progress, Table, Value};
