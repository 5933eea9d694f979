//! `[[probe]]`: packets that measure a path's round-trip time under load.

use clearway_proto::units::{Bytes, Span, Time};
use serde_json::{json, Value as Json};

use super::class;
use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::key::{Key, Shown};
use super::names::Names;
use super::network::MAX_FRAME;
use super::reader::Section;
use crate::model::{Probe, TrafficClass};

/// The largest number of probes.
pub(super) const MAX_PROBES: usize = 10_000;

/// The smallest packet: the smallest Ethernet frame.
const MIN_BYTES: Bytes = Bytes::new(64);

const WANTED: &str = "a host's number or a node's name, such as 3, \"h3\" or \"tor0\"";

/// What probes refer to. Parts that are wrong in the file are missing here; what depends on them is then not checked.
pub(super) struct Scene<'a> {
    /// The nodes.
    pub(super) names: Option<&'a Names<'a>>,
    /// The traffic classes, in the file's order.
    pub(super) classes: Option<&'a [TrafficClass]>,
    /// When the run ends.
    pub(super) duration: Span,
}

/// Reads one table.
pub(super) fn read(r: &mut Section, scene: &Scene) -> Probe {
    let from = read_node(r, "from", "The node that sends and measures.", scene.names);
    let to = read_node(r, "to", "The node that answers.", scene.names);
    if let (Some(names), Some(from)) = (scene.names, from.filter(|_| r.sound() && from == to)) {
        r.conflict("to", format!("{} is where the probe's packets come from", names.name(from)));
    }
    let longest = Span::from_secs(1000);
    let interval = Key::new("interval", "Time from one packet to the next.", Span::from_ns(1)..=longest);
    let interval = r.get(&interval);
    let doc = "What a packet, and its answer, takes on the wire.";
    let bytes = Key::new("size", doc, MIN_BYTES..=Bytes::new(MAX_FRAME.into()));
    let bytes = r.get(&bytes.or(MIN_BYTES));
    let doc = "NAME of the [class.NAME] of packets and answers.";
    let class = class::read_name_or_first(r, "class", doc, scene.classes);
    let start =
        r.get(&Key::new("start", "When the first packet leaves.", Span::ZERO..=longest).or(Span::ZERO));
    let stop = Key::new("stop", "No packet leaves from then on.", Span::from_ps(1)..=longest);
    let stop = r.optional(&stop, "the end of the run");
    if r.sound() && start >= scene.duration {
        let message = format!("found {}, but the run ends at {}", start.shown(), scene.duration.shown());
        r.conflict("start", message);
    }
    if let Some(stop) = stop.filter(|stop| r.sound() && *stop <= start) {
        r.conflict("stop", format!("{} is not after start, {}", stop.shown(), start.shown()));
    }
    let instant = |span: Span| Time::ZERO + span;
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
    Probe { from, to, interval, bytes, class, start: instant(start), stop: stop.map(instant) }
}

/// Reads a node; without names, where the network is not known, only its form is checked.
fn read_node(r: &mut Section, name: &'static str, doc: &'static str, names: Option<&Names>) -> Option<u32> {
    let one = json!([{ "type": "integer", "minimum": 0 }, { "type": "string", "minLength": 1 }]);
    let schema = json!({ "anyOf": one, "x-unit": "node" });
    let form = Form { name, doc, required: true, otherwise: WANTED, schema };
    r.parsed(&form, |node| parse(node, names))
}

fn parse(node: &Node, names: Option<&Names>) -> Result<(u32, Json), Misread> {
    match (&node.value, names) {
        (Value::Integer(host), None) => Ok((0, (*host).into())),
        (Value::Text(name), None) => Ok((0, name.clone().into())),
        (Value::Integer(host), Some(names)) => {
            let number = u32::try_from(*host).ok().filter(|host| *host < names.hosts());
            let last = names.hosts() - 1;
            let refused = || Misread::Says(format!("found {host}, but hosts are numbered from 0 to {last}"));
            number.map(|host| (host, host.into())).ok_or_else(refused)
        }
        (Value::Text(name), Some(names)) => match names.number(name) {
            Some(number) => Ok((number, name.clone().into())),
            None => Err(Misread::Expected(WANTED.into(), names.nearest(name))),
        },
        _ => Err(Misread::expected(WANTED)),
    }
}
