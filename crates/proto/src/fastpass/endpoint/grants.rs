//! The slots that an endpoint has been granted and has not used yet.

use std::collections::VecDeque;

use crate::fastpass::fcp::Grant;

/// Grants that an endpoint holds at most. An arbiter is some 60 slots ahead, so that this many never come.
const MOST_HELD: usize = 1 << 13;

/// Grants, earliest slot first.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    held: VecDeque<Grant>,
}

/// Why a grant is not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotHeld {
    /// There is one for the same slot and destination.
    Duplicate,
    /// There are too many.
    Overfull,
}

impl Grants {
    /// The grant of the earliest slot.
    #[inline]
    pub(super) fn first(&self) -> Option<&Grant> {
        self.held.front()
    }

    /// Takes the grant of the earliest slot away.
    pub(super) fn take_first(&mut self) -> Option<Grant> {
        self.held.pop_front()
    }

    /// Takes the grant of the latest slot away if that is not before `slot`.
    pub(super) fn take_from(&mut self, slot: u64) -> Option<Grant> {
        let last = self.held.back()?;
        (last.slot >= slot).then(|| self.held.pop_back()).flatten()
    }

    /// Holds a grant. They come nearly in order, so its place is near the end.
    pub(super) fn insert(&mut self, grant: Grant) -> Result<(), NotHeld> {
        if self.held.len() == MOST_HELD {
            return Err(NotHeld::Overfull);
        }
        let mut place = self.held.len();
        while place > 0 && self.held[place - 1].slot >= grant.slot {
            let before = self.held[place - 1];
            if (before.slot, before.destination) == (grant.slot, grant.destination) {
                return Err(NotHeld::Duplicate);
            }
            place -= 1;
        }
        self.held.insert(place, grant);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(slot: u64, destination: u16) -> Grant {
        Grant { slot, destination, path: 0 }
    }

    #[test]
    fn grants_are_in_the_order_of_their_slots_and_none_is_held_twice() {
        let mut grants = Grants::default();
        for slot in [5, 9, 7, 3] {
            assert_eq!(grants.insert(grant(slot, 1)), Ok(()));
        }
        assert_eq!(grants.insert(grant(7, 1)), Err(NotHeld::Duplicate));
        assert_eq!(grants.insert(grant(7, 2)), Ok(()));
        assert_eq!(grants.take_from(8).map(|grant| grant.slot), Some(9));
        assert_eq!(grants.take_from(8), None);
        let slots: Vec<_> = std::iter::from_fn(|| grants.take_first()).map(|grant| grant.slot).collect();
        assert_eq!(slots, [3, 5, 7, 7]);
    }

    #[test]
    fn no_more_than_the_most_are_held() {
        let mut grants = Grants::default();
        for slot in 0..MOST_HELD as u64 {
            assert_eq!(grants.insert(grant(slot, 1)), Ok(()));
        }
        assert_eq!(grants.insert(grant(1 << 20, 1)), Err(NotHeld::Overfull));
    }
}
