//! Timeslots (§3): time cut into equal pieces, in each of which an endpoint sends one packet of full size.

use crate::units::{Span, Time};

/// How a clock is cut into timeslots. Slot 0 begins when the clock shows zero, and every machine counts the same slots as
/// well as its own clock lets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeslots {
    length: Span,
}

impl Timeslots {
    /// Slots of this length. Panics if it is zero.
    pub fn new(length: Span) -> Timeslots {
        assert!(length > Span::ZERO, "timeslots of no length");
        Timeslots { length }
    }

    /// The length of a slot.
    pub fn length(self) -> Span {
        self.length
    }

    /// When slot `slot` begins; [`Time::NEVER`] for one later than a clock can show.
    pub fn start(self, slot: u64) -> Time {
        slot.checked_mul(self.length.as_ps()).map_or(Time::NEVER, Time::from_ps)
    }

    /// The slot of the instant `at`.
    pub fn of(self, at: Time) -> u64 {
        at.as_ps() / self.length.as_ps()
    }

    /// The time that so many slots take; the longest there is where that would be longer.
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
        assert_eq!(slots.start(u64::MAX), Time::NEVER);
    }
}
