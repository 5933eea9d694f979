//! `[record.packets]`: which packets of a run are recorded.

use std::ops::Range;

use clearway_proto::units::{Span, Time};
use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::Misread;
use super::fault;
use super::form::Form;
use super::key::{Key, Shown};
use super::names::Names;
use super::reader::Section;
use crate::model::Packets;

/// The description of the table.
pub(crate) const DOC: &str = "A row for each packet that crosses a link or is lost; none without this table.";

/// The most packets that can be recorded.
const MOST: u64 = 1_000_000_000;
const WANTED_FLOWS: &str = "numbers of flows, such as 7, \"0..50\" or [1, \"5..9\"]";
const WANTED_LINKS: &str =
    "a link or a list of links, \"a>b\" for one way or \"a-b\" for both, such as [\"h0-tor0\", \"tor0>h1\"]";

/// Reads the table. `None` if anything is wrong with it; without names, where the network is not known, only the form of
/// links is checked.
pub(crate) fn read(r: &mut Section, names: Option<&Names>) -> Option<Packets> {
    let doc = "Flows whose packets are recorded, by number, and nothing else; probes, control packets and PAUSEs are of none.";
    let schema = one_or_several(
        &json!([{ "type": "integer", "minimum": 0 }, { "type": "string", "minLength": 1 }]),
        "flows",
    );
    let form = Form { name: "flows", doc, required: false, otherwise: "all, and what is of no flow", schema };
    let flows = r.parsed(&form, parse_flows);
    let doc = "Links on which packets are recorded.";
    let schema = one_or_several(&json!([{ "type": "string", "pattern": "^[^>]+[>-][^>]+$" }]), "links");
    let form = Form { name: "links", doc, required: false, otherwise: "all", schema };
    let links = r.parsed(&form, |node| parse_links(node, names));
    let instant = || Span::ZERO..=Span::from_secs(1000);
    let from = r.get(&Key::new("from", "When the record begins.", instant()).or(Span::ZERO));
    let until = r.optional(&Key::new("until", "When the record ends.", instant()), "the end of the run");
    let doc = "The most packets that are recorded. With one more the record ends, and the run says so.";
    let limit = r.get(&Key::new("limit", doc, 1..=MOST).or(1_000_000));
    if let Some(until) = until.filter(|until| r.sound() && *until <= from) {
        r.conflict("until", format!("{} is not after from, {}", until.shown(), from.shown()));
    }
    let time = |span: Span| Time::ZERO + span;
    r.sound().then(|| Packets {
        flows,
        links,
        from: time(from),
        until: until.map_or(Time::NEVER, time),
        limit,
    })
}

/// The schema of a key that holds one value of these forms, or a list of such values.
fn one_or_several(one: &Json, unit: &str) -> Json {
    let mut forms = one.as_array().cloned().unwrap_or_default();
    forms.push(json!({ "type": "array", "minItems": 1, "items": { "anyOf": one } }));
    json!({ "anyOf": forms, "x-unit": unit })
}

/// The values of a key that holds one or a list of them.
fn values(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// Reads flows as ranges, and as they were given.
fn parse_flows(node: &Node) -> Result<(Vec<Range<u32>>, Json), Misread> {
    let mut ranges = Vec::new();
    let mut shown = Vec::new();
    for item in values(node) {
        let (start, end) = match &item.value {
            Value::Integer(flow) => (*flow, flow.saturating_add(1)),
            Value::Text(text) => range(text).ok_or_else(|| Misread::expected(WANTED_FLOWS))?,
            _ => return Err(Misread::expected(WANTED_FLOWS)),
        };
        let (Ok(from), Ok(to)) = (u32::try_from(start), u32::try_from(end)) else {
            return Err(Misread::expected(WANTED_FLOWS));
        };
        if from >= to {
            return Err(Misread::Says(format!("{from}..{to} is an empty range: its end is not in it")));
        }
        ranges.push(from..to);
        shown.push(if from + 1 == to { Json::from(from) } else { format!("{from}..{to}").into() });
    }
    if ranges.is_empty() {
        return Err(Misread::expected(WANTED_FLOWS));
    }
    Ok((ranges, shown.into()))
}

/// Parses `"3"` or `"0..50"`, whose end is not included.
fn range(text: &str) -> Option<(i64, i64)> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    match text.split_once("..") {
        Some((start, end)) => Some((number(start)?, number(end)?)),
        None => number(text).map(|flow: i64| (flow, flow.saturating_add(1))),
    }
}

/// Reads links by number, and as they were given.
fn parse_links(node: &Node, names: Option<&Names>) -> Result<(Vec<u32>, Json), Misread> {
    let mut links = Vec::new();
    let mut shown = Vec::new();
    for item in values(node) {
        let Value::Text(text) = &item.value else { return Err(Misread::expected(WANTED_LINKS)) };
        let directions = fault::parse(item, names)?;
        let number = |(a, b): &(String, String)| names?.graph().link_between(a, b);
        links.extend(directions.iter().filter_map(number));
        shown.push(Json::from(text.as_str()));
    }
    if shown.is_empty() {
        return Err(Misread::expected(WANTED_LINKS));
    }
    links.sort_unstable();
    links.dedup();
    Ok((links, shown.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::document::Place;

    fn flows(value: Value) -> Result<Vec<(u32, u32)>, Misread> {
        let ranges = parse_flows(&Node { value, place: Place::File })?.0;
        Ok(ranges.into_iter().map(|range| (range.start, range.end)).collect())
    }

    #[test]
    fn flows_are_a_number_a_range_or_a_list_of_these() {
        let node = |value| Node { value, place: Place::File };
        assert_eq!(flows(Value::Integer(7)), Ok(vec![(7, 8)]));
        assert_eq!(flows(Value::Text("0..50".into())), Ok(vec![(0, 50)]));
        let list = vec![node(Value::Integer(1)), node(Value::Text("5..9".into()))];
        assert_eq!(flows(Value::List(list)), Ok(vec![(1, 2), (5, 9)]));
    }

    #[test]
    fn what_names_no_flow_is_refused() {
        for wrong in ["", "..", "1..", "-1", "3..3", "5..2", "0..99999999999", "99999999999999999999", "all"]
        {
            assert!(flows(Value::Text(wrong.into())).is_err(), "{wrong}");
        }
        for wrong in
            [Value::Integer(-1), Value::Integer(i64::MAX), Value::Bool(true), Value::List(Vec::new())]
        {
            assert!(flows(wrong).is_err());
        }
    }
}
