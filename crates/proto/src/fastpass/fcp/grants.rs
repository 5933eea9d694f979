//! The slots that an allocation grants: kept as steps from one to the next, as they are also written, so that writing and reading
//! them is the same work for each and needs no jump.

use super::numbers::{Address, Path, MOST_GRANTED, MOST_GRANTS};

/// Slots from one grant of an allocation to the next at most. Endpoints refuse what is further ahead by far.
pub const MOST_GAP: u64 = 0xFFF;

/// One timeslot in which one packet may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// The slot.
    pub slot: u64,
    /// Where to.
    pub destination: Address,
    /// Which way.
    pub path: Path,
}

/// The slots of an allocation, in rising order. It adds and reads them, as it knows what their destinations' numbers mean.
#[derive(Clone, Copy)]
pub struct Grants {
    /// The slots of the first grant and of the last.
    pub(super) first: u64,
    pub(super) last: u64,
    /// For each grant, how many slots it is after the one before (the lowest 12 bits; 0 for the first), and the number of its
    /// destination in the list, from 1 on (the highest four).
    steps: [u16; MOST_GRANTS],
    paths: [Path; MOST_GRANTS],
    len: u8,
}

const _: () = assert!(MOST_GRANTED < 16, "four bits name a destination");

/// Bits of a step that say how many slots it is long.
pub(super) const GAP_BITS: u32 = 12;

impl Default for Grants {
    fn default() -> Grants {
        Grants { first: 0, last: 0, steps: [0; MOST_GRANTS], paths: [0; MOST_GRANTS], len: 0 }
    }
}

impl Grants {
    /// Returns how many they are.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of the first grant.
    pub fn first(&self) -> Option<u64> {
        (self.len > 0).then_some(self.first)
    }

    /// The steps.
    pub(super) fn steps(&self) -> &[u16] {
        &self.steps[..self.len()]
    }

    /// The paths.
    pub(super) fn paths(&self) -> &[Path] {
        &self.paths[..self.len()]
    }

    /// Makes this `count` grants, at most [`MOST_GRANTS`], whatever there was. Returns the places of their steps, and of all
    /// paths that there can be, for the caller to overwrite.
    pub(super) fn resized(&mut self, count: usize) -> (&mut [u16], &mut [Path; MOST_GRANTS]) {
        self.len = count as u8;
        (&mut self.steps[..count], &mut self.paths)
    }

    /// Adds a grant to the destination of this number, from 1 to [`MOST_GRANTED`]. Returns `false`, and drops
    /// it, if there is no room.
    pub(super) fn push(&mut self, slot: u64, number: usize, path: Path) -> bool {
        let (before, len) = (if self.is_empty() { slot } else { self.last }, self.len());
        let gap = slot.wrapping_sub(before);
        if len == MOST_GRANTS || gap > MOST_GAP {
            return false;
        }
        self.first = if len == 0 { slot } else { self.first };
        self.last = slot;
        self.steps[len] = (number as u16) << GAP_BITS | gap as u16;
        self.paths[len] = path;
        self.len += 1;
        true
    }
}

impl PartialEq for Grants {
    fn eq(&self, other: &Grants) -> bool {
        (self.first(), self.steps(), self.paths()) == (other.first(), other.steps(), other.paths())
    }
}

impl Eq for Grants {}

impl std::fmt::Debug for Grants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let each = self.steps().iter().zip(self.paths());
        let each = each.map(|(step, path)| (u64::from(*step) & MOST_GAP, step >> GAP_BITS, path));
        f.debug_struct("Grants")
            .field("first", &self.first())
            .field("gap, number, path", &each.collect::<Vec<_>>())
            .finish()
    }
}
