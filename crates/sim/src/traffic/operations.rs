//! The persistent flows of loops of operations.

use super::flow::{Demand, FlowSpec, Part};
use super::table::Table;
use crate::model::{OperationKind, Operations, Pattern, Scenario};
use crate::net::topology::Graph;

/// The switch that a host is linked to, by its node's number.
pub(crate) fn switch_of(graph: &Graph, host: u32) -> u32 {
    graph.link(graph.nic(host)).to
}

/// Appends the flows by initiator, target and number, each with its flow of answers if it has one. Those of an open
/// loop start with their initiator, those of a closed loop each by itself.
pub(super) fn add_flows(
    table: &Table<'_>,
    scenario: &Scenario,
    operations: &Operations,
    flows: &mut Vec<FlowSpec>,
) {
    let open = matches!(table.traffic.pattern, Pattern::OpenLoop { .. });
    let demand = if open { Demand::OpenLoop } else { Demand::ClosedLoop };
    let graph = operations.remote.then(|| Graph::build(&scenario.network));
    let near = |from, to| graph.as_ref().is_some_and(|graph| switch_of(graph, from) == switch_of(graph, to));
    let mut loops = 0..;
    for (&from, initiator) in operations.from.iter().zip(0..) {
        for &to in operations.to.iter().filter(|&&to| to != from && !near(from, to)) {
            for (_, number) in (0..operations.flows_per_pair).zip(&mut loops) {
                let index = if open { initiator } else { number };
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
