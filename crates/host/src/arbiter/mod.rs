//! What a Fastpass arbiter needs of a real host, beside the machine itself in `clearway-proto`, and what it can do on one.

pub mod pipeline;
pub mod selection_time;
mod stopwatch;
pub mod sustained;
pub mod threads;
