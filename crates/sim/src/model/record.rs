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
    /// What every class delivered and sent in each interval, and its round-trip times.
    pub classes: Option<Span>,
    /// What each of some flows does over time.
    pub flows: Option<FlowSeries>,
    /// What the page of `clearway replay` is made of.
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

/// Which packets are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packets {
    /// The flows, as ranges of their numbers; `None`: all, and what is of no flow.
    pub flows: Option<Vec<Range<u32>>>,
    /// The links by number; `None`: all.
    pub links: Option<Vec<u32>>,
    /// From when on.
    pub from: Time,
    /// Up to when, which is not included.
    pub until: Time,
    /// The most packets that are recorded.
    pub limit: u64,
}

/// How often, and when, it is sampled what happens at links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Time from one sample to the next.
    pub interval: Span,
    /// When the first interval begins.
    pub from: Span,
    /// When the last interval ends; `None` with the run.
    pub until: Option<Span>,
}

impl Replay {
    /// Returns for how long there are samples, of a run of this length.
    pub fn window(&self, duration: Span) -> Span {
        self.until.unwrap_or(duration).min(duration).saturating_sub(self.from)
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
