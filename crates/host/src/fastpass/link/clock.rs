//! How far the clock of a peer is from this host's, from round trips (as NTP has it, RFC 5905 §8).

use serde::{Deserialize, Serialize};

/// Round trips that are remembered: the quickest of them says most.
const REMEMBERED: usize = 16;

/// The difference of a peer's clock from this host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// Nanoseconds that the peer's clock is ahead; negative if it is behind.
    pub ahead_ns: i64,
    /// The most that this can be wrong by, in nanoseconds: half the round trip.
    pub within_ns: u64,
}

impl Offset {
    /// The most that the two clocks can be apart, in nanoseconds.
    pub fn most_ns(&self) -> u64 {
        self.ahead_ns.unsigned_abs().saturating_add(self.within_ns)
    }
}

/// Four instants of a round trip, in nanoseconds: sent and received by this host's clock, received and answered by the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When this host sent the question.
    pub sent: u64,
    /// When the peer received it.
    pub reached: u64,
    /// When the peer answered.
    pub answered: u64,
    /// When the answer came.
    pub returned: u64,
}

impl RoundTrip {
    /// The offset that follows from this round trip; none if its instants cannot be true.
    fn offset(&self) -> Option<Offset> {
        let away = self.returned.checked_sub(self.sent)?;
        let within = away.checked_sub(self.answered.checked_sub(self.reached)?)?;
        let ahead = (i128::from(self.reached) - i128::from(self.sent) + i128::from(self.answered)
            - i128::from(self.returned))
            / 2;
        Some(Offset { ahead_ns: i64::try_from(ahead).ok()?, within_ns: within.div_ceil(2) })
    }
}

/// The offset of one peer's clock, from the latest round trips.
#[derive(Clone, Debug, Default)]
pub struct PeerClock {
    latest: std::collections::VecDeque<Offset>,
}

impl PeerClock {
    /// Takes a round trip. One that cannot be true is ignored.
    pub fn note(&mut self, trip: &RoundTrip) {
        let Some(offset) = trip.offset() else { return };
        if self.latest.len() == REMEMBERED {
            self.latest.pop_front();
        }
        self.latest.push_back(offset);
    }

    /// The offset by the quickest of the latest round trips.
    pub fn offset(&self) -> Option<Offset> {
        self.latest.iter().min_by_key(|offset| offset.within_ns).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip to a clock that is `ahead`, with these times on the way, and 7 ns at the peer.
    fn trip(ahead: i64, out: u64, back: u64) -> RoundTrip {
        let theirs = |at: u64| at.checked_add_signed(ahead).unwrap();
        let sent = 1_000_000;
        let (reached, answered) = (theirs(sent + out), theirs(sent + out + 7));
        RoundTrip { sent, reached, answered, returned: sent + out + 7 + back }
    }

    #[test]
    fn the_truth_is_within_the_bound_however_unlike_the_two_ways_are() {
        for ahead in [-900_000, -3, 0, 5000] {
            for (out, back) in [(0, 0), (1000, 1000), (0, 4001), (9000, 1)] {
                let offset = trip(ahead, out, back).offset().unwrap();
                assert!(
                    ahead.abs_diff(offset.ahead_ns) <= offset.within_ns,
                    "{ahead} {out} {back}: {offset:?}"
                );
                assert_eq!(offset.within_ns, (out + back).div_ceil(2));
            }
        }
    }

    #[test]
    fn the_quickest_of_the_latest_counts_and_old_ones_are_forgotten() {
        let mut clock = PeerClock::default();
        clock.note(&trip(40, 10, 10));
        for _ in 0..REMEMBERED - 1 {
            clock.note(&trip(90, 1000, 3000));
        }
        assert_eq!(clock.offset(), Some(Offset { ahead_ns: 40, within_ns: 10 }));
        clock.note(&trip(90, 1000, 1000));
        assert_eq!(clock.offset(), Some(Offset { ahead_ns: 90, within_ns: 1000 }));
    }

    #[test]
    fn what_cannot_be_true_is_ignored() {
        let mut clock = PeerClock::default();
        clock.note(&RoundTrip { sent: 9, reached: 1, answered: 2, returned: 8 });
        clock.note(&RoundTrip { sent: 0, reached: 5, answered: 4, returned: 8 });
        clock.note(&RoundTrip { sent: 0, reached: 0, answered: 9, returned: 8 });
        clock.note(&RoundTrip { sent: 0, reached: u64::MAX, answered: u64::MAX, returned: 8 });
        assert_eq!(clock.offset(), None);
    }
}
