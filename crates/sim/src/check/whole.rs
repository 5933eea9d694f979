//! What the tables of a scenario demand of each other.

use clearway_proto::units::Bytes;

use super::{arbiter, classes, memory, operations, relays, replay, series};
use crate::model::MAX_LINKS;
use crate::model::{Buffer, Network, Scenario, Spray, Transport, Trimming};
use crate::scenario::key::Shown;
use crate::scenario::probe::MAX_PROBES;
use crate::scenario::reader::Section;
use crate::scenario::shape::role_name;
use crate::topology::routing::{most_paths, path_between, Router};
use crate::topology::{shape, Graph};
use crate::traffic::{most_flows, pattern};

/// Checks what tables demand of each other, once each is right in itself.
pub(super) fn check(r: &Section, scenario: &Scenario) {
    if !r.sound() {
        return;
    }
    check_buffers(r, scenario);
    check_header_rooms(r, scenario);
    check_receive_queues(r, scenario);
    check_probes(r, scenario);
    check_packets(r, scenario);
    classes::check(r, scenario);
    classes::check_pfc(r, scenario);
    relays::check(r, scenario);
    arbiter::check(r, scenario);
    check_end(r, scenario);
    replay::check(r, scenario);
    match memory::limit() {
        Err(message) => r.conflict_at("", message),
        Ok(limit) => {
            if let Err((key, message)) = memory::check(scenario, limit) {
                r.conflict_at(&key, message);
            } else {
                check_links(r, scenario);
                check_sprayed(r, scenario);
                operations::check(r, scenario);
                series::check(r, scenario);
            }
        }
    }
}

/// A frame counts the links that it crosses in few bits. Only a listed network can have longer paths, or nodes that no
/// path joins; it must fit into memory to be checked.
fn check_links(r: &Section, scenario: &Scenario) {
    if shape::of(&scenario.network.topology).is_regular() {
        return;
    }
    let (graph, most) = (Graph::build(&scenario.network), MAX_LINKS as usize - 1);
    let longest = Router::new(&graph, &scenario.network).longest();
    if longest > most {
        r.conflict_at("network.file", format!("a shortest path has {longest} links; the most is {most}"));
    }
    let mut path = Vec::new();
    let name = |node: u32| &graph.nodes()[node as usize].name;
    for (i, probe) in scenario.probes.iter().enumerate() {
        let (from, to) = (name(probe.from), name(probe.to));
        let key = format!("probe[{i}].to");
        if !path_between(&graph, probe.from, probe.to, 0, &mut path) {
            r.conflict_at(&key, format!("no path leads from {from} to {to}"));
        } else if path.len() > most {
            let links = path.len();
            let message = format!("the path from {from} to {to} has {links} links; the most is {most}");
            r.conflict_at(&key, message);
        }
    }
}

/// A packet names its path in few bits.
fn check_sprayed(r: &Section, scenario: &Scenario) {
    let sprayed = || scenario.transports.iter().filter(|transport| transport.spray != Spray::Flow);
    let over_all = sprayed().find(|transport| transport.paths.is_none());
    let paths = if over_all.is_some() { most_paths(&scenario.network) } else { 0 };
    if let Some(first) = over_all.filter(|_| paths > Spray::MOST_PATHS) {
        let message = format!(
            "two hosts have {paths} shortest paths between them; packets are sprayed over {} at most",
            Spray::MOST_PATHS
        );
        r.conflict_at(&format!("transport.{}.spray", first.name), message);
    }
    let adaptive = sprayed().find(|transport| transport.spray == Spray::Adaptive);
    if let Some(transport) = adaptive.filter(|_| scenario.routing.is_some()) {
        let message = "switches that choose ports by their queues do not route around what is dead: take another value, or \
                       leave out [routing]";
        r.conflict_at(&format!("transport.{}.spray", transport.name), message);
    }
}

fn check_probes(r: &Section, scenario: &Scenario) {
    if scenario.probes.len() > MAX_PROBES {
        let message = format!("found {} probes; the most is {MAX_PROBES}", scenario.probes.len());
        r.conflict_at("probe", message);
    }
}

/// Flows whose packets are recorded are flows of the scenario.
fn check_packets(r: &Section, scenario: &Scenario) {
    let flows = scenario.record.packets.as_ref().and_then(|packets| packets.flows.as_ref());
    let last = flows.into_iter().flatten().map(|range| range.end - 1).max();
    let most = most_flows(scenario);
    if let Some(last) = last.filter(|&last| f64::from(last) >= most) {
        let message =
            format!("names flow {last}, but flows are numbered from 0 to {:.0} at most", most - 1.0);
        r.conflict_at("record.packets.flows", message);
    }
}

/// A buffer that cannot hold one frame lets nothing pass.
fn check_buffers(r: &Section, scenario: &Scenario) {
    let transports = scenario.transports.iter().map(|transport| {
        (weight(transport, &scenario.network), format!("full frame of transport {}", transport.name))
    });
    let probes = scenario.probes.iter().enumerate();
    let probes = probes.map(|(i, probe)| (probe.bytes.get(), format!("packet of probe[{i}]")));
    let Some((frame, heaviest)) = transports.chain(probes).max_by_key(|(frame, _)| *frame) else { return };
    let frame = Bytes::new(frame);
    for role in shape::of(&scenario.network.topology).roles() {
        let (room, key, why) = match scenario.switches.of(role).buffer {
            Buffer::Shared { size, alpha } if alpha < 1.0 => {
                (Bytes::new((size.get() as f64 * alpha) as u64), "alpha", " (alpha times buffer)")
            }
            Buffer::Shared { size, .. }
            | Buffer::PerPort(size)
            | Buffer::Trimming(Trimming { room: size, .. }) => (size, "buffer", ""),
        };
        if room < frame {
            let own = format!("switch.{}.{key}", role_name(role));
            let path = if r.has(&own) { own } else { format!("switch.default.{key}") };
            let message =
                format!("a port may hold {}{why}, less than one {heaviest}, {}", room.shown(), frame.shown());
            r.conflict_at(&path, message);
        }
    }
}

/// A queue of headers that cannot hold one of what goes there drops all of them.
fn check_header_rooms(r: &Section, scenario: &Scenario) {
    let ack = |transport: &Transport| u64::from(transport.ack + scenario.network.framing);
    // With classes acknowledgements wait with the packets of theirs.
    let acks = scenario.transports.iter().filter(|_| scenario.classes.is_empty()).map(ack);
    let ack = Bytes::new(acks.max().unwrap_or(0));
    for role in shape::of(&scenario.network.topology).roles() {
        let Some(trimming) = scenario.switches.of(role).trimming() else { continue };
        let room = trimming.header_room;
        let (heaviest, what) = (trimming.size, "cut packet").max((ack, "acknowledgement"));
        if room < heaviest {
            let own = format!("switch.{}.trim_room", role_name(role));
            let path = if r.has(&own) { own } else { "switch.default.trim_room".into() };
            let (room, heaviest) = (room.shown(), heaviest.shown());
            r.conflict_at(&path, format!("headers may take {room}, less than one {what}, {heaviest}"));
        }
    }
}

/// A receive queue that cannot hold one frame takes nothing.
fn check_receive_queues(r: &Section, scenario: &Scenario) {
    let heaviest = scenario.transports.iter().map(|transport| weight(transport, &scenario.network)).max();
    let frame = Bytes::new(heaviest.unwrap_or(0));
    for kind in &scenario.hosts.kinds {
        let Some(room) = kind.model.receive_queue() else { continue };
        let path = format!("host.{}.receive_queue", kind.name);
        // A queue that no one gives has room.
        if r.has(&path) && room < frame {
            let (room, frame) = (room.shown(), frame.shown());
            r.conflict_at(&path, format!("holds {room}, less than one full frame, {frame}"));
        }
    }
}

/// The heavier of a transport's full frame and its acknowledgement.
fn weight(transport: &Transport, network: &Network) -> u64 {
    u64::from((network.mtu + transport.header).max(transport.ack) + network.framing)
}

/// A run that ends with its flows needs flows that end.
fn check_end(r: &Section, scenario: &Scenario) {
    if !scenario.stop_when_complete {
        return;
    }
    for (i, traffic) in (0..).zip(&scenario.traffic).filter(|(_, traffic)| traffic.stop.is_none()) {
        let Some(why) = pattern::of(&traffic.pattern).endless() else { continue };
        r.conflict_at(&scenario.path_of_table(i), format!("stop_when_complete is set, but {why}"));
    }
}
