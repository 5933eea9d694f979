//! The flows of which a run samples what each does over time, as far as they are known before it.

use std::cmp::Reverse;

use super::flow::{Demand, FlowSpec};
use super::pattern;
use super::table::Table;
use crate::model::{FlowSeries, Rule, Scenario};

/// The numbers of the flows that have series, in rising order; nothing where none are asked for, and where a run has to
/// tell which they are.
pub fn chosen(scenario: &Scenario, specs: &[FlowSpec]) -> Vec<u32> {
    let Some(series) = &scenario.record.flows else { return Vec::new() };
    let mut flows = eligible(scenario, series, specs);
    let count = match &series.rule {
        Rule::All => flows.len(),
        Rule::Numbers(numbers) => {
            flows.retain(|flow| numbers.binary_search(flow).is_ok());
            flows.len()
        }
        Rule::First(count) => {
            flows.sort_by_key(|&flow| specs[flow as usize].start);
            *count as usize
        }
        Rule::Largest(count) => {
            flows.retain(|&flow| size(&specs[flow as usize]).is_some());
            flows.sort_by_key(|&flow| Reverse(size(&specs[flow as usize])));
            *count as usize
        }
        Rule::Slowest(_) => 0,
    };
    flows.truncate(count);
    flows.sort_unstable();
    flows
}

/// Returns how many flows can have series at most, as [`super::most_flows`] counts.
pub fn most_chosen(scenario: &Scenario) -> f64 {
    let Some(series) = &scenario.record.flows else { return 0.0 };
    let takes = |table: &Table<'_>| {
        let transport = table.traffic.transport;
        series.takes(transport, &scenario.transports[transport])
    };
    let tables = Table::all(scenario).filter(takes);
    series.most_of(tables.map(|table| pattern::of(&table.traffic.pattern).most_flows(&table)).sum())
}

/// The flows that the transport and the class allow, in rising order.
pub fn eligible(scenario: &Scenario, series: &FlowSeries, specs: &[FlowSpec]) -> Vec<u32> {
    let takes = |spec: &FlowSpec| {
        let transport = spec.transport as usize;
        series.takes(transport, &scenario.transports[transport])
    };
    (0..).zip(specs).filter(|(_, spec)| takes(spec)).map(|(flow, _)| flow).collect()
}

/// The bytes that a flow with a size has to carry.
fn size(spec: &FlowSpec) -> Option<u64> {
    match spec.demand {
        Demand::Sized(bytes) => Some(bytes.get()),
        _ => None,
    }
}
