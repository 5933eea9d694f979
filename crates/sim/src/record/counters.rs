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
    /// The part of it that was spent in hosts (t4 - t2 and t6 - t5 of Swift §3.2); empty where hosts are ideal.
    pub endpoint: Histogram,
    /// The rest.
    pub fabric: Histogram,
    /// What each data packet spent in the receiving host, from NIC to stack's end (t4 - t2).
    pub nic_delay: Histogram,
}

impl TransportCounters {
    /// Notes a round trip of which this much was spent in hosts.
    pub fn split_rtt(&mut self, rtt: Span, endpoint: Span) {
        self.endpoint.record(endpoint);
        self.fabric.record(rtt.saturating_sub(endpoint));
    }

    /// Forgets all times.
    pub fn clear_times(&mut self) {
        for times in [&mut self.rtt, &mut self.endpoint, &mut self.fabric, &mut self.nic_delay] {
            times.clear();
        }
    }
}
