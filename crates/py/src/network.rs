//! The network of a scenario, as JSON.

use clearway_proto::pfc::account::Threshold;
use clearway_proto::units::Bytes;
use clearway_sim::model::{Buffer, Scenario, SwitchRole, Trimming};
use clearway_sim::simulation::flow_control::FlowControl;
use clearway_sim::topology::{Graph, NodeKind};
use serde_json::{json, Value};

/// Returns the nodes, hosts first, and the directed links, of which each has its way back beside it. Flow control is for frames of
/// up to `frame` bytes on the wire, or of the scenario's longest.
pub fn network(scenario: &Scenario, frame: u64) -> String {
    let graph = Graph::build(&scenario.network);
    let longest_frame = scenario.longest_frame().max(Bytes::new(frame));
    let control = FlowControl { scenario, graph: &graph, longest_frame };
    let nodes: Vec<Value> =
        (graph.nodes().iter()).map(|node| json!({ "name": node.name, "role": role(node.kind) })).collect();
    let links: Vec<Value> = (0..graph.links().len() as u32).map(|link| directed(&control, link)).collect();
    json!({ "nodes": nodes, "links": links }).to_string()
}

/// Returns the role of a node, in the words of a scenario.
pub(crate) fn role(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Host(_) => "host",
        NodeKind::Switch(SwitchRole::Tor) => "tor",
        NodeKind::Switch(SwitchRole::Aggregation) => "aggregation",
        NodeKind::Switch(SwitchRole::Spine) => "spine",
        NodeKind::Switch(SwitchRole::Dci) => "dci",
        NodeKind::Switch(SwitchRole::Long) => "long",
        NodeKind::Switch(SwitchRole::Relay) => "relay",
        NodeKind::Switch(SwitchRole::Nic) => "nic",
    }
}

/// A link, with the flow control of the node that it leads to, and the room of the port that feeds it.
fn directed(control: &FlowControl<'_>, link: u32) -> Value {
    let of = control.graph.link(link);
    let (back, buffer) = (link ^ 1, control.switch(link).map(|switch| switch.buffer));
    let (buffer, is_shared) = match buffer {
        Some(Buffer::PerPort(size) | Buffer::Trimming(Trimming { room: size, .. })) => {
            (Some(size.get()), false)
        }
        Some(Buffer::Shared { size, .. }) => (Some(size.get()), true),
        None => (None, false),
    };
    let pfc = control.pfc(back).map(|pfc| {
        let thresholds = control.thresholds(back, pfc);
        let xoff = match thresholds.xoff {
            Threshold::Static(bytes) => Some(bytes),
            Threshold::Dynamic(_) => None,
        };
        json!({
            "xoff_bytes": xoff,
            "hysteresis_bytes": thresholds.hysteresis,
            "headroom_bytes": thresholds.headroom,
            "quanta": pfc.quanta,
            "response_ns": pfc.response.as_ps() / 1000,
        })
    });
    json!({
        "from": of.from,
        "to": of.to,
        "rate_bps": of.rate.as_bps(),
        "delay_ns": of.delay.as_ps() / 1000,
        "buffer_bytes": buffer,
        "buffer_is_shared": is_shared,
        "pfc": pfc,
    })
}
