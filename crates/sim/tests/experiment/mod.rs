//! An experiment as a person does it: a scenario as text, a run, and figures out of its tables.

use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::check::{load_text, Loaded};
use clearway_sim::record::explanation::Explanation;
pub use clearway_sim::record::Outcome;
use clearway_sim::record::{Column, Table, Value};

/// Picoseconds in a microsecond.
const PS_PER_US: f64 = 1e6;

/// Runs a scenario with the seed that it says. Topology files are looked for in `tests/networks`.
pub fn run(text: &str) -> Outcome {
    run_seeded(text, None)
}

/// Runs a scenario with another seed.
pub fn run_seeded(text: &str, seed: Option<u64>) -> Outcome {
    run_on(text, seed, 1)
}

/// Runs a scenario on `threads` threads, with another seed if one is given.
pub fn run_on(text: &str, seed: Option<u64>, threads: usize) -> Outcome {
    clearway_sim::run_on(&loaded(text, seed).scenario, threads, &mut |_| ControlFlow::Continue(()))
        .expect("nothing interrupts it")
}

/// Returns what is kept of a run that is stopped when it asks for the `asks`th time whether to go on.
pub fn part_of(text: &str, seed: Option<u64>, threads: usize, asks: usize) -> Outcome {
    let mut asked = 0;
    clearway_sim::run_keeping_part(&loaded(text, seed).scenario, threads, &mut |_| {
        asked += 1;
        if asked < asks {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })
    .expect("what there is is kept")
}

/// Runs a scenario and explains these of its flows; they are complete.
pub fn explained(text: &str, flows: &[u32]) -> Vec<Explanation> {
    let (_, explanations) = clearway_sim::run_explaining(&loaded(text, None).scenario, 1, flows, &mut |_| {
        ControlFlow::Continue(())
    })
    .expect("nothing interrupts it");
    let explanations = explanations.expect("there is room");
    assert!(explanations.iter().map(|of| of.flow).eq(flows.iter().copied()), "{explanations:?}");
    explanations
}

/// Reads a scenario, with another seed if one is given.
pub fn loaded(text: &str, seed: Option<u64>) -> Loaded {
    let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/networks");
    load_text(text, "scenario", &networks, &[], seed).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// A table of the outcome.
pub fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("no table {name}"))
}

fn column<'a>(outcome: &'a Outcome, name: &str, column: &str) -> &'a Column {
    let columns = &table(outcome, name).columns;
    let found = columns.iter().find(|(other, _)| *other == column);
    &found.unwrap_or_else(|| panic!("table {name} has no column {column}")).1
}

/// A column of whole numbers.
pub fn integers<'a>(outcome: &'a Outcome, name: &str, of: &str) -> &'a [u64] {
    match column(outcome, name, of) {
        Column::Integers(values) => values,
        other => panic!("{name}.{of}: {other:?}"),
    }
}

/// A column of measured values.
pub fn floats<'a>(outcome: &'a Outcome, name: &str, of: &str) -> &'a [f64] {
    match column(outcome, name, of) {
        Column::Floats(values) => values,
        other => panic!("{name}.{of}: {other:?}"),
    }
}

/// A column of names.
pub fn texts<'a>(outcome: &'a Outcome, name: &str, of: &str) -> Vec<&'a str> {
    match column(outcome, name, of) {
        Column::Texts(values) => values.iter().collect(),
        other => panic!("{name}.{of}: {other:?}"),
    }
}

/// A time column in picoseconds: exact for times below an hour, which a float holds to a fraction of one.
pub fn picoseconds(outcome: &Outcome, name: &str, of: &str) -> Vec<u64> {
    floats(outcome, name, of).iter().map(|us| (us * PS_PER_US).round() as u64).collect()
}

/// An entry of the summary.
pub fn summary<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a Value> {
    let Value::Object(figures) = &outcome.summary else { panic!("{:?}", outcome.summary) };
    figures.iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// A figure of the summary; NaN where nothing was measured.
pub fn figure(outcome: &Outcome, name: &str) -> f64 {
    match summary(outcome, name) {
        Some(Value::Integer(count)) => *count as f64,
        Some(Value::Float(value)) => *value,
        Some(Value::Missing(_)) => f64::NAN,
        other => panic!("{name}: {other:?}"),
    }
}

/// The names of the figures that may be larger, as something was unfinished at the end.
pub fn lower_bounds(outcome: &Outcome) -> &[String] {
    match summary(outcome, "lower_bounds") {
        Some(Value::Names(names)) => names,
        other => panic!("{other:?}"),
    }
}

/// Why a figure of the summary is missing; `None` where it is not.
pub fn reason(outcome: &Outcome, name: &str) -> Option<&'static str> {
    match summary(outcome, "absent") {
        Some(Value::Reasons(reasons)) => reasons.iter().find(|(of, _)| of == name).map(|(_, why)| *why),
        other => panic!("{other:?}"),
    }
}

fn row_of_link(outcome: &Outcome, link: &str) -> usize {
    let names = texts(outcome, "links", "link");
    names.iter().position(|&name| name == link).unwrap_or_else(|| panic!("no link {link} in {names:?}"))
}

/// A counter of one link, named as `h0>tor0`.
pub fn link_count(outcome: &Outcome, link: &str, of: &str) -> u64 {
    integers(outcome, "links", of)[row_of_link(outcome, link)]
}

/// A measured value of one link.
pub fn link_value(outcome: &Outcome, link: &str, of: &str) -> f64 {
    floats(outcome, "links", of)[row_of_link(outcome, link)]
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean goodput between two instants in milliseconds, in Gb/s, by the table of throughput.
pub fn goodput(outcome: &Outcome, from: f64, until: f64) -> f64 {
    let times = floats(outcome, "throughput", "time_us").iter();
    let within: Vec<f64> = times
        .zip(floats(outcome, "throughput", "goodput_gbps"))
        .filter(|(&time, _)| time > 1000.0 * from && time <= 1000.0 * until)
        .map(|(_, gbps)| *gbps)
        .collect();
    mean(&within)
}

/// The standard error of the mean of independent values.
pub fn standard_error(values: &[f64]) -> f64 {
    let (mean, n) = (mean(values), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (n - 1.0) / n).sqrt()
}
