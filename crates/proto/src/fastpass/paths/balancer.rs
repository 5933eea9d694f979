//! The paths of one graph's packets: a colouring with the paths in use, without dead links.

use super::colouring::Colouring;
use super::dead_links::Links;
use super::error::PathError;
use super::law;
use super::mender::Mender;
use super::path_set::PathSet;
use super::pods::Pods;
use super::slot::{BYPASS, MAX_PATHS};
use super::transfer::Transfer;

/// Deals the packets between nodes out to paths, so that each node's are spread evenly, out and in.
#[derive(Clone, Debug)]
pub(super) struct Balancer {
    paths: usize,
    /// The paths in use.
    kept: PathSet,
    /// How many places the list of paths in use is turned by.
    turn: usize,
    /// The path of each colour: the paths in use as a list, so turned. A colour too many has none, and [`BYPASS`] is itself.
    names: [u8; 1 << 8],
    colouring: Colouring,
    transfer: Transfer,
    /// What moves packets from dead links; none while all live.
    mender: Option<Box<Mender>>,
    /// The path of each edge.
    chosen: Box<[u8]>,
}

impl Balancer {
    /// Returns a balancer for graphs with up to `nodes` senders and receivers and `edges` edges.
    pub(super) fn new(nodes: usize, edges: usize, paths: usize) -> Result<Balancer, PathError> {
        if !(1..=MAX_PATHS).contains(&paths) {
            return Err(PathError::Paths(paths));
        }
        let levels = paths.next_power_of_two().ilog2() as usize;
        let colouring = Colouring::new(nodes, edges, levels);
        let mut balancer = Balancer {
            paths,
            kept: PathSet::EMPTY,
            turn: 0,
            names: [BYPASS; 1 << 8],
            transfer: Transfer::new(colouring.layout(), edges),
            colouring,
            mender: None,
            chosen: vec![0; edges].into_boxed_slice(),
        };
        balancer.keep(PathSet::first(paths));
        Ok(balancer)
    }

    /// From now on no packet takes a dead link. The links are given by node: those out of it and those into it.
    pub(super) fn avoid(&mut self, links: impl Iterator<Item = [Links; 2]> + Clone, pods: Option<Pods>) {
        let all = PathSet::first(self.paths);
        // A path of which one side is wholly dead is of no use.
        let wholly_dead = |side: usize| links.clone().fold(all, |dead, both| dead.and(both[side].dead));
        let kept = all.without(wholly_dead(0)).without(wholly_dead(1));
        self.keep(if kept.is_empty() { all } else { kept });
        let any = pods.is_some() || links.clone().flatten().any(|links| !links.dead.is_empty());
        self.mender = any.then(|| {
            let (layout, edges) = (self.colouring.layout(), self.chosen.len());
            Box::new(Mender::new(layout, edges, self.paths, self.kept, links, pods))
        });
    }

    fn keep(&mut self, kept: PathSet) {
        self.kept = kept;
        // Colours are called by their own numbers until they are turned or moved.
        let levels = kept.len().next_power_of_two().ilog2() as usize;
        self.colouring.set_colours(levels, std::array::from_fn(|colour| colour as u8));
        self.name_colours();
    }

    /// From now on colour 0 stands for the path at place `by` of those in use, and so on, round and round.
    pub(super) fn turn(&mut self, by: u64) {
        let turn = (by % self.kept.len() as u64) as usize;
        if turn != self.turn {
            self.turn = turn;
            self.name_colours();
        }
    }

    fn name_colours(&mut self) {
        let count = self.kept.len();
        self.turn %= count;
        for (place, path) in self.kept.iter().enumerate() {
            self.names[(place + count - self.turn) % count] = path as u8;
        }
    }

    /// A path for each edge of `graph`, at most as many as there is room for; [`super::BYPASS`] for an edge from a node to
    /// itself, [`super::BLOCKED`] for one that no path has room for.
    pub(super) fn balance(&mut self, graph: impl ExactSizeIterator<Item = (u8, u8)>) -> &[u8] {
        let count = graph.len();
        let chosen = &mut self.chosen[..count];
        let layout = self.colouring.layout();
        let edges = self.colouring.colour(graph, chosen);
        let kept = self.kept.len();
        if !kept.is_power_of_two() {
            self.transfer.recolour(edges, chosen, kept);
        }
        for path in chosen.iter_mut() {
            *path = self.names[usize::from(*path)];
        }
        if let Some(mender) = &mut self.mender {
            mender.mend(edges, chosen, self.names[0]);
        }
        if cfg!(debug_assertions) {
            let nodes = edges.iter().map(|edge| layout.nodes(usize::from(edge.cell())));
            let graph = nodes.zip(chosen.iter().copied());
            match &self.mender {
                None => law::check(graph, self.kept),
                Some(mender) => law::check_living(graph, |node, path| {
                    [node, layout.side() + node].map(|node| mender.most(node, path))
                }),
            }
        }
        chosen
    }
}
