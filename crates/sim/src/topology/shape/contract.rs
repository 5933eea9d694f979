//! What each shape of network can be asked.

use std::fmt::Debug;

use clearway_proto::units::{Rate, Span};

use super::racks::{RackPaths, Uplinks};
use super::rates::HostRates;
use crate::model::SwitchRole;
use crate::topology::graph::{Graph, Plan};

/// A set of hosts, and what joins it to all others.
pub struct Cut {
    /// The hosts, in rising order.
    pub hosts: Vec<u32>,
    /// What a person calls the links that join them to others.
    pub links: String,
    /// What these carry together in one direction, in bits per second.
    pub bps: f64,
    /// How they can be given a higher rate.
    pub remedy: &'static str,
}

/// A network of one shape: figures that need no building, and the building itself.
///
/// Counts that may be large are `f64`, which does not overflow. `rate` and `delay` are those of the network: of every
/// link for which the shape gives no other.
pub trait Shape {
    /// Returns how many hosts there are.
    fn hosts(&self) -> u32;

    /// Returns how many two-way links there are.
    fn links(&self) -> f64;

    /// The roles that the switches have, lowest first.
    fn roles(&self) -> Vec<SwitchRole>;

    /// Returns how many switches of a role there are, and how many ports they have together.
    fn switch_ports(&self, role: SwitchRole) -> (f64, f64);

    /// The delay of a host's link; in a listed network, whose links may differ, the delay of its shortest link.
    fn least_delay(&self, delay: Span) -> Span {
        delay
    }

    /// The rates of the hosts' links.
    fn host_rates(&self, rate: Rate) -> HostRates {
        HostRates::Alike(rate)
    }

    /// The highest rate and the longest delay of any link.
    fn extremes(&self, rate: Rate, delay: Span) -> (Rate, Span) {
        (rate, delay)
    }

    /// Sets of hosts, and the links that join each to all others; none where these cannot be short of what hosts send.
    fn cuts(&self) -> Vec<Cut> {
        Vec::new()
    }

    /// How racks are joined, if an arbiter of Fastpass knows networks of this shape.
    fn racks(&self) -> Option<RackPaths> {
        None
    }

    /// Returns how many racks in a row see the network alike, so that one may stand for all of them.
    fn racks_alike(&self) -> u32 {
        1
    }

    /// The links that join hosts to others, but for those that carry all that hosts may send by their shape.
    fn uplinks(&self) -> Vec<Uplinks> {
        Vec::new()
    }

    /// Draws hosts, then switches, then links.
    fn draw(&self, plan: &mut Plan, rate: Rate, delay: Span);

    /// Routing through the graph that was drawn.
    fn shortest_paths(&self, graph: &Graph) -> Box<dyn ShortestPaths>;

    /// The characters of the longest name of a node at most: a role's, and a number below that of links.
    fn longest_name(&self) -> usize {
        "spine".len() + (self.links() as u64).max(1).ilog10() as usize + 1
    }

    /// The largest number of shortest paths between any two hosts, or `u32::MAX` where there are more.
    fn most_paths(&self) -> u32;

    /// Returns whether a rule joins all nodes, by paths of few links: it then need not be built to be checked.
    fn is_regular(&self) -> bool {
        true
    }

    /// Memory in bytes for a path there and one back: eight links of 4 B each, of which regular shapes need six at most.
    fn path_bytes(&self) -> f64 {
        64.0
    }

    /// Memory in bytes for what routing knows of the whole network.
    fn route_bytes(&self) -> f64 {
        0.0
    }
}

/// Shortest paths between two different hosts of one network.
///
/// Shapes that route in closed form compute link numbers from the order in which they draw: first every host's link, then
/// each tier's towards the next.
pub trait ShortestPaths: Debug {
    /// Adds the links of a path on which `choose` takes one of the equal-cost links at each hop; it is given the hop,
    /// counted from the first switch, and how many there are.
    fn cross(&self, hosts: (u32, u32), choose: &dyn Fn(u64, u32) -> u32, out: &mut Vec<u32>);

    /// Returns how many shortest paths there are, or `u32::MAX` where there are more.
    fn paths(&self, from: u32, to: u32) -> u32;

    /// Calls `visit` with the links of every shortest path, in rising order of links.
    fn each_path(&self, from: u32, to: u32, visit: &mut dyn FnMut(&[u32])) {
        let paths = self.paths(from, to);
        let mut path = Vec::new();
        for n in 0..paths {
            // There are two choices at most; the paths that share the first follow each other.
            let choose = |hop, of| if hop == 0 { n / (paths / of) } else { n % of };
            path.clear();
            self.cross((from, to), &choose, &mut path);
            visit(&path);
        }
    }

    /// The largest number of links on the shortest path between any two hosts that are joined, where there are two.
    fn longest(&self) -> usize;
}

/// The direction of a two-way link in which it was drawn: away from the hosts.
pub(super) fn up(link: u32) -> u32 {
    2 * link
}

/// The other direction of a two-way link.
pub(super) fn down(link: u32) -> u32 {
    2 * link + 1
}
