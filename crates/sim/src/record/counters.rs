//! What is counted all the time, for each transport.

use clearway_proto::units::Span;

use super::histogram::Histogram;

/// Of all flows of one transport.
#[derive(Clone, Debug, Default)]
pub struct TransportCounters {
    /// Data frames lost anywhere.
    pub lost_data: u64,
    /// Every acknowledgement's round-trip time.
    pub rtt: Histogram,
    /// Of operations, since the measurement began.
    pub operations: OperationCounters,
}

/// Of operations.
#[derive(Clone, Debug, Default)]
pub struct OperationCounters {
    /// Of those issued and done since the measurement began.
    pub latency: Histogram,
    /// Of those, how many took longer than their deadline.
    pub late: u64,
    /// Done in time since the measurement began, whenever they were issued.
    pub in_time: u64,
    /// Not issued because too many were open.
    pub refused: u64,
}

impl OperationCounters {
    /// One is done; `measured` says whether it was issued since the measurement began.
    pub fn count(&mut self, latency: Span, late: bool, measured: bool) {
        self.in_time += u64::from(!late);
        if measured {
            self.latency.record(latency);
            self.late += u64::from(late);
        }
    }

    /// Adds all that another has.
    pub fn merge(&mut self, other: &OperationCounters) {
        self.latency.merge(&other.latency);
        self.late += other.late;
        self.in_time += other.in_time;
        self.refused += other.refused;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = OperationCounters::default();
    }
}
