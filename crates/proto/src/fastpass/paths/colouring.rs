//! The colouring of one graph with a power of two of colours.

use super::layout::Layout;
use super::slot::MAX_PATHS;
use super::tree::Tree;
use super::turns::Turns;

/// A packet between two racks: its cell (16 bits) and how many packets of that came before it, modulo 256, in one word, which
/// takes one store.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Edge(u32);

impl Edge {
    #[inline(always)]
    fn new(cell: u16, number: u8) -> Edge {
        Edge(u32::from(cell) | u32::from(number) << 16)
    }

    #[inline(always)]
    pub(super) fn cell(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    fn number(self) -> u8 {
        (self.0 >> 16) as u8
    }
}

/// Colours bipartite multigraphs so that each node has as many edges of each colour, rounded down or up.
#[derive(Clone, Debug)]
pub(super) struct Colouring {
    layout: Layout,
    levels: usize,
    /// Where each row begins, looked up as shifting by a variable takes longer.
    rows: [u16; 256],
    /// How many packets each cell has, modulo 256: a place for each number that a `u16` can be, so that no index needs a check.
    packets: Box<[u8; PLACES]>,
    edges: Box<[Edge]>,
    tree: Tree,
    turns: Turns,
}

impl Colouring {
    /// Returns a colouring for graphs with up to `nodes` senders and receivers, `edges` edges and `1 << max_levels` colours; with
    /// one, at first.
    pub(super) fn new(nodes: usize, edges: usize, max_levels: usize) -> Colouring {
        let layout = Layout::new(nodes);
        Colouring {
            layout,
            levels: 0,
            rows: std::array::from_fn(|row| ((row % layout.side()) << layout.shift) as u16),
            packets: vec![0; PLACES].try_into().expect("as many as asked for"),
            edges: vec![Edge::default(); edges].into_boxed_slice(),
            tree: Tree::new(layout, max_levels),
            turns: Turns::new(layout),
        }
    }

    /// From now on there are `1 << levels` colours with these names.
    pub(super) fn set_colours(&mut self, levels: usize, names: [u8; MAX_PATHS]) {
        self.levels = levels;
        self.turns.set_colours(levels, names);
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// Colours the edges `graph`, from row to column, at most as many as there is room for: writes their colours' names.
    /// An edge from a node to itself is part of no graph and has [`super::BYPASS`] for a colour.
    pub(super) fn colour(
        &mut self,
        graph: impl ExactSizeIterator<Item = (u8, u8)>,
        names: &mut [u8],
    ) -> &[Edge] {
        let (layout, count) = (self.layout, graph.len());
        self.count(graph);
        layout.diagonal().for_each(|cell| self.packets[cell] = 0);
        self.tree.split(&self.packets[..layout.cells()], self.levels);
        self.turns.load(layout, &self.tree);
        let edges = &self.edges[..count];
        let numbered = edges.iter().map(|edge| (edge.cell(), edge.number()));
        self.turns.name(&self.tree, numbered, names);
        edges
    }

    /// Counts the packets of each cell.
    // Not inlined so that what its loop uses stays in registers.
    #[inline(never)]
    fn count(&mut self, graph: impl ExactSizeIterator<Item = (u8, u8)>) {
        let Colouring { layout, rows, packets, edges, .. } = self;
        packets[..layout.cells()].fill(0);
        for (edge, (row, column)) in edges[..graph.len()].iter_mut().zip(graph) {
            let cell = rows[usize::from(row)] | u16::from(column);
            let packets = &mut packets[usize::from(cell)];
            *edge = Edge::new(cell, *packets);
            *packets = packets.wrapping_add(1);
        }
    }
}

const PLACES: usize = 1 << 16;
