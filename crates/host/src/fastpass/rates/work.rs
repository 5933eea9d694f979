//! From the slots granted for a destination to the rate at which its sockets send: each slot's link time is *due* evenly over a
//! window from the slot's beginning on, and what was sent too much or too little is made up for.
//!
//! So a rate is the number of slots in the last window over the window's length, and the rates of all pairs add up to no more than
//! what is granted to them, at every instant: as one pair's slots leave the window, those of another enter it.

use std::collections::VecDeque;

use clearway_proto::units::{Span, Time};

/// A slot granted for later than this from now is nonsense.
const FARTHEST: Span = Span::from_secs(1);
/// Work that sockets have left undone is kept up to one part in this many of the window's, but a slot at least: time of a link
/// that nobody used is gone, as a slot is.
const KEPT_PART: u64 = 5;
/// Bytes that they sent beyond the work due are owed up to this many slots, or the window's work if that is more.
const MOST_OWED: u64 = 4;
/// A difference between due and sent is made up for within this many windows.
const MADE_UP_IN: u64 = 2;

/// The link time granted for one destination: due, sent and still to come.
#[derive(Clone, Debug)]
pub(super) struct Work {
    slot: Span,
    window: Span,
    /// Beginnings of the slots that are not wholly due.
    slots: VecDeque<Time>,
    /// Up to when what was due is held against what was sent.
    settled: Time,
    /// Link time that was due and not used, in picoseconds; negative if more was used than due.
    unused: i64,
}

impl Work {
    /// No slots yet. A slot of length `slot` is due over `window`.
    pub(super) fn new(slot: Span, window: Span) -> Work {
        Work { slot, window, slots: VecDeque::new(), settled: Time::ZERO, unused: 0 }
    }

    /// Takes a slot granted, which begins at `start`. One that has begun is due over a window from now on. Returns whether it is of
    /// use.
    pub(super) fn grant(&mut self, now: Time, start: Time) -> bool {
        let is_sound = start <= now + FARTHEST;
        if is_sound {
            self.slots.push_back(start.max(self.settled));
        }
        is_sound
    }

    /// Forgets all slots: their grants are void.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.unused = 0;
    }

    /// Returns whether no slot is due or to come.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How much of a slot is due by `at`, as time since it began: from zero to the window.
    fn begun(&self, start: Time, at: Time) -> u64 {
        at.since(start).as_ps().min(self.window.as_ps())
    }

    /// Link time that comes to be due from one instant to another.
    fn due(&self, from: Time, to: Time) -> Span {
        let begun = |&start: &Time| self.begun(start, to) - self.begun(start, from);
        let begun: u64 = self.slots.iter().map(begun).sum();
        self.of_slots(begun)
    }

    /// The link time of `begun` of the window, summed over slots, in picoseconds.
    fn of_slots(&self, begun: u64) -> Span {
        Span::from_ps(
            (u128::from(begun) * u128::from(self.slot.as_ps()) / u128::from(self.window.as_ps())) as u64,
        )
    }

    /// Takes how much link time has been used since this was last called, and returns how much is to be used in the next `next`.
    pub(super) fn settle(&mut self, now: Time, used: Span, next: Span) -> Span {
        let due = self.due(self.settled, now);
        let held = self.slots.len() as u64 * self.slot.as_ps();
        let kept = signed(self.slot.as_ps().max(held / KEPT_PART));
        let owed = signed((self.slot.as_ps() * MOST_OWED).max(held));
        self.unused = (self.unused + signed(due.as_ps()) - signed(used.as_ps())).clamp(-owed, kept);
        self.settled = self.settled.max(now);
        let window = self.window;
        self.slots.retain(|&start| now.since(start) < window);
        let made_up =
            i128::from(self.unused) * i128::from(next.as_ps()) / i128::from(window.as_ps() * MADE_UP_IN);
        let to_use = i128::from(self.due(now, now + next).as_ps()) + made_up;
        Span::from_ps(u64::try_from(to_use).unwrap_or(0))
    }

    /// Returns whether more than two slots have been used beyond what was due.
    pub(super) fn is_overdrawn(&self) -> bool {
        self.unused < -signed(2 * self.slot.as_ps())
    }

    /// Link time that is granted and not used: what will be due after the last settling, and what was and is kept.
    pub(super) fn outstanding(&self) -> Span {
        let whole = self.slots.len() as u64 * self.window.as_ps();
        let begun: u64 = self.slots.iter().map(|&start| self.begun(start, self.settled)).sum();
        self.of_slots(whole - begun) + Span::from_ps(self.unused.max(0) as u64)
    }
}

/// A number that may be taken from another.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Span = Span::from_us(500);
    const WINDOW: Span = Span::from_ms(10);
    const LOOK: Span = Span::from_ms(2);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn work() -> Work {
        Work::new(SLOT, WINDOW)
    }

    /// A pair that is looked at every 2 ms.
    struct Pair {
        work: Work,
        ms: u64,
        /// The use that the next look finds, and the sum of all before.
        used: Span,
        total: Span,
        granted: u64,
    }

    impl Pair {
        fn new() -> Pair {
            Pair { work: work(), ms: 0, used: Span::ZERO, total: Span::ZERO, granted: 0 }
        }

        /// Until `until`, in ms: slots are granted a look ahead, and the sockets use `part` of what they may.
        fn run(&mut self, until: u64, grants: impl Fn(u64) -> u64, part: f64) -> Span {
            let before = self.total;
            while self.ms < until {
                for slot in 0..grants(self.ms) {
                    assert!(self.work.grant(at(self.ms), at(self.ms + 2) + SLOT * slot));
                    self.granted += 1;
                }
                self.total += self.used;
                self.used = self.work.settle(at(self.ms), self.used, LOOK).scaled(part);
                self.ms += 2;
            }
            self.total.saturating_sub(before)
        }
    }

    #[test]
    fn a_slot_is_due_over_a_window_from_its_beginning() {
        let mut work = work();
        assert!(work.grant(at(0), at(4)));
        assert_eq!(work.settle(at(2), Span::ZERO, LOOK), Span::ZERO);
        // A fifth of the slot in 2 of 10 ms.
        assert_eq!(work.settle(at(4), Span::ZERO, LOOK), Span::from_us(100));
        assert_eq!(work.outstanding(), SLOT);
        assert_eq!(work.settle(at(6), Span::from_us(100), LOOK), Span::from_us(100));
        assert_eq!(work.outstanding(), Span::from_us(400));
        for ms in [8, 10, 12] {
            assert_eq!(work.settle(at(ms), Span::from_us(100), LOOK), Span::from_us(100));
        }
        assert_eq!(work.settle(at(14), Span::from_us(100), LOOK), Span::ZERO);
        assert!(work.is_empty() && work.outstanding() == Span::ZERO);
    }

    #[test]
    fn two_slots_of_four_are_half_of_the_link_a_window_later() {
        let mut pair = Pair::new();
        pair.run(40, |_| 2, 1.0);
        assert_eq!(pair.used, Span::from_ms(1));
        // And after a window without any, nothing.
        pair.run(54, |_| 0, 1.0);
        assert_eq!(pair.used, Span::ZERO);
    }

    #[test]
    fn all_that_is_granted_is_used_whatever_the_pattern() {
        let patterns = [
            |_| 2,
            |ms| u64::from(ms % 20 == 0) * 5,
            |ms| if ms < 100 { 4 } else { u64::from(ms % 8 == 0) },
            |ms| if ms % 100 < 50 { 4 } else { 0 },
        ];
        for pattern in patterns {
            let mut pair = Pair::new();
            pair.run(1000, pattern, 1.0);
            assert_eq!(pair.total + pair.work.outstanding(), SLOT * pair.granted, "{} granted", pair.granted);
        }
    }

    /// BBR sends some hundredths less than it may.
    #[test]
    fn what_sockets_leave_is_made_up_for() {
        let mut pair = Pair::new();
        pair.run(200, |_| 2, 0.96);
        let used = pair.run(1200, |_| 2, 0.96);
        let granted = SLOT * 1000;
        assert!(used.as_ps().abs_diff(granted.as_ps()) * 1000 < granted.as_ps(), "{used:?}");
    }

    #[test]
    fn slots_that_nobody_used_are_not_saved_up() {
        let mut pair = Pair::new();
        pair.run(1000, |_| 2, 0.0);
        let to_use = pair.work.settle(at(1000), Span::ZERO, LOOK);
        assert!(to_use > Span::from_ms(1) && to_use <= Span::from_us(1200), "{to_use:?}");
        pair.run(1100, |_| 0, 0.0);
        assert!(pair.work.outstanding() <= SLOT);
    }

    #[test]
    fn what_was_sent_before_any_grant_is_paid_for() {
        let mut pair = Pair::new();
        pair.used = SLOT * 3;
        pair.run(2, |_| 0, 1.0);
        assert!(pair.work.is_overdrawn());
        let used = pair.run(1000, |_| 1, 1.0) + pair.work.outstanding();
        assert!(used.as_ps().abs_diff((SLOT * (pair.granted - 3)).as_ps()) <= SLOT.as_ps() / 100, "{used:?}");
    }

    #[test]
    fn slots_of_the_past_are_due_from_now_on_and_those_of_a_far_future_are_none() {
        let mut work = work();
        work.settle(at(100), Span::ZERO, LOOK);
        assert!(work.grant(at(100), at(1)) && !work.grant(at(100), at(1101)));
        assert_eq!(work.outstanding(), SLOT);
        assert_eq!(work.settle(at(102), Span::from_us(100), LOOK), Span::from_us(100));
    }
}
