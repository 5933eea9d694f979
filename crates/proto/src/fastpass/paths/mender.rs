//! Paths where links are dead: packets whose links are dead are moved to others.
//!
//! The graph is coloured as if all links lived. Then, step by step:
//!
//! 1. Which colour stands for which path is free to choose: a path with dead links gets the colour of which the racks at these
//!    links have the fewest packets, none if they have fewer packets than paths.
//! 2. Every packet that is still on a dead link is taken from its path. It gets another one with room at both its racks.
//! 3. If there is none, let its sender have room on path `p` and its receiver on `q`. An *exchange* at the receiver makes room on
//!    `p`: one of its packets there moves to `q`; if that is one too many for the link at the packet's sender, one of those
//!    moves from `q` to `p`, and so on: a chain of two colours (Kempe), as `transfer` has them. What is new is that a chain must
//!    not pass a rack whose link for the next packet is dead: then it is undone, and other paths are tried.
//! 4. If no exchange helps, the packet takes the path of another, and that one looks for a path in its place, a few times over.
//! 5. A packet that gets none is [`BLOCKED`].
//!
//! In a fat tree, [`Pods`] limits what aggregation switches take to and from the core: they exchange packets with others then.
//!
//! Between two steps no link has a packet too many, so whatever comes of a search, and wherever it is given up, the law holds.

use super::colouring::Edge;
use super::dead_links::Links;
use super::layout::Layout;
use super::path_set::{bits, PathSet};
use super::pods::{Limit, Pods};
use super::seats::{Seats, NONE};
use super::slot::{BLOCKED, BYPASS, MAX_PATHS};

/// Moves allowed in a slot, for each packet that has lost its path and each packet of the slot.
const MOVES_PER_PACKET: usize = 2;

/// How long a chain of packets may be in which one without a path displaces another, and that one another.
const DISPLACED: usize = 8;
/// How often other packets are exchanged for one that an aggregation switch cannot pass on.
const SHUFFLES: usize = 12;

/// Moves the packets of one graph after the other from dead links.
#[derive(Clone, Debug)]
pub(super) struct Mender {
    /// The dead links of paths in use, by path: nodes and paths.
    dead: Box<[(u8, u8)]>,
    /// The paths in use.
    kept: PathSet,
    /// Whether some paths are not in use, so that a slot can have more packets for the others than they carry.
    fewer: bool,
    /// What the links to the core carry, of aggregation switches.
    pods: Option<Pods>,
    seats: Seats,
    /// Packets that have lost their path.
    lost: Vec<u16>,
    /// The moves of the present chain: packets and the paths that they left.
    moves: Vec<(u16, u8)>,
    /// Moves that are left for this slot.
    budget: usize,
    /// The path that is taken first, of several that are as good, in the present slot.
    first: u8,
}

impl Mender {
    /// Returns a mender for graphs with up to `edges` edges, whose nodes have these links; the packets are coloured with the
    /// paths `kept`.
    pub(super) fn new(
        layout: Layout,
        edges: usize,
        paths: usize,
        kept: PathSet,
        links: impl Iterator<Item = [Links; 2]> + Clone,
        pods: Option<Pods>,
    ) -> Mender {
        let at_nodes = links.clone().enumerate();
        let of = |path: usize| {
            at_nodes.clone().flat_map(move |(node, both)| {
                let dead = [node, layout.side() + node].into_iter().zip(both);
                dead.filter(move |(_, links)| links.dead.contains(path))
                    .map(move |(node, _)| (node as u8, path as u8))
            })
        };
        Mender {
            dead: kept.iter().flat_map(of).collect(),
            kept,
            fewer: kept.len() < paths,
            pods,
            seats: Seats::new(layout, edges, paths, kept, links),
            lost: Vec::with_capacity(edges),
            moves: Vec::with_capacity(edges),
            budget: 0,
            first: 0,
        }
    }

    /// Gives the packets on dead links, and those too many on a living one, other paths, or [`BLOCKED`]. Of several that are as
    /// good it is the next one from `first` on.
    // Not inlined as most networks have no dead link.
    #[inline(never)]
    pub(super) fn mend(&mut self, edges: &[Edge], chosen: &mut [u8], first: u8) {
        self.seats.count(edges, chosen);
        self.rename(chosen);
        if self.pods.is_none() && !self.has_conflicts() {
            return;
        }
        self.seats.fill(edges, chosen);
        self.lose(chosen);
        self.first = first;
        self.budget = MOVES_PER_PACKET * edges.len() * self.lost.len().min(edges.len());
        for at in 0..self.lost.len() {
            self.find_path(self.lost[at], chosen);
        }
        if let Some(pods) = self.pods.take() {
            self.relieve(&pods, chosen);
            self.pods = Some(pods);
        }
    }

    /// Gives a packet that has none a path, or [`BLOCKED`], to it or to one that it displaces.
    fn find_path(&mut self, mut edge: u16, chosen: &mut [u8]) {
        for step in 0..=DISPLACED {
            // Where all living links of a rack are full, every exchange leaves them full.
            if self.seats.ends(edge).iter().any(|&end| self.seats.open(end) == 0) {
                break;
            }
            if let Some(path) = self.path_for(edge, chosen) {
                self.seats.seat(edge, path);
                chosen[usize::from(edge)] = path;
                return;
            }
            let displaced = if step < DISPLACED { self.displace(edge, step, chosen) } else { None };
            let Some(displaced) = displaced else { break };
            edge = displaced;
        }
        chosen[usize::from(edge)] = BLOCKED;
    }

    /// Gives a packet the path of another that has room at one end: the `step`-th such path, round and round. The other packet.
    fn displace(&mut self, edge: u16, step: usize, chosen: &mut [u8]) -> Option<u16> {
        let [sender, receiver] = self.seats.ends(edge);
        let can = self.seats.living(sender) & self.seats.living(receiver);
        let ends = [[sender, receiver], [receiver, sender]];
        let choices = || {
            ends.iter()
                .flat_map(|&[here, there]| bits(can & self.seats.open(here)).map(move |path| (there, path)))
        };
        let (node, path) = choices().nth(step % choices().count().max(1))?;
        let displaced = self.seats.on(node, path.into()).next()?;
        self.seats.unseat(displaced, path);
        self.seats.seat(edge, path);
        chosen[usize::from(edge)] = path;
        Some(displaced)
    }

    /// Moves packets from aggregation switches that cannot pass all of them on to the core.
    fn relieve(&mut self, pods: &Pods, chosen: &mut [u8]) {
        let (mut number, mut shuffles) = (0, 0);
        self.budget = MOVES_PER_PACKET * self.moves.capacity() * 8;
        while let Some(limit) = pods.limit(number) {
            if shuffles == SHUFFLES || !pods.can_relieve(limit, &self.seats) {
                (number, shuffles) = (number + 1, 0);
            } else if !self.relieve_by_one(pods, limit, chosen) {
                self.shuffle(pods, limit, shuffles, chosen);
                shuffles += 1;
            }
        }
    }

    /// Exchanges packets of a pod's other aggregation switches, so that others can be exchanged next.
    fn shuffle(&mut self, pods: &Pods, limit: Limit, number: usize, chosen: &mut [u8]) {
        let excess = pods.excess(&self.seats);
        let others = self.kept.without(PathSet::EMPTY.with(limit.aggregation.into()));
        let path = |at: usize| others.iter().nth(at % others.len().max(1));
        let (Some(from), Some(to)) = (path(number), path(number + 1)) else { return };
        self.lost.clear();
        self.lost.extend(pods.packets(limit.at(from as u8), &self.seats));
        let count = self.lost.len();
        self.lost.rotate_left(number / others.len() % count.max(1));
        for at in 0..self.lost.len() {
            if from != to && self.flip(self.lost[at], from as u8, to as u8, chosen) {
                if pods.excess(&self.seats) <= excess {
                    return;
                }
                self.undo(chosen);
            }
        }
    }

    /// Moves packets so that the limits allow more of them. Returns whether that was possible.
    fn relieve_by_one(&mut self, pods: &Pods, limit: Limit, chosen: &mut [u8]) -> bool {
        let excess = pods.excess(&self.seats);
        self.lost.clear();
        self.lost.extend(pods.packets(limit, &self.seats));
        let from = limit.aggregation;
        for path in self.kept.iter().map(|path| path as u8).filter(|&path| path != from) {
            for at in 0..self.lost.len() {
                if self.flip(self.lost[at], from, path, chosen) {
                    if pods.excess(&self.seats) < excess {
                        return true;
                    }
                    self.undo(chosen);
                }
            }
        }
        false
    }

    /// Exchanges colours, so that as few packets as can be are on dead links.
    fn rename(&mut self, chosen: &mut [u8]) {
        let mut names: [u8; MAX_PATHS] = std::array::from_fn(|path| path as u8);
        let mut free = self.kept;
        for dead in self.dead.chunk_by(|(_, a), (_, b)| a == b) {
            let path = usize::from(dead[0].1);
            let hurt = |colour: usize| -> u32 {
                dead.iter().map(|&(node, _)| u32::from(self.seats.load(usize::from(node), colour))).sum()
            };
            let present = hurt(path);
            let best = free.iter().min_by_key(|&colour| hurt(colour)).filter(|&best| hurt(best) < present);
            free = free.without(PathSet::EMPTY.with(path));
            if let Some(best) = best {
                self.seats.swap_counts(path, best);
                names.swap(path, best);
            }
        }
        let mut renamed: [u8; MAX_PATHS] = [0; MAX_PATHS];
        for (path, &colour) in names.iter().enumerate() {
            renamed[usize::from(colour)] = path as u8;
        }
        if renamed.iter().enumerate().any(|(colour, &path)| colour != usize::from(path)) {
            for path in chosen.iter_mut().filter(|path| **path != BYPASS) {
                *path = renamed[usize::from(*path)];
            }
        }
    }

    fn has_conflicts(&self) -> bool {
        let on_dead = |&(node, path): &(u8, u8)| self.seats.load(node.into(), path.into()) > 0;
        let too_many = || self.kept.iter().any(|path| self.seats.overfull(path).is_some());
        self.dead.iter().any(on_dead) || self.fewer && too_many()
    }

    /// Takes the packets too many from their links.
    fn lose(&mut self, chosen: &[u8]) {
        self.lost.clear();
        let dead = self.dead.iter().map(|&(node, path)| (usize::from(node), usize::from(path)));
        for (node, path) in dead {
            Self::empty(&mut self.seats, &mut self.lost, node, path, chosen);
        }
        if self.fewer {
            for path in self.kept.iter() {
                while let Some(node) = self.seats.overfull(path) {
                    Self::empty(&mut self.seats, &mut self.lost, node, path, chosen);
                }
            }
        }
    }

    fn empty(seats: &mut Seats, lost: &mut Vec<u16>, node: usize, path: usize, chosen: &[u8]) {
        for _ in 0..seats.excess(node, path) {
            let edge = seats.on(node, path).next().expect("a link with packets");
            seats.unseat(edge, chosen[usize::from(edge)]);
            lost.push(edge);
        }
    }

    /// Finds a path for a packet that has none, and makes room there.
    fn path_for(&mut self, edge: u16, chosen: &mut [u8]) -> Option<u8> {
        let [sender, receiver] = self.seats.ends(edge);
        if let Some(path) = self.common(sender, receiver) {
            return Some(path);
        }
        let can = self.seats.living(sender) & self.seats.living(receiver);
        for [here, there] in [[sender, receiver], [receiver, sender]] {
            for path in bits(can & self.seats.open(here)) {
                for to in bits(self.seats.open(there)) {
                    if self.exchange(there, path, to, chosen) {
                        // The chain may have come by here, in a multigraph, and filled the link.
                        if let Some(path) = self.common(sender, receiver) {
                            return Some(path);
                        }
                    }
                }
            }
        }
        self.path_by_two_exchanges(edge, can, chosen)
    }

    /// Does what [`Self::path_for`] does, where what has room at one end is dead at the other: makes room at both.
    fn path_by_two_exchanges(&mut self, edge: u16, can: u32, chosen: &mut [u8]) -> Option<u8> {
        let [sender, receiver] = self.seats.ends(edge);
        for path in bits(can) {
            for end in [sender, receiver] {
                for to in bits(self.seats.open(end)) {
                    if self.seats.open(end) >> path & 1 == 1 || self.exchange(end, path, to, chosen) {
                        break;
                    }
                }
            }
            if let Some(path) = self.common(sender, receiver) {
                return Some(path);
            }
        }
        None
    }

    /// The path with room at both nodes that fewest of their packets take; of several, the next one from `first` on.
    fn common(&self, sender: usize, receiver: usize) -> Option<u8> {
        let both = self.seats.open(sender) & self.seats.open(receiver);
        let load = |path: u8| self.seats.load(sender, path.into()) + self.seats.load(receiver, path.into());
        bits(both).min_by_key(|&path| (load(path), path.wrapping_sub(self.first) % MAX_PATHS as u8))
    }

    /// Moves one packet of a node from a path to another that has room there, and what it drives out, and so on.
    /// Returns whether that has come to an end; if not, nothing has changed.
    fn exchange(&mut self, node: usize, from: u8, to: u8, chosen: &mut [u8]) -> bool {
        self.moves.clear();
        self.chain(node, from, to, NONE, chosen) || self.undo(chosen)
    }

    /// Moves a packet from a path to another, and what it drives out at both ends, and so on. Returns whether that has come to an
    /// end; if not, nothing has changed.
    fn flip(&mut self, edge: u16, from: u8, to: u8, chosen: &mut [u8]) -> bool {
        self.moves.clear();
        let ends = self.seats.ends(edge);
        if ends.iter().any(|&end| self.seats.living(end) >> to & 1 == 0) {
            return false;
        }
        self.move_packet(edge, from, to, chosen);
        self.moves.push((edge, from));
        let mut room =
            |end: usize| self.seats.excess(end, to.into()) == 0 || self.chain(end, to, from, edge, chosen);
        ends.into_iter().all(&mut room) || self.undo(chosen)
    }

    /// The moves of an exchange, until one drives out none. `last` has just come to the first node and stays there.
    fn chain(&mut self, mut node: usize, mut from: u8, mut to: u8, mut last: u16, chosen: &mut [u8]) -> bool {
        while let Some(edge) = self.next_to_move(node, from, to, last) {
            if self.moves.len() == self.moves.capacity() || self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            self.moves.push((edge, from));
            self.move_packet(edge, from, to, chosen);
            let other = self.seats.other_end(edge, node);
            if self.seats.excess(other, to.into()) == 0 {
                return true;
            }
            (node, last) = (other, edge);
            (from, to) = (to, from);
        }
        false
    }

    /// Takes all moves back; `false`.
    fn undo(&mut self, chosen: &mut [u8]) -> bool {
        while let Some((edge, path)) = self.moves.pop() {
            self.move_packet(edge, chosen[usize::from(edge)], path, chosen);
        }
        false
    }

    /// A packet of a node on path `from` whose other end's link to path `to` is alive: one with room there, or else the one
    /// longest there. Not `last`, which has just come.
    fn next_to_move(&self, node: usize, from: u8, to: u8, last: u16) -> Option<u16> {
        let has = |paths: u32| paths >> to & 1 == 1;
        let mut longest = None;
        for edge in self.seats.on(node, from.into()).filter(|&edge| edge != last) {
            let other = self.seats.other_end(edge, node);
            if has(self.seats.open(other)) {
                return Some(edge);
            }
            if longest.is_none() && has(self.seats.living(other)) {
                longest = Some(edge);
            }
        }
        longest
    }

    fn move_packet(&mut self, edge: u16, from: u8, to: u8, chosen: &mut [u8]) {
        self.seats.unseat(edge, from);
        self.seats.seat(edge, to);
        chosen[usize::from(edge)] = to;
    }

    /// The most packets that the link of a node to a path may carry in the present slot.
    pub(super) fn most(&self, node: usize, path: usize) -> u16 {
        let living = self.seats.living(node);
        if living >> path & 1 == 1 {
            self.seats.most(node)
        } else {
            0
        }
    }
}
