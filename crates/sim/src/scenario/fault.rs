//! `[[fault]]`: links that lose frames or are down for a time, relays that fail, and arbiters that crash.

use clearway_proto::units::{Span, Time};
use serde_json::json;

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::key::{Key, Shown};
use super::names::Names;
use super::reader::Section;
use crate::model::{Bypass, Crash, Fault, SwitchRole};
use crate::topology::NodeKind;

#[derive(Clone, Copy)]
enum Kind {
    Loss,
    Down,
    Crash,
    Bypass,
}

/// What one table says.
pub(crate) enum Read {
    /// What happens to a link, for each direction.
    Link(Vec<Fault>),
    /// What happens to an arbiter.
    Crash(Crash),
    /// What happens to a relay.
    Bypass(Bypass),
}

/// What happens, of all tables.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) links: Vec<Fault>,
    pub(crate) arbiters: Vec<Crash>,
    pub(crate) relays: Vec<Bypass>,
}

/// What happens to links, to arbiters and to relays.
pub(crate) fn split(all: Vec<Read>) -> Faults {
    let mut faults = Faults::default();
    for one in all {
        match one {
            Read::Link(directions) => faults.links.extend(directions),
            Read::Crash(crash) => faults.arbiters.push(crash),
            Read::Bypass(bypass) => faults.relays.push(bypass),
        }
    }
    faults
}

const WANTED: &str = "a link, \"a>b\" for one way or \"a-b\" for both, such as \"h0-tor0\"";

/// Reads one table. Without names, where the network is not known, only the form of a link is checked. `arbiters` is the
/// number of arbiters, `None` where their table is wrong.
pub(crate) fn read(r: &mut Section, names: Option<&Names>, arbiters: Option<usize>) -> Read {
    let kinds =
        [("loss", Kind::Loss), ("down", Kind::Down), ("crash", Kind::Crash), ("bypass", Kind::Bypass)];
    let doc = "Frames of a link are lost at random, or all of them are, or an arbiter is dead, or a relay fails and a bypass takes \
               its place.";
    let kind = r.choice("kind", doc, None, &kinds);
    match kind {
        Kind::Crash => return Read::Crash(read_crash(r, arbiters)),
        Kind::Bypass => return Read::Bypass(read_bypass(r, names)),
        Kind::Loss | Kind::Down => (),
    }
    let form = Form {
        name: "link",
        doc: "Names of the nodes it joins: \"a>b\" for the way from a to b, \"a-b\" for both ways.",
        required: true,
        otherwise: WANTED,
        schema: json!({ "type": "string", "pattern": "^[^>]+[>-][^>]+$", "x-unit": "link" }),
    };
    let directions = r.parsed(&form, |node| {
        let directions = parse(node, names)?;
        Ok((directions, node_text(node).into()))
    });
    let (from, until) = read_times(r);
    let loss = match kind {
        Kind::Loss => {
            let doc = "That a frame whose transmission starts in that time is lost.";
            r.get(&Key::new("probability", doc, 0.0..=1.0))
        }
        _ => 1.0,
    };
    Read::Link(
        directions.unwrap_or_default().into_iter().map(|link| Fault { link, from, until, loss }).collect(),
    )
}

fn read_crash(r: &mut Section, arbiters: Option<usize>) -> Crash {
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
    let (from, until) = read_times(r);
    Crash { rank: rank as usize, from, until }
}

fn read_bypass(r: &mut Section, names: Option<&Names>) -> Bypass {
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
    let (from, until) = read_times(r);
    Bypass { relay: relay.unwrap_or_default(), from, until }
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
fn parse(node: &Node, names: Option<&Names>) -> Result<Vec<(String, String)>, Misread> {
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
