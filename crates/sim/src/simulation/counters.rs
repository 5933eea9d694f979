//! Counters that are always on, for each transport.

use clearway_proto::units::Span;

use clearway_proto::histogram::Histogram;

/// The counters of all flows of one transport.
#[derive(Clone, Debug, Default)]
pub struct TransportCounters {
    /// Data frames lost anywhere in the whole run.
    pub lost_data: u64,
    /// Data frames lost anywhere of those that were sent since the measurement began. A frame sent before counts in the
    /// warm-up's loss even where it is lost later, so no more frames are lost than were sent.
    pub lost_measured: u64,
    /// Congestion notifications (CNPs) that receivers have sent since the measurement began.
    pub notifications: u64,
    /// Every acknowledgement's round-trip time.
    pub rtt: Histogram,
    /// The part of each round trip that was spent in hosts (t4 - t2 and t6 - t5 of Swift §3.2); empty where hosts are
    /// ideal.
    pub endpoint: Histogram,
    /// The part of each round trip that was not spent in hosts; empty where hosts are ideal.
    pub fabric: Histogram,
    /// What each data packet spent in the receiving host, from NIC to stack's end (t4 - t2).
    pub nic_delay: Histogram,
    /// The operations since the measurement began.
    pub operations: OperationCounters,
}

impl TransportCounters {
    /// Memory in bytes that the counters of a transport take.
    pub fn bytes() -> usize {
        // Four of packets' times, and one of operations'; each has 256 buckets for each of 57 powers of two.
        const HISTOGRAM: usize = 57 * 256 * size_of::<u64>();
        size_of::<TransportCounters>() + 5 * HISTOGRAM
    }

    /// Notes a round trip of which this much was spent in hosts.
    pub fn split_rtt(&mut self, rtt: Span, endpoint: Span) {
        self.endpoint.record(endpoint);
        self.fabric.record(rtt.saturating_sub(endpoint));
    }

    /// Adds the counters of another domain.
    pub fn merge(&mut self, other: &TransportCounters) {
        self.lost_data += other.lost_data;
        self.lost_measured += other.lost_measured;
        self.notifications += other.notifications;
        self.rtt.merge(&other.rtt);
        self.endpoint.merge(&other.endpoint);
        self.fabric.merge(&other.fabric);
        self.nic_delay.merge(&other.nic_delay);
        self.operations.merge(&other.operations);
    }

    /// Counts a lost data frame; `measured` says whether it was sent since the measurement began.
    pub fn lose(&mut self, measured: bool) {
        self.lost_data += 1;
        self.lost_measured += u64::from(measured);
    }

    /// Returns what a measurement that ended with `self` has counted in a run that ended with `whole`: losses, latencies and
    /// waits of what began in it are known by then, wherever they came out later.
    #[must_use]
    pub fn completed_by(mut self, whole: &TransportCounters) -> TransportCounters {
        self.lost_data = whole.lost_data;
        self.lost_measured = whole.lost_measured;
        self.operations.latency = whole.operations.latency.clone();
        self.operations.late = whole.operations.late;
        self.operations.longest_wait = whole.operations.longest_wait;
        self
    }

    /// Begins the measurement: forgets all but what is counted of the whole run.
    pub fn restart(&mut self) {
        self.lost_measured = 0;
        self.notifications = 0;
        self.operations.clear();
        for times in [&mut self.rtt, &mut self.endpoint, &mut self.fabric, &mut self.nic_delay] {
            times.clear();
        }
    }
}

/// The counters of operations.
#[derive(Clone, Debug, Default)]
pub struct OperationCounters {
    /// The latencies of the operations that were issued and completed since the measurement began.
    pub latency: Histogram,
    /// How many of the operations in `latency` took longer than their deadline.
    pub late: u64,
    /// Operations completed in time since the measurement began, whenever they were issued.
    pub in_time: u64,
    /// Operations that were not issued because too many were open.
    pub refused: u64,
    /// The longest time, up to a completion since the measurement began, in which a flow had an operation open and none was
    /// completed. A wait that begins after the measurement's end does not count.
    pub longest_wait: Span,
}

impl OperationCounters {
    /// Counts a completed operation; `measured` says whether it was issued since the measurement began.
    pub fn count(&mut self, latency: Span, late: bool, measured: bool) {
        self.in_time += u64::from(!late);
        if measured {
            self.latency.record(latency);
            self.late += u64::from(late);
        }
    }

    /// Adds the counters of another domain.
    pub fn merge(&mut self, other: &OperationCounters) {
        self.latency.merge(&other.latency);
        self.late += other.late;
        self.in_time += other.in_time;
        self.refused += other.refused;
        self.longest_wait = self.longest_wait.max(other.longest_wait);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = OperationCounters::default();
    }
}
