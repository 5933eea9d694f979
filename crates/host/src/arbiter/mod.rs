//! What a Fastpass arbiter needs of a real host, beside the machine itself in `clearway-proto`, and what it takes on one.

pub mod pipeline;
pub mod rehearsal;
pub mod timing;
pub mod workload;
