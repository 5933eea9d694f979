//! Probes and receipts beside the slots, for hosts: what endpoints send each other so that the fate of every packet becomes known
//! soon, however little is sent.
//!
//! What became of a packet is seen when a later one has come and the other side has sent something back. Where a path is dead and a
//! flow waits for an acknowledgement that was lost, neither happens. So who has nothing to send says after a while what has come
//! (a *receipt*, which has no number and is not answered), and a packet of which nothing is known for a while is followed by some
//! packets without content (*probes*), on each path in turn. They leave without a slot, in the share of the links that is not
//! granted.

use crate::fastpass::fcp::{Address, Path};
use crate::fastpass::receipts::{Receipts, SlotHeader};
use crate::units::{Span, Time};

/// When an endpoint sends receipts and probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeParams {
    /// Paths between two endpoints, at most.
    pub paths: Path,
    /// The time from the arrival of packets to the receipt for them, if nothing else has left that tells of them.
    pub receipt_after: Span,
    /// The time without news of a packet after which probes follow it.
    pub silence: Span,
    /// The time between two probes to a destination.
    pub interval: Span,
    /// Probes that follow the last packet to a destination, at most.
    pub most: u16,
}

/// A packet without content that is to leave now, beside the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The destination.
    pub to: Address,
    /// The path that it takes.
    pub path: Path,
    /// Its header. A receipt's number means nothing.
    pub header: SlotHeader,
    /// Whether it is a receipt: its header is for [`Endpoint::handle_receipt`](super::Endpoint::handle_receipt).
    pub is_receipt: bool,
}

/// The receipts and probes to be sent to one destination beside the slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probing {
    /// When a receipt is due; none if nothing has come of which the destination was not told.
    receipt_at: Option<Time>,
    /// When the last probe left.
    probed: Time,
    /// Probes that have followed the last packet.
    sent: u16,
    /// The path of the next one.
    path: Path,
}

impl Probing {
    /// A packet leaves in a slot: it tells what has come, and may be followed by probes.
    pub(super) fn note_slot(&mut self) {
        (self.receipt_at, self.sent) = (None, 0);
    }

    /// A packet has come.
    pub(super) fn note_arrival(&mut self, now: Time, params: &ProbeParams) {
        self.receipt_at.get_or_insert(now + params.receipt_after);
    }

    /// Returns when the next probe is due.
    fn probe_at(&self, receipts: &Receipts, params: &ProbeParams) -> Time {
        let oldest = receipts.waits_since().filter(|_| self.sent < params.most);
        oldest.map_or(Time::NEVER, |at| (at + params.silence).max(self.probed + params.interval))
    }

    /// Returns when something is due.
    pub(super) fn due(&self, receipts: &Receipts, params: &ProbeParams) -> Time {
        self.receipt_at.unwrap_or(Time::NEVER).min(self.probe_at(receipts, params))
    }

    /// The receipt or probe that is due, if there is one. `seed` is as in [`Receipts::send`].
    pub(super) fn take(
        &mut self,
        now: Time,
        to: Address,
        receipts: &mut Receipts,
        params: &ProbeParams,
        seed: u32,
    ) -> Option<Probe> {
        if self.due(receipts, params) > now {
            return None;
        }
        let path = self.path % params.paths.max(1);
        self.path = path + 1;
        let is_receipt = self.probe_at(receipts, params) > now;
        let header = if is_receipt {
            receipts.receipt()
        } else {
            (self.probed, self.sent) = (now, self.sent + 1);
            receipts.send(now, path, seed)
        };
        self.receipt_at = None;
        Some(Probe { to, path, header, is_receipt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::endpoint::{Endpoint, EndpointParams};
    use crate::fastpass::fcp::Grant;
    use crate::fastpass::receipts::Fate;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn endpoints() -> [Endpoint; 2] {
        let probes = ProbeParams {
            paths: 2,
            receipt_after: Span::from_ms(2),
            silence: Span::from_ms(5),
            interval: Span::from_ms(1),
            most: 20,
        };
        let params = EndpointParams { nodes: 2, probes: Some(probes), ..EndpointParams::default() };
        [0, 1].map(|address| Endpoint::new(&params, address, 1))
    }

    /// Lets both send what is due, each ms; nothing passes path 1. Returns how many left of each kind, and what became of the
    /// packets of the first.
    fn run(ends: &mut [Endpoint; 2]) -> (u32, u32, Vec<(Path, Fate)>) {
        let (mut probes, mut receipts, mut fates) = (0, 0, Vec::new());
        for now in (1..100).map(ms) {
            fates.extend(settled(&mut ends[0]));
            settled(&mut ends[1]);
            for own in 0..2 {
                while let Some(probe) = ends[own].probe(now) {
                    assert_eq!(usize::from(probe.to), 1 - own);
                    *(if probe.is_receipt { &mut receipts } else { &mut probes }) += 1;
                    match (probe.path, probe.is_receipt) {
                        (1, _) => {}
                        (_, false) => ends[1 - own].handle_header_at(now, own as Address, &probe.header),
                        (_, true) => ends[1 - own].handle_receipt(own as Address, &probe.header),
                    }
                }
            }
        }
        (probes, receipts, fates)
    }

    fn settled(end: &mut Endpoint) -> Vec<(Path, Fate)> {
        std::iter::from_fn(|| end.poll_settled()).map(|(_, settled)| (settled.path, settled.fate)).collect()
    }

    #[test]
    fn a_packet_is_told_of_by_a_receipt_and_nothing_follows() {
        let mut ends = endpoints();
        let header = ends[0].stamp(ms(1), &Grant { slot: 1, destination: 1, path: 0 });
        ends[1].handle_header_at(ms(1), 0, &header);
        assert_eq!(ends[1].probe_timeout(), ms(3));
        assert_eq!(run(&mut ends), (0, 1, vec![(0, Fate::Arrived)]));
        assert_eq!(ends.map(|end| end.probe_timeout()), [Time::NEVER; 2]);
    }

    #[test]
    fn a_packet_that_was_lost_is_followed_by_probes_until_that_is_known() {
        let mut ends = endpoints();
        ends[0].stamp(ms(1), &Grant { slot: 1, destination: 1, path: 1 });
        let (probes, receipts, fates) = run(&mut ends);
        let lost = fates.iter().filter(|(_, fate)| *fate == Fate::Lost).count();
        assert!(fates.iter().all(|(path, fate)| (*path == 1) == (*fate == Fate::Lost)), "{fates:?}");
        assert!(lost >= 1 && probes <= 6 && receipts >= 1, "{lost} of {probes}, {receipts} receipts");
    }

    #[test]
    fn nobody_is_probed_for_ever() {
        let mut ends = endpoints();
        ends[0].stamp(ms(1), &Grant { slot: 1, destination: 1, path: 1 });
        let alone = (1..1000).filter(|at| ends[0].probe(ms(*at)).is_some()).count();
        assert_eq!((alone, ends[0].probe_timeout()), (20, Time::NEVER));
    }
}
