//! Series of the slowest flows. Which they are is known when a run is over; so it is simulated a first time without series, and
//! a second time with those of the flows that the first has found.

use super::outcome::{Column, Outcome};
use crate::model::{FlowSeries, Record, Rule, Scenario};

/// Returns the scenario of the first run, which records nothing; `None` where the flows are known before.
pub fn first_run(scenario: &Scenario) -> Option<Scenario> {
    let asks = scenario.record.flows.as_ref().is_some_and(|series| matches!(series.rule, Rule::Slowest(_)));
    asks.then(|| Scenario {
        record: Record { fairness: scenario.record.fairness, ..Record::default() },
        ..scenario.clone()
    })
}

/// Returns the scenario of the second run, in which the slowest flows of the first have their numbers.
pub fn second_run(scenario: &Scenario, first: &Outcome) -> Scenario {
    let mut second = scenario.clone();
    if let Some(series) = &mut second.record.flows {
        if let Rule::Slowest(count) = series.rule {
            series.rule = Rule::Numbers(slowest(scenario, series, count as usize, first));
        }
    }
    second
}

/// The flows with the largest slowdowns, in rising order. One that was under way when the run ended has taken its age so far;
/// of those that are alike, the one with the smaller number comes first.
fn slowest(scenario: &Scenario, series: &FlowSeries, count: usize, outcome: &Outcome) -> Vec<u32> {
    let takes = |name: &str| {
        let all = scenario.transports.iter().enumerate();
        all.filter(|(_, transport)| transport.name == name).any(|(index, of)| series.takes(index, of))
    };
    let table = outcome.tables.iter().find(|table| table.name == "flows").expect("a run has flows");
    let column = |name: &str| {
        let found = table.columns.iter().find(|(column, _)| *column == name);
        &found.expect("flows have this column").1
    };
    let floats = |name: &str| match column(name) {
        Column::Floats(values) => values,
        _ => unreachable!("{name} is measured"),
    };
    let Column::Texts(transports) = column("transport") else { unreachable!("transports have names") };
    let (slowdown, ideal, age) = (floats("slowdown"), floats("ideal_us"), floats("age_us"));
    let so_far = |at: usize| if slowdown[at].is_nan() { age[at] / ideal[at] } else { slowdown[at] };
    let mut flows: Vec<(u32, f64)> =
        (0..).zip((0..slowdown.len()).map(so_far)).filter(|(_, slowdown)| !slowdown.is_nan()).collect();
    flows.retain(|(flow, _)| takes(transports.get(*flow as usize)));
    flows.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut numbers: Vec<u32> = flows.into_iter().take(count).map(|(flow, _)| flow).collect();
    numbers.sort_unstable();
    numbers
}
