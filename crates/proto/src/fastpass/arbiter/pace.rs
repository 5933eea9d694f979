//! How often something may happen: a gap between two, a rate, and a burst.

use crate::units::{Span, Time};

use super::params::Pacer;

/// When the next may follow. The rate is kept by a clock that each event sets on by one interval and that is never behind now
/// (the virtual scheduling of ATM's generic cell rate algorithm).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// Where that clock stands.
    virtual_at: Time,
    /// The end of the gap.
    gap_until: Time,
}

impl Pace {
    /// Returns when the next may follow.
    pub(super) fn next(&self, pacer: &Pacer) -> Time {
        Time::from_ps(self.virtual_at.since(Time::ZERO + pacer.slack).as_ps()).max(self.gap_until)
    }

    /// Notes that one happens now.
    pub(super) fn note(&mut self, now: Time, pacer: &Pacer) {
        self.virtual_at = self.virtual_at.max(now) + pacer.interval;
        self.gap_until = now + pacer.gap;
    }

    /// Returns whether one more may happen now, in which case it is noted.
    pub(super) fn admits(&mut self, now: Time, interval: Span, burst: u32) -> bool {
        let pacer = Pacer { gap: Span::ZERO, interval, slack: interval * u64::from(burst.saturating_sub(1)) };
        let admitted = self.next(&pacer) <= now;
        if admitted {
            self.note(now, &pacer);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn a_burst_and_then_the_rate() {
        let (mut pace, pacer) = (Pace::default(), Pacer::default());
        assert!(pace.next(&pacer) <= us(100));
        pace.note(us(100), &pacer);
        // 1.5 of them at once: the second may follow half an interval later.
        assert_eq!(pace.next(&pacer), us(110));
        pace.note(us(110), &pacer);
        assert_eq!(pace.next(&pacer), us(130));
        pace.note(us(200), &pacer);
        let gap = Pacer { slack: Span::from_us(20), ..pacer };
        assert_eq!(pace.next(&gap), us(202));
    }

    #[test]
    fn more_than_a_burst_is_not_admitted() {
        let mut pace = Pace::default();
        let admitted =
            |pace: &mut Pace, at| (0..10).filter(|_| pace.admits(us(at), Span::from_us(2), 4)).count();
        assert_eq!(admitted(&mut pace, 0), 4);
        assert_eq!(admitted(&mut pace, 1), 0);
        assert_eq!(admitted(&mut pace, 6), 3);
    }
}
