//! `[record.flows]`: the flows that have series, by number, by what carries them, or by a rule.

use clearway_proto::units::Span;

use super::class;
use super::error::Misread;
use super::flow_numbers;
use super::key::Key;
use super::reader::Section;
use super::traffic::transport_named;
use crate::model::{FlowSeries, Rule, TrafficClass, Transport};

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
    let doc = "NAME of a [transport.NAME]: those of the flows that it carries.";
    let transport = transport_named(r, doc, "flows of any transport", transports);
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

/// Reads the numbers of flows, in rising order.
fn read_numbers(r: &mut Section) -> Option<Vec<u32>> {
    let doc = "Numbers of flows, as the table of flows has them.";
    let ranges = flow_numbers::read(r, doc, "not chosen so", |ranges| {
        let (named, most) = (ranges.iter().map(ExactSizeIterator::len).sum::<usize>(), FlowSeries::MOST);
        if named > most as usize {
            let message = format!("names {named} flows; the most that are recorded is {most}: name fewer");
            return Err(Misread::Says(message));
        }
        Ok(())
    });
    Some(ranges?.into_iter().flatten().collect())
}
