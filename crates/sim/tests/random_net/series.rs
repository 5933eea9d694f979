//! Series of flows and of classes of random scenarios: they change nothing, are the same on any number of threads, and add up
//! to what the tables of flows and of transports say.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use clearway_proto::units::Span;
use clearway_sim::check::load_text;
use clearway_sim::model::{FlowSeries, Rule, Scenario};
use clearway_sim::record::{Column, Outcome};
use clearway_sim::run_on;

use crate::cases::{cases, setting};
use crate::experiment::{floats, integers, table, texts};
use crate::random_net::case::Folder;
use crate::random_net::draw;
use crate::random_net::outcomes::difference;

/// The flows with the largest slowdowns that are asked for.
const SLOWEST: u32 = 3;

/// Counts of what the scenarios so far had.
#[derive(Debug, Default)]
struct Met {
    scenarios: u64,
    rows: usize,
    retransmitted: u64,
    slowest: usize,
    round_trips: u64,
}

#[test]
fn series_of_random_scenarios_add_up_and_change_nothing() {
    let first = setting("CLEARWAY_RANDOM_SEED", 1);
    let mut met = Met::default();
    for seed in first..first + cases("CLEARWAY_SERIES_SCENARIOS", 15, 60) {
        check(seed, &mut met);
    }
    println!("{met:?}");
    assert!(met.rows as u64 > 50 * met.scenarios && met.retransmitted > 0 && met.slowest > 0, "{met:?}");
}

/// Runs a scenario without series, with those of all flows, and with those of the slowest.
fn check(seed: u64, met: &mut Met) {
    let case = draw::case(seed);
    let folder = Folder::of(&case);
    let Ok(loaded) = load_text(&case.text(), "scenario.toml", folder.path(), &[], None) else { return };
    let go = |scenario: &Scenario, threads| run_on(scenario, threads, &mut |_| ControlFlow::Continue(()));
    let Ok(plain) = go(&loaded.scenario, 1) else { return };
    let mut scenario = loaded.scenario;
    let every = (scenario.duration / 200).max(Span::from_us(3));
    let series = FlowSeries { every, transport: None, class: None, rule: Rule::All };
    scenario.record.flows = Some(series.clone());
    scenario.record.classes = Some(every * 2);
    scenario.record.rtt = Some(every * 3);
    let all = go(&scenario, 1).expect("it ran before");
    assert_eq!(all.digest, plain.digest, "seed {seed}: series change the run");
    check_flows(seed, every.as_us_f64(), &all, met);
    check_classes(seed, &scenario, &all);
    scenario.record.flows = Some(FlowSeries { rule: Rule::Slowest(SLOWEST), ..series });
    let slowest = go(&scenario, 1).expect("it ran before");
    check_slowest(seed, &all, &slowest, met);
    for threads in [2, 3] {
        let again = go(&scenario, threads).expect("it ran before");
        assert_eq!(difference(&slowest, &again), None, "seed {seed}: other series on {threads} threads");
    }
    met.scenarios += 1;
}

/// What was delivered in all steps of a flow is what the table of flows says.
fn check_flows(seed: u64, every: f64, outcome: &Outcome, met: &mut Met) {
    let flows = integers(outcome, "flows_series", "flow");
    let times = floats(outcome, "flows_series", "time_us");
    let again = integers(outcome, "flows_series", "retransmitted_bytes");
    let mut delivered: BTreeMap<u64, f64> = BTreeMap::new();
    for (row, &flow) in flows.iter().enumerate() {
        // The last step of a run may be shorter.
        let within = times[row] - (times[row] / every + 1e-9).floor() * every;
        let step = if within > 1e-6 { within } else { every };
        let gbps = floats(outcome, "flows_series", "goodput_gbps")[row];
        let sent = floats(outcome, "flows_series", "sent_gbps")[row];
        assert!(gbps >= 0.0 && sent >= 0.0, "seed {seed}, row {row}");
        *delivered.entry(flow).or_default() += gbps * step * 125.0;
    }
    let whole = integers(outcome, "flows", "delivered_bytes");
    for (&flow, &bytes) in &delivered {
        let expected = whole[flow as usize] as f64;
        let is_near = (bytes - expected).abs() < 1.0 + expected * 1e-6;
        assert!(is_near, "seed {seed}: flow {flow} delivered {bytes}, not {expected}");
    }
    met.rows += flows.len();
    met.retransmitted += again.iter().sum::<u64>();
}

/// Round trips of classes are those of the transports whose data is of them.
fn check_classes(seed: u64, scenario: &Scenario, outcome: &Outcome) {
    // Only at instants of both grids do both have counted the same.
    let count = |table: &str, until: f64| -> u64 {
        let times = floats(outcome, table, "time_us").iter();
        times
            .zip(integers(outcome, table, "count"))
            .filter(|(time, _)| **time <= until)
            .map(|(_, count)| count)
            .sum()
    };
    let both = floats(outcome, "rtt_series", "time_us")
        .iter()
        .filter(|time| floats(outcome, "classes_series", "time_us").contains(time));
    let Some(&until) = both.max_by(|a, b| a.total_cmp(b)) else { return };
    assert_eq!(count("rtt_series", until), count("classes_series", until), "seed {seed}");
    let longest = |table: &str| {
        let times = floats(outcome, table, "time_us").iter();
        let rows = times.zip(floats(outcome, table, "rtt_max_us")).filter(|(time, _)| **time <= until);
        rows.map(|(_, us)| *us).filter(|us| !us.is_nan()).fold(0.0, f64::max)
    };
    assert_eq!(longest("rtt_series"), longest("classes_series"), "seed {seed}");
    let classes = scenario.classes.len().max(1);
    assert_eq!(texts(outcome, "classes_series", "class").len() % classes, 0);
}

/// The slowest flows are those of the table of flows, and their series are those that they have among all.
fn check_slowest(seed: u64, all: &Outcome, slowest: &Outcome, met: &mut Met) {
    assert_eq!(all.digest, slowest.digest, "seed {seed}: a second run is another");
    let (slowdown, age) = (floats(all, "flows", "slowdown"), floats(all, "flows", "age_us"));
    let ideal = floats(all, "flows", "ideal_us");
    let so_far = |at: usize| if slowdown[at].is_nan() { age[at] / ideal[at] } else { slowdown[at] };
    let mut order: Vec<usize> = (0..slowdown.len()).filter(|&at| !so_far(at).is_nan()).collect();
    order.sort_by(|&a, &b| so_far(b).total_cmp(&so_far(a)));
    let mut expected: Vec<u64> = order.iter().take(SLOWEST as usize).map(|&at| at as u64).collect();
    expected.sort_unstable();
    let mut found = integers(slowest, "flows_series", "flow").to_vec();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, expected, "seed {seed}");
    let (of_all, of_slowest) = (integers(all, "flows_series", "flow"), table(slowest, "flows_series"));
    let keep: Vec<bool> = of_all.iter().map(|flow| expected.contains(flow)).collect();
    for ((name, one), (_, other)) in table(all, "flows_series").columns.iter().zip(&of_slowest.columns) {
        let bits = |column: &Column| -> Vec<u64> {
            match column {
                Column::Floats(values) => values.iter().map(|value| value.to_bits()).collect(),
                Column::Integers(values) => values.clone(),
                Column::Texts(_) => unreachable!("{name} is a number"),
            }
        };
        let kept: Vec<u64> =
            bits(one).into_iter().zip(&keep).filter(|(_, keep)| **keep).map(|(bits, _)| bits).collect();
        assert_eq!(kept, bits(other), "seed {seed}: {name}");
    }
    met.slowest += found.len();
    met.round_trips += integers(slowest, "flows_series", "count").iter().sum::<u64>();
}
