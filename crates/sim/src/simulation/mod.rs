//! The simulator proper: domains that take their events in order and let ports, senders and receivers act on them.

mod agent_events;
mod agents;
pub(crate) mod arbitration;
mod audit;
mod barrier;
mod build;
mod class_audit;
mod control;
mod control_plan;
pub mod counters;
mod crew;
mod domain;
mod domain_index;
mod exchanged;
mod fabric;
pub mod flow_control;
pub mod footprint;
mod hosts;
mod lossless;
mod nic;
mod operation_events;
mod operations;
mod out;
mod outbox;
mod parcels;
mod partition;
mod pause_audit;
mod pausing;
mod plan;
mod port_builder;
mod processors;
mod route_planner;
mod ruled;
mod run_mode;
mod simulator;
mod slots;
mod telemetry;
#[cfg(test)]
mod tests;
mod transport;
mod view;

pub use lossless::LinkPauses;
pub use operations::OperationRecord;
pub use simulator::Simulation;
