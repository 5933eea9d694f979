//! Senders that are metered: how much they have sent, and the round-trip times that they saw. Nothing is counted of others.

use super::simulator::Simulation;
use crate::traffic::Demand;

/// The counts of a metered sender so far, in bytes on the wire, for those who may not know senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metered {
    /// Bytes on the wire of the packets that it gave out, those that it sent again among them.
    pub sent_bytes: u64,
    /// Payload of the packets that it sent again.
    pub retransmitted_bytes: u64,
    /// Sum of the round-trip times of its acknowledgements, in picoseconds.
    pub rtt_sum_ps: u128,
    /// The number of round-trip times.
    pub round_trips: u64,
    /// The longest since [`Simulation::forget_longest`], in picoseconds; 0 if there was none.
    pub rtt_longest_ps: u64,
}

impl Simulation {
    /// Meters the senders of these flows from now on, which is before the first event, in a run whose scenario records flows.
    pub fn meter(&mut self, flows: &[u32]) {
        assert!(flows.is_empty() || self.plan.watches_acks, "round-trip times of flows are seen");
        for &flow in flows {
            let place = self.plan.senders[flow as usize];
            self.domains[place.domain as usize].hosts.senders[place.at as usize].sender.keep_meter();
        }
    }

    /// Returns the counts of the sender of a flow that is metered.
    pub fn metered(&self, flow: u32) -> Metered {
        let end = self.sender(flow);
        let meter = end.sender.meter().expect("the sender of a flow with series is metered");
        let overhead = u64::from(self.plan.makers[end.transport as usize].overhead);
        Metered {
            sent_bytes: meter.payload + meter.packets * overhead,
            retransmitted_bytes: meter.again,
            rtt_sum_ps: meter.rtt_sum_ps,
            round_trips: meter.round_trips,
            rtt_longest_ps: meter.rtt_longest_ps,
        }
    }

    /// Forgets the longest round-trip times of these flows, which are metered.
    pub fn forget_longest(&mut self, flows: &[u32]) {
        for &flow in flows {
            let place = self.plan.senders[flow as usize];
            self.domains[place.domain as usize].hosts.senders[place.at as usize].sender.forget_longest();
        }
    }

    /// Returns whether nothing more comes of a flow: it has a size and is complete, or it never ended, has stopped, and all that it sent
    /// is acknowledged.
    pub fn flow_is_over(&self, flow: u32) -> bool {
        let spec = &self.plan.specs[flow as usize];
        match spec.demand {
            Demand::Sized(_) => self.receiver(flow).completed_at <= self.time,
            Demand::Endless => {
                spec.stop.is_some_and(|stop| stop <= self.time) && self.sender(flow).sender.is_drained()
            }
            Demand::ClosedLoop(_) | Demand::OpenLoop(_) | Demand::Messages => false,
        }
    }
}
