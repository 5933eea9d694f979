//! `[[fault]]`: links that lose frames or are down for a time.

use clearway_proto::units::{Span, Time};
use serde_json::json;

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::key::{Key, Shown};
use super::names::Names;
use super::reader::Section;
use crate::model::Fault;

#[derive(Clone, Copy)]
enum Kind {
    Loss,
    Down,
}

const WANTED: &str = "a link, \"a>b\" for one way or \"a-b\" for both, such as \"h0-tor0\"";

/// Reads one table and returns a fault for each direction. Without names, where the network is not known, only the form
/// of the link is checked.
pub(super) fn read(r: &mut Section, names: Option<&Names>) -> Vec<Fault> {
    let kinds = [("loss", Kind::Loss), ("down", Kind::Down)];
    let kind = r.choice("kind", "Frames are lost at random, or all of them are.", None, &kinds);
    let form = Form {
        name: "link",
        doc: "Names of the nodes it joins: \"a>b\" for the way from a to b, \"a-b\" for both ways.",
        required: true,
        otherwise: WANTED,
        schema: json!({ "type": "string", "pattern": "^[^>]+[>-][^>]+$", "x-unit": "link" }),
    };
    let ways = r.parsed(&form, |node| {
        let ways = parse(node, names)?;
        Ok((ways, node_text(node).into()))
    });
    let instant = || Span::ZERO..=Span::from_secs(1000);
    let at = r.get(&Key::new("at", "When it begins.", instant()).or(Span::ZERO));
    let until = r.optional(&Key::new("until", "When it ends.", instant()), "the end of the run");
    let loss = match kind {
        Kind::Down => 1.0,
        Kind::Loss => {
            let doc = "That a frame whose transmission starts in that time is lost.";
            r.get(&Key::new("probability", doc, 0.0..=1.0))
        }
    };
    if let Some(until) = until.filter(|until| r.sound() && *until <= at) {
        r.conflict("until", format!("{} is not after at, {}", until.shown(), at.shown()));
    }
    let from = Time::from_ps(at.as_ps());
    let until = until.map_or(Time::NEVER, |until| Time::from_ps(until.as_ps()));
    ways.unwrap_or_default().into_iter().map(|link| Fault { link, from, until, loss }).collect()
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
        let mut ways = vec![(a.to_string(), b.to_string())];
        if one_way.is_none() {
            ways.push((b.to_string(), a.to_string()));
        }
        return Ok(ways);
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
    let nearest = names.nearest(unknown);
    let meant = nearest.map_or(String::new(), |name| format!("; did you mean {name}?"));
    Err(Misread::Says(format!("there is no node {unknown}{meant}")))
}
