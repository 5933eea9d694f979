//! What can be run and is hardly meant: said with its arithmetic, and run.

use clearway_proto::units::{Bytes, Span};

use super::key::Quantity;
use super::shape::HostRates;
use crate::engine::event::Meta;
use crate::model::{HostModel, Pattern, Protocol, Scenario, SnapHost, Traffic, Transport};
use crate::net::routing::Router;
use crate::net::topology::Graph;

/// Paths of a traffic table that are looked at.
const PATHS: usize = 1000;

/// A path there and back with nothing on it.
struct EmptyPath {
    hosts: (u32, u32),
    switches: u64,
    /// Of a full frame.
    there: Span,
    /// Of its acknowledgement.
    back: Span,
}

/// A sentence for each thing that is hardly meant.
pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let mut warnings = targets_below_empty_paths(scenario);
    if let HostModel::Snap(host) = &scenario.host {
        for transport in &scenario.transports {
            warnings.extend(slow_host(scenario, transport, host));
            warnings.extend(endpoint_target_below_service(scenario, transport, host));
        }
    }
    warnings
}

fn targets_below_empty_paths(scenario: &Scenario) -> Vec<String> {
    let swift = |transport: &Transport| matches!(transport.protocol, Protocol::Swift(_));
    if !scenario.transports.iter().any(swift) {
        return Vec::new();
    }
    let graph = Graph::build(&scenario.network);
    let router = Router::new(&graph, &scenario.network);
    let longest = |transport: usize| {
        let tables = scenario.traffic.iter().filter(|table| table.transport == transport);
        let pairs = tables.flat_map(some_pairs).take(PATHS);
        let paths = pairs.map(|hosts| empty_path(scenario, &graph, &router, transport, hosts));
        paths.max_by_key(|path| path.there + path.back)
    };
    (0..scenario.transports.len())
        .filter_map(|transport| target_below(scenario, transport, &longest(transport)?))
        .collect()
}

fn target_below(scenario: &Scenario, transport: usize, path: &EmptyPath) -> Option<String> {
    let Transport { name, protocol: Protocol::Swift(params), .. } = &scenario.transports[transport] else {
        return None;
    };
    let hops = if params.topology_scaling { params.hop_scaling * path.switches } else { Span::ZERO };
    let target = params.base_target + hops;
    // From stack to NIC a frame takes half of the most on average, and so does its acknowledgement.
    let jitter = match &scenario.host {
        HostModel::Ideal => Span::ZERO,
        HostModel::Snap(host) => host.jitter,
    };
    let wire = path.there + path.back;
    let (mean, most) = (wire + jitter, wire + jitter * 2);
    if target >= most {
        return None;
    }
    let (empty, what, so) = if target < mean {
        (mean, "that", "windows will shrink without any queue")
    } else {
        (most, "that at most", "few flows will not fill a link, as chance cuts their windows")
    };
    let in_hosts = if jitter == Span::ZERO {
        String::new()
    } else {
        format!(" + {} between stacks and NICs", us(empty - wire))
    };
    Some(format!(
        "transport.{name}.base_target: {} + {} switches x hop_scaling = {} is below the {} {what} a full frame and its \
         acknowledgement take on the empty path from host {} to host {} ({} there + {} back{in_hosts}): {so}; raise \
         base_target to {} or more",
        us(params.base_target),
        path.switches,
        us(target),
        us(empty),
        path.hosts.0,
        path.hosts.1,
        us(path.there),
        us(path.back),
        us(empty.saturating_sub(hops)),
    ))
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
    EmptyPath { hosts, switches: count as u64 - 1, there, back }
}

/// Pairs of hosts that talk: of two sets, each of one with the first of the other.
fn some_pairs(traffic: &Traffic) -> Vec<(u32, u32)> {
    let cross = |from: &[u32], to: &[u32]| {
        let there = to.iter().map(|&to| (from[0], to));
        let back = from.iter().map(|&from| (from, to[0]));
        there.chain(back).filter(|(from, to)| from != to).collect()
    };
    match &traffic.pattern {
        Pattern::Incast { from, to, .. } => cross(from, &[*to]),
        Pattern::Permutation { hosts, .. } | Pattern::AllToAll { hosts, .. } => cross(hosts, hosts),
        Pattern::Poisson { from, to, .. } => cross(from, to),
        Pattern::ClosedLoop { operations, .. } | Pattern::OpenLoop { operations, .. } => {
            cross(&operations.from, &operations.to)
        }
        Pattern::Trace { flows } => flows.iter().take(PATHS).map(|flow| (flow.from, flow.to)).collect(),
    }
}

/// An engine that takes longer for a packet than the link.
fn slow_host(scenario: &Scenario, transport: &Transport, host: &SnapHost) -> Option<String> {
    let network = &scenario.network;
    let frame = u64::from(network.mtu + transport.header + network.framing);
    let rate = HostRates::of(network).fastest();
    let (service, wire) =
        (Span::from_ps(host.service(Meta::new(0, 0), network.mtu)), rate.transmission(Bytes::new(frame)));
    (service > wire).then(|| {
        format!(
            "host.default: the engine takes {} for a full packet of transport {} and the link {}: a host receives at \
             most {:.1}Gbps of {} and its receive queue fills; lower receive_packet or raise copy_rate",
            us(service),
            transport.name,
            us(wire),
            frame as f64 * 8e3 / service.as_ps() as f64,
            rate.shown(),
        )
    })
}

/// An endpoint target that a packet's own service exceeds.
fn endpoint_target_below_service(
    scenario: &Scenario,
    transport: &Transport,
    host: &SnapHost,
) -> Option<String> {
    let Protocol::Swift(params) = &transport.protocol else { return None };
    let packet = host.service(Meta::new(0, Meta::LAST), scenario.network.mtu);
    let ack = host.service(Meta::new(0, Meta::ACK | Meta::LAST), 0);
    let service = Span::from_ps(packet + ack);
    (params.watches_endpoint() && params.endpoint_target < service).then(|| {
        format!(
            "transport.{}.endpoint_target: {} is below the {} that idle hosts take for a full packet and its \
             acknowledgement ({} + {}): windows will shrink without any load",
            transport.name,
            us(params.endpoint_target),
            us(service),
            us(Span::from_ps(packet)),
            us(Span::from_ps(ack)),
        )
    })
}

/// In microseconds, to the nanosecond.
fn us(span: Span) -> String {
    let ns = span.as_ps().div_ceil(1000);
    let digits = format!("{}.{:03}", ns / 1000, ns % 1000);
    format!("{}us", digits.trim_end_matches('0').trim_end_matches('.'))
}
