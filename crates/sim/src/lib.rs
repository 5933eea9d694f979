//! A deterministic packet simulator for datacenter transports.

pub mod net;
pub mod random;
pub mod record;
pub mod scenario;
pub mod traffic;
