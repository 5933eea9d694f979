//! The flows of a scenario as agents on real hosts send them. An operation of an open loop is a flow of its own, drawn from the
//! same stream as in a simulated run; one that a closed loop keeps open is a flow that starts again when it is complete.

use std::ops::Range;

use clearway_proto::units::{Bytes, Time};

use super::flow::{Demand, FlowSpec, Part};
use super::generate::generate;
use super::issues::Issues;
use super::pattern;
use crate::model::{Pattern, Scenario};
use crate::topology::shape::host_rates;

/// A flow that an agent on a real host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFlow {
    /// Its number among the flows of a simulated run; the operations of a loop have that of the persistent flow that carries them.
    pub flow: u32,
    /// Index of its traffic table.
    pub table: u32,
    /// Whether it is an operation of a loop.
    pub is_operation: bool,
    /// Host that sends.
    pub from: u32,
    /// Host that receives; not `from`.
    pub to: u32,
    /// When it starts; a flow that is no operation may start beyond the end of the run.
    pub start: Time,
    /// Its size; `None` if it sends until it stops.
    pub bytes: Option<Bytes>,
    /// When a flow without a size stops, or when one that starts again does so no more; `None` with the run.
    pub stop: Option<Time>,
    /// Whether it starts again when it is complete, as a closed loop's operation does.
    pub again: bool,
}

/// What agents cannot send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// This traffic table reads: an agent does not answer.
    Reads(u32),
    /// This traffic table is a job, whose messages wait for each other.
    Job(u32),
    /// With this traffic table there are more flows than were asked for at most.
    TooMany(u32),
}

/// Returns the flows of a scenario for agents, by traffic table and then in the order of [`generate`], operations of an open loop
/// by initiator and time.
///
/// # Errors
/// A table that reads, or more than `most` flows.
pub fn on_hosts(scenario: &Scenario, most: usize) -> Result<Vec<HostFlow>, Beyond> {
    let specs = generate(scenario);
    let mut flows = Vec::new();
    let mut first = 0;
    while first < specs.len() {
        let spec = &specs[first];
        let taken = match spec.demand {
            Demand::ClosedLoop(Part::Writes) => {
                let again = HostFlow { again: true, ..host_flow(scenario, &specs, first) };
                flows.extend(vec![again; outstanding(scenario, spec)]);
                1
            }
            Demand::OpenLoop(Part::Writes) => {
                let of_initiator = |other: &&FlowSpec| (other.table, other.from) == (spec.table, spec.from);
                let taken = specs[first..].iter().take_while(of_initiator).count();
                add_operations(scenario, &specs, first..first + taken, most, &mut flows);
                taken
            }
            Demand::ClosedLoop(_) | Demand::OpenLoop(_) => return Err(Beyond::Reads(spec.table)),
            Demand::Messages => return Err(Beyond::Job(spec.table)),
            Demand::Sized(_) | Demand::Endless => {
                flows.push(host_flow(scenario, &specs, first));
                1
            }
        };
        if flows.len() > most {
            return Err(Beyond::TooMany(spec.table));
        }
        first += taken;
    }
    Ok(flows)
}

fn host_flow(scenario: &Scenario, specs: &[FlowSpec], number: usize) -> HostFlow {
    let spec = &specs[number];
    let loop_bytes = |table: u32| {
        let pattern = pattern::of(&scenario.traffic[table as usize].pattern);
        pattern.operation_loop().map(|of| of.operations.bytes)
    };
    let (bytes, stop) = match spec.demand {
        // A flow with a size goes on until it is complete.
        Demand::Sized(bytes) => (Some(bytes), None),
        Demand::Endless | Demand::Messages => (None, spec.stop),
        Demand::ClosedLoop(_) | Demand::OpenLoop(_) => (loop_bytes(spec.table), spec.stop),
    };
    HostFlow {
        flow: number as u32,
        table: spec.table,
        is_operation: spec.demand.part().is_some(),
        from: spec.from,
        to: spec.to,
        start: spec.start,
        bytes,
        stop,
        again: false,
    }
}

fn outstanding(scenario: &Scenario, spec: &FlowSpec) -> usize {
    match scenario.traffic[spec.table as usize].pattern {
        Pattern::ClosedLoop { outstanding, .. } => outstanding as usize,
        _ => 1,
    }
}

/// Appends the operations that one initiator of an open loop issues; `its_flows` are their places among the `specs`. Stops beyond
/// `most` flows. The scenario's `backlog` has no part in it, as completions are not known here.
fn add_operations(
    scenario: &Scenario,
    specs: &[FlowSpec],
    its_flows: Range<usize>,
    most: usize,
    flows: &mut Vec<HostFlow>,
) {
    let first = &specs[its_flows.start];
    let pattern = pattern::of(&scenario.traffic[first.table as usize].pattern);
    let flows_per_pair = pattern.operation_loop().map_or(1, |of| of.operations.flows_per_pair as usize);
    let targets = its_flows.len() / flows_per_pair;
    let mut turns = vec![0; targets];
    let duration = Time::ZERO + scenario.duration;
    let end = first.stop.map_or(duration, |stop| stop.min(duration));
    let mut issues = Issues::of(scenario, first, host_rates(&scenario.network).get(first.from));
    let mut due = issues.next_time();
    while due < end && flows.len() <= most {
        let target = issues.target(targets as u32) as usize;
        let number = its_flows.start + target * flows_per_pair + turns[target];
        turns[target] = (turns[target] + 1) % flows_per_pair;
        flows.push(HostFlow { start: due, stop: None, ..host_flow(scenario, specs, number) });
        due = issues.next_time();
    }
}
