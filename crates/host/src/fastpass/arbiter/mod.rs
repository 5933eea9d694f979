//! An arbiter's process: the machine of `clearway-proto` over FCP's socket.
//!
//! Three threads do its work. One drives the machine ([`node`]): it opens and reads requests, allocates, and writes and seals
//! allocations. Where there are several paths a second one selects them, beside the first
//! ([`Pipeline`](crate::arbiter::pipeline::Pipeline)). A third has the control channels, the status and the metrics.

pub mod counts;
pub mod node;
