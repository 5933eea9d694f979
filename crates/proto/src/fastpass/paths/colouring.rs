//! The colouring of one graph with a power of two of colours.

use super::layout::Layout;
use super::slot::MAX_PATHS;
use super::tree::Tree;
use super::turns::Turns;

/// A packet between two racks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Edge {
    pub(super) cell: u16,
    /// How many packets of its cell came before it, modulo 256.
    number: u8,
}

/// Colours bipartite multigraphs so that each node has as many edges of each colour, rounded down or up.
#[derive(Clone, Debug)]
pub(super) struct Colouring {
    layout: Layout,
    levels: usize,
    /// How many packets each cell has, modulo 256.
    packets: Box<[u8]>,
    edges: Box<[Edge]>,
    tree: Tree,
    turns: Turns,
}

impl Colouring {
    /// For graphs with up to `nodes` senders and receivers, `edges` edges and `1 << max_levels` colours; with one, at first.
    pub(super) fn new(nodes: usize, edges: usize, max_levels: usize) -> Colouring {
        let layout = Layout::new(nodes);
        Colouring {
            layout,
            levels: 0,
            packets: vec![0; layout.cells()].into_boxed_slice(),
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
    ///
    /// The first error of `graph` ends it.
    pub(super) fn colour<E>(
        &mut self,
        graph: impl Iterator<Item = Result<(u8, u8), E>>,
        names: &mut [u8],
    ) -> Result<&[Edge], E> {
        let layout = self.layout;
        // A variable of its own, so that its place is not looked up again after each store.
        let cells = &mut *self.packets;
        cells.fill(0);
        let mut count = 0;
        for (nodes, edge) in graph.zip(&mut *self.edges) {
            let (row, column) = nodes?;
            let cell = layout.cell(row, column);
            let packets = &mut cells[cell];
            *edge = Edge { cell: cell as u16, number: *packets };
            *packets = packets.wrapping_add(1);
            count += 1;
        }
        layout.diagonal().for_each(|cell| cells[cell] = 0);
        self.tree.split(&self.packets, self.levels);
        self.turns.load(layout, &self.tree);
        let edges = &self.edges[..count];
        let numbered = edges.iter().map(|edge| (usize::from(edge.cell), edge.number));
        self.turns.name(&self.tree, numbered, names);
        Ok(edges)
    }
}
