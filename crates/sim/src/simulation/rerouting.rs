//! What a run's faults of links mean for its plan: how frames find their way, and when links change.

use super::control_plan::ControlPlan;
use super::domain::Domain;
use super::partition::Partition;
use super::plan::{Plan, ProbePlan};
use crate::engine::event::{Event, Kind};
use crate::host::transport::Maker;
use crate::model::Scenario;
use crate::net::forwarding::{Forwarding, UsualPaths};
use crate::net::routes::Routes;
use crate::topology::Graph;
use crate::traffic::FlowSpec;

/// What forwarding is made of.
pub(super) struct Conversations<'a> {
    pub specs: &'a [FlowSpec],
    pub makers: &'a [Maker],
    pub probes: &'a [ProbePlan],
    pub control: Option<&'a ControlPlan>,
}

impl Conversations<'_> {
    /// The nodes to which each conversation leads, there and back, and whether switches choose its paths. Those of packets in timeslots
    /// and of control packets are their senders' choice.
    fn ends(&self) -> Vec<([u32; 2], bool)> {
        let of_flows = self.specs.iter().map(|spec| {
            let chosen = !self.makers[spec.transport as usize].slotted;
            ([spec.to, spec.from], chosen)
        });
        let of_probes = self.probes.iter().map(|probe| ([probe.nodes[1], probe.nodes[0]], true));
        let of_control = self.control.iter().flat_map(|control| control.ends());
        let of_control = of_control.map(|([one, other], _)| ([other, one], false));
        of_flows.chain(of_probes).chain(of_control).collect()
    }
}

/// How frames find their way in a scenario that routes around dead links; `None` in any other.
pub(super) fn forwarding(
    scenario: &Scenario,
    (graph, partition): (&Graph, &Partition),
    conversations: &Conversations,
    routes: &Routes,
) -> Option<Forwarding> {
    let routing = scenario.routing.as_ref()?;
    let ends = conversations.ends();
    let mut usual = UsualPaths::default();
    for (conversation, ([there, back], _)) in (0..).zip(&ends) {
        let (first, count) = routes.of(conversation);
        for route in first..first + count {
            usual.add(&partition.links_of(graph, *back, routes.steps(route, false)));
            usual.add(&partition.links_of(graph, *there, routes.steps(route, true)));
        }
    }
    let ends = ends.into_iter().map(|(ends, chosen)| chosen.then_some(ends)).collect();
    Some(Forwarding::new(graph, routing, &scenario.outages, ends, usual))
}

/// Lets the links of a domain change when they are to.
pub(super) fn await_changes(plan: &Plan, domain: &mut Domain) {
    for (&at, changes) in &domain.fabric.ports.changes {
        let link = domain.fabric.ports.port(at).link();
        let node = plan.partition.node(plan.graph.link(link).from).at;
        for instant in changes.instants() {
            domain.out.calendar.add(node, Event::bare(instant, Kind::Change, at));
        }
    }
}
