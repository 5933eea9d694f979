//! What a run samples.

use clearway_proto::units::Span;

/// The quantities that a run samples, and how often; one without an interval is not sampled.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Record {
    /// Bytes waiting at every switch port that ever queued.
    pub queues: Option<Span>,
    /// Every flow's windows.
    pub windows: Option<Span>,
    /// Mean and largest round-trip time of every transport in each interval.
    pub rtt: Option<Span>,
    /// Payload delivered by every transport in each interval.
    pub throughput: Option<Span>,
    /// What every switch port and class sent and dropped in each interval.
    pub links: Option<Span>,
    /// Length of the intervals over which Jain's index is taken (always on).
    pub fairness: Span,
    /// Whether the outcome has a row for every operation.
    pub operations: bool,
}
