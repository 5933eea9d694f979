//! What became of the packets that were sent in slots, path by path (§5: endpoints report losses, as these mean faults).

use std::collections::{BTreeMap, VecDeque};

use crate::fastpass::fcp::{Address, Grant, Path, PathReport, Request};
use crate::units::{Span, Time};

/// Packets of which it is not known yet whether they arrived; more than any link sends in a millisecond. The oldest are
/// forgotten if there are more.
const MOST_FLYING: usize = 1 << 14;
/// Paths to destinations of which sums are kept. Packets on others are not counted until a report has gone out.
const MOST_SUMS: usize = 1 << 12;
/// Packets after which a path without losses is reported on, so that a share of losses can be told.
const CLEAN: u16 = 256;

/// Packets under way and what has become of others.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    /// A packet that has not arrived after this time is lost.
    arrival: Span,
    /// Packets under way, in the order of their slots.
    flying: VecDeque<Flying>,
    /// What has not been reported.
    sums: BTreeMap<(Address, Path), Sum>,
    /// Paths on which a report is due.
    due: VecDeque<(Address, Path)>,
    /// How many of those are due because of a loss.
    lossy: usize,
}

/// A packet that was sent in a slot.
#[derive(Clone, Copy, Debug)]
struct Flying {
    grant: Grant,
    at: Time,
    arrived: bool,
}

/// Packets on a path.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sent: u16,
    lost: u16,
    due: bool,
}

impl Reports {
    pub(super) fn new(arrival: Span) -> Reports {
        Reports { arrival, flying: VecDeque::new(), sums: BTreeMap::new(), due: VecDeque::new(), lossy: 0 }
    }

    /// Notes that a packet is sent.
    pub(super) fn send(&mut self, now: Time, grant: &Grant) {
        if self.flying.len() == MOST_FLYING {
            self.flying.pop_front();
        }
        let mut place = self.flying.len();
        while place > 0 && self.flying[place - 1].grant.slot > grant.slot {
            place -= 1;
        }
        self.flying.insert(place, Flying { grant: *grant, at: now, arrived: false });
    }

    /// Notes that the packet of a slot has arrived. Whether there is such a packet.
    pub(super) fn arrive(&mut self, now: Time, slot: u64) -> bool {
        let place = self.flying.partition_point(|flying| flying.grant.slot < slot);
        let mut same = self.flying.range_mut(place..).take_while(|flying| flying.grant.slot == slot);
        let found = same.find(|flying| !flying.arrived);
        let known = found.is_some();
        if let Some(flying) = found {
            flying.arrived = true;
        }
        self.settle(now);
        known
    }

    /// Counts the packets of which it is known by now whether they arrived.
    pub(super) fn settle(&mut self, now: Time) {
        while let Some(flying) = self.flying.front() {
            if !flying.arrived && flying.at + self.arrival > now {
                break;
            }
            let flying = *flying;
            self.flying.pop_front();
            self.count((flying.grant.destination, flying.grant.path), !flying.arrived);
        }
    }

    /// Counts a packet on a path.
    fn count(&mut self, way: (Address, Path), lost: bool) {
        if self.sums.len() == MOST_SUMS && !self.sums.contains_key(&way) {
            return;
        }
        let sum = self.sums.entry(way).or_default();
        if sum.sent == u16::MAX {
            return;
        }
        sum.sent += 1;
        sum.lost += u16::from(lost);
        self.lossy += usize::from(lost && sum.lost == 1);
        if !sum.due && (lost || sum.sent >= CLEAN) {
            sum.due = true;
            self.due.push_back(way);
        }
    }

    /// Whether losses have not been reported.
    pub(super) fn has_losses(&self) -> bool {
        self.lossy > 0
    }

    /// When the next packet counts as lost.
    pub(super) fn timeout(&self) -> Option<Time> {
        self.flying.front().map(|flying| flying.at + self.arrival)
    }

    /// Fills in the reports of a request.
    pub(super) fn fill(&mut self, request: &mut Request) {
        while !request.reports.is_full() {
            let Some((destination, path)) = self.due.pop_front() else { break };
            let Some(Sum { sent, lost, .. }) = self.sums.remove(&(destination, path)) else { continue };
            self.lossy -= usize::from(lost > 0);
            request.reports.push(PathReport { destination, path, sent, lost });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn filled(reports: &mut Reports) -> Vec<PathReport> {
        let mut request = Request::default();
        reports.fill(&mut request);
        request.reports.to_vec()
    }

    #[test]
    fn a_packet_that_does_not_arrive_in_time_is_reported_as_lost() {
        let mut reports = Reports::new(Span::from_us(100));
        for slot in 0..4 {
            reports.send(us(slot), &Grant { slot, destination: 7, path: 2 });
        }
        assert!(reports.arrive(us(50), 0) && reports.arrive(us(50), 2) && reports.arrive(us(50), 3));
        assert!(!reports.arrive(us(50), 3) && !reports.arrive(us(50), 9));
        assert_eq!((reports.timeout(), reports.has_losses()), (Some(us(101)), false));
        reports.settle(us(100));
        assert_eq!(filled(&mut reports), []);
        reports.settle(us(101));
        assert!(reports.has_losses());
        let report = PathReport { destination: 7, path: 2, sent: 4, lost: 1 };
        assert_eq!(filled(&mut reports), [report]);
        assert_eq!((reports.has_losses(), reports.timeout(), filled(&mut reports)), (false, None, vec![]));
    }

    #[test]
    fn a_path_without_losses_is_reported_on_now_and_then() {
        let mut reports = Reports::new(Span::from_us(100));
        for slot in 0..600 {
            reports.send(us(slot), &Grant { slot, destination: 1 + (slot % 2) as u16, path: 0 });
            assert!(reports.arrive(us(slot), slot));
        }
        let sums: Vec<_> = filled(&mut reports).iter().map(|report| (report.sent, report.lost)).collect();
        assert_eq!(sums, [(300, 0), (300, 0)]);
    }
}
