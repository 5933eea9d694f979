//! Senders that are metered: how much they have sent, and the round-trip times that they saw. Nothing is counted of others.

use super::simulator::Simulation;
use crate::schemes::Meter;
use crate::traffic::Demand;

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
    pub fn metered(&self, flow: u32) -> Meter {
        *self.sender(flow).sender.meter().expect("the sender of a flow with series is metered")
    }

    /// Returns the bytes that headers and links add to each packet of a transport.
    pub fn overhead(&self, transport: u32) -> u64 {
        self.plan.makers[transport as usize].overhead.into()
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
