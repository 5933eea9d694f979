//! A source, a destination and what they wait for, in one word: so that a pair is moved between queue and schedule by one
//! load and one store.

use std::fmt;

/// A pair of endpoints, and how many slots it waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pair(u64);

const DESTINATION: u32 = 16;
const KNOWN: u32 = 32;
/// At the top, so that a pair waits for nothing when the word is small.
const REMAINING: u32 = 48;

impl Pair {
    /// A pair that waits for `remaining` slots, which is all that was requested.
    pub(super) fn new(source: u16, destination: u16, remaining: u16) -> Pair {
        Pair(u64::from(source) | u64::from(destination) << DESTINATION).waiting_for(remaining, remaining)
    }

    /// The endpoint that sends.
    #[inline(always)]
    pub fn source(self) -> u16 {
        self.0 as u16
    }

    /// The endpoint that receives.
    #[inline(always)]
    pub fn destination(self) -> u16 {
        (self.0 >> DESTINATION) as u16
    }

    /// Slots that the pair waits for; of a grant, after this grant.
    #[inline(always)]
    pub fn remaining(self) -> u16 {
        (self.0 >> REMAINING) as u16
    }

    /// What `Demand::asked` said of the pair when `remaining` last took account of it.
    #[inline(always)]
    pub(super) fn known(self) -> u16 {
        (self.0 >> KNOWN) as u16
    }

    /// The same endpoints with another demand.
    #[inline(always)]
    pub(super) fn waiting_for(self, remaining: u16, known: u16) -> Pair {
        let ends = u64::from(self.ends());
        Pair(ends | u64::from(remaining) << REMAINING | u64::from(known) << KNOWN)
    }

    /// The pair after a grant; it must wait for one.
    #[inline(always)]
    pub(super) fn granted_one(self) -> Pair {
        debug_assert!(self.remaining() > 0);
        Pair(self.0 - (1 << REMAINING))
    }

    /// Both endpoints as one number.
    #[inline(always)]
    pub(super) fn ends(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}, {} to go", self.source(), self.destination(), self.remaining())
    }
}
