//! Shortest paths, one of the equal-cost ones chosen by a hash.
//!
//! Hop n of a path chooses with its own bits of the hash (the hash re-mixed with n), so that the choices of
//! two tiers are independent. The built-in shapes route in closed form; a listed one by its distances.

use super::distances::{descend, distances_over, distances_to, UNREACHED};
use super::graph::Graph;
use super::shape::{self, ShortestPaths};
use crate::model::Network;
use crate::random::mix;

/// Finds the path of a flow through one graph.
#[derive(Debug)]
pub struct Router {
    hosts: u32,
    ways: Box<dyn ShortestPaths>,
}

impl Router {
    /// The router of `graph`, which was built from `network`.
    pub fn new(graph: &Graph, network: &Network) -> Router {
        Router { hosts: graph.host_count(), ways: shape::of(&network.topology).shortest_paths(graph) }
    }

    /// Replaces `out` by the directed links of a shortest path, from the NIC of `from` to the link into `to`.
    /// `hash` chooses uniformly among equal-cost links at each hop. The way back is a flow direction of its
    /// own: `path(to, from, its hash)`. Panics when the hosts are one, or not joined.
    pub fn path(&self, from: u32, to: u32, hash: u64, out: &mut Vec<u32>) {
        self.assert_two(from, to);
        out.clear();
        self.ways.cross((from, to), &by(hash), out);
    }

    /// How many shortest paths lead from one host to another, or `u32::MAX` where there are more. Panics when the
    /// hosts are one, or not joined.
    pub fn paths(&self, from: u32, to: u32) -> u32 {
        self.assert_two(from, to);
        self.ways.paths(from, to)
    }

    /// Calls `visit` with the directed links of every shortest path from one host to another, in rising order of links.
    /// There may be as many as [`paths`](Self::paths) says. Panics when the hosts are one, or not joined.
    pub fn each_path(&self, from: u32, to: u32, mut visit: impl FnMut(&[u32])) {
        self.assert_two(from, to);
        self.ways.each_path(from, to, &mut visit);
    }

    /// The largest number of links on the shortest path between any two hosts that are joined; zero when
    /// there are no two.
    pub fn longest(&self) -> usize {
        if self.hosts < 2 {
            return 0;
        }
        self.ways.longest()
    }

    fn assert_two(&self, from: u32, to: u32) {
        assert!(from != to && from < self.hosts && to < self.hosts, "no path from host {from} to host {to}");
    }
}

/// One of `n`, uniformly over hashes, by bits of the hash that belong to this hop after the NIC.
fn choose(hash: u64, hop: u64, n: u32) -> u32 {
    let bits = mix(hash ^ mix(hop));
    ((u128::from(bits) * u128::from(n)) >> 64) as u32
}

/// Chooses by a hash, as [`choose`] does.
fn by(hash: u64) -> impl Fn(u64, u32) -> u32 {
    move |hop, n| choose(hash, hop, n)
}

/// The largest number of shortest paths between any two hosts of a network, or `u32::MAX` where there are more. Built-in
/// shapes are asked without building them.
pub fn most_paths(network: &Network) -> u32 {
    shape::of(&network.topology).most_paths()
}

/// Replaces `out` by the directed links of a shortest path between any two different nodes, hosts or switches. `hash`
/// chooses among equal-cost links at each hop; between hosts the path is that of [`Router::path`]. False, and `out`
/// empty, where no path joins them. Takes time in proportion to the links of the graph.
pub fn path_between(graph: &Graph, from: u32, to: u32, hash: u64, out: &mut Vec<u32>) -> bool {
    assert!(from != to, "no path from a node to itself");
    out.clear();
    // A host forwards nothing: the way to it is the way to its switch, and then its link.
    let switch = |node: u32| if node < graph.host_count() { graph.switch_of(node) } else { node };
    let (first, last) = (switch(from), switch(to));
    let distances = distances_to(graph, last);
    if distances[(first - graph.host_count()) as usize] == UNREACHED {
        return false;
    }
    if from != first {
        out.push(graph.nic(from));
    }
    descend(graph, &distances, first, &by(hash), out);
    if to != last {
        out.push(graph.downlink(to));
    }
    true
}

/// Returns, for every switch, counted from the first, how many links it is from this one over usable links alone; `None` where
/// none lead there.
pub fn distances_to_switch(graph: &Graph, switch: u32, is_usable: &dyn Fn(u32) -> bool) -> Vec<Option<u32>> {
    let distances = distances_over(graph, switch, is_usable).into_iter();
    distances.map(|distance| (distance != UNREACHED).then_some(distance)).collect()
}

#[cfg(test)]
mod tests;
