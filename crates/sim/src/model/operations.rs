//! Loops of operations: reads and writes of one size on persistent flows.

use clearway_proto::units::{Bytes, Rate, Span};

/// Operations of one kind and size on persistent flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// Initiators.
    pub from: Vec<u32>,
    /// Targets; a host is never its own.
    pub to: Vec<u32>,
    /// Whether targets under the initiator's own switch are left out.
    pub remote: bool,
    /// Flows of each pair, used in turn; with reads, each is two: one of requests and one of answers.
    pub flows_per_pair: u32,
    /// Whether they write or read.
    pub kind: OperationKind,
    /// Bytes that an operation moves.
    pub bytes: Bytes,
    /// An operation that takes longer has failed.
    pub deadline: Option<Span>,
}

impl Operations {
    /// Flows for each of a pair's `flows_per_pair`: one, and one for answers.
    pub fn flows_each(&self) -> u32 {
        match self.kind {
            OperationKind::Write => 1,
            OperationKind::Read(_) => 2,
        }
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// The initiator sends the data, and has done so once it knows that all has arrived.
    Write,
    /// The initiator sends a request of this size; the target answers with the data.
    Read(Bytes),
}

/// When an open loop's operations are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Initiators issue them in a Poisson process.
    Poisson,
    /// Initiators issue one at the start, and then one at a constant interval.
    Constant,
}

/// How many operations each initiator of an open loop issues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offered {
    /// This many a second.
    Rate(PerSecond),
    /// As many as it takes to offer this fraction of the rate of the initiator's link; above 1, more than it can carry.
    Load(f64),
}

impl Offered {
    /// Mean time in picoseconds between operations of `bytes` of an initiator whose link has this `rate`.
    pub fn gap_ps(self, bytes: Bytes, rate: Rate) -> f64 {
        match self {
            Offered::Rate(PerSecond(times)) => 1e12 / times as f64,
            Offered::Load(load) => bytes.get() as f64 * 8.0 * 1e12 / (load * rate.as_bps() as f64),
        }
    }
}

/// A frequency, in times a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerSecond(pub u64);
