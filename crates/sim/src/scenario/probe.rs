//! `[[probe]]`: packets that measure a path's round-trip time under load.

use clearway_proto::units::{Bytes, Span, Time};

use super::class;
use super::key::{Key, Shown};
use super::network::MAX_FRAME;
use super::node;
use super::reader::Section;
use crate::model::Probe;

/// The largest number of probes.
pub(crate) const MAX_PROBES: usize = 10_000;

/// The smallest packet: the smallest Ethernet frame.
const MIN_BYTES: Bytes = Bytes::new(64);

/// Reads one table.
pub(crate) fn read(r: &mut Section, scene: &node::Scene) -> Probe {
    let from = node::read(r, "from", "The node that sends and measures.", scene.names);
    let to = node::read(r, "to", "The node that answers.", scene.names);
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
