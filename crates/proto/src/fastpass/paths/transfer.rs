//! From a power of two of colours to fewer: the packets of the colours too many get one of those that are kept.
//!
//! A rack with `d` packets shall have at most `ceil(d / kept)` of each colour. It is cut into that many *parts* with at most
//! `kept` packets each, and no part may have a colour twice: a proper edge colouring. A packet that has lost its colour
//! takes one that is free at both its parts. If there is none, let `a` be free at its sender's part and `b` at its
//! receiver's; on the path of edges that starts with the receiver's `a` and alternates between both colours, the two are
//! exchanged, and `a` is free there too. That path cannot reach the sender's part, which it would have to enter with an
//! edge of colour `a` (König's theorem, as it is usually proved).

use super::colouring::Edge;
use super::layout::Layout;
use super::path_set::PathSet;
use super::slot::{BYPASS, MAX_PATHS, MAX_RACKS};

/// A mark that stands in the place of an edge: none has this colour.
const NONE: u16 = u16::MAX;
/// Senders, then receivers.
const NODES: usize = 2 * MAX_RACKS;

/// Recolours one graph after the other.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    layout: Layout,
    /// Colours that are kept, the first ones.
    kept: usize,
    /// A node's packets.
    degree: [u16; NODES],
    /// A node's first part.
    first_part: [u16; NODES],
    /// The part of a node that takes the next packet without a colour.
    open_part: [u16; NODES],
    /// The edge of each colour at each part, `kept` of them a part.
    at: Box<[u16]>,
    /// The colours that a part has, and how many packets will be in it.
    parts: Box<[Part]>,
    /// The two parts of each edge.
    ends: Box<[[u16; 2]]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    colours: u32,
    size: u8,
}

impl Transfer {
    /// Returns room for graphs with up to `edges` edges.
    pub(super) fn new(layout: Layout, edges: usize) -> Transfer {
        // Every node's last part may be nearly empty.
        let entries = 2 * edges + NODES * MAX_PATHS;
        // At least three colours are kept: two are a power of two.
        let parts = 2 * edges / 3 + NODES;
        Transfer {
            layout,
            kept: 0,
            degree: [0; NODES],
            first_part: [0; NODES],
            open_part: [0; NODES],
            at: vec![NONE; entries].into_boxed_slice(),
            parts: vec![Part::default(); parts].into_boxed_slice(),
            ends: vec![[0; 2]; edges].into_boxed_slice(),
        }
    }

    /// Gives the edges whose colours are not below `kept` (at least 3) others that are, so that no node has more than its
    /// degree / `kept`, rounded up, of any colour. No node may have more than that of any colour that is kept.
    pub(super) fn recolour(&mut self, edges: &[Edge], colours: &mut [u8], kept: usize) {
        assert!(kept >= 3 && edges.len() <= self.ends.len());
        self.kept = kept;
        self.cut_nodes(edges, colours);
        self.seat_coloured(edges, colours);
        for edge in 0..edges.len() {
            if usize::from(colours[edge]) >= kept && colours[edge] != BYPASS {
                let ends = self.nodes(edges[edge]).map(|node| self.open_part(node));
                self.ends[edge] = ends;
                self.colour(edge as u16, ends, colours);
            }
        }
    }

    fn nodes(&self, edge: Edge) -> [usize; 2] {
        let (row, column) = self.layout.nodes(usize::from(edge.cell()));
        [row, MAX_RACKS + column]
    }

    /// Finds each node's degree and parts.
    fn cut_nodes(&mut self, edges: &[Edge], colours: &[u8]) {
        self.degree.fill(0);
        for (&edge, &colour) in edges.iter().zip(colours) {
            if colour != BYPASS {
                self.nodes(edge).into_iter().for_each(|node| self.degree[node] += 1);
            }
        }
        let mut parts = 0;
        for node in 0..NODES {
            self.first_part[node] = parts;
            self.open_part[node] = parts;
            parts += self.degree[node].div_ceil(self.kept as u16);
        }
        self.parts[..usize::from(parts)].fill(Part::default());
        self.at[..usize::from(parts) * self.kept].fill(NONE);
    }

    /// Puts the edges that keep their colours into the first parts that do not have them.
    fn seat_coloured(&mut self, edges: &[Edge], colours: &[u8]) {
        for (number, (&edge, &colour)) in edges.iter().zip(colours).enumerate() {
            if usize::from(colour) >= self.kept {
                continue;
            }
            self.ends[number] = self.nodes(edge).map(|node| {
                let mut part = self.first_part[node];
                while self.parts[usize::from(part)].colours >> colour & 1 == 1 {
                    part += 1;
                }
                self.parts[usize::from(part)].size += 1;
                self.set(part, colour, number as u16);
                part
            });
        }
    }

    /// A part of the node with room for one packet more, which it takes.
    fn open_part(&mut self, node: usize) -> u16 {
        let open = &mut self.open_part[node];
        while usize::from(self.parts[usize::from(*open)].size) == self.kept {
            *open += 1;
        }
        self.parts[usize::from(*open)].size += 1;
        *open
    }

    /// Colours an edge between two parts.
    fn colour(&mut self, edge: u16, [sender, receiver]: [u16; 2], colours: &mut [u8]) {
        let free = [sender, receiver]
            .map(|part| !self.parts[usize::from(part)].colours & PathSet::first(self.kept).bits());
        let both = free[0] & free[1];
        let colour = if both == 0 {
            let [a, b] = free.map(|free| free.trailing_zeros() as u8);
            self.exchange(receiver, a, b, colours);
            a
        } else {
            both.trailing_zeros() as u8
        };
        self.set(sender, colour, edge);
        self.set(receiver, colour, edge);
        colours[usize::from(edge)] = colour;
    }

    /// Exchanges two colours on the path that starts at `part` with an edge of colour `from`; the part has none of `to`.
    fn exchange(&mut self, mut part: u16, mut from: u8, mut to: u8, colours: &mut [u8]) {
        let mut edge = self.clear(part, from);
        while edge != NONE {
            // The edge becomes `to` at this part, where that is free, and drives out another at its other end.
            self.set(part, to, edge);
            colours[usize::from(edge)] = to;
            let [sender, receiver] = self.ends[usize::from(edge)];
            part = if part == sender { receiver } else { sender };
            self.clear(part, from);
            let next = self.clear(part, to);
            self.set(part, to, edge);
            edge = next;
            (from, to) = (to, from);
        }
    }

    fn set(&mut self, part: u16, colour: u8, edge: u16) {
        self.at[usize::from(part) * self.kept + usize::from(colour)] = edge;
        self.parts[usize::from(part)].colours |= 1 << colour;
    }

    /// Takes the edge of a colour away from a part; [`NONE`] if there is none.
    fn clear(&mut self, part: u16, colour: u8) -> u16 {
        self.parts[usize::from(part)].colours &= !(1 << colour);
        std::mem::replace(&mut self.at[usize::from(part) * self.kept + usize::from(colour)], NONE)
    }
}
