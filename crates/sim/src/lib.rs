//! A deterministic packet simulator for datacenter transports.

pub mod record;
pub mod scenario;
