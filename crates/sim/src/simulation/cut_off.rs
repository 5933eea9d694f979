//! The flows that faults cut off for good.

use std::collections::BTreeMap;

use clearway_proto::units::Time;

use crate::model::{Outage, Scenario};
use crate::topology::routing::distances_to_switch;
use crate::topology::Graph;
use crate::traffic::FlowSpec;

/// A flow that can never end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// The flow.
    pub flow: u32,
    /// The instant from which on no way joins its ends ever again.
    pub since: Time,
    /// The number of the fault that took the last one.
    pub fault: u32,
}

/// The flows whose ends are cut off from each other for good, by flow.
pub(super) fn cut_off(scenario: &Scenario, graph: &Graph, specs: &[FlowSpec]) -> Vec<CutOff> {
    let mut for_good: Vec<&Outage> =
        scenario.outages.iter().filter(|outage| outage.until == Time::NEVER).collect();
    for_good.sort_by_key(|outage| (outage.from, outage.table));
    let mut found: Vec<Option<CutOff>> = vec![None; specs.len()];
    let mut dead = vec![false; graph.links().len()];
    for outage in for_good {
        outage.links.iter().for_each(|&link| dead[link as usize] = true);
        let is_usable = |link: u32| !dead[link as usize];
        let mut to_switch = BTreeMap::new();
        let mut joined = |from: u32, to: u32| {
            let last = graph.switch_of(to);
            let distances =
                to_switch.entry(last).or_insert_with(|| distances_to_switch(graph, last, &is_usable));
            let first = graph.switch_of(from) - graph.host_count();
            is_usable(graph.nic(from)) && is_usable(graph.downlink(to)) && distances[first as usize].is_some()
        };
        for (flow, spec) in (0..).zip(specs) {
            if found[flow as usize].is_none() && !(joined(spec.from, spec.to) && joined(spec.to, spec.from)) {
                found[flow as usize] = Some(CutOff { flow, since: outage.from, fault: outage.table });
            }
        }
    }
    found.into_iter().flatten().collect()
}
