//! A set of paths, such as those that have failed.

use super::slot::MAX_PATHS;

/// A set of path numbers from 0 to [`MAX_PATHS`] − 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSet(u32);

impl PathSet {
    /// No path.
    pub const EMPTY: PathSet = PathSet(0);

    /// The paths from 0 to `count` − 1, of which there are at most [`MAX_PATHS`].
    pub fn first(count: usize) -> PathSet {
        assert!(count <= MAX_PATHS, "more paths than there can be");
        PathSet(if count == MAX_PATHS { u32::MAX } else { (1 << count) - 1 })
    }

    /// This set with one path more, whose number is below [`MAX_PATHS`].
    #[must_use]
    pub fn with(self, path: usize) -> PathSet {
        assert!(path < MAX_PATHS, "a path that there cannot be");
        PathSet(self.0 | 1 << path)
    }

    /// The paths of this set that `other` does not have.
    #[must_use]
    pub fn without(self, other: PathSet) -> PathSet {
        PathSet(self.0 & !other.0)
    }

    /// The paths that are in either set.
    #[must_use]
    pub(super) fn union(self, other: PathSet) -> PathSet {
        PathSet(self.0 | other.0)
    }

    /// The paths that are in both sets.
    #[must_use]
    pub(super) fn and(self, other: PathSet) -> PathSet {
        PathSet(self.0 & other.0)
    }

    /// Returns whether `path` is in the set.
    pub fn contains(self, path: usize) -> bool {
        path < MAX_PATHS && self.0 >> path & 1 == 1
    }

    /// Number of paths in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether there is no path in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// A bit for each path.
    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// The paths, lowest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        bits(self.0).map(usize::from)
    }
}

/// The numbers of the bits that are set, lowest first.
pub(super) fn bits(mut rest: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let lowest = (rest != 0).then_some(rest.trailing_zeros() as u8)?;
        rest &= rest - 1;
        Some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_paths_is_a_set() {
        let set = PathSet::EMPTY.with(3).with(31).with(3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 31]);
        assert_eq!((set.len(), set.is_empty()), (2, false));
        assert_eq!(PathSet::first(MAX_PATHS).without(set).len(), 30);
        assert_eq!(PathSet::first(4).iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(PathSet::EMPTY.is_empty());
        assert!(!set.contains(MAX_PATHS));
    }
}
