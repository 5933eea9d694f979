//! A set of packet numbers, for whoever has to note packets out of order: bits in a ring.

/// A set of packet numbers within a window that moves up, as a ring of bits.
#[derive(Clone, Debug)]
pub(super) struct SequenceSet {
    words: Box<[u64]>,
    len: u32,
}

impl SequenceSet {
    /// Returns an empty set for windows of up to `reach` packets.
    pub(super) fn new(reach: u32) -> SequenceSet {
        let words = reach.div_ceil(u64::BITS).next_power_of_two();
        SequenceSet { words: vec![0; words as usize].into_boxed_slice(), len: 0 }
    }

    fn place(&self, seq: u32) -> (usize, u64) {
        ((seq / u64::BITS) as usize & (self.words.len() - 1), 1 << (seq % u64::BITS))
    }

    pub(super) fn contains(&self, seq: u32) -> bool {
        let (word, bit) = self.place(seq);
        self.words[word] & bit != 0
    }

    /// Adds a number. Returns whether it is new.
    pub(super) fn insert(&mut self, seq: u32) -> bool {
        let (word, bit) = self.place(seq);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += u32::from(new);
        new
    }

    /// Takes a number out. Returns whether it was in.
    pub(super) fn remove(&mut self, seq: u32) -> bool {
        let (word, bit) = self.place(seq);
        let had = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        self.len -= u32::from(had);
        had
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The lowest member in `from..to`.
    pub(super) fn first(&self, from: u32, to: u32) -> Option<u32> {
        let mut seq = from;
        while self.len > 0 && seq < to {
            let (word, bit) = self.place(seq);
            let above = self.words[word] & !(bit - 1);
            if above != 0 {
                let found = seq - seq % u64::BITS + above.trailing_zeros();
                return (found < to).then_some(found);
            }
            seq = (seq - seq % u64::BITS).checked_add(u64::BITS)?;
        }
        None
    }

    /// The highest member in `from..to`.
    pub(super) fn last(&self, from: u32, to: u32) -> Option<u32> {
        let mut end = to;
        while self.len > 0 && from < end {
            let top = end - 1;
            let (word, bit) = self.place(top);
            let below = self.words[word] & (bit | (bit - 1));
            if below != 0 {
                let found = top - top % u64::BITS + below.ilog2();
                return (found >= from).then_some(found);
            }
            end = top - top % u64::BITS;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const REACH: u32 = 128;

    #[test]
    fn a_set_finds_members_across_its_words() {
        let mut set = SequenceSet::new(128);
        for seq in [63, 64, 190] {
            assert!(set.insert(seq));
        }
        assert!(!set.insert(64));
        assert_eq!(set.first(63, 191), Some(63));
        assert_eq!(set.first(64, 191), Some(64));
        assert_eq!(set.first(65, 191), Some(190));
        assert_eq!(set.first(65, 190), None);
        assert!(set.remove(190));
        assert!(!set.remove(190));
        assert_eq!(set.len(), 2);
    }

    #[test]
    fn a_set_searches_up_to_the_last_packet_a_flow_can_have() {
        let mut set = SequenceSet::new(64);
        let end = u32::MAX;
        set.insert(end - 60);
        assert_eq!(set.first(end - 60, end), Some(end - 60));
        assert_eq!(set.first(end - 59, end), None);
        assert_eq!(set.last(end - 63, end), Some(end - 60));
    }

    proptest! {
        /// The ring against a tree, in a window that moves up as far as a flow can go.
        #[test]
        fn a_set_is_a_set(
            start in prop_oneof![0..1000_u32, u32::MAX - 1000..u32::MAX - 928],
            steps in vec((0..4_u32, 0..REACH, 0..REACH, 0..=REACH), 1..200),
        ) {
            let (mut ring, mut tree, mut base) = (SequenceSet::new(REACH), BTreeSet::new(), start);
            for (kind, at, from, to) in steps {
                let (seq, from, to) = (base + at, base + from, base + to);
                match kind {
                    0 | 1 => prop_assert_eq!(ring.insert(seq), tree.insert(seq)),
                    2 => prop_assert_eq!(ring.remove(seq), tree.remove(&seq)),
                    _ => {
                        let up = base + at % 5;
                        (base..up).for_each(|gone| { ring.remove(gone); tree.remove(&gone); });
                        base = up;
                        continue;
                    }
                }
                let within = || tree.iter().copied().filter(|&seq| from <= seq && seq < to);
                prop_assert_eq!(ring.first(from, to), within().next());
                prop_assert_eq!(ring.last(from, to), within().next_back());
                prop_assert_eq!(ring.contains(seq), tree.contains(&seq));
                prop_assert_eq!(ring.len() as usize, tree.len());
            }
        }
    }
}
