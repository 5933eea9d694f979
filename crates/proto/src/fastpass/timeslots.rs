//! Timeslots (§3): time cut into equal pieces, in each of which an endpoint sends one packet of full size.
//!
//! All machines of a network have to count the same slots. A driver's clock begins at zero when the driver starts, which is
//! another instant on each host. So [`Timeslots::agreed`] counts slots from the beginning of a clock that hosts agree on, such as
//! Unix time or TAI, as a driver reads it once; from then on its own clock, which never goes back, tells the slots.

use crate::units::{Span, Time};

/// How a clock is cut into timeslots. Every machine counts the same slots as well as its own clock lets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeslots {
    length: Span,
    /// The slot at the clock's zero, and how much of it is over then.
    first: u64,
    over: Span,
}

impl Timeslots {
    /// Slots of this length, of which slot 0 begins when the clock shows zero. Panics if the length is zero.
    pub fn new(length: Span) -> Timeslots {
        assert!(length > Span::ZERO, "timeslots of no length");
        Timeslots { length, first: 0, over: Span::ZERO }
    }

    /// Returns the same slots, counted from an agreed epoch: slot 0 began `nanoseconds` before the clock showed zero. That may be
    /// the Unix time at which the driver's clock began.
    #[must_use]
    pub fn agreed(self, nanoseconds: u64) -> Timeslots {
        let (length, since) = (u128::from(self.length.as_ps()), u128::from(nanoseconds) * 1000);
        let over = Span::from_ps((since % length) as u64);
        Timeslots { length: self.length, first: u64::try_from(since / length).unwrap_or(u64::MAX), over }
    }

    /// The length of a slot.
    pub fn length(self) -> Span {
        self.length
    }

    /// Returns when slot `slot` begins: the clock's zero for one that began before, and [`Time::NEVER`] for one later than a
    /// clock can show.
    pub fn start(self, slot: u64) -> Time {
        let Some(slots) = slot.checked_sub(self.first) else { return Time::ZERO };
        let since_first = slots.checked_mul(self.length.as_ps()).map_or(Time::NEVER, Time::from_ps);
        if since_first == Time::NEVER {
            since_first
        } else {
            Time::from_ps(since_first.since(Time::ZERO + self.over).as_ps())
        }
    }

    /// The slot of the instant `at`.
    pub fn of(self, at: Time) -> u64 {
        let length = self.length.as_ps();
        let (whole, rest) = (at.as_ps() / length, at.as_ps() % length);
        // What is over of the first slot and the rest are each less than a slot.
        let carried = u64::from(rest >= length - self.over.as_ps());
        self.first.saturating_add(whole).saturating_add(carried)
    }

    /// Whole slots in a span.
    pub fn within(self, span: Span) -> u64 {
        span.as_ps() / self.length.as_ps()
    }

    /// Returns the duration of `slots` slots, saturating at the longest [`Span`].
    pub fn span(self, slots: u64) -> Span {
        Span::from_ps(slots.saturating_mul(self.length.as_ps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_lasts_until_the_next_begins() {
        let slots = Timeslots::new(Span::from_ns(1230));
        assert_eq!(slots.start(3), Time::ZERO + Span::from_ns(3690));
        assert_eq!((slots.of(slots.start(3)), slots.of(Time::ZERO + Span::from_ns(3689))), (3, 2));
        assert_eq!(slots.span(40), Span::from_ns(49_200));
        assert_eq!(slots.within(Span::from_ns(3689)), 2);
        assert_eq!(slots.start(u64::MAX), Time::NEVER);
    }

    /// An instant of an agreed clock, in nanoseconds.
    const UNIX: u64 = 1_795_000_000_123_456_789;

    #[test]
    fn clocks_that_began_at_different_times_count_the_same_slots() {
        for length in [Span::from_ns(1230), Span::from_ps(1_251_280), Span::from_ns(10)] {
            for later in [0, 1, 1229, 1230, 86_400_000_000_000] {
                let one = Timeslots::new(length).agreed(UNIX);
                let other = Timeslots::new(length).agreed(UNIX + later);
                for ns in [later, later + 1, later + 615, later + 100_000_000_000] {
                    let at = Time::ZERO + Span::from_ns(ns);
                    let other_at = Time::ZERO + Span::from_ns(ns - later);
                    let slot = other.of(other_at);
                    assert_eq!(one.of(at), slot, "{length:?}, {later} ns, {ns} ns");
                    let exactly = u128::from(UNIX + ns) * 1000 / u128::from(length.as_ps());
                    assert_eq!(u128::from(slot), exactly);
                    // By each clock the next slot begins at the same instant, and that is its first.
                    let (begins, other_begins) = (one.start(slot + 1), other.start(slot + 1));
                    assert_eq!(begins.as_ps() - other_begins.as_ps(), later * 1000);
                    assert_eq!((one.of(begins), one.of(Time::from_ps(begins.as_ps() - 1))), (slot + 1, slot));
                }
            }
        }
    }

    #[test]
    fn slots_of_the_past_began_with_the_clock_and_the_last_instant_has_a_slot() {
        let slots = Timeslots::new(Span::from_ns(1230)).agreed(UNIX);
        assert!(slots.of(Time::ZERO) > 1 << 50);
        assert_eq!((slots.start(0), slots.start(slots.of(Time::ZERO))), (Time::ZERO, Time::ZERO));
        assert_eq!(slots.start(u64::MAX), Time::NEVER);
        assert!(slots.of(Time::NEVER) > slots.of(Time::ZERO) + u64::MAX / 1_230_000 - 2);
    }
}
