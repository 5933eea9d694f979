//! The grants of a batch, by slot: what the allocator gives, and meanwhile the younger part of its queue.

use std::ops::Range;

use super::pair::Pair;

/// A batch of timeslots with the pairs that send in each.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// One row a slot, each `stride` long.
    pairs: Box<[Pair]>,
    stride: usize,
    /// Where each row ends.
    ends: [usize; 64],
    slots: u32,
}

/// Pairs in a line of the cache. Rows are apart by one more than they need, as rows of a power of two, written to at
/// equal places, would compete for the same few lines of the cache.
const LINE: usize = 8;

impl Schedule {
    /// An empty schedule of `slots` slots with at most `most_granted` pairs each.
    pub(super) fn new(slots: u32, most_granted: usize) -> Schedule {
        let stride = most_granted.next_multiple_of(LINE) + LINE;
        let pairs = vec![Pair::new(0, 0, 0); stride * slots as usize].into_boxed_slice();
        let mut schedule = Schedule { pairs, stride, ends: [0; 64], slots };
        schedule.clear();
        schedule
    }

    /// Slots in a batch.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// The pairs that send in a slot of the batch, `slot` counted from 0, in the order in which they were served.
    ///
    /// Panics if the batch has no such slot.
    pub fn slot(&self, slot: u32) -> &[Pair] {
        assert!(slot < self.slots, "slot {slot} of a batch of {}", self.slots);
        &self.pairs[slot as usize * self.stride..self.ends[slot as usize]]
    }

    /// Packets granted in the batch.
    pub fn packets(&self) -> usize {
        (0..self.slots).map(|slot| self.slot(slot).len()).sum()
    }

    /// Forgets the batch.
    pub(super) fn clear(&mut self) {
        self.ends = std::array::from_fn(|slot| slot * self.stride);
    }

    /// Where the pairs of a slot are, as far as they have been granted.
    #[inline(always)]
    pub(super) fn places(&self, slot: u32) -> Range<usize> {
        slot as usize * self.stride..self.ends[slot as usize % 64]
    }

    /// The pair at such a place.
    #[inline(always)]
    pub(super) fn pair(&self, place: usize) -> Pair {
        self.pairs[place]
    }

    /// Adds a pair to those that send in a slot.
    #[inline(always)]
    pub(super) fn grant(&mut self, slot: u32, pair: Pair) {
        let end = &mut self.ends[slot as usize % 64];
        self.pairs[*end] = pair;
        *end += 1;
    }
}
