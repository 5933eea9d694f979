//! `[record.flows]`: the flows that have series, by number, by what carries them, or by a rule.

use clearway_proto::units::Span;
use serde_json::{json, Value as Json};

use super::class;
use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::hosts::range;
use super::key::Key;
use super::reader::Section;
use super::suggest;
use crate::model::{FlowSeries, Rule, TrafficClass, Transport};

const WANTED: &str = "flows by number, such as 3, \"0..10\" or [0, 4, \"8..12\"]";

/// The remedy for a table that chooses no flows.
const CHOICES: &str =
    "which flows: flows = \"0..10\", first, largest or slowest = 10, or the transport or class of all of them";

/// The keys of which one chooses the flows.
const RULES: [&str; 4] = ["flows", "first", "largest", "slowest"];

/// Reads the table. `None` if anything is wrong in it. Where transports or classes themselves are wrong there are none, and no
/// further problem is noted.
pub(crate) fn read(
    r: &mut Section,
    (transports, classes): (Option<&[Transport]>, Option<&[TrafficClass]>),
) -> Option<FlowSeries> {
    let doc = "Time from one sample of each flow to the next.";
    let every = r.get(&Key::new("every", doc, Span::from_ns(1)..=Span::from_secs(1000)));
    let numbers = read_numbers(r);
    let doc = "This many flows that start before all others.";
    let first = r.optional(&count("first", doc), "not chosen so").map(Rule::First);
    let doc = "This many flows that have the most bytes to carry.";
    let largest = r.optional(&count("largest", doc), "not chosen so").map(Rule::Largest);
    let doc = "This many flows with the largest slowdowns, which a first run tells: it is simulated twice.";
    let slowest = r.optional(&count("slowest", doc), "not chosen so").map(Rule::Slowest);
    let transport = read_transport(r, transports);
    let doc = "NAME of the [class.NAME] of their data: those of the flows of this class.";
    let class = class::read_name(r, "class", doc, "flows of any class", classes);
    let given: Vec<&str> = RULES.into_iter().filter(|key| r.given(key)).collect();
    let narrowed = ["transport", "class"].into_iter().find(|key| r.given(key));
    match (&given[..], narrowed) {
        ([], None) => r.report_missing("flows", CHOICES.into()),
        ([one, other, ..], _) if r.sound() => {
            let message =
                format!("{one} says which flows, too: give one of the two, or the union as flows = [...]");
            r.conflict(other, message);
        }
        (["flows"], Some(key)) if r.sound() => {
            r.conflict(key, "flows says which by number, whatever carries them: give one of the two");
        }
        _ => (),
    }
    let rule = [numbers.map(Rule::Numbers), first, largest, slowest].into_iter().flatten().next();
    r.sound().then(|| FlowSeries { every, transport, class, rule: rule.unwrap_or(Rule::All) })
}

fn count(name: &'static str, doc: &'static str) -> Key<u32> {
    Key::new(name, doc, 1..=FlowSeries::MOST)
}

fn read_transport(r: &mut Section, transports: Option<&[Transport]>) -> Option<usize> {
    let form = Form {
        name: "transport",
        doc: "NAME of a [transport.NAME]: those of the flows that it carries.",
        required: false,
        otherwise: "flows of any transport",
        schema: json!({ "type": "string", "minLength": 1, "x-unit": "name" }),
    };
    let names = || transports.unwrap_or_default().iter().map(|transport| transport.name.as_str());
    r.parsed(&form, |node| {
        let Value::Text(name) = &node.value else { return Err(Misread::expected("a transport's name")) };
        let index = names().position(|other| other == name);
        if let Some(index) = index.or(transports.is_none().then_some(0)) {
            return Ok((index, name.clone().into()));
        }
        let known = format!("one of {}", names().collect::<Vec<_>>().join(", "));
        Err(Misread::Expected(known, suggest::nearest(name, names())))
    })
}

/// Reads the numbers of flows, in rising order. Whether there are such flows is not known yet.
fn read_numbers(r: &mut Section) -> Option<Vec<u32>> {
    let one = json!([{ "type": "integer", "minimum": 0 }, { "type": "string", "minLength": 1 }]);
    let list = json!({ "type": "array", "minItems": 1, "items": { "anyOf": one } });
    let form = Form {
        name: "flows",
        doc: "Numbers of flows, as the table of flows has them.",
        required: false,
        otherwise: "not chosen so",
        schema: json!({ "anyOf": [one[0], one[1], list], "x-unit": "flows" }),
    };
    r.parsed(&form, parse)
}

fn parse(node: &Node) -> Result<(Vec<u32>, Json), Misread> {
    let one = std::slice::from_ref(node);
    let items = if let Value::List(items) = &node.value { items } else { one };
    let mut ranges = Vec::new();
    for item in items {
        let (from, until) = match &item.value {
            Value::Integer(flow) => (*flow, flow.saturating_add(1)),
            Value::Text(text) => range(text).ok_or_else(|| Misread::expected(WANTED))?,
            _ => return Err(Misread::expected(WANTED)),
        };
        if from >= until {
            return Err(Misread::Says(format!("{from}..{until} is an empty range: its end is not in it")));
        }
        match (u32::try_from(from), u32::try_from(until)) {
            (Ok(from), Ok(until)) => ranges.push(from..until),
            _ => return Err(Misread::expected(WANTED)),
        }
    }
    let named: u64 = ranges.iter().map(|range| u64::from(range.end - range.start)).sum();
    if named > FlowSeries::MOST.into() {
        let most = FlowSeries::MOST;
        return Err(Misread::Says(format!(
            "names {named} flows; the most that are recorded is {most}: name fewer"
        )));
    }
    let mut flows: Vec<u32> = ranges.into_iter().flatten().collect();
    flows.sort_unstable();
    flows.dedup();
    if flows.is_empty() {
        return Err(Misread::expected(WANTED));
    }
    let spelt = spelt(&flows);
    Ok((flows, spelt))
}

/// Numbers in rising order, as a file would have them: ranges of those that follow each other.
fn spelt(flows: &[u32]) -> Json {
    let runs = flows.chunk_by(|before, after| before + 1 == *after);
    let shown: Vec<Json> = runs
        .map(|run| match run {
            [only] => json!(only),
            run => json!(format!("{}..{}", run[0], run[run.len() - 1] + 1)),
        })
        .collect();
    if let [only] = &shown[..] {
        only.clone()
    } else {
        shown.into()
    }
}
