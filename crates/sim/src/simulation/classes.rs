//! Traffic classes in a simulation: which flow is in which, what ports know of them, and how a NIC serves them.
//!
//! A host has a round of waiting flows for each class. Its NIC chooses the class as every port does, and within it
//! frames that wait (acknowledgements) go before the flow whose turn it is.

use clearway_proto::machine::Readiness;
use clearway_proto::units::Bytes;

use super::Simulation;
use crate::engine::queue::LaneId;
use crate::model::{Ecn, Scenario, TrafficClass};
use crate::net::classes::{Classes, Marking, Rule};
use crate::net::fabric::Woken;
use crate::net::marking::RedMarking;
use crate::net::topology::{Graph, NodeKind};
use crate::random::{Entity, Stream};
use crate::traffic::FlowSpec;

/// The classes of a scenario that has any, at all ports.
pub(super) fn classes(scenario: &Scenario, graph: &Graph, specs: &[FlowSpec]) -> Option<Classes> {
    if scenario.classes.is_empty() {
        return None;
    }
    let mut priorities: Vec<u32> = scenario.classes.iter().map(|class| class.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let level = |class: &TrafficClass| priorities.partition_point(|&above| above < class.priority) as u8;
    let rule = |class: &TrafficClass| Rule { level: level(class), weight: class.weight };
    let of_flow = |spec: &FlowSpec| {
        let transport = &scenario.transports[spec.transport as usize];
        [transport.class as u8, transport.ack_class as u8]
    };
    let marking = |link: u32, class: usize| {
        let from = graph.link(link).from;
        match graph.nodes()[from as usize].kind {
            NodeKind::Host(_) => Marking { above: u32::MAX, red: None },
            NodeKind::Switch(role) => {
                let ecn = scenario.classes[class].ecn.unwrap_or(scenario.switches.of(role).ecn);
                marking(scenario.seed, ecn, u64::from(link) | (class as u64) << 32)
            }
        }
    };
    let rules = scenario.classes.iter().map(rule).collect();
    Some(Classes::new(rules, specs.iter().map(of_flow).collect(), graph.links().len() as u32, marking))
}

/// `id` is of the stream: no two queues share one.
fn marking(seed: u64, ecn: Ecn, id: u64) -> Marking {
    let bytes = |size: Bytes| u32::try_from(size.get()).unwrap_or(u32::MAX);
    match ecn {
        Ecn::Off => Marking { above: u32::MAX, red: None },
        Ecn::Step(threshold) => Marking { above: bytes(threshold), red: None },
        Ecn::Red { min, max, pmax } => {
            let stream = Stream::new(seed, Entity::Marking, id);
            let red = RedMarking { min: min.get(), max: max.get(), pmax, stream };
            Marking { above: u32::MAX, red: Some(red) }
        }
    }
}

impl Simulation {
    /// Rounds of flows a host: one for each class, or one where there are none.
    pub(super) fn rounds_a_host(&self) -> usize {
        self.fabric.classes().count().max(1)
    }

    /// A NIC with classes is free: the class whose turn it is sends, a frame that waits or else a flow that is ready.
    pub(super) fn pull_by_class(&mut self, link: u32) {
        let Some(host) = self.paths.host_of_nic(link) else { return };
        let first = host as usize * self.rounds_a_host();
        // Where hosts have engines, those give the NIC its frames.
        let asking = if self.engines.are_ideal() { self.rounds_a_host() } else { 0 };
        let rounds = first..first + asking;
        loop {
            let asking = Classes::asking(&self.hosts[rounds.clone()]);
            let Some(class) = self.fabric.choose(link, asking) else { return };
            let woken = self.fabric.send_class(&mut self.queue, link, class);
            if let Some(Woken::SentAndLost(frame)) = woken {
                self.lose(&frame);
            }
            if woken.is_some() || self.pull_from(first + class) {
                break;
            }
        }
        // A flow that sends leaves the port asleep, whatever waits in other classes.
        if Classes::asking(&self.hosts[rounds]) != 0 || self.fabric.port(link).waiting > 0 {
            self.fabric.arm(&mut self.queue, link, LaneId::NONE);
        }
    }

    /// The flow whose turn it is in a round sends, unless it is not ready any more. Whether it did.
    fn pull_from(&mut self, round: usize) -> bool {
        let Some(flow) = self.take_turn(round as u32) else { return false };
        if self.flows[flow as usize].sender.readiness(self.now()) != Readiness::Ready {
            self.serve(flow);
            return false;
        }
        let lane = self.transmit(flow);
        self.serve_again(flow, lane);
        self.arm_timer(flow);
        true
    }
}
