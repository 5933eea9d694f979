//! What becomes of the packets that an endpoint sends in slots: the headers that go with them, those that come, and what follows.

use super::probes::{Probe, Probing};
use super::{Endpoint, Mode};
use crate::fastpass::fcp::{Address, Grant};
use crate::fastpass::receipts::{Fate, Settled, SlotHeader};
use crate::units::Time;

impl Endpoint {
    /// Gives the header of what leaves in the slot of this grant, which is to go with every packet of it; only if any leaves.
    pub fn stamp(&mut self, now: Time, grant: &Grant) -> SlotHeader {
        // No life of an endpoint uses as many slots as pass: so its numbers never reach those of the next one.
        let seed = self.params.timeslots.of(now) as u32;
        if self.params.probes.is_some() {
            self.probing.entry(grant.destination).or_default().note_slot();
        }
        let receipts = self.receipts.entry(grant.destination).or_default();
        receipts.send(now, grant.path, seed)
    }

    /// Takes the header of a packet that has come from another endpoint.
    ///
    /// Panics if there is no such endpoint, or it is this one.
    pub fn handle_header(&mut self, from: Address, header: &SlotHeader) {
        assert!(self.demands.knows(from) && from != self.address, "a packet from {from}");
        self.receipts.entry(from).or_default().handle(header);
        self.spoken.push_back(from);
    }

    /// Takes the header of a packet that has come now, or of a [probe](Probe): the destination is told of it soon, if there are
    /// [receipts](super::EndpointParams::probes).
    ///
    /// Panics as [`Endpoint::handle_header`] does.
    pub fn handle_header_at(&mut self, now: Time, from: Address, header: &SlotHeader) {
        self.handle_header(from, header);
        if let Some(params) = &self.params.probes {
            self.probing.entry(from).or_default().note_arrival(now, params);
        }
    }

    /// Takes the header of a receipt, which says what has come to another endpoint.
    ///
    /// Panics as [`Endpoint::handle_header`] does.
    pub fn handle_receipt(&mut self, from: Address, header: &SlotHeader) {
        assert!(self.demands.knows(from) && from != self.address, "a receipt from {from}");
        self.receipts.entry(from).or_default().handle_receipt(header);
        self.spoken.push_back(from);
    }

    /// Gives a receipt or a probe that is to leave now, beside the slots; none while there is no arbiter.
    pub fn probe(&mut self, now: Time) -> Option<Probe> {
        let params = self.params.probes.filter(|_| self.mode == Mode::Scheduled)?;
        let seed = self.params.timeslots.of(now) as u32;
        let Endpoint { probing, receipts, .. } = self;
        probing
            .iter_mut()
            .find_map(|(&to, probing)| probing.take(now, to, receipts.entry(to).or_default(), &params, seed))
    }

    /// Returns when [`Endpoint::probe`] gives something; [`Time::NEVER`] if nothing is due.
    pub fn probe_timeout(&self) -> Time {
        let Some(params) = self.params.probes.filter(|_| self.mode == Mode::Scheduled) else {
            return Time::NEVER;
        };
        let due = |(to, probing): (&Address, &Probing)| {
            self.receipts.get(to).map(|receipts| probing.due(receipts, &params))
        };
        self.probing.iter().filter_map(due).min().unwrap_or(Time::NEVER)
    }

    /// Gives a packet sent to a destination whose fate is known by what [headers](Endpoint::handle_header) have said, each once
    /// and in the order in which they were sent to that destination. Of a lost packet the driver tells its transport.
    pub fn poll_settled(&mut self) -> Option<(Address, Settled)> {
        while let Some(&from) = self.spoken.front() {
            let receipts = self.receipts.get_mut(&from);
            let settled = receipts.and_then(|receipts| receipts.poll_settled(self.params.overtaken_after));
            let Some(settled) = settled else {
                self.spoken.pop_front();
                continue;
            };
            match settled.fate {
                Fate::Arrived => self.reports.count(from, settled.path, false),
                Fate::Lost => self.reports.count(from, settled.path, true),
                Fate::Unknown => {}
            }
            return Some((from, settled));
        }
        None
    }
}
