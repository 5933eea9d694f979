//! A source, a destination and what they wait for, in one word: so that a pair is moved between queue and schedule by one
//! load and one store.

use std::fmt;

/// A pair of endpoints, and how many slots it waits for.
///
/// From the lowest bit on: the source (16 bits), whether its demand is tallied (16, of which one is used), one less than the
/// slots that it waits for (16), the destination (15, above a one). So each grant takes the same from the word,
/// and of a pair that waits for nothing more it has borrowed the one below the destination: it becomes a
/// receiver that there is none of, which is never free.
#[derive(Clone, Copy)]
pub struct Pair(u64);

const TALLIED: u64 = 1 << 16;
const REMAINING: u32 = 32;
const RECEIVER: u32 = 48;

impl Pair {
    /// A pair that waits for `remaining` slots, at least one.
    #[inline(always)]
    pub(super) fn new(source: u16, destination: u16, remaining: u16) -> Pair {
        debug_assert!(remaining > 0);
        let receiver = u64::from(destination) << 1 | 1;
        Pair(u64::from(source) | u64::from(remaining - 1) << REMAINING | receiver << RECEIVER)
    }

    /// The endpoint that sends.
    #[inline(always)]
    pub fn source(self) -> u16 {
        self.0 as u16
    }

    /// The endpoint that receives.
    #[inline(always)]
    pub fn destination(self) -> u16 {
        (self.0 >> RECEIVER) as u16 >> 1
    }

    /// Slots that the pair waits for; of a grant, after this grant.
    #[inline(always)]
    pub fn remaining(self) -> u16 {
        ((self.0 >> REMAINING) as u16).wrapping_add(1)
    }

    /// Returns where what the destination can receive is found: an odd number for one that the pair waits for, an even one if it
    /// waits for nothing more.
    #[inline(always)]
    pub(super) fn receiver(self) -> u16 {
        (self.0 >> RECEIVER) as u16
    }

    /// Returns whether the pair waits for a slot.
    #[inline(always)]
    pub(super) fn waits(self) -> bool {
        self.waits_as_number() == 1
    }

    /// 1 if the pair waits for a slot, otherwise 0.
    #[inline(always)]
    pub(super) fn waits_as_number(self) -> usize {
        usize::from(self.receiver()) % 2
    }

    /// The pair after a grant.
    #[inline(always)]
    pub(super) fn granted_one(self) -> Pair {
        Pair(self.0.wrapping_sub(1 << REMAINING))
    }

    /// The pair as it was before [`Pair::granted_one`].
    #[inline(always)]
    pub(super) fn granted_none(self) -> Pair {
        Pair(self.0.wrapping_add(1 << REMAINING))
    }

    /// Returns the pair when it waits for `slots` slots more, which have been tallied.
    #[inline(always)]
    pub(super) fn topped_up(self, slots: u16) -> Pair {
        debug_assert!(self.waits());
        Pair((self.0 + (u64::from(slots) << REMAINING)) | TALLIED)
    }

    /// Returns whether the pair's demand has been tallied.
    #[inline(always)]
    pub(super) fn is_tallied(self) -> bool {
        self.0 & TALLIED != 0
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Pair) -> bool {
        self.0 | TALLIED == other.0 | TALLIED
    }
}

impl Eq for Pair {}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}, {} to go", self.source(), self.destination(), self.remaining())
    }
}
