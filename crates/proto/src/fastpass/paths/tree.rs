//! The halves of a slot's graph, their halves, and so on: a binary tree whose leaves are the colours.

use super::layout::Layout;
use super::split::Splitter;

/// The tree of splits, numbered as a heap: node 1 is the whole graph, the halves zero and one of node `n` are `2n` and
/// `2n + 1`.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    layout: Layout,
    /// The number of levels for which there is room.
    max_levels: usize,
    /// How many packets each cell has in a node's graph, modulo the number of colours below that node: `max_levels` planes
    /// a node, the lowest bit first.
    counts: Box<[u64]>,
    /// A plane for each node: the cells with an odd number of packets whose odd packet is in half one.
    picks: Box<[u64]>,
    splitter: Splitter,
}

impl Tree {
    /// Returns a tree for up to `1 << max_levels` colours.
    pub(super) fn new(layout: Layout, max_levels: usize) -> Tree {
        let nodes = 1 << max_levels;
        Tree {
            layout,
            max_levels,
            counts: vec![0; nodes * max_levels * layout.words()].into_boxed_slice(),
            picks: vec![0; nodes * layout.words()].into_boxed_slice(),
            splitter: Splitter::new(layout),
        }
    }

    /// The picks of a node of the tree.
    pub(super) fn picks(&self, node: usize) -> &[u64] {
        let words = self.layout.words();
        &self.picks[node * words..][..words]
    }

    /// Returns whether a cell is among the picks of a node of the tree, 0 or 1.
    #[inline]
    pub(super) fn pick(&self, node: usize, cell: usize) -> usize {
        (self.picks[node * self.layout.words() + (cell >> 6)] >> (cell & 63)) as usize & 1
    }

    /// Splits the graph `levels` times; `packets` has the packets in each cell, modulo 256.
    pub(super) fn split(&mut self, packets: &[u8], levels: usize) {
        assert!(levels <= self.max_levels && packets.len() == self.layout.cells());
        self.count(packets, levels);
        let words = self.layout.words();
        for node in 1..1 << levels {
            let odd = &self.counts[node * self.max_levels * words..][..words];
            self.splitter.split(odd, &mut self.picks[node * words..][..words]);
            let below = levels - node.ilog2() as usize - 1;
            if below > 0 {
                self.count_half(2 * node, below);
                self.count_half(2 * node + 1, below);
            }
        }
    }

    /// The root's planes.
    fn count(&mut self, packets: &[u8], levels: usize) {
        let words = self.layout.words();
        let root = &mut self.counts[self.max_levels * words..];
        for (word, packets) in packets.chunks_exact(64).enumerate() {
            let mut planes = [0; 8];
            for (at, eight) in packets.chunks_exact(8).map(word_of).enumerate() {
                for (bit, plane) in planes[..levels].iter_mut().enumerate() {
                    *plane |= gather(eight >> bit) << (8 * at);
                }
            }
            for (bit, plane) in planes[..levels].iter().enumerate() {
                root[bit * words + word] = *plane;
            }
        }
    }

    /// The planes of half `node`: half its parent's counts, and one more where it has the odd packet.
    fn count_half(&mut self, node: usize, levels: usize) {
        let words = self.layout.words();
        let stride = self.max_levels * words;
        let (parents, halves) = self.counts.split_at_mut(node * stride);
        let parent = &parents[node / 2 * stride..][..(levels + 1) * words];
        let half = &mut halves[..levels * words];
        let picks = &self.picks[node / 2 * words..][..words];
        for word in 0..words {
            let picked = picks[word];
            let mut carry = if node % 2 == 1 { picked } else { parent[word] ^ picked };
            for level in 0..levels {
                let count = parent[(level + 1) * words + word];
                half[level * words + word] = count ^ carry;
                carry &= count;
            }
        }
    }
}

/// The lowest bits of eight bytes as one byte, the first byte's lowest.
#[inline(always)]
fn gather(bytes: u64) -> u64 {
    // The product's byte i, moved to the top, brings its bit to place i; no two terms meet.
    (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Eight bytes as a word, the first lowest.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
