//! Which packets are on which link: the state in which packets are moved from dead links to living ones.

use super::colouring::Edge;
use super::dead_links::Links;
use super::layout::Layout;
use super::path_set::PathSet;
use super::slot::{BYPASS, MAX_RACKS};

/// A mark that stands in the place of an edge where there is none.
pub(super) const NONE: u16 = u16::MAX;
/// Senders from 0, then receivers from the table's side.
pub(super) const NODES: usize = 2 * MAX_RACKS;

/// The packets of one graph on the links of its nodes. A *link* is a node and a path.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    layout: Layout,
    paths: usize,
    /// The paths in use whose link is alive, of each node.
    living: [u32; NODES],
    /// Packets that each link of a node carries.
    carries: [u16; NODES],
    /// The most packets on each link of a node in this slot.
    most: [u16; NODES],
    /// The living paths whose link has room, of each node.
    open: [u32; NODES],
    /// Packets on each link.
    load: Box<[u16]>,
    /// The packet that has been longest on each link, the first of a ring.
    first: Box<[u16]>,
    /// The neighbours of each packet in the ring of its sender's link, and of its receiver's: before it and behind it.
    rings: Box<[[[u16; 2]; 2]]>,
    /// The two nodes of each packet.
    ends: Box<[[u8; 2]]>,
}

impl Seats {
    /// Returns empty seats for graphs with up to `edges` edges, whose nodes have these links and whose packets take the paths
    /// `kept`.
    pub(super) fn new(
        layout: Layout,
        edges: usize,
        paths: usize,
        kept: PathSet,
        links: impl Iterator<Item = [Links; 2]>,
    ) -> Seats {
        let (mut living, mut carries) = ([kept.bits(); NODES], [0; NODES]);
        for (node, both) in links.enumerate() {
            for (node, links) in [node, layout.side() + node].into_iter().zip(both) {
                living[node] = kept.without(links.dead).bits();
                carries[node] = links.carries;
            }
        }
        Seats {
            layout,
            paths,
            living,
            carries,
            most: [0; NODES],
            open: [0; NODES],
            load: vec![0; NODES * paths].into_boxed_slice(),
            first: vec![NONE; NODES * paths].into_boxed_slice(),
            rings: vec![[[NONE; 2]; 2]; edges].into_boxed_slice(),
            ends: vec![[0; 2]; edges].into_boxed_slice(),
        }
    }

    fn nodes(&self) -> usize {
        2 * self.layout.side()
    }

    fn place(&self, node: usize, path: usize) -> usize {
        node * self.paths + path
    }

    /// Counts the packets of each link, dead ones too.
    pub(super) fn count(&mut self, edges: &[Edge], chosen: &[u8]) {
        let places = self.nodes() * self.paths;
        self.load[..places].fill(0);
        for (edge, &path) in edges.iter().zip(chosen) {
            if path != BYPASS {
                let (row, column) = self.layout.nodes(usize::from(edge.cell()));
                for node in [row, self.layout.side() + column] {
                    let place = self.place(node, usize::from(path));
                    self.load[place] += 1;
                }
            }
        }
        for node in 0..self.nodes() {
            let degree: u16 = self.load[self.place(node, 0)..][..self.paths].iter().sum();
            self.most[node] = self.carries[node].max(degree.div_ceil(self.paths as u16));
        }
    }

    /// The counts of two paths are exchanged at all nodes.
    pub(super) fn swap_counts(&mut self, a: usize, b: usize) {
        let places = self.nodes() * self.paths;
        for loads in self.load[..places].chunks_exact_mut(self.paths) {
            loads.swap(a, b);
        }
    }

    pub(super) fn load(&self, node: usize, path: usize) -> u16 {
        self.load[self.place(node, path)]
    }

    /// Packets too many on a link.
    pub(super) fn excess(&self, node: usize, path: usize) -> u16 {
        let most = if self.living[node] >> path & 1 == 1 { self.most[node] } else { 0 };
        self.load(node, path).saturating_sub(most)
    }

    /// A node with packets too many on a link of this path.
    pub(super) fn overfull(&self, path: usize) -> Option<usize> {
        (0..self.nodes()).find(|&node| self.excess(node, path) > 0)
    }

    /// Puts every packet on its link. Before, packets must have been counted.
    pub(super) fn fill(&mut self, edges: &[Edge], chosen: &[u8]) {
        let places = self.nodes() * self.paths;
        self.load[..places].fill(0);
        self.first[..places].fill(NONE);
        for (number, (edge, &path)) in edges.iter().zip(chosen).enumerate() {
            if path != BYPASS {
                let (row, column) = self.layout.nodes(usize::from(edge.cell()));
                self.ends[number] = [row as u8, (self.layout.side() + column) as u8];
                self.join(number as u16, path);
            }
        }
        for node in 0..self.nodes() {
            for path in 0..self.paths {
                self.note_room(node, path);
            }
        }
    }

    fn note_room(&mut self, node: usize, path: usize) {
        let room = self.load(node, path) < self.most[node];
        let bit = u32::from(room) << path & self.living[node];
        self.open[node] = self.open[node] & !(1 << path) | bit;
    }

    pub(super) fn ends(&self, edge: u16) -> [usize; 2] {
        self.ends[usize::from(edge)].map(usize::from)
    }

    /// The node of a rack as a receiver.
    pub(super) fn receiver(&self, rack: usize) -> usize {
        self.layout.side() + rack
    }

    /// The racks, or pods, of a packet's sender and receiver.
    pub(super) fn racks(&self, edge: u16) -> [usize; 2] {
        let [sender, receiver] = self.ends(edge);
        [sender, receiver - self.layout.side()]
    }

    /// The end of an edge that is not `node`.
    pub(super) fn other_end(&self, edge: u16, node: usize) -> usize {
        let [sender, receiver] = self.ends(edge);
        sender + receiver - node
    }

    pub(super) fn open(&self, node: usize) -> u32 {
        self.open[node]
    }

    pub(super) fn living(&self, node: usize) -> u32 {
        self.living[node]
    }

    /// The most packets on each link of a node in this slot.
    pub(super) fn most(&self, node: usize) -> u16 {
        self.most[node]
    }

    /// Puts a packet that is on no link on the links of a path.
    pub(super) fn seat(&mut self, edge: u16, path: u8) {
        self.join(edge, path);
        self.ends(edge).into_iter().for_each(|node| self.note_room(node, path.into()));
    }

    /// Does what [`Self::seat`] does, without looking whether the links have room still.
    fn join(&mut self, edge: u16, path: u8) {
        for (side, node) in self.ends(edge).into_iter().enumerate() {
            let place = self.place(node, usize::from(path));
            self.load[place] += 1;
            let first = self.first[place];
            let (before, behind) = if first == NONE {
                self.first[place] = edge;
                (edge, edge)
            } else {
                (self.rings[usize::from(first)][side][0], first)
            };
            self.rings[usize::from(edge)][side] = [before, behind];
            self.rings[usize::from(before)][side][1] = edge;
            self.rings[usize::from(behind)][side][0] = edge;
        }
    }

    /// Takes a packet from the links of a path.
    pub(super) fn unseat(&mut self, edge: u16, path: u8) {
        for (side, node) in self.ends(edge).into_iter().enumerate() {
            let place = self.place(node, usize::from(path));
            self.load[place] -= 1;
            let [before, behind] = self.rings[usize::from(edge)][side];
            self.rings[usize::from(before)][side][1] = behind;
            self.rings[usize::from(behind)][side][0] = before;
            if self.first[place] == edge {
                self.first[place] = if behind == edge { NONE } else { behind };
            }
            self.note_room(node, usize::from(path));
        }
    }

    /// The packets on a link, in the order in which they came there.
    pub(super) fn on(&self, node: usize, path: usize) -> impl Iterator<Item = u16> + '_ {
        let first = self.first[self.place(node, path)];
        let side = usize::from(node >= self.layout.side());
        let mut next = first;
        std::iter::from_fn(move || {
            let edge = (next != NONE).then_some(next)?;
            let behind = self.rings[usize::from(edge)][side][1];
            next = if behind == first { NONE } else { behind };
            Some(edge)
        })
    }
}
