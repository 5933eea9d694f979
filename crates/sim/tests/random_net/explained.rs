//! Explanations of all flows of random scenarios: they change nothing, are the same on any number of threads, and their parts
//! add up to the completion times.

use std::ops::ControlFlow;

use clearway_sim::check::load_text;
use clearway_sim::record::explanation::{Cause, Explanation, Part};
use clearway_sim::record::{Column, Outcome};
use clearway_sim::{run_explaining, run_on};

use crate::cases::{cases, setting};
use crate::random_net::case::Folder;
use crate::random_net::draw;
use crate::random_net::outcomes::difference;

/// Counts of the flows and causes that the scenarios so far had.
#[derive(Debug, Default)]
struct Met {
    scenarios: u64,
    flows: u64,
    /// Flows of which no host takes any time.
    ideal: u64,
    causes: std::collections::BTreeMap<&'static str, u64>,
}

#[test]
fn the_parts_of_all_flows_of_random_scenarios_add_up_and_recording_changes_nothing() {
    let first = setting("CLEARWAY_RANDOM_SEED", 1);
    let mut met = Met::default();
    for seed in first..first + cases("CLEARWAY_EXPLAINED_SCENARIOS", 20, 100) {
        check(seed, &mut met);
    }
    println!("{met:?}");
    assert!(met.flows > 10 * met.scenarios && met.ideal > 0, "{met:?}");
}

/// Runs a scenario, and explains its flows on one thread and on three.
fn check(seed: u64, met: &mut Met) {
    let case = draw::case(seed);
    let folder = Folder::of(&case);
    let Ok(loaded) = load_text(&case.text(), "scenario.toml", folder.path(), &[], None) else { return };
    let scenario = &loaded.scenario;
    let Ok(outcome) = run_on(scenario, 1, &mut |_| ControlFlow::Continue(())) else { return };
    let completions = completions(&outcome);
    let flows: Vec<u32> = (0..completions.len() as u32).collect();
    let explain = |threads| {
        let run = run_explaining(scenario, threads, &flows, &mut |_| ControlFlow::Continue(()));
        let (again, explanations) = run.expect("it ran before");
        let difference = difference(&outcome, &again);
        assert_eq!(difference, None, "seed {seed}: recording changes the outcome on {threads} threads");
        explanations.expect("small scenarios have room")
    };
    let explanations = explain(1);
    let complete = (0..).zip(&completions).filter_map(|(flow, fct)| Some((flow, (*fct)?)));
    let explained = explanations.iter().map(|of| (of.flow, of.parts.iter().map(|part| part.ps).sum()));
    assert!(complete.eq(explained), "seed {seed}: {completions:?} is not what {explanations:?} adds up to");
    // Nothing but a NIC stands between these flows and the network, and all that it sends arrives somewhere.
    let has_but_nics =
        scenario.hosts.all_ideal() && scenario.arbiters.is_none() && scenario.fault_tables.is_empty();
    for explanation in &explanations {
        check_one(seed, explanation, met);
        let by_host = |part: &Part| matches!(part.cause, Cause::Host | Cause::Receiver);
        let at_host = explanation.parts.iter().any(by_host);
        met.ideal += u64::from(has_but_nics);
        assert!(!(at_host && has_but_nics), "seed {seed}: an ideal host takes no time: {explanation:?}");
    }
    assert_eq!(explain(3), explanations, "seed {seed}: another explanation on three threads");
    met.scenarios += 1;
}

/// The completion times in picoseconds of the flows that have one.
fn completions(outcome: &Outcome) -> Vec<Option<u64>> {
    let flows = outcome.tables.iter().find(|table| table.name == "flows").expect("a table of flows");
    let fct = flows.columns.iter().find(|(name, _)| *name == "fct_us").expect("a column");
    let Column::Floats(fct) = &fct.1 else { panic!("times are floats") };
    fct.iter().map(|us| (!us.is_nan()).then(|| (us * 1e6).round() as u64)).collect()
}

/// The parts of an explanation say the same as the way of its last packet.
fn check_one(seed: u64, explanation: &Explanation, met: &mut Met) {
    let says = |what: &str| format!("seed {seed}: {what}: {explanation:?}");
    let total = |cause: Cause| -> u64 {
        explanation.parts.iter().filter(|part| part.cause == cause).map(|part| part.ps).sum()
    };
    let after_nic = &explanation.journey[1..];
    let queued: u64 = after_nic.iter().map(|hop| hop.waited - hop.paused).sum();
    assert_eq!(total(Cause::Queue), queued, "{}", says("queues"));
    let propagation: u64 = explanation.journey.iter().map(|hop| hop.propagation).sum();
    assert_eq!(total(Cause::Propagation), propagation, "{}", says("propagation"));
    assert!(
        total(Cause::Retransmission) >= explanation.last_sent - explanation.first_sent,
        "{}",
        says("again")
    );
    for part in &explanation.parts {
        *met.causes.entry(part.cause.name()).or_default() += 1;
    }
    met.flows += 1;
}
