//! Probes: packets that measure a path's round-trip time under load.

use clearway_proto::units::{Bytes, Span, Time};

/// One `[[probe]]` table. A probe sends packets from one node to another at a constant interval; each is sent back as
/// it arrives, and its round trip is measured. Nodes are numbered as [`Graph`](crate::topology::Graph) numbers
/// them: hosts first, then switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The node that sends and measures.
    pub from: u32,
    /// The node that answers; not `from`, and joined to it by fewer links than a frame can count.
    pub to: u32,
    /// Time from one packet to the next; above zero.
    pub interval: Span,
    /// What a packet, and its answer, takes on the wire; from 64 B to the longest frame.
    pub bytes: Bytes,
    /// Index of the class of packets and answers among the scenario's classes; 0 where there are none.
    pub class: usize,
    /// When the first packet leaves; before the end of the run.
    pub start: Time,
    /// No packet leaves from then on; none: the end of the run.
    pub stop: Option<Time>,
}

impl Probe {
    /// Packets that leave in a run of this duration: one at `start`, and one every interval before the end.
    pub fn packets(&self, duration: Span) -> u64 {
        let end = Time::ZERO + duration;
        let active = self.stop.map_or(end, |stop| stop.min(end)).since(self.start);
        active.as_ps().div_ceil(self.interval.as_ps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_from_start_on_and_before_the_end() {
        let at = |us| Time::ZERO + Span::from_us(us);
        let packets = |start, stop: Option<u64>| {
            let (start, stop) = (at(start), stop.map(at));
            let bytes = Bytes::new(64);
            let probe = Probe { from: 0, to: 1, interval: Span::from_us(10), bytes, class: 0, start, stop };
            probe.packets(Span::from_us(100))
        };
        assert_eq!(packets(0, None), 10);
        assert_eq!(packets(1, None), 10);
        assert_eq!(packets(10, None), 9);
        assert_eq!(packets(99, None), 1);
        assert_eq!(packets(0, Some(200)), 10);
        assert_eq!(packets(5, Some(25)), 2);
        assert_eq!(packets(5, Some(26)), 3);
    }
}
