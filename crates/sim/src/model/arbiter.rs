//! Fastpass's arbiters: where they are, and how they allocate.

use clearway_proto::fastpass::allocator::Order;
use clearway_proto::units::{Span, Time};

/// Bytes on the wire that no control packet of Fastpass exceeds.
pub const MOST_CONTROL: u32 = 512;

/// The `[arbiter]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct Arbiters {
    /// The node of each, in the order of their ranks: the first is the primary, the next takes over.
    pub nodes: Vec<u32>,
    /// The length of a timeslot.
    pub slot: Span,
    /// The share of a link that is left to what has no timeslot, where slots are long enough.
    pub control_share: f64,
    /// Timeslots that are allocated together; 1 to 64.
    pub batch: u32,
    /// How many timeslots before a batch's first it is allocated.
    pub ahead: u32,
    /// Who comes first.
    pub order: Order,
    /// Allocations to one endpoint a second, in the mean.
    pub allocation_rate: u32,
    /// How many more than `allocation_rate` gives may leave one after the other.
    pub allocation_burst: f64,
    /// Whether failed links are found from what endpoints report, and avoided.
    pub fault_isolation: bool,
    /// Control packets that wait for the processor at most; more are dropped.
    pub request_queue: u32,
    /// Its times beside the slot.
    pub times: ArbiterTimes,
    /// Index of the class of control packets among the scenario's classes; 0 where there are none.
    pub class: usize,
    /// When arbiters are dead.
    pub crashes: Vec<Crash>,
}

/// How long an arbiter waits and works.
#[derive(Clone, Debug, PartialEq)]
pub struct ArbiterTimes {
    /// Least time between two allocations to one endpoint.
    pub allocation_gap: Span,
    /// How long an allocation goes without acknowledgement before what it said is said again.
    pub retransmit: Span,
    /// How long a request goes without an allocation that acknowledges it before an empty one does.
    pub acknowledge: Span,
    /// Time between two words of the primary to the others (`T_w`).
    pub watchdog: Span,
    /// Silence of the primary after which the next takes over (`T_d`).
    pub takeover: Span,
    /// How much longer than its own horizon a new primary waits before the first slot that it grants.
    pub gap: Span,
    /// Time between two looks of an idle arbiter's processor at its NIC; zero for none.
    pub poll_interval: Span,
    /// Time that the arbiter's processor takes for a control packet that comes.
    pub request_service: Span,
    /// Time that it takes for a timeslot that it allocates.
    pub slot_service: Span,
    /// Time that it takes for an allocation that leaves.
    pub allocation_service: Span,
    /// Time from there until the packet is at the NIC: what a pipeline of several cores adds.
    pub latency: Span,
}

/// One `[[fault]]` table of an arbiter: it is dead for a time. It forgets all it knew; started again, it is not primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// Its rank.
    pub rank: usize,
    /// When it dies.
    pub from: Time,
    /// When it starts again; [`Time::NEVER`] for never.
    pub until: Time,
}
