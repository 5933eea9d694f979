//! A scenario's network before a run, described as JSON.

use clearway_proto::pfc::account::Threshold;
use clearway_proto::swing::relay::Port as Side;
use clearway_proto::units::{Bytes, Span};
use clearway_sim::host::transport::Maker;
use clearway_sim::model::{Buffer, Ecn, MarkPoint, Scenario, SwitchKind};
use clearway_sim::preview::{self, Between, Expected, PathLimits};
use clearway_sim::simulation::flow_control::FlowControl;
use clearway_sim::simulation::DataRoutes;
use clearway_sim::topology::Graph;
use serde_json::{json, Map, Value};

use crate::microseconds;
use crate::network::role;

/// The most paths between two hosts that are listed.
const MOST_LISTED: usize = 64;

/// Returns nodes, directed links with their ports and expected load, each transport's range of base round trips, and, if two hosts are
/// given by number, what there is between these. Link 2i + 1 is the way back of link 2i.
pub fn preview(scenario: &Scenario, between: Option<(u32, u32)>) -> String {
    let routes = DataRoutes::of(scenario);
    let graph = routes.graph();
    let load = preview::expected(scenario, &routes);
    let control = FlowControl { scenario, graph, longest_frame: scenario.longest_frame() };
    let nodes: Vec<Value> =
        (graph.nodes().iter()).map(|node| json!({ "name": node.name, "role": role(node.kind) })).collect();
    let links: Vec<Value> =
        (0..graph.links().len() as u32).map(|link| directed(&control, &load, link)).collect();
    json!({
        "nodes": nodes,
        "links": links,
        "transports": transports(scenario, graph),
        "between": between.map(|ends| pair(scenario, graph, ends)),
        "traffic": {
            "counted_flows": load.counted_flows,
            "payload_bytes": load.payload_bytes,
            "greedy_flows": load.greedy_flows,
            "late_flows": load.late_flows,
        },
    })
    .to_string()
}

/// A link with the port that feeds it.
fn directed(control: &FlowControl<'_>, load: &Expected, link: u32) -> Value {
    let (of, expected) = (control.graph.link(link), load.links[link as usize]);
    let carries_us = expected.bytes * 8e6 / of.rate.as_bps() as f64;
    json!({
        "name": control.graph.link_name(link),
        "from": control.graph.nodes()[of.from as usize].name,
        "to": control.graph.nodes()[of.to as usize].name,
        "rate_bps": of.rate.as_bps(),
        "delay_us": microseconds(of.delay.as_ps()),
        "port": control.switch(link).map(|kind| port(control, link, kind)),
        "expected_bytes": expected.bytes,
        "expected_us": carries_us,
        "load": carries_us / microseconds(control.scenario.duration.as_ps()),
        "greedy_flows": expected.greedy,
    })
}

/// A switch's port: where frames wait, when they are marked, and when what arrives over the same cable is paused.
fn port(control: &FlowControl<'_>, link: u32, kind: &SwitchKind) -> Value {
    let (sharing, size, alpha) = match kind.buffer {
        Buffer::PerPort(size) => ("port", size, None),
        Buffer::Trimming(trimming) => ("port", trimming.room, None),
        Buffer::Shared { size, alpha } => ("shared", size, Some(alpha)),
    };
    let trimming = kind.trimming().map(|trimming| {
        json!({
            "size_bytes": trimming.size.get(),
            "header_room_bytes": trimming.header_room.get(),
            "tail": trimming.tail,
        })
    });
    // A relay's port to the fibre pauses by what it was granted and what waits, not above a threshold.
    let relay = kind.pfc.as_ref().filter(|_| control.relay_side(link) == Some(Side::Remote));
    let pfc = kind.pfc.as_ref().filter(|_| relay.is_none()).map(|pfc| {
        let thresholds = control.thresholds(link, pfc);
        let (xoff, share) = match thresholds.xoff {
            Threshold::Static(bytes) => (Some(bytes), None),
            Threshold::Dynamic(share) => (None, Some(share)),
        };
        json!({
            "xoff_bytes": xoff,
            "xoff_alpha": share,
            "hysteresis_bytes": thresholds.hysteresis,
            "headroom_bytes": thresholds.headroom,
        })
    });
    json!({
        "buffer_bytes": size.get(),
        "sharing": sharing,
        "alpha": alpha,
        "trimming": trimming,
        "ecn": ecn(kind.ecn),
        "pfc": pfc,
        "relay": relay.map(|pfc| {
            json!({ "buffer_bytes": pfc.relay.and_then(|relay| relay.buffer).map(Bytes::get) })
        }),
    })
}

fn ecn(ecn: Ecn) -> Value {
    let point = |at| if at == MarkPoint::Dequeue { "dequeue" } else { "enqueue" };
    match ecn {
        Ecn::Off => Value::Null,
        Ecn::Step { threshold, at } => {
            json!({ "kind": "step", "threshold_bytes": threshold.get(), "mark_at": point(at) })
        }
        Ecn::Red { min, max, pmax, at } => json!({
            "kind": "red",
            "min_bytes": min.get(),
            "max_bytes": max.get(),
            "pmax": pmax,
            "mark_at": point(at),
        }),
    }
}

/// Each transport by name, with the frames that it sends and the range of its base round trips over the network.
fn transports(scenario: &Scenario, graph: &Graph) -> Value {
    let mut all = Map::new();
    for transport in &scenario.transports {
        let maker = Maker::new(transport, &scenario.network);
        let extremes = preview::extremes(&scenario.network, graph, &maker);
        let [least, greatest] = extremes.map_or([None, None], |ends| ends.map(Some));
        let between = |found: Option<Between>| {
            found.map(|Between { from, to, limits }| {
                let name = |host: u32| graph.nodes()[host as usize].name.clone();
                let mut shown = json!({ "from": name(from), "to": name(to) });
                extend(&mut shown, shown_limits(&limits));
                shown
            })
        };
        let shown = json!({
            "frame_bytes": maker.data_frame,
            "ack_bytes": maker.ack_frame,
            "least": between(least),
            "greatest": between(greatest),
        });
        all.insert(transport.name.clone(), shown);
    }
    all.into()
}

/// Two different hosts.
fn pair(scenario: &Scenario, graph: &Graph, ends: (u32, u32)) -> Value {
    let pair = preview::pair(scenario, graph, ends, MOST_LISTED);
    let path = |links: &Vec<u32>| {
        let each = || links.iter().map(|&link| graph.link(link));
        let one_way = each().map(|link| link.delay).fold(Span::ZERO, |sum, delay| sum + delay);
        json!({
            "links": links.iter().map(|&link| graph.link_name(link)).collect::<Vec<_>>(),
            "rate_bps": each().map(|link| link.rate.as_bps()).min(),
            "delay_us": microseconds(one_way.as_ps()),
        })
    };
    let mut transports = Map::new();
    for (transport, beginning) in scenario.transports.iter().zip(&pair.beginnings) {
        let [least, greatest] = beginning.limits.map(|limits| shown_limits(&limits));
        let shown = json!({
            "least": least,
            "greatest": greatest,
            "initial_cwnd_packets": finite(beginning.windows.cwnd),
            "initial_rate_bps": finite(beginning.windows.rate),
            "initial_rto_us": microseconds(beginning.rto.as_ps()),
        });
        transports.insert(transport.name.clone(), shown);
    }
    let [from, to] = [ends.0, ends.1].map(|host| &graph.nodes()[host as usize].name);
    json!({
        "from": from,
        "to": to,
        "paths": (pair.paths < u32::MAX).then_some(pair.paths),
        "listed_paths": pair.listed.iter().map(path).collect::<Vec<_>>(),
        "transports": transports,
    })
}

fn shown_limits(limits: &PathLimits) -> Value {
    json!({
        "base_rtt_us": microseconds(limits.base_rtt.as_ps()),
        "rate_bps": limits.slowest.as_bps(),
        "bdp_bytes": limits.bdp(),
    })
}

fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}
