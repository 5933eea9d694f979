//! The second part of a split: what is left when the cycles of four are gone, edge by edge.
//!
//! At each rack the edges are paired in the order in which they come, and the two of a pair shall fall to different halves.
//! So edges form chains, of which an edge has one neighbour at each of its two racks, and in a chain the halves alternate.
//! Chains are not followed. They are joined, one edge after the other, and only their ends are known: a rack with an edge
//! that has no partner yet is an end, and knows the rack at the other end. When all edges are in, each chain's halves are
//! chosen at its ends, and the edges are taken out again, last first: the end that a chain had when an edge came in tells the
//! edge's half, and this one tells those of the ends it joined. Both passes are straight: no searching, no jumps that depend
//! on the graph.

/// Racks as nodes: senders from 0, receivers from the table's side.
const NODES: usize = 256;

/// An edge that has been put in.
#[derive(Clone, Copy, Debug, Default)]
struct Joined {
    cell: u16,
    /// The end of the edge's chain on its sender's side: the far end of the chain that ended at the sender, or the sender.
    end: u8,
}

/// The chains of one graph after the other.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    /// The other end of the chain that ends at a node; the node itself if none does.
    other: [u8; NODES],
    joined: Box<[Joined]>,
}

impl Chains {
    /// Returns room for tables of up to `cells` cells.
    pub(super) fn new(cells: usize) -> Chains {
        Chains { other: [0; NODES], joined: vec![Joined::default(); cells].into_boxed_slice() }
    }

    /// Splits `edges`, a plane of a table with a side of `1 << SHIFT`: puts those of half one into `picked`.
    pub(super) fn split<const SHIFT: u32>(&mut self, edges: &[u64], picked: &mut [u64]) {
        let count = self.join::<SHIFT>(edges);
        let half = self.halves_at_ends::<SHIFT>();
        self.take_out::<SHIFT>(count, half, picked);
    }

    /// Puts all edges in. Returns how many there are.
    #[inline(always)]
    fn join<const SHIFT: u32>(&mut self, edges: &[u64]) -> usize {
        let Chains { other, joined } = self;
        for (node, other) in other[..2 << SHIFT].iter_mut().enumerate() {
            *other = node as u8;
        }
        let mut count = 0;
        for (word, &bits) in edges.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let cell = (word as u32) << 6 | bits.trailing_zeros();
                bits &= bits - 1;
                let (row, column) = nodes::<SHIFT>(cell);
                let (a, b) = (other[usize::from(row)], other[usize::from(column)]);
                joined[count] = Joined { cell: cell as u16, end: a };
                count += 1;
                // The joined chain ends at a and b; row and column are no ends any more, unless they were none before.
                // The order of these matters where the edge closes a ring, a being the column and b the row.
                other[usize::from(a)] = b;
                other[usize::from(b)] = a;
                other[usize::from(row)] = if a == row { b } else { row };
                other[usize::from(column)] = if b == column { a } else { column };
            }
        }
        count
    }

    /// The half of the edge at each end of a chain, inverted at receivers: so the two ends of a chain always differ, as
    /// their edges are in the same half exactly if the one is a sender and the other a receiver.
    #[inline(always)]
    fn halves_at_ends<const SHIFT: u32>(&self) -> [u8; NODES] {
        let mut half = [0; NODES];
        for ((node, half), &other) in half[..2 << SHIFT].iter_mut().enumerate().zip(&self.other) {
            *half = u8::from(node as u8 > other);
        }
        half
    }

    /// Takes the edges out, last first.
    #[inline(always)]
    fn take_out<const SHIFT: u32>(&self, count: usize, mut half: [u8; NODES], picked: &mut [u64]) {
        for &Joined { cell, end } in self.joined[..count].iter().rev() {
            let (row, column) = nodes::<SHIFT>(u32::from(cell));
            // The edge and the chain's end on its sender's side are an even number of edges apart if that end is a sender.
            let this = half[usize::from(end)];
            picked[usize::from(cell >> 6)] |= u64::from(this) << (cell & 63);
            // The chains that ended at its sender and its receiver ended there with edges of the other half.
            half[usize::from(row)] = this ^ 1;
            half[usize::from(column)] = this;
        }
    }
}

/// The nodes of a cell's row and column.
#[inline(always)]
fn nodes<const SHIFT: u32>(cell: u32) -> (u8, u8) {
    let side = 1 << SHIFT;
    ((cell >> SHIFT) as u8, (cell & (side - 1) | side) as u8)
}
