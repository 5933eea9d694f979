//! Paths without any other traffic, for those who compare with them what a scenario asks for.

use clearway_proto::units::{Bytes, Span};

use crate::model::{HostModel, Scenario, SnapHost, Transport};
use crate::topology::routing::Router;
use crate::topology::Graph;
use crate::traffic::pattern;

/// The most paths of a transport that are examined.
const PATHS: usize = 1000;

/// A path there and back without any other traffic.
pub(super) struct EmptyPath {
    pub(super) hosts: (u32, u32),
    pub(super) switches: u64,
    /// The time that a full frame takes there.
    pub(super) there: Span,
    /// The time that its acknowledgement takes back.
    pub(super) back: Span,
    /// The longest time that both together take from stack to NIC.
    pub(super) jitter: Span,
}

/// The longest of the paths of each transport that is one of `these`, with the transport's index.
pub(super) fn longest_empty_paths(
    scenario: &Scenario,
    these: impl Fn(&Transport) -> bool,
) -> Vec<(usize, EmptyPath)> {
    if !scenario.transports.iter().any(&these) {
        return Vec::new();
    }
    let graph = Graph::build(&scenario.network);
    let router = Router::new(&graph, &scenario.network);
    let longest = |transport: usize| {
        let pairs = pairs_of(scenario, transport);
        let paths = pairs.map(|hosts| empty_path(scenario, &graph, &router, transport, hosts));
        paths.max_by_key(|path| path.there + path.back + path.jitter).map(|path| (transport, path))
    };
    let asked = (0..scenario.transports.len()).filter(|&transport| these(&scenario.transports[transport]));
    asked.filter_map(longest).collect()
}

/// The model of a host's work, if one processor does it all.
pub(super) fn snap(scenario: &Scenario, host: u32) -> Option<&SnapHost> {
    match &scenario.hosts.of(host).model {
        HostModel::Ideal | HostModel::Interrupts(_) => None,
        HostModel::Snap(host) => Some(host),
    }
}

fn empty_path(
    scenario: &Scenario,
    graph: &Graph,
    router: &Router,
    transport: usize,
    hosts: (u32, u32),
) -> EmptyPath {
    let network = &scenario.network;
    let transport = &scenario.transports[transport];
    let frame = Bytes::new(u64::from(network.mtu + transport.header + network.framing));
    let ack = Bytes::new(u64::from(transport.ack + network.framing));
    let mut links = Vec::new();
    let mut cross = |from, to, size| {
        router.path(from, to, 0, &mut links);
        let of = |&link: &u32| graph.link(link).rate.transmission(size) + graph.link(link).delay;
        (links.len(), links.iter().map(of).fold(Span::ZERO, |sum, span| sum + span))
    };
    let (count, there) = cross(hosts.0, hosts.1, frame);
    let (_, back) = cross(hosts.1, hosts.0, ack);
    let jitter = |host| snap(scenario, host).map_or(Span::ZERO, |host| host.jitter);
    let jitter = jitter(hosts.0) + jitter(hosts.1);
    EmptyPath { hosts, switches: count as u64 - 1, there, back, jitter }
}

/// Some pairs of hosts that use this transport.
pub(super) fn pairs_of(scenario: &Scenario, transport: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
    let tables = scenario.traffic.iter().filter(move |table| table.transport == transport);
    tables.flat_map(|table| pattern::of(&table.pattern).some_pairs(PATHS)).take(PATHS)
}

/// A time in microseconds, to the nanosecond.
pub(super) fn us(span: Span) -> String {
    let ns = span.as_ps().div_ceil(1000);
    let digits = format!("{}.{:03}", ns / 1000, ns % 1000);
    format!("{}us", digits.trim_end_matches('0').trim_end_matches('.'))
}
