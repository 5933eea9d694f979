//! A deterministic packet simulator for datacenter transports.

mod alone;
pub mod check;
pub mod engine;
pub mod host;
pub mod job;
pub mod model;
pub mod net;
mod prefetch;
pub mod preview;
pub mod random;
pub mod record;
pub mod run;
pub mod scenario;
pub mod schemes;
pub mod simulation;
pub mod topology;
pub mod traffic;

pub use run::{run, run_explaining, run_keeping_part, run_on, threads_for, worthwhile_threads};
