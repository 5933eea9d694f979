//! The memory of the network: ports with their links and routes, and the frames that wait.

use super::share::Share;
use super::traffic;
use crate::model::{Buffer, Ecn, HostKind, Network, Pfc, Scenario, SwitchRole, Xoff};
use crate::net::relay;
use crate::record::footprint::link_names_bytes;
use crate::record::pauses::pause_row_bytes;
use crate::record::tables::{link_class_row_bytes, link_row_bytes};
use crate::simulation::footprint::{pfc_bytes, port_bytes, relay_bytes, FRAME, TOLD};
use crate::topology::shape::{self, Shape};
use crate::traffic::Table;

/// Returns the memory in bytes for the ports and routes of a network whose ports have `queues` queues each, without the rows of
/// tables.
pub(super) fn least_bytes(network: &Network, queues: usize) -> f64 {
    let shape = shape::of(&network.topology);
    2.0 * shape.links() * port_bytes(queues) + shape.route_bytes()
}

/// Queues that ports have of their own: one a class, and none where all ports are plain.
fn queues(scenario: &Scenario) -> usize {
    let roles = shape::of(&scenario.network.topology).roles();
    let ruled = roles.into_iter().map(|role| scenario.switches.of(role)).any(|switch| {
        matches!(switch.buffer, Buffer::Shared { .. } | Buffer::Trimming(_))
            || matches!(switch.ecn, Ecn::Red { .. })
            || switch.pfc.is_some()
    });
    let faulty = !scenario.faults.is_empty() || !scenario.outages.is_empty();
    let ruled = ruled || scenario.has_telemetry() || faulty;
    // Headers of packets that were cut have a queue of their own.
    scenario.classes.len().max(usize::from(ruled)) + usize::from(scenario.switches.any_trimming())
}

pub(super) fn ports_share(scenario: &Scenario) -> Share {
    let shape = shape::of(&scenario.network.topology);
    let ports = 2.0 * shape.links();
    let rows = scenario.classes.iter().map(|class| link_class_row_bytes(&*shape, class.name.len()));
    let rows = link_row_bytes(&*shape) + rows.sum::<f64>() + pause_rows(scenario, &*shape);
    let flow_control = if scenario.switches.any_pfc() { pfc_bytes(queues(scenario)) } else { 0.0 };
    let relays = relay_count(scenario, &*shape) * relay_bytes(scenario.lossless_classes());
    let own = least_bytes(&scenario.network, queues(scenario)) + relays;
    Share {
        bytes: own + ports * (flow_control + rows) + link_names_bytes(&*shape),
        what: format!("{ports:.0} ports and their routes"),
        key: "network".into(),
        remedy: "make the network smaller",
    }
}

/// Relays, and ports with one inside the switch.
fn relay_count(scenario: &Scenario, shape: &dyn Shape) -> f64 {
    let inside = scenario.switches.relay_inside().is_some();
    let ports = if inside { shape.switch_ports(SwitchRole::Long).1 } else { 0.0 };
    shape.switch_ports(SwitchRole::Relay).0 + ports
}

/// Memory in bytes for the rows of a link in the table of flow control.
fn pause_rows(scenario: &Scenario, shape: &dyn Shape) -> f64 {
    if !scenario.switches.any_pfc() {
        return 0.0;
    }
    let lossless = scenario.classes.iter().filter(|class| class.lossless);
    let rows: f64 = lossless.map(|class| pause_row_bytes(shape, class.name.len())).sum();
    rows.max(pause_row_bytes(shape, 0))
}

pub(super) fn queue_share(scenario: &Scenario) -> Share {
    let network = &scenario.network;
    let header = scenario.transports.iter().map(|transport| transport.header).min().unwrap_or(0);
    let frame = f64::from(network.mtu + header + network.framing);
    let shape = shape::of(&network.topology);
    let buffers: f64 = shape
        .roles()
        .into_iter()
        .map(|role| {
            let (switches, ports) = shape.switch_ports(role);
            let switch = scenario.switches.of(role);
            let of_port = switch.pfc.as_ref().map_or(0.0, |pfc| account_bytes(scenario, role, pfc));
            let accounts = ports * of_port;
            accounts
                + match switch.buffer {
                    Buffer::PerPort(size) => ports * size.get() as f64,
                    Buffer::Trimming(of) => {
                        // A header takes as much memory here as a whole packet.
                        let headers = of.header_room.get() as f64 / of.size.get() as f64;
                        ports * (of.room.get() as f64 + headers * frame)
                    }
                    Buffer::Shared { size, .. } => switches * size.get() as f64,
                }
        })
        .sum();
    let (received, widest) = receive_queues(scenario);
    let windows: f64 =
        Table::all(scenario).map(|table| traffic::flows(&table) * traffic::window(&table)).sum();
    let probes: f64 = scenario.probes.iter().map(|probe| probe.packets(scenario.duration) as f64).sum();
    let frames = ((buffers + received) / frame).min(windows + probes);
    let told = if scenario.has_telemetry() { TOLD } else { 0.0 };
    Share {
        bytes: frames * (FRAME + told),
        what: format!("{frames:.0} frames in buffers and receive queues"),
        key: match widest {
            Some(kind) if received > buffers => format!("host.{kind}.receive_queue"),
            _ => "switch.default.buffer".into(),
        },
        remedy: "make buffers or windows smaller",
    }
}

/// Room that lossless classes have beside the buffer for what comes over a link, at most.
fn account_bytes(scenario: &Scenario, role: SwitchRole, pfc: &Pfc) -> f64 {
    let network = &scenario.network;
    let (rate, delay) = shape::of(&network.topology).extremes(network.rate, network.delay);
    let classes = scenario.lossless_classes();
    let link = pfc.lossless_link((rate, delay), scenario.longest_frame(), classes);
    let headroom = pfc.headroom.unwrap_or_else(|| link.headroom().any_sizes());
    let own = match pfc.xoff {
        Xoff::Static(bytes) => bytes.get(),
        Xoff::Dynamic(_) => 0,
    };
    let local = (role == SwitchRole::Relay).then_some(headroom);
    let beyond_fibre = pfc.relay.map_or(0, |_| relay::params(pfc, &link, local, classes).remote_buffer.get());
    (own + headroom.get() + beyond_fibre) as f64 * classes as f64
}

/// Room in all hosts' receive queues, and the name of the kind of host that has most of it.
fn receive_queues(scenario: &Scenario) -> (f64, Option<&str>) {
    let hosts = shape::of(&scenario.network.topology).hosts();
    let room = |(i, kind): (usize, &HostKind)| {
        let Some(room) = kind.model.receive_queue() else { return 0.0 };
        let members: u32 = scenario.hosts.members(i, hosts).iter().map(|range| range.end - range.start).sum();
        f64::from(members) * room.get() as f64
    };
    let kinds = &scenario.hosts.kinds;
    let rooms: Vec<f64> = kinds.iter().enumerate().map(room).collect();
    let widest = kinds.iter().zip(&rooms).max_by(|(_, a), (_, b)| a.total_cmp(b));
    (rooms.iter().sum(), widest.map(|(kind, _)| kind.name.as_str()))
}
