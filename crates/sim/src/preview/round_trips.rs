//! The quickest and the slowest of the shortest paths: between two hosts, and over a whole network.
//!
//! A path is shortest by its number of links, as routing has it. Among paths of as many links the base round trip differs where
//! links do. Both ends of that range are found switch by switch, from the last one on, so that no path is listed.

use clearway_proto::units::{Rate, Span};

use crate::host::transport::Maker;
use crate::model::Network;
use crate::topology::routing::distances_to_switch;
use crate::topology::shape::racks_alike;
use crate::topology::Graph;

/// One path, as a transport sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathLimits {
    /// The time from the start of a full packet's transmission to the arrival of its acknowledgement, nothing else being on the
    /// way.
    pub base_rtt: Span,
    /// The rate of its slowest link.
    pub slowest: Rate,
}

impl PathLimits {
    /// The path of no link.
    const NONE: PathLimits = PathLimits { base_rtt: Span::ZERO, slowest: Rate::from_bps(u64::MAX) };

    /// The bandwidth-delay product in bytes, rounded down: what its slowest link carries in a base round trip.
    pub fn bdp(&self) -> u64 {
        let bits = u128::from(self.base_rtt.as_ps()) * u128::from(self.slowest.as_bps());
        (bits / 8_000_000_000_000) as u64
    }

    fn and(self, other: PathLimits) -> PathLimits {
        PathLimits { base_rtt: self.base_rtt + other.base_rtt, slowest: self.slowest.min(other.slowest) }
    }
}

/// A path between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// The host that sends.
    pub from: u32,
    /// The host that receives.
    pub to: u32,
    /// The path.
    pub limits: PathLimits,
}

/// The shortest and the longest base round trip of a range of paths.
type Range = [PathLimits; 2];

/// Returns a link's part of a path of this transport.
fn crossing(graph: &Graph, maker: &Maker, link: u32) -> PathLimits {
    let link = graph.link(link);
    PathLimits { base_rtt: maker.there_and_back(link.rate, link.delay), slowest: link.rate }
}

/// Returns the range that reaches from the less to the greater of both ends by the base round trip of each.
fn wider<T>(range: Option<[T; 2]>, new: [T; 2], base_rtt: fn(&T) -> Span) -> [T; 2] {
    let Some([least, greatest]) = range else { return new };
    let [new_least, new_greatest] = new;
    [
        if base_rtt(&new_least) < base_rtt(&least) { new_least } else { least },
        if base_rtt(&new_greatest) > base_rtt(&greatest) { new_greatest } else { greatest },
    ]
}

/// Returns for every switch, counted from the first, the range over its shortest paths to this one; `None` where there are none.
fn to_switch(graph: &Graph, maker: &Maker, last: u32) -> Vec<Option<Range>> {
    let hosts = graph.host_count();
    let distances = distances_to_switch(graph, last, &|_| true);
    let mut nearest_first: Vec<u32> =
        (0..graph.switch_count()).filter(|&switch| distances[switch as usize].is_some()).collect();
    nearest_first.sort_by_key(|&switch| distances[switch as usize]);
    let mut ranges: Vec<Option<Range>> = vec![None; distances.len()];
    for switch in nearest_first {
        let mut range = (hosts + switch == last).then_some([PathLimits::NONE; 2]);
        for &link in graph.outgoing(hosts + switch) {
            let Some(next) = graph.link(link).to.checked_sub(hosts).map(|next| next as usize) else {
                continue;
            };
            if distances[next].map(|distance| distance + 1) == distances[switch as usize] {
                let rest = ranges[next].expect("nearer switches come first");
                let onward = rest.map(|limits| crossing(graph, maker, link).and(limits));
                range = Some(wider(range, onward, |limits| limits.base_rtt));
            }
        }
        ranges[switch as usize] = range;
    }
    ranges
}

/// The quickest and the slowest of the shortest paths from one host to another; `None` where the two are not joined.
pub(super) fn between(graph: &Graph, maker: &Maker, from: u32, to: u32) -> Option<Range> {
    let ranges = to_switch(graph, maker, graph.switch_of(to));
    let range = ranges[(graph.switch_of(from) - graph.host_count()) as usize]?;
    let ends = crossing(graph, maker, graph.nic(from)).and(crossing(graph, maker, graph.downlink(to)));
    Some(range.map(|limits| ends.and(limits)))
}

/// Up to two hosts, each with what its own link adds to a path; the one that is ahead comes first.
type TwoHosts = [Option<(u32, PathLimits)>; 2];

/// The hosts of a switch whose own links take the least and the most time: two of each, as a pair may be under one switch.
#[derive(Clone, Copy, Debug)]
struct Rack {
    switch: u32,
    quickest: TwoHosts,
    slowest: TwoHosts,
}

fn racks(graph: &Graph, maker: &Maker) -> Vec<Rack> {
    let mut racks: Vec<Option<Rack>> = vec![None; graph.switch_count() as usize];
    for host in 0..graph.host_count() {
        let switch = graph.switch_of(host);
        let limits = crossing(graph, maker, graph.nic(host));
        let empty = Rack { switch, quickest: [None; 2], slowest: [None; 2] };
        let rack = racks[(switch - graph.host_count()) as usize].get_or_insert(empty);
        insert(&mut rack.quickest, (host, limits), |new, known| new < known);
        insert(&mut rack.slowest, (host, limits), |new, known| new > known);
    }
    racks.into_iter().flatten().collect()
}

/// Puts a host among the two that are ahead of all others.
fn insert(ahead: &mut TwoHosts, new: (u32, PathLimits), is_ahead: fn(Span, Span) -> bool) {
    let place = ahead
        .iter()
        .position(|known| known.is_none_or(|(_, limits)| is_ahead(new.1.base_rtt, limits.base_rtt)));
    if let Some(place) = place {
        ahead[place..].rotate_right(1);
        ahead[place] = Some(new);
    }
}

/// The paths of the shortest and of the longest base round trip between any two hosts that are joined; `None` where no two are.
/// The first such pair is named, by the receiver's switch and then by the sender's.
pub fn extremes(network: &Network, graph: &Graph, maker: &Maker) -> Option<[Between; 2]> {
    let racks = racks(graph, maker);
    let mut found: Option<[Between; 2]> = None;
    for receiving in racks.iter().step_by(racks_alike(network) as usize) {
        let ranges = to_switch(graph, maker, receiving.switch);
        for sending in &racks {
            let Some([least, greatest]) = ranges[(sending.switch - graph.host_count()) as usize] else {
                continue;
            };
            let is_one = sending.switch == receiving.switch;
            let joined = |of: fn(&Rack) -> TwoHosts, limits: PathLimits| {
                let ((from, out), (to, into)) = (of(sending)[usize::from(is_one)]?, of(receiving)[0]?);
                Some(Between { from, to, limits: out.and(limits).and(into) })
            };
            let ends = (joined(|rack| rack.quickest, least), joined(|rack| rack.slowest, greatest));
            let (Some(least), Some(greatest)) = ends else { continue };
            found = Some(wider(found, [least, greatest], |between| between.limits.base_rtt));
        }
    }
    found
}
