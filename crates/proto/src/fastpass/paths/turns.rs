//! Which colour the n-th packet of a pair of racks has.
//!
//! In each graph of the tree of splits a pair's packets go to the two halves by turns. If their number is odd, the half that
//! the split picked has the first turn and so the odd packet. The bits of n say whose turn it is, level by level: no count
//! is kept, and the same matching in the same order always has the same colours.

use super::layout::Layout;
use super::slot::{BYPASS, MAX_PATHS};
use super::tree::Tree;

/// Levels of the tree that one look into a table decides.
const LEVELS: usize = 3;
/// The splits of those levels, a bit for each node of the tree. Bit 0 is no node's: it marks cells without colours.
const SPLITS: usize = 1 << (1 << LEVELS);

const PLACES: usize = 1 << 16;

/// A table of turns for one number of colours.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    levels: usize,
    /// What each colour is called.
    names: [u8; MAX_PATHS],
    /// The name of a packet's colour, by the splits of its cell and its number modulo eight; if there are more levels, the
    /// node of the tree instead.
    first: Box<[[u8; 1 << LEVELS]; SPLITS]>,
    /// The splits of each cell: a place for each number that a `u16` can be, so that no index needs a check.
    splits: Box<[u8; PLACES]>,
    /// How many cells there are.
    cells: usize,
}

impl Turns {
    pub(super) fn new(layout: Layout) -> Turns {
        let mut turns = Turns {
            levels: 0,
            names: [0; MAX_PATHS],
            first: Box::new([[BYPASS; 1 << LEVELS]; SPLITS]),
            splits: vec![0; PLACES].try_into().expect("as many as asked for"),
            cells: layout.cells(),
        };
        turns.set_colours(0, [0; MAX_PATHS]);
        turns
    }

    /// From now on there are `1 << levels` colours with these names.
    pub(super) fn set_colours(&mut self, levels: usize, names: [u8; MAX_PATHS]) {
        (self.levels, self.names) = (levels, names);
        for splits in (0..SPLITS).step_by(2) {
            for number in 0..1 << LEVELS {
                let pick = |node| splits >> node & 1;
                let node =
                    (0..levels.min(LEVELS)).fold(1, |node, level| turn(node, pick(node), number, level));
                let decided = levels <= LEVELS;
                self.first[splits][number] = if decided { names[node - (1 << levels)] } else { node as u8 };
            }
        }
    }

    /// Notes the splits of every cell; the diagonal, packets within a rack, has no colours.
    pub(super) fn load(&mut self, layout: Layout, tree: &Tree) {
        match self.levels {
            0 => self.splits[..self.cells].fill(0),
            1 => self.spread::<2>(tree),
            2 => self.spread::<4>(tree),
            _ => self.spread::<8>(tree),
        }
        for cell in layout.diagonal() {
            self.splits[cell] = 1;
        }
    }

    /// Turns planes of bits into bytes, for the tree's nodes below `NODES`.
    fn spread<const NODES: usize>(&mut self, tree: &Tree) {
        let planes: [&[u64]; NODES] = std::array::from_fn(|node| tree.picks(node));
        for (word, cells) in self.splits[..self.cells].chunks_exact_mut(64).enumerate() {
            let planes: [[u8; 8]; NODES] = planes.map(|plane| plane[word].to_le_bytes());
            for (at, cells) in cells.chunks_exact_mut(8).enumerate() {
                let splits = (1..NODES).fold(0, |splits, node| splits | scatter(planes[node][at]) << node);
                cells.copy_from_slice(&splits.to_le_bytes());
            }
        }
    }

    /// The names of the colours of packets, each given as its cell and its number there; [`BYPASS`] on the diagonal.
    // Not inlined so that what its loop uses stays in registers.
    #[inline(never)]
    pub(super) fn name(
        &self,
        tree: &Tree,
        packets: impl Iterator<Item = (u16, u8)> + Clone,
        names: &mut [u8],
    ) {
        let (splits, first) = (&*self.splits, &*self.first);
        for ((cell, number), name) in packets.clone().zip(&mut *names) {
            *name = first[usize::from(splits[usize::from(cell)])][usize::from(number) % (1 << LEVELS)];
        }
        if self.levels <= LEVELS {
            return;
        }
        for ((cell, number), name) in packets.zip(names).filter(|(_, name)| **name != BYPASS) {
            let number = usize::from(number);
            let node = (LEVELS..self.levels).fold(usize::from(*name), |node, level| {
                turn(node, tree.pick(node, usize::from(cell)), number, level)
            });
            *name = self.names[node - (1 << self.levels)];
        }
    }
}

/// The half of `node` whose turn it is at packet `number`, if half `pick` has the first turn.
#[inline(always)]
fn turn(node: usize, pick: usize, number: usize, level: usize) -> usize {
    2 * node + (pick ^ (number >> level & 1))
}

/// The bits of a byte as the lowest bits of eight bytes, the lowest bit in the first.
#[inline(always)]
fn scatter(bits: u8) -> u64 {
    SCATTERED[usize::from(bits)]
}

const SCATTERED: [u64; 256] = {
    let mut table = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[bits] |= (bits as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        bits += 1;
    }
    table
};
