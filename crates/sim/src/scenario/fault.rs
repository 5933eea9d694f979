//! `[[fault]]`: links that lose or damage frames, are slow or down for a time, switches and hosts that are dead, relays that fail, and
//! arbiters that crash.

use clearway_proto::units::{Rate, Span, Time, RATES};
use serde_json::json;

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::key::{Key, Shown};
use super::names::Names;
use super::node;
use super::reader::Section;
use crate::model::{Bypass, Crash, Fault, FaultTable, LinkEffect, Outage, SwitchRole};
use crate::topology::NodeKind;

#[derive(Clone, Copy)]
enum Kind {
    Loss,
    Corruption,
    Slow,
    Down,
    Dead,
    Crash,
    Bypass,
}

const KINDS: [(&str, Kind); 7] = [
    ("loss", Kind::Loss),
    ("corruption", Kind::Corruption),
    ("slow", Kind::Slow),
    ("down", Kind::Down),
    ("dead", Kind::Dead),
    ("crash", Kind::Crash),
    ("bypass", Kind::Bypass),
];

/// What one table says.
pub(crate) struct Read {
    /// The name of its kind.
    kind: &'static str,
    /// The links, nodes or agents that it befalls.
    place: String,
    /// When it begins and ends.
    times: (Time, Time),
    effect: Effect,
}

/// The event itself.
enum Effect {
    /// A link does this to frames, in each of these directions.
    Link(Vec<(String, String)>, LinkEffect),
    /// These directed links are dead, by number.
    Dead(Vec<u32>),
    /// An arbiter of this rank is dead.
    Crash(usize),
    /// A bypass takes the place of the relay at this node.
    Bypass(u32),
}

/// What happens, of all tables.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) tables: Vec<FaultTable>,
    pub(crate) links: Vec<Fault>,
    pub(crate) outages: Vec<Outage>,
    pub(crate) arbiters: Vec<Crash>,
    pub(crate) relays: Vec<Bypass>,
}

/// What happens to links, to arbiters and to relays.
pub(crate) fn split(all: Vec<Read>) -> Faults {
    let mut faults = Faults::default();
    for (table, Read { kind, place, times: (from, until), effect }) in (0..).zip(all) {
        faults.tables.push(FaultTable { kind, place, from, until });
        match effect {
            Effect::Link(directions, effect) => {
                let fault = |link| Fault { table, link, from, until, effect };
                faults.links.extend(directions.into_iter().map(fault));
            }
            Effect::Dead(links) => faults.outages.push(Outage { table, links, from, until }),
            Effect::Crash(rank) => faults.arbiters.push(Crash { rank, from, until }),
            Effect::Bypass(relay) => faults.relays.push(Bypass { relay, from, until }),
        }
    }
    faults
}

pub(super) const WANTED: &str = "a link, \"a>b\" for one way or \"a-b\" for both, such as \"h0-tor0\"";

/// What tables of faults refer to.
pub(crate) struct Scene<'a> {
    /// The nodes; without them, where the network is not known, only the form of a link is checked.
    pub(crate) names: Option<&'a Names<'a>>,
    /// The number of arbiters; `None` where their table is wrong.
    pub(crate) arbiters: Option<usize>,
    /// There is a table `[routing]`.
    pub(crate) is_routed: bool,
}

/// Reads one table.
pub(crate) fn read(r: &mut Section, scene: &Scene) -> Read {
    let kinds = KINDS.map(|(name, kind)| (name, (name, kind)));
    let doc = "Frames of a link are lost at random, or damaged, or slow, or all of them are lost; a switch or a host is dead; an \
               arbiter is dead; or a relay fails and a bypass takes its place.";
    let (name, kind) = r.choice("kind", doc, None, &kinds);
    let (place, effect) = match kind {
        Kind::Crash => read_crash(r, scene.arbiters),
        Kind::Bypass => read_bypass(r, scene.names),
        Kind::Dead => read_dead(r, scene),
        Kind::Loss | Kind::Corruption | Kind::Slow | Kind::Down => read_link(r, kind, scene),
    };
    Read { kind: name, place, times: read_times(r), effect }
}

/// Reads what happens to a link.
fn read_link(r: &mut Section, kind: Kind, scene: &Scene) -> (String, Effect) {
    let form = Form {
        name: "link",
        doc: "Names of the nodes it joins: \"a>b\" for the way from a to b, \"a-b\" for both ways.",
        required: true,
        otherwise: WANTED,
        schema: json!({ "type": "string", "pattern": "^[^>]+[>-][^>]+$", "x-unit": "link" }),
    };
    let link = r.parsed(&form, |node| {
        let directions = parse(node, scene.names)?;
        let text = node_text(node);
        Ok(((text.to_string(), directions), text.into()))
    });
    let (place, directions) = link.unwrap_or_default();
    let effect = match kind {
        Kind::Loss => {
            let doc = "That a frame whose transmission starts in that time is lost.";
            LinkEffect::Loss(r.get(&Key::new("probability", doc, 0.0..=1.0)))
        }
        Kind::Corruption => {
            let doc = "That a bit is wrong of a frame whose transmission starts in that time; the next receiver drops such a frame.";
            LinkEffect::BitErrors(r.get(&Key::new("bit_error_rate", doc, 0.0..=0.5)))
        }
        Kind::Slow => {
            let doc = "The link's rate in that time; of several at a time the lowest holds.";
            let rate = r.get(&Key::new("rate", doc, RATES));
            if let Some(usual) = scene.names.and_then(|names| lowest_rate(names, &directions)) {
                if r.sound() && rate > usual {
                    r.conflict(
                        "rate",
                        format!("found {}, more than the link's {}", rate.shown(), usual.shown()),
                    );
                }
            }
            LinkEffect::Rate(rate)
        }
        _ => LinkEffect::Loss(1.0),
    };
    match (kind, scene.names) {
        (Kind::Down, Some(names)) if scene.is_routed => {
            let link = |(a, b): &(String, String)| names.graph().link_between(a, b);
            (place, Effect::Dead(directions.iter().filter_map(link).collect()))
        }
        _ => (place, Effect::Link(directions, effect)),
    }
}

/// The lowest of the rates that links have.
fn lowest_rate(names: &Names, directions: &[(String, String)]) -> Option<Rate> {
    let links = directions.iter().filter_map(|(a, b)| names.graph().link_between(a, b));
    links.map(|link| names.graph().link(link).rate).min()
}

/// Reads which switch or host is dead.
fn read_dead(r: &mut Section, scene: &Scene) -> (String, Effect) {
    let doc = "A switch, which is dead with all its links, or a host, whose NIC is dead.";
    let node = node::read(r, "node", doc, scene.names);
    if r.sound() && !scene.is_routed {
        let message = "\"dead\" needs the table [routing], which says when the network notices: give it detect and converge";
        r.conflict("kind", message);
    }
    let (Some(node), Some(names)) = (node, scene.names) else {
        return (String::new(), Effect::Dead(Vec::new()));
    };
    let links = names.graph().outgoing(node).iter().flat_map(|&link| [link, link ^ 1]);
    (names.name(node).to_string(), Effect::Dead(links.collect()))
}

fn read_crash(r: &mut Section, arbiters: Option<usize>) -> (String, Effect) {
    let doc = "The arbiter's rank: its place in [arbiter] at, from 0.";
    let rank = r.get(&Key::new("arbiter", doc, 0..=7_u32));
    if let (true, Some(count)) = (r.sound(), arbiters) {
        if rank as usize >= count {
            let message = match count {
                0 => "there is no [arbiter]".into(),
                1 => format!("found {rank}, and there is one arbiter, 0"),
                _ => format!("found {rank}, and the arbiters are 0 to {}", count - 1),
            };
            r.conflict("arbiter", message);
        }
    }
    (format!("arbiter {rank}"), Effect::Crash(rank as usize))
}

fn read_bypass(r: &mut Section, names: Option<&Names>) -> (String, Effect) {
    let form = Form {
        name: "relay",
        doc: "The relay that fails. What waits in it is lost; from then on frames and PAUSEs pass as on one long link, until it is \
              back.",
        required: true,
        otherwise: "the name of a relay, such as \"relay0\"",
        schema: json!({ "type": "string", "x-unit": "name" }),
    };
    let relay = r.parsed(&form, |node| {
        let Value::Text(name) = &node.value else { return Err(Misread::expected(form.otherwise)) };
        let Some(names) = names else { return Ok((0, ().into())) };
        let number =
            names.number(name).filter(|&number| names.graph().role(number) == Some(SwitchRole::Relay));
        let number = number.ok_or_else(|| {
            let relays =
                names.graph().nodes().iter().filter(|node| node.kind == NodeKind::Switch(SwitchRole::Relay));
            let relays: Vec<&str> = relays.map(|node| node.name.as_str()).take(8).collect();
            Misread::Says(match relays.as_slice() {
                [] => "the network has no relays".into(),
                relays => format!("found \"{name}\", expected a relay: {}", relays.join(", ")),
            })
        })?;
        Ok((number, name.as_str().into()))
    });
    let relay = relay.unwrap_or_default();
    (names.map_or_else(String::new, |names| names.name(relay).to_string()), Effect::Bypass(relay))
}

/// Returns when a fault begins and ends.
fn read_times(r: &mut Section) -> (Time, Time) {
    let instant = || Span::ZERO..=Span::from_secs(1000);
    let at = r.get(&Key::new("at", "When it begins.", instant()).or(Span::ZERO));
    let until = r.optional(&Key::new("until", "When it ends.", instant()), "the end of the run");
    if let Some(until) = until.filter(|until| r.sound() && *until <= at) {
        r.conflict("until", format!("{} is not after at, {}", until.shown(), at.shown()));
    }
    let instant = |span: Span| Time::ZERO + span;
    (instant(at), until.map_or(Time::NEVER, instant))
}

fn node_text(node: &Node) -> &str {
    match &node.value {
        Value::Text(text) => text,
        _ => "",
    }
}

/// The directions of a link that a text names.
pub(super) fn parse(node: &Node, names: Option<&Names>) -> Result<Vec<(String, String)>, Misread> {
    let text = node_text(node);
    let one_way = text.split_once('>');
    let pairs: Vec<(&str, &str)> = match one_way {
        Some(pair) => vec![pair],
        // Names may contain the dash too: any place may be the one.
        None => text.match_indices('-').map(|(at, _)| (&text[..at], &text[at + 1..])).collect(),
    };
    let Some(&first) = pairs.iter().find(|(a, b)| !a.is_empty() && !b.is_empty()) else {
        return Err(Misread::expected(WANTED));
    };
    let Some(names) = names else { return Ok(Vec::new()) };
    let known = |(a, b): &&(&str, &str)| names.contains(a) && names.contains(b);
    if let Some(&(a, b)) = pairs.iter().filter(known).find(|(a, b)| names.linked(a, b)) {
        let mut directions = vec![(a.to_string(), b.to_string())];
        if one_way.is_none() {
            directions.push((b.to_string(), a.to_string()));
        }
        return Ok(directions);
    }
    if let Some((a, b)) = pairs.iter().find(known) {
        let message = format!("no link joins {a} and {b}; {a} is linked to {}", names.neighbours(a));
        return Err(Misread::Says(message));
    }
    if text.contains("->") {
        return Err(Misread::expected(WANTED));
    }
    // Of the ways to split it, one that has a known end most likely is the one meant.
    let half_known = pairs.iter().find(|(a, b)| names.contains(a) || names.contains(b));
    let (a, b) = half_known.unwrap_or(&first);
    let unknown = if names.contains(a) { b } else { a };
    let nearest = names.nearest_listed(unknown);
    Err(Misread::Says(format!("there is no node {unknown}; the nearest names are {nearest}")))
}
