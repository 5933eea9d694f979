//! `[switch.default]` and the tables of the roles: buffers, ECN marking and flow control.

use clearway_proto::units::Bytes;

use super::key::{Key, Shown};
use super::pfc;
use super::reader::Section;
use super::shape::{role_name, MAX_BYTES};
use super::trimming;
use crate::model::{Buffer, Ecn, MarkPoint, Network, SwitchKind, SwitchKinds, SwitchRole, Trimming, Xoff};
use crate::topology::shape;

#[derive(Clone, Copy)]
enum Sharing {
    Port,
    Shared,
}

/// How a queue marks.
#[derive(Clone, Copy)]
pub(crate) enum Marking {
    Off,
    Step,
    Red,
}

/// Reads the table. None if anything is wrong in it.
pub(crate) fn read(r: &mut Section, network: Option<&Network>) -> Option<SwitchKinds> {
    let doc = "Every switch whose role has no table of its own.";
    let default = r.table("default", doc, |r| read_kind(r, None));
    let mut role = |role, doc| {
        let name = role_name(role);
        let kind = r.heir(name, doc, ("default", default.as_ref()), |r| read_kind(r, Some(role)));
        check_role(r, role, network);
        kind
    };
    let tor = role(SwitchRole::Tor, "Switches that join hosts; what is not given is as in default.");
    let aggregation =
        role(SwitchRole::Aggregation, "The middle tier of a fat tree; what is not given is as in default.");
    let spine = role(SwitchRole::Spine, "The top tier; what is not given is as in default.");
    let dci = role(SwitchRole::Dci, "Switches that join datacenters; what is not given is as in default.");
    let long = role(
        SwitchRole::Long,
        "The ports of these that face another datacenter, or a relay; what is not given is as in default.",
    );
    let doc = "Relays: the port to the switch, and relay_* for that to the fibre; what is not given is as in default.";
    let relay = role(SwitchRole::Relay, doc);
    let doc = "The cards of hosts with several links, which join them to their host; what is not given is as in default.";
    let nic = role(SwitchRole::Nic, doc);
    let (tor, aggregation, spine) = (tor?, aggregation?, spine?);
    Some(SwitchKinds { tor, aggregation, spine, dci: dci?, long: long?, relay: relay?, nic: nic? })
}

fn check_role(r: &Section, role: SwitchRole, network: Option<&Network>) {
    let Some(network) = network.filter(|_| r.given(role_name(role))) else { return };
    let roles = shape::of(&network.topology).roles();
    if !roles.contains(&role) {
        let names: Vec<&str> = roles.into_iter().map(role_name).collect();
        let name = role_name(role);
        let message = format!("the topology has no switches of role {name}; its roles: {}", names.join(", "));
        r.conflict_at(name, message);
    }
}

fn read_kind(r: &mut Section, role: Option<SwitchRole>) -> SwitchKind {
    let doc = "Room for frames: of each port, or of the whole switch where it is shared.";
    let size = Key::new("buffer", doc, Bytes::new(100)..=MAX_BYTES);
    let size = r.get(&size.or(Bytes::new(12_700_000)));
    let doc = "Whether each port has its own buffer or all share one, by a dynamic threshold.";
    let sharing =
        r.choice("sharing", doc, Some("port"), &[("port", Sharing::Port), ("shared", Sharing::Shared)]);
    let buffer = match sharing {
        Sharing::Port => trimming::read(r, size).map_or(Buffer::PerPort(size), Buffer::Trimming),
        Sharing::Shared => {
            let doc = "A port, or a class at a port, may hold this many times what is free of the buffer.";
            let alpha = Key::new("alpha", doc, 0.001..=1000.0);
            Buffer::Shared { size, alpha: r.get(&alpha.or(1.0)) }
        }
    };
    let doc =
        "When a queue marks congestion: never, above a threshold, or with a probability that rises (RED).";
    let marking = r.choice("ecn", doc, Some("off"), MARKINGS);
    let ecn = read_marking(r, marking);
    // What is cut cannot be kept whole.
    let pfc = if matches!(buffer, Buffer::Trimming(_)) { None } else { pfc::read(r, buffer, role) };
    let kind = SwitchKind { buffer, ecn, pfc };
    check_thresholds(r, &kind.ecn, longest_queue(&kind));
    kind
}

/// What a queue of such a switch can hold at most, as far as it is known here.
pub(crate) fn longest_queue(kind: &SwitchKind) -> Bytes {
    let (Buffer::PerPort(size) | Buffer::Trimming(Trimming { room: size, .. }) | Buffer::Shared { size, .. }) =
        kind.buffer;
    match &kind.pfc {
        // Beside the buffer lossless frames have the accounts of all links.
        Some(pfc) if matches!(pfc.xoff, Xoff::Static(_)) => MAX_BYTES,
        _ => size,
    }
}

/// The names of the ways to mark.
pub(crate) const MARKINGS: &[(&str, Marking)] =
    &[("off", Marking::Off), ("step", Marking::Step), ("red", Marking::Red)];

/// Reads the keys of a way to mark.
pub(crate) fn read_marking(r: &mut Section, marking: Marking) -> Ecn {
    let threshold = |name, doc| Key::new(name, doc, Bytes::new(0)..=MAX_BYTES);
    match marking {
        Marking::Off => Ecn::Off,
        Marking::Step => {
            let threshold =
                r.get(&threshold("ecn_threshold", "A frame that meets a longer queue is marked."));
            Ecn::Step { threshold, at: read_point(r) }
        }
        Marking::Red => {
            let min = r.get(&threshold("ecn_min", "Up to this queue nothing is marked."));
            let max = r.get(&threshold("ecn_max", "Above this queue everything is marked."));
            let pmax = Key::new("ecn_pmax", "Probability of a mark at ecn_max.", 0.0..=1.0);
            let pmax = r.get(&pmax);
            if r.sound() && min > max {
                r.conflict("ecn_min", format!("{} is above ecn_max, {}", min.shown(), max.shown()));
            }
            Ecn::Red { min, max, pmax, at: read_point(r) }
        }
    }
}

/// Reads where frames meet the queue that marks them.
fn read_point(r: &mut Section) -> MarkPoint {
    let doc = "Which queue a frame meets: what waits behind it as it begins to leave, or what it finds as it comes.";
    let points = &[("dequeue", MarkPoint::Dequeue), ("enqueue", MarkPoint::Enqueue)];
    r.one_of("ecn_mark_at", doc, Some("dequeue"), points)
}

/// Checks that a queue, which holds less than `longest`, can exceed a threshold; one that none can exceed is a mistaken unit.
pub(crate) fn check_thresholds(r: &Section, ecn: &Ecn, longest: Bytes) {
    let (name, threshold) = match *ecn {
        Ecn::Off => return,
        Ecn::Step { threshold, .. } => ("ecn_threshold", threshold),
        Ecn::Red { max, .. } => ("ecn_max", max),
    };
    if r.sound() && threshold >= longest {
        let (threshold, longest) = (threshold.shown(), longest.shown());
        r.conflict(name, format!("{threshold} is not below buffer, {longest}: nothing would ever be marked"));
    }
}
