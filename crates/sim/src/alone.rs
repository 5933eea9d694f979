//! Each job of a scenario by itself: the network without other traffic, probes and faults, where everything of the job is as it was.

use std::ops::ControlFlow;
use std::sync::Arc;

use clearway_proto::units::{Span, Time};

use crate::model::{Job, OperationGraph, Pattern, Record, Scenario, Traffic};
use crate::record::{Progress, Stopped};
use crate::simulation::Simulation;

/// Between two questions whether the job is over.
const STEPS: u64 = 1000;

/// The mean time of an iteration of each job alone; `None` of one of which none ends before the run would.
///
/// # Errors
/// `progress` stops it, or a job comes to a standstill.
pub(crate) fn iterations(
    scenario: &Scenario,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Vec<Option<Span>>, Stopped> {
    let tables: Vec<u32> = scenario.jobs().map(|(table, _)| table).collect();
    tables.into_iter().map(|table| iteration(scenario, table as usize, threads, progress)).collect()
}

fn iteration(
    scenario: &Scenario,
    table: usize,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<Span>, Stopped> {
    let alone = only(scenario, table);
    let end = Time::ZERO + alone.duration;
    let step = (alone.duration / STEPS).max(Span::from_us(10));
    let mut simulation = Simulation::new(&alone, threads);
    let mut proceed =
        |_, packet_hops| progress(Progress { simulated_ps: 0, end_ps: end.as_ps(), packet_hops });
    let mut now = Time::ZERO;
    while now < end && !simulation.jobs_are_over() {
        now = (now + step).min(end);
        if simulation.run_until(now, &mut proceed).is_break() {
            return Err(Stopped::Interrupted);
        }
        if let Some(why) = simulation.standstill() {
            return Err(Stopped::Standstill(why));
        }
    }
    simulation.assert_conservation();
    // Tables before this one that are no jobs have become ones that are empty, so its number is that of its table.
    let record = simulation.jobs().nth(table).expect("every table is a job");
    let ended: Vec<Time> = record.ended().collect();
    let start = scenario.traffic[table].start.0;
    Ok(ended.last().map(|last| last.since(start) / ended.len() as u64))
}

/// The scenario with one of its tables only. The others have become jobs without ranks, so that this one keeps its number and with it
/// the paths that are drawn for its flows.
fn only(scenario: &Scenario, table: usize) -> Scenario {
    let mut alone = scenario.clone();
    for (number, other) in alone.traffic.iter_mut().enumerate() {
        if number != table {
            *other = Traffic { pattern: Pattern::Job(nothing()), stop: None, ..other.clone() };
        }
    }
    alone.probes.clear();
    alone.clear_faults();
    alone.record = Record { fairness: scenario.record.fairness, ..Record::default() };
    alone
}

fn nothing() -> Job {
    Job {
        name: String::new(),
        hosts: Vec::new(),
        graph: Arc::new(OperationGraph::default()),
        iterations: 1,
        local_rate: None,
        collective: None,
    }
}
