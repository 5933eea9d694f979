//! What a run leaves: a summary, tables with a unit in every column's name, and a digest.

mod baseline;
mod censored;
mod definitions;
pub(crate) mod digest;
pub mod explanation;
pub mod fairness;
pub mod fastpass;
mod faults;
pub mod footprint;
mod goodput;
pub(crate) mod job_parts;
mod jobs;
mod measured;
pub mod observer;
mod outcome;
pub(crate) mod packets;
pub mod pauses;
mod requests;
pub mod samples;
pub(crate) mod slowest;
mod stragglers;
mod summary;
pub(crate) mod tables;
mod texts;

pub use definitions::{Covers, Definition, Described};
pub use observer::definitions;
pub use outcome::{Column, Outcome, Progress, Stopped, Table, Value};
pub use texts::Texts;
