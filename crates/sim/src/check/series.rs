//! Series of flows: whether there are such flows, and not too many. Flows are drawn for it, which costs what a run's start does.

use crate::model::{FlowSeries, Rule, Scenario};
use crate::scenario::reader::Section;
use crate::traffic::{self, Demand, FlowSpec};

/// Checks that the flows of which series are asked for exist.
pub(super) fn check(r: &Section, scenario: &Scenario) {
    let Some(series) = &scenario.record.flows else { return };
    let specs = traffic::generate(scenario);
    if let Some((key, message)) = problem(scenario, series, &specs) {
        r.conflict_at(&format!("record.flows.{key}"), message);
    }
}

/// Returns what is wrong with the flows that are asked for: the key, and a sentence.
fn problem(scenario: &Scenario, series: &FlowSeries, specs: &[FlowSpec]) -> Option<(&'static str, String)> {
    let eligible = traffic::eligible(scenario, series, specs);
    let narrowed = if series.class.is_some() { "class" } else { "transport" };
    match &series.rule {
        Rule::Numbers(numbers) => {
            let unknown = numbers.iter().find(|&&flow| flow as usize >= specs.len())?;
            let there = match specs.len() {
                0 => "this scenario starts no flow".into(),
                count => format!(
                    "the {count} flows of this scenario and seed are numbered from 0 to {}",
                    count - 1
                ),
            };
            Some(("flows", format!("found {unknown}, but {there}")))
        }
        _ if eligible.is_empty() && series.transport.is_none() && series.class.is_none() => {
            Some((key(&series.rule)?, "this scenario starts no flow: there is nothing to record".into()))
        }
        _ if eligible.is_empty() => {
            let message = format!(
                "no flow of this scenario is of {}: take another, or leave the key out",
                of(scenario, series)
            );
            Some((narrowed, message))
        }
        Rule::Largest(_) | Rule::Slowest(_) if !eligible.iter().any(|&flow| is_sized(specs, flow)) => {
            let message = "no flow has a size, so none ends, and none is slower or larger than others: give [[traffic]] \
                           bytes, or take flows or first instead";
            Some((key(&series.rule)?, message.into()))
        }
        Rule::All if eligible.len() > FlowSeries::MOST as usize => {
            let (found, of, most) = (eligible.len(), of(scenario, series), FlowSeries::MOST);
            let message = format!(
                "{found} flows are of {of}; the most that are recorded is {most}: choose some with first, largest or slowest"
            );
            Some((narrowed, message))
        }
        _ => None,
    }
}

/// The key that holds a rule with a number.
fn key(rule: &Rule) -> Option<&'static str> {
    match rule {
        Rule::First(_) => Some("first"),
        Rule::Largest(_) => Some("largest"),
        Rule::Slowest(_) => Some("slowest"),
        Rule::All | Rule::Numbers(_) => None,
    }
}

/// The transport and the class that narrow the choice, in words.
fn of(scenario: &Scenario, series: &FlowSeries) -> String {
    let transport = series.transport.map(|index| format!("transport {}", scenario.transports[index].name));
    let class = series.class.map(|index| format!("class {}", scenario.classes[index].name));
    [transport, class].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

fn is_sized(specs: &[FlowSpec], flow: u32) -> bool {
    matches!(specs[flow as usize].demand, Demand::Sized(_))
}
