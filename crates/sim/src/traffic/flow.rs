//! A flow that a run will start: its ends, its start, and what it offers.

use clearway_proto::units::{Bytes, Time};

/// One flow that the run will start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Index of its traffic table.
    pub table: u32,
    /// Index of its transport.
    pub transport: u32,
    /// Host that sends.
    pub from: u32,
    /// Host that receives; not `from`.
    pub to: u32,
    /// When it starts; may lie beyond the end of the run, save for a Poisson source's flow.
    pub start: Time,
    /// When it stops offering data, or no operation is issued any more. A Poisson source's flows have none: there the
    /// source stops.
    pub stop: Option<Time>,
    /// How much it offers.
    pub demand: Demand,
}

/// How much a flow offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// This many bytes, after which it is complete; never zero.
    Sized(Bytes),
    /// As much as can be sent.
    Endless,
    /// Its part of the operations of a closed loop.
    ClosedLoop(Part),
    /// Its part of the operations of an open loop.
    OpenLoop(Part),
    /// The messages of a job from one rank to another.
    Messages,
}

/// What a flow carries of its operations. A flow of answers follows its flow of requests, in number too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Data that is written, from the initiator to the target.
    Writes,
    /// Requests for data that is to be read, from the initiator to the target.
    Requests,
    /// Data that is read, from the target to the initiator.
    Answers,
}

impl Demand {
    /// Returns what it carries of operations, if any.
    pub fn part(self) -> Option<Part> {
        match self {
            Demand::ClosedLoop(part) | Demand::OpenLoop(part) => Some(part),
            Demand::Sized(_) | Demand::Endless | Demand::Messages => None,
        }
    }
}
