//! The cumulative counts of each pair of endpoints, in this term and in the present incarnation of its source.

use std::ops::Range;

use crate::fastpass::fcp::Address;

/// Slots demanded and granted, modulo 2^32. The memory is 8 bytes a pair, of which only what is used is touched.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    nodes: usize,
    demanded: Box<[u32]>,
    granted: Box<[u32]>,
}

impl Counts {
    pub(super) fn new(nodes: usize) -> Counts {
        let zeros = || vec![0; nodes * nodes].into_boxed_slice();
        Counts { nodes, demanded: zeros(), granted: zeros() }
    }

    fn place(&self, source: Address, destination: Address) -> usize {
        usize::from(source) * self.nodes + usize::from(destination)
    }

    /// Slots demanded so far.
    pub(super) fn demanded(&mut self, source: Address, destination: Address) -> &mut u32 {
        &mut self.demanded[self.place(source, destination)]
    }

    /// Slots granted so far, in packets that have been sent.
    pub(super) fn granted(&mut self, source: Address, destination: Address) -> &mut u32 {
        &mut self.granted[self.place(source, destination)]
    }

    /// Slots granted to a source so far, by destination.
    pub(super) fn granted_by(&self, source: Address) -> &[u32] {
        &self.granted[self.row(source)]
    }

    fn row(&self, source: Address) -> Range<usize> {
        self.place(source, 0)..self.place(source, 0) + self.nodes
    }

    /// Counts from zero for a source.
    pub(super) fn start_over(&mut self, source: Address) {
        let row = self.row(source);
        self.demanded[row.clone()].fill(0);
        self.granted[row].fill(0);
    }
}
