//! How the pairs of racks lie in memory.

/// A square table with a *cell* for each pair of a sending and a receiving rack: a row for each sender, a column for each
/// receiver. The side is a power of two from 8 to 128, so that a plane of one bit a cell is whole words, and a row is a
/// *lane* of a word, a word or two words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The side's logarithm.
    pub(super) shift: u32,
}

impl Layout {
    /// The smallest table with that many rows and columns, at most 128.
    pub(super) fn new(nodes: usize) -> Layout {
        let layout = Layout { shift: nodes.next_power_of_two().ilog2().max(3) };
        assert!(layout.side() <= super::slot::MAX_RACKS, "more racks than a table has rows");
        layout
    }

    pub(super) fn side(self) -> usize {
        1 << self.shift
    }

    pub(super) fn cells(self) -> usize {
        1 << (2 * self.shift)
    }

    /// Words of a plane with a bit for each cell.
    pub(super) fn words(self) -> usize {
        self.cells() / 64
    }

    /// The row and the column of a cell.
    #[inline]
    pub(super) fn nodes(self, cell: usize) -> (usize, usize) {
        (cell >> self.shift, cell & (self.side() - 1))
    }

    /// The cells of racks paired with themselves.
    pub(super) fn diagonal(self) -> impl Iterator<Item = usize> {
        (0..self.side()).map(move |node| node << self.shift | node)
    }
}
