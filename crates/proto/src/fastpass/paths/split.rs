//! The split of a graph in two halves that are alike at every rack: an Euler split.

use super::chains::Chains;
use super::layout::Layout;
use super::squares;

/// Splits graphs that are planes of one table: a bit for each edge.
#[derive(Clone, Debug)]
pub(super) struct Splitter {
    layout: Layout,
    /// The edges that no half has yet.
    rest: Box<[u64]>,
    chains: Chains,
}

impl Splitter {
    pub(super) fn new(layout: Layout) -> Splitter {
        Splitter {
            layout,
            rest: vec![0; layout.words()].into_boxed_slice(),
            chains: Chains::new(layout.cells()),
        }
    }

    /// Makes `picked` half of the `edges`, so that each row and each column has as many in it as outside it, or one more or
    /// one fewer.
    pub(super) fn split(&mut self, edges: &[u64], picked: &mut [u64]) {
        match self.layout.shift {
            3 => self.split_in::<3>(edges, picked),
            4 => self.split_in::<4>(edges, picked),
            5 => self.split_in::<5>(edges, picked),
            6 => self.split_in::<6>(edges, picked),
            _ => self.split_in::<7>(edges, picked),
        }
    }

    fn split_in<const SHIFT: u32>(&mut self, edges: &[u64], picked: &mut [u64]) {
        assert_eq!((edges.len(), picked.len()), (self.rest.len(), self.rest.len()));
        self.rest.copy_from_slice(edges);
        picked.fill(0);
        squares::cancel::<SHIFT>(&mut self.rest, picked);
        self.chains.split::<SHIFT>(&self.rest, picked);
    }
}
