//! Who talks to whom, how much, and when.

use clearway_proto::units::{Bytes, Span, Time};

use super::job::Job;
use super::operations::{Arrivals, Offered, Operations};

/// One `[[traffic]]` table, or one `[[job]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Who talks to whom, and how much.
    pub pattern: Pattern,
    /// Index into the scenario's transports.
    pub transport: usize,
    /// When flows start: each draws uniformly from this range (nothing is drawn where both ends are alike), and
    /// starts later by its stagger.
    pub start: (Time, Time),
    /// Flow i of the table starts i times this later.
    pub stagger: Span,
    /// When flows stop offering data.
    pub stop: Option<Time>,
}

impl Traffic {
    /// Returns how long its flows go on at most, in a run of this duration.
    pub fn active(&self, duration: Span) -> Span {
        let end = Time::ZERO + duration;
        self.stop.map_or(end, |stop| stop.min(end)).since(self.start.0)
    }
}

/// Who talks to whom. Host lists are sorted and free of repetitions unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Every `from` sends `flows_per_pair` flows to the one `to`.
    Incast {
        /// Senders; `to` is not among them.
        from: Vec<u32>,
        /// The receiver.
        to: u32,
        /// Flows of each sender.
        flows_per_pair: u32,
        /// The size of each flow; none: it never ends.
        bytes: Option<Bytes>,
    },
    /// Every host sends to one other and receives from one other, drawn from the seed.
    Permutation {
        /// The hosts; at least two.
        hosts: Vec<u32>,
        /// Flows of each pair.
        flows_per_pair: u32,
        /// The size of each flow; none: it never ends.
        bytes: Option<Bytes>,
    },
    /// Every host sends to every other.
    AllToAll {
        /// The hosts; at least two.
        hosts: Vec<u32>,
        /// Flows of each ordered pair.
        flows_per_pair: u32,
        /// The size of each flow; none: it never ends.
        bytes: Option<Bytes>,
    },
    /// Each of `from` starts flows in a Poisson process, each to a host of `to` drawn uniformly.
    Poisson {
        /// Senders.
        from: Vec<u32>,
        /// Receivers; a sender never draws itself.
        to: Vec<u32>,
        /// Payload offered, as a fraction of the sender's link rate.
        load: f64,
        /// Flow sizes.
        sizes: Sizes,
    },
    /// Each pair keeps operations open: a new one is issued when one completes.
    ClosedLoop {
        /// What the operations are, and between whom.
        operations: Operations,
        /// Operations open between each pair, for each of its flows.
        outstanding: u32,
    },
    /// Each initiator issues operations at times of its own, each to a target drawn uniformly.
    OpenLoop {
        /// What the operations are, and between whom; every initiator has a target.
        operations: Operations,
        /// When operations are issued.
        arrivals: Arrivals,
        /// How many operations are issued.
        offered: Offered,
        /// Operations that an initiator may have open; one beyond that fails at once.
        backlog: u32,
    },
    /// Flows as listed, in the order of the file.
    Trace {
        /// The flows, one for each line.
        flows: Vec<TraceFlow>,
    },
    /// The messages of a job.
    Job(Job),
}

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFlow {
    /// When it starts.
    pub start: Time,
    /// The host that sends.
    pub from: u32,
    /// The host that receives; not `from`.
    pub to: u32,
    /// The flow's size; above zero.
    pub bytes: Bytes,
}

/// How flow sizes are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// All flows have this size.
    Fixed(Bytes),
    /// Exponential with this mean, rounded up to a byte.
    Exponential(Bytes),
    /// Linear interpolation between points of a cumulative distribution: bytes and fraction not larger. The first
    /// fraction is a mass at the first size; the fractions do not fall, the last is 1.
    Distribution {
        /// Name of the file or of the built-in distribution.
        name: String,
        /// The points, in rising order of bytes.
        points: Vec<(f64, f64)>,
    },
}
