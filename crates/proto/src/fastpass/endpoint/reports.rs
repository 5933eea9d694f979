//! What became of the packets that were sent in slots, path by path, as far as no request has told of it (§5: endpoints report
//! losses, as these mean faults).

use std::collections::{BTreeMap, VecDeque};

use crate::fastpass::fcp::{Address, Path, PathReport, Request};

/// Paths to destinations of which sums are kept. Packets on others are not counted until a report has gone out.
const MOST_SUMS: usize = 1 << 12;

/// Packets whose fate is known and has not been reported.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    /// Packets after which a path without losses is reported on, so that a share of losses can be told.
    clean: u16,
    sums: BTreeMap<(Address, Path), Sum>,
    /// Paths on which a report is due.
    due: VecDeque<(Address, Path)>,
    /// How many of those are due because of a loss.
    lossy: usize,
}

/// Packets on a path.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sent: u16,
    lost: u16,
    due: bool,
}

impl Reports {
    /// Nothing is to be reported; a path without losses is after `clean` packets.
    pub(super) fn new(clean: u16) -> Reports {
        Reports { clean, sums: BTreeMap::new(), due: VecDeque::new(), lossy: 0 }
    }

    /// Counts a packet on a path.
    pub(super) fn count(&mut self, destination: Address, path: Path, lost: bool) {
        let way = (destination, path);
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
        if !sum.due && (lost || sum.sent >= self.clean) {
            sum.due = true;
            self.due.push_back(way);
        }
    }

    /// Returns whether losses have not been reported.
    pub(super) fn has_losses(&self) -> bool {
        self.lossy > 0
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

    fn filled(reports: &mut Reports) -> Vec<PathReport> {
        let mut request = Request::default();
        reports.fill(&mut request);
        request.reports.to_vec()
    }

    #[test]
    fn a_loss_is_reported_at_once_with_what_went_the_same_way() {
        let mut reports = Reports::new(256);
        for lost in [false, false, true, false] {
            assert!(!reports.has_losses() || !lost);
            reports.count(7, 2, lost);
            reports.count(7, 1, false);
        }
        assert!(reports.has_losses());
        assert_eq!(filled(&mut reports), [PathReport { destination: 7, path: 2, sent: 4, lost: 1 }]);
        assert_eq!((reports.has_losses(), filled(&mut reports)), (false, vec![]));
    }

    #[test]
    fn where_slots_are_long_a_path_is_reported_on_after_fewer_packets() {
        let mut reports = Reports::new(16);
        (0..15).for_each(|_| reports.count(1, 0, false));
        assert_eq!(filled(&mut reports), []);
        reports.count(1, 0, false);
        assert_eq!(filled(&mut reports), [PathReport { destination: 1, path: 0, sent: 16, lost: 0 }]);
    }

    #[test]
    fn a_path_without_losses_is_reported_on_now_and_then() {
        let mut reports = Reports::new(256);
        for slot in 0..600_u16 {
            reports.count(1 + slot % 2, 0, false);
        }
        let sums: Vec<_> = filled(&mut reports).iter().map(|report| (report.sent, report.lost)).collect();
        assert_eq!(sums, [(300, 0), (300, 0)]);
    }
}
