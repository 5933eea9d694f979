//! `[record.packets]`: which packets of a run are recorded.

use clearway_proto::units::{Span, Time};
use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::Misread;
use super::fault;
use super::flow_numbers;
use super::form::Form;
use super::key::{Key, Shown};
use super::names::Names;
use super::reader::Section;
use crate::model::Packets;

/// The description of the table.
pub(crate) const DOC: &str = "A row for each packet that crosses a link or is lost; none without this table.";

/// The most packets that can be recorded.
const MOST: u64 = 1_000_000_000;
const WANTED_LINKS: &str =
    "a link or a list of links, \"a>b\" for one way or \"a-b\" for both, such as [\"h0-tor0\", \"tor0>h1\"]";

/// Reads the table. `None` if anything is wrong with it; without names, where the network is not known, only the form of
/// links is checked.
pub(crate) fn read(r: &mut Section, names: Option<&Names>) -> Option<Packets> {
    let doc = "Flows whose packets are recorded, by number, and nothing else; probes, control packets and PAUSEs are of none.";
    let flows = flow_numbers::read(r, doc, "all, and what is of no flow", |_| Ok(()));
    let doc = "Links on which packets are recorded.";
    let one = json!({ "type": "string", "pattern": "^[^>]+[>-][^>]+$" });
    let list = json!({ "type": "array", "minItems": 1, "items": { "anyOf": [one] } });
    let schema = json!({ "anyOf": [one, list], "x-unit": "links" });
    let form = Form { name: "links", doc, required: false, otherwise: "all", schema };
    let links = r.parsed(&form, |node| parse_links(node, names));
    let instant = || Span::ZERO..=Span::from_secs(1000);
    let from = r.get(&Key::new("from", "When the record begins.", instant()).or(Span::ZERO));
    let until = r.optional(&Key::new("until", "When the record ends.", instant()), "the end of the run");
    let doc = "The most packets that are recorded, of which a control packet counts as one for each 64 bytes. With one more the record ends, and the run says so.";
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

/// Reads links by number, and as they were given.
fn parse_links(node: &Node, names: Option<&Names>) -> Result<(Vec<u32>, Json), Misread> {
    let mut links = Vec::new();
    let mut shown = Vec::new();
    for item in node.values() {
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
