//! What a run samples.

use std::ops::Range;

use clearway_proto::units::{Span, Time};

use super::FlowSeries;

/// The quantities that a run samples, and how often; one without an interval is not sampled.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Record {
    /// Bytes waiting at every switch port at which anything ever waits.
    pub queues: Option<Span>,
    /// Every flow's windows.
    pub windows: Option<Span>,
    /// Mean, largest and number of round-trip times of every transport in each interval.
    pub rtt: Option<Span>,
    /// Payload delivered by every transport in each interval.
    pub throughput: Option<Span>,
    /// What every class sent and dropped in each interval, at each switch port that ever does.
    pub links: Option<Span>,
    /// The payload delivered, the bytes sent and the round-trip times of every class in each interval.
    pub classes: Option<Span>,
    /// Series of some flows.
    pub flows: Option<FlowSeries>,
    /// The samples of links of which the page of `clearway replay` is made.
    pub replay: Option<Replay>,
    /// Length of the intervals over which Jain's index is taken (always on).
    pub fairness: Span,
    /// Whether the outcome has a row for every operation.
    pub operations: bool,
    /// The ranks and iterations of jobs of which the outcome has a row for each operation; none by default.
    pub timeline: Option<Timeline>,
    /// Whether each job is simulated by itself as well.
    pub alone: bool,
    /// The packets that are recorded; none by default.
    pub packets: Option<Packets>,
}

/// A choice of packets to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packets {
    /// The flows, as ranges of their numbers; `None`: all, and what is of no flow.
    pub flows: Option<Vec<Range<u32>>>,
    /// The links by number; `None`: all.
    pub links: Option<Vec<u32>>,
    /// The instant from which on packets are recorded.
    pub from: Time,
    /// The instant at which the record ends; what arrives then is not in it.
    pub until: Time,
    /// The most packets that are recorded.
    pub limit: u64,
}

/// The times at which links are sampled for a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Time from one sample to the next.
    pub interval: Span,
    /// The beginning of the first interval.
    pub from: Span,
    /// The end of the last interval; `None`: that of the run.
    pub until: Option<Span>,
}

impl Replay {
    /// Returns the length of the time that has samples, in a run of this length.
    pub fn window(&self, duration: Span) -> Span {
        self.until.unwrap_or(duration).min(duration).saturating_sub(self.from)
    }

    /// Returns the most instants at which there can be a sample, in a run of this length.
    pub fn most_instants(&self, duration: Span) -> f64 {
        (self.window(duration).as_secs_f64() / self.interval.as_secs_f64()).ceil()
    }

    /// Returns whether a sample at this instant is the last.
    pub fn is_over(&self, at: Time) -> bool {
        self.until.is_some_and(|until| at >= Time::ZERO + until)
    }
}

/// What part of each job has a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Iterations, from the first on.
    pub iterations: u32,
    /// Ranks, from the first on.
    pub ranks: u32,
}
