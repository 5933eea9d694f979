//! The cumulative counts of each pair of endpoints, in this term and in the present incarnation of its source.

use std::ops::Range;

use crate::fastpass::fcp::Address;

/// Slots demanded and granted, modulo 2^32. The memory is 8 bytes a pair, of which only what is used is touched.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    nodes: usize,
    demanded: Box<[u32]>,
    granted: Box<[u32]>,
    /// Whether the counts of each source are from before all were to start over: they are cleared when they are wanted next, so
    /// that a takeover has not all pairs to go through.
    stale: Box<[bool]>,
}

impl Counts {
    pub(super) fn new(nodes: usize) -> Counts {
        let zeros = || vec![0; nodes * nodes].into_boxed_slice();
        let stale = vec![false; nodes].into_boxed_slice();
        Counts { nodes, demanded: zeros(), granted: zeros(), stale }
    }

    /// The place of a pair, whose source's counts are of now.
    #[inline]
    fn place(&mut self, source: Address, destination: Address) -> usize {
        if self.stale[usize::from(source)] {
            self.start_over(source);
        }
        usize::from(source) * self.nodes + usize::from(destination)
    }

    /// Slots demanded so far.
    #[inline]
    pub(super) fn demanded(&mut self, source: Address, destination: Address) -> &mut u32 {
        let place = self.place(source, destination);
        &mut self.demanded[place]
    }

    /// Slots granted so far, in packets that have been sent.
    #[inline]
    pub(super) fn granted(&mut self, source: Address, destination: Address) -> &mut u32 {
        let place = self.place(source, destination);
        &mut self.granted[place]
    }

    /// Slots granted to a source so far, by destination.
    pub(super) fn granted_by(&mut self, source: Address) -> &[u32] {
        let first = self.place(source, 0);
        &self.granted[first..first + self.nodes]
    }

    fn row(&self, source: Address) -> Range<usize> {
        usize::from(source) * self.nodes..(usize::from(source) + 1) * self.nodes
    }

    /// Counts from zero for a source.
    #[inline(never)]
    pub(super) fn start_over(&mut self, source: Address) {
        let row = self.row(source);
        self.demanded[row.clone()].fill(0);
        self.granted[row].fill(0);
        self.stale[usize::from(source)] = false;
    }

    /// Counts from zero for all sources.
    pub(super) fn start_all_over(&mut self) {
        self.stale.fill(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_start_over_at_once_and_each_by_itself() {
        let mut counts = Counts::new(3);
        for source in 0..3 {
            (*counts.demanded(source, 1), *counts.granted(source, 1)) = (5, 4);
        }
        counts.start_over(2);
        assert_eq!((*counts.demanded(1, 1), *counts.granted(2, 1)), (5, 0));
        counts.start_all_over();
        *counts.demanded(0, 2) = 7;
        assert_eq!((*counts.demanded(0, 1), *counts.demanded(0, 2), *counts.granted(0, 1)), (0, 7, 0));
        assert_eq!(counts.granted_by(1), [0; 3]);
    }
}
