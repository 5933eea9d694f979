//! The resolved scenario as plain data: in range, free of files and of unit strings.
//!
//! [`crate::check::load()`] makes a [`Scenario`] from TOML. Every value here is valid, and no one checks it again.
//! This module imports nothing of the simulator, so that every other part may import it.

mod arbiter;
mod chance;
mod class;
mod clock;
mod collective;
mod fault;
mod host;
mod job;
mod job_labels;
mod network;
mod operation_graph;
mod operations;
mod pfc;
mod probe;
mod protocol;
mod record;
mod scenario;
mod series;
mod switch;
mod topology;
mod traffic;
mod transport;

pub use arbiter::{ArbiterTimes, Arbiters, Crash, MOST_CONTROL};
pub use class::TrafficClass;
pub use clock::{Clock, PartsPerBillion, Timestamps};
pub use collective::{Collective, CollectiveKind};
pub use fault::{Bypass, Fault, FaultTable, LinkEffect, Outage, Rehash, Routing};
pub use host::{FlowOrder, HostKind, HostKinds, HostModel, InterruptHost, SnapHost};
pub use job::Job;
pub use job_labels::{Label, Labels, Mark, Measure, Purpose, RequestSort};
pub use network::{Network, MAX_LINKS};
pub use operation_graph::{Channel, Follower, Operation, OperationGraph, Origin, Pair};
pub use operations::{Arrivals, Offered, OperationKind, Operations, PerSecond};
pub use pfc::{Pfc, Relay, Safety, Xoff};
pub use probe::Probe;
pub(crate) use protocol::for_each_scheme;
pub use protocol::Protocol;
pub use record::{Packets, Record, Replay, Timeline};
pub use scenario::Scenario;
pub use series::{FlowSeries, Rule};
pub use switch::{Buffer, Ecn, MarkPoint, SwitchKind, SwitchKinds, SwitchRole, Trimming};
pub use topology::{ListedLink, ListedNode, Topology};
pub use traffic::{Pattern, Sizes, TraceFlow, Traffic};
pub use transport::{Spray, Transport};
