//! The routes of a run: of every flow there and back, of probes, and of Fastpass's control packets.

use std::collections::BTreeMap;

use super::control_plan::ControlPlan;
use super::domain_index::DomainIndex;
use super::footprint::CONTROL_WAYS;
use super::partition::Partition;
use super::plan::ProbePlan;
use crate::model::MAX_LINKS;
use crate::model::{Scenario, Spray, Transport};
use crate::net::routes::{Next, Routes};
use crate::random::{in_table, Entity, Stream};
use crate::topology::routing::{path_between, Router};
use crate::topology::Graph;
use crate::traffic::FlowSpec;

/// Plans the routes of all conversations.
pub(super) struct RoutePlanner<'a> {
    pub scenario: &'a Scenario,
    pub graph: &'a Graph,
    pub partition: &'a Partition,
    pub specs: &'a [FlowSpec],
}

impl RoutePlanner<'_> {
    /// Routes every flow there and back: each way by its own draw; if its packets are sprayed, over all shortest paths or
    /// over as many drawn ones as its transport says.
    pub fn plan(
        &self,
        senders: &[DomainIndex],
        receivers: &[DomainIndex],
        probes: &[ProbePlan],
        control: Option<&ControlPlan>,
    ) -> Routes {
        let router = Router::new(self.graph, &self.scenario.network);
        let agents = self.agents(&router, probes, control);
        let longest = agents
            .iter()
            .flat_map(|agents| &agents.paths)
            .flatten()
            .map(Vec::len)
            .chain([router.longest()])
            .max()
            .unwrap_or(0);
        // A frame that is led around dead links crosses more of them than its route has, and finds its end all the same.
        let longest = if self.scenario.routing.is_some() { MAX_LINKS as usize - 1 } else { longest };
        assert!(longest < MAX_LINKS as usize, "a path of more links than a frame can count");
        let several = self.scenario.transports.iter().any(Transport::has_several_paths);
        let mut routes = Routes::new(longest, self.specs.len() + agents.len(), several);
        let (mut links, mut there, mut back) = (Vec::new(), Vec::new(), Vec::new());
        let mut in_its_table = BTreeMap::<u32, u32>::new();
        for (flow, spec) in self.specs.iter().enumerate() {
            let index = in_its_table.entry(spec.table).or_default();
            let mut stream = Stream::new(self.scenario.seed, Entity::FlowPath, in_table(spec.table, *index));
            *index += 1;
            let ends = [Next::Here(receivers[flow].at), Next::Here(senders[flow].at)];
            let transport = &self.scenario.transports[spec.transport as usize];
            // A sprayed packet is acknowledged on the way on which it came.
            let mut add_with_way_back = |links: &[u32]| {
                self.partition.steps(links, ends[0], &mut there);
                if transport.spray == Spray::Adaptive {
                    choose_upwards(&mut there);
                }
                // A link's way back is its number with the last bit flipped.
                let home: Vec<u32> = links.iter().rev().map(|link| link ^ 1).collect();
                self.partition.steps(&home, ends[1], &mut back);
                routes.add(&there, &back);
            };
            if let Some(paths) = transport.paths {
                for _ in 0..paths {
                    router.path(spec.from, spec.to, stream.bits(), &mut links);
                    add_with_way_back(&links);
                }
            } else if transport.has_several_paths() {
                router.each_path(spec.from, spec.to, add_with_way_back);
            } else {
                router.path(spec.from, spec.to, stream.bits(), &mut links);
                self.partition.steps(&links, ends[0], &mut there);
                router.path(spec.to, spec.from, stream.bits(), &mut links);
                self.partition.steps(&links, ends[1], &mut back);
                routes.add(&there, &back);
            }
            routes.end_conversation();
        }
        for AgentPaths { seats: [one, other], paths } in &agents {
            for [there_links, back_links] in paths {
                self.partition.steps(there_links, Next::Agent(other.at), &mut there);
                self.partition.steps(back_links, Next::Agent(one.at), &mut back);
                routes.add(&there, &back);
            }
            routes.end_conversation();
        }
        routes
    }

    /// The conversations of agents: probes, and then those of Fastpass's control packets. Between hosts these have all paths, by the
    /// numbers that paths of packets in timeslots have. Those with an arbiter at a switch have several drawn ones, so that
    /// those of all endpoints do not meet on one link to it.
    fn agents(
        &self,
        router: &Router,
        probes: &[ProbePlan],
        control: Option<&ControlPlan>,
    ) -> Vec<AgentPaths> {
        let drawn = |(entity, number): (Entity, u64), [from, to]: [u32; 2], ways: usize| {
            let mut stream = Stream::new(self.scenario.seed, entity, number);
            let mut way = || {
                [(from, to), (to, from)].map(|(from, to)| {
                    let mut links = Vec::new();
                    let joined = path_between(self.graph, from, to, stream.bits(), &mut links);
                    assert!(joined, "no path from node {from} to node {to}");
                    links
                })
            };
            (0..ways).map(|_| way()).collect()
        };
        let all = |[from, to]: [u32; 2]| {
            let mut paths = Vec::new();
            router.each_path(from, to, |links| {
                paths.push([links.to_vec(), links.iter().rev().map(|link| link ^ 1).collect()]);
            });
            paths
        };
        let of_probes = (0..).zip(probes).map(|(number, probe)| {
            let paths = drawn((Entity::ProbePath, number), probe.nodes, 1);
            AgentPaths { seats: probe.seats, paths }
        });
        let of_control = (0..).zip(control.iter().flat_map(|control| control.ends()));
        let of_control = of_control.map(|(number, (nodes, seats))| {
            let between_hosts = nodes.iter().all(|&node| node < self.graph.host_count());
            let paths = if between_hosts {
                all(nodes)
            } else {
                drawn((Entity::ControlPath, number), nodes, CONTROL_WAYS)
            };
            AgentPaths { seats, paths }
        });
        of_probes.chain(of_control).collect()
    }
}

/// Lets switches choose at each step but the first, which is the NIC's, and the last link, to which there is no alternative.
fn choose_upwards(there: &mut [Next]) {
    let last_link = there.len() - 2;
    for step in there.iter_mut().take(last_link).skip(1) {
        if let Next::Port(port) = *step {
            *step = Next::Choice(port);
        }
    }
}

/// Two agents that exchange frames: their seats, and for each of their ways the links there and back.
struct AgentPaths {
    seats: [DomainIndex; 2],
    paths: Vec<[Vec<u32>; 2]>,
}
