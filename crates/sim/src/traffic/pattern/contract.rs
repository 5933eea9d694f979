//! What each pattern of traffic can be asked.

use clearway_proto::units::{Bytes, Span};

use crate::model::{Arrivals, Offered, Operations};
use crate::traffic::flow::{Demand, FlowSpec};
use crate::traffic::table::Table;

/// Memory in bytes for a host in a pattern's list.
pub(super) const LISTED_HOST: f64 = 4.0;

/// A pattern of traffic: figures that need no flows, and the making of its flows. Counts are `f64`, which does not overflow.
pub trait TrafficPattern {
    /// Appends the flows of this table.
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>);

    /// Returns how many flows there are: exactly, except for a pattern that draws its flows, which says its mean, and for
    /// loops, which count pairs under one switch even if they leave them out.
    fn flows(&self, table: &Table<'_>) -> f64;

    /// Returns how many flows there are at most; what is drawn stays below with five standard deviations.
    fn most_flows(&self, table: &Table<'_>) -> f64 {
        self.flows(table)
    }

    /// The most bytes that a flow can have under way, as far as the pattern limits them.
    fn largest_bytes(&self) -> u64;

    /// Memory in bytes for what the pattern lists, without flows.
    fn list_bytes(&self) -> f64;

    /// The key to blame where flows are too many for memory, and what to do about it.
    fn blame(&self) -> (&'static str, &'static str) {
        ("flows_per_pair", "lower flows_per_pair, or list fewer hosts")
    }

    /// The loop of operations that the pattern is; `None` where it is not one.
    fn operation_loop(&self) -> Option<OperationLoop<'_>> {
        None
    }

    /// Returns how many operations there are; `None` where the pattern has none.
    fn operation_count(&self, _table: &Table<'_>) -> Option<OperationCount> {
        None
    }

    /// Returns what an open loop offers at most; `targets` has the number of targets of each initiator. `None` for other
    /// patterns.
    fn most_offered(&self, _table: &Table<'_>, _targets: &[u64]) -> Option<MostOffered> {
        None
    }

    /// The payload that hosts offer whatever becomes of it; `None` where a flow's completion or an acknowledgement decides.
    fn offered(&self, _table: &Table<'_>) -> Option<OfferedLoad> {
        None
    }

    /// Returns how many members the table has, which start one stagger after the other: by default each flow is one.
    fn members(&self, table: &Table<'_>) -> f64 {
        self.flows(table)
    }

    /// Returns how much later than its start a member's flow starts, which the pattern says itself.
    fn delay(&self, _member: u32) -> Span {
        Span::ZERO
    }

    /// Some pairs of hosts that talk, from sender to receiver; of what a trace lists, up to `most`.
    fn some_pairs(&self, most: usize) -> Vec<(u32, u32)>;

    /// Why flows never complete by themselves, and what to do about it; `None` where they do.
    fn endless(&self) -> Option<&'static str>;
}

/// A loop of operations.
pub struct OperationLoop<'a> {
    /// What the operations are, and between whom.
    pub operations: &'a Operations,
    /// Operations with which each flow starts.
    pub outstanding: u32,
    /// Operations that an initiator may have open; one beyond that fails at once.
    pub backlog: u32,
    /// When initiators issue operations, and how many; none where each is issued when another completes.
    pub issued: Option<(Arrivals, Offered)>,
}

/// The payload that hosts offer, each to all others of `to` alike.
pub struct OfferedLoad {
    /// The hosts that decide when.
    pub from: Vec<u32>,
    /// The hosts that they talk to.
    pub to: Vec<u32>,
    /// What each of `from` offers, in bits per second.
    pub bps: Vec<f64>,
    /// The payload goes from `to` to `from`: answers to reads.
    pub comes_back: bool,
}

/// What an open loop offers at most.
pub struct MostOffered {
    /// Mean time in picoseconds between the operations of the initiator that issues the most.
    pub shortest_gap_ps: f64,
    /// Packets that any flow is offered in a whole run at most; what is drawn stays below with ten standard deviations.
    pub packets_a_flow: f64,
}

/// How many operations a table of traffic has at most.
pub struct OperationCount {
    /// Flows that carry operations, without those for answers.
    pub channels: f64,
    /// Operations that can be open at a time.
    pub open: f64,
    /// Operations of the whole run.
    pub all: f64,
    /// The key to blame where open operations are too many for memory.
    pub key: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// Returns what a flow of this size offers; one without a size never ends.
pub(super) fn sized(bytes: Option<Bytes>) -> Demand {
    bytes.map_or(Demand::Endless, Demand::Sized)
}

/// The size of a flow; one that never ends has the largest number there is.
pub(super) fn size(bytes: Option<Bytes>) -> u64 {
    bytes.map_or(u64::MAX, Bytes::get)
}

/// Why flows of no size never complete.
pub(super) fn endless(bytes: Option<Bytes>) -> Option<&'static str> {
    bytes.is_none().then_some("flows without bytes never complete: give bytes or stop")
}

/// Pairs of two sets of hosts: each host of one set with the first of the other.
pub(super) fn cross(from: &[u32], to: &[u32]) -> Vec<(u32, u32)> {
    let there = to.iter().map(|&to| (from[0], to));
    let back = from.iter().map(|&from| (from, to[0]));
    there.chain(back).filter(|(from, to)| from != to).collect()
}
