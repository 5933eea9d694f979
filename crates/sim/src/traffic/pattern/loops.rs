//! The persistent flows of loops of operations.

use super::contract::LISTED_HOST;
use crate::model::{OperationKind, Operations};
use crate::topology::Graph;
use crate::traffic::flow::{Demand, FlowSpec, Part};
use crate::traffic::table::Table;

/// The member of the table whose start a flow has.
#[derive(Clone, Copy)]
pub(super) enum StartsWith {
    /// Its initiator: all flows of one initiator start together.
    Initiator,
    /// The flow itself: every flow is a member of the table.
    Itself,
}

/// Appends the flows by initiator, target and number, each with its flow of answers if it has one.
pub(super) fn add_flows(
    table: &Table<'_>,
    operations: &Operations,
    starts_with: StartsWith,
    demand: fn(Part) -> Demand,
    flows: &mut Vec<FlowSpec>,
) {
    let graph = operations.remote.then(|| Graph::build(&table.scenario.network));
    let near = |from, to| graph.as_ref().is_some_and(|graph| graph.switch_of(from) == graph.switch_of(to));
    let mut loops = 0..;
    for (&from, initiator) in operations.from.iter().zip(0..) {
        for &to in operations.to.iter().filter(|&&to| to != from && !near(from, to)) {
            for (_, number) in (0..operations.flows_per_pair).zip(&mut loops) {
                let index = match starts_with {
                    StartsWith::Initiator => initiator,
                    StartsWith::Itself => number,
                };
                let flow = |from, to, part| table.flow(index, from, to, demand(part));
                match operations.kind {
                    OperationKind::Write => flows.push(flow(from, to, Part::Writes)),
                    OperationKind::Read(_) => {
                        flows.push(flow(from, to, Part::Requests));
                        flows.push(flow(to, from, Part::Answers));
                    }
                }
            }
        }
    }
}

/// Flows of all ordered pairs of two different hosts, under one switch or not, without those for answers.
pub(super) fn channels(operations: &Operations) -> f64 {
    let Operations { from, to, flows_per_pair, .. } = operations;
    let alike = from.iter().filter(|host| to.binary_search(host).is_ok()).count();
    (from.len() as f64 * to.len() as f64 - alike as f64) * f64::from(*flows_per_pair)
}

/// Flows of all these pairs, with those for answers.
pub(super) fn flows(operations: &Operations) -> f64 {
    channels(operations) * f64::from(operations.flows_each())
}

/// Memory in bytes for the hosts listed.
pub(super) fn list_bytes(operations: &Operations) -> f64 {
    (operations.from.len() + operations.to.len()) as f64 * LISTED_HOST
}
