//! A deterministic packet simulator for datacenter transports.

pub mod engine;
pub mod record;
pub mod scenario;
