//! From a scenario to a network at time zero.

use std::collections::BTreeMap;

use clearway_proto::units::{Rate, Span, Time};

use super::flows::{ClosedLoop, Flow, Landing, Paths, END, NO_LOOP};
use super::{sized, AckPool, Simulation};
use crate::engine::event::{Class, Event, Meta, MAX_FRAME, MAX_ID, MAX_LINKS};
use crate::engine::queue::EventQueue;
use crate::net::fabric::{Fabric, LossWindow, Particulars, RedMarking, SharedBuffer, NIC_CAPACITY};
use crate::net::host::Host;
use crate::net::port::{LinkKind, Port};
use crate::net::routing::Router;
use crate::net::topology::{Graph, NodeKind};
use crate::net::transport::Maker;
use crate::random::{in_table, Entity, Stream};
use crate::record::counters::TransportCounters;
use crate::scenario::{Buffer, Ecn, Fault, Scenario, SwitchKind};
use crate::traffic::{self, Demand, FlowSpec};

impl Simulation {
    /// The network and traffic of a scenario, at time zero.
    pub fn new(scenario: &Scenario) -> Simulation {
        let graph = Graph::build(&scenario.network);
        let makers: Vec<Maker> =
            scenario.transports.iter().map(|t| Maker::new(t, &scenario.network)).collect();
        let mut queue = EventQueue::new();
        let fabric = FabricBuilder::new(scenario, &graph, &makers, &mut queue).build();
        let specs = traffic::generate(scenario);
        assert!(specs.len() < MAX_ID as usize, "more flows than a key has room for");
        let mut simulation = Simulation {
            queue,
            fabric,
            hosts: (0..graph.host_count()).map(|_| Host::default()).collect(),
            flows: Vec::with_capacity(specs.len()),
            landings: Vec::with_capacity(specs.len()),
            paths: Paths::new(0, Vec::new()),
            closed_loops: Vec::new(),
            messages: Vec::new(),
            counters: makers.iter().map(|_| TransportCounters::default()).collect(),
            particular_acks: AckPool::default(),
            incomplete: specs.iter().filter(|spec| sized(spec).is_some()).count(),
            packet_hops: 0,
            graph,
            specs,
        };
        simulation.lay_paths(scenario);
        simulation.make_flows(&makers);
        simulation
    }

    /// Routes every flow there and back, each way by its own draw.
    fn lay_paths(&mut self, scenario: &Scenario) {
        let router = Router::new(&self.graph, &scenario.network);
        assert!(router.longest() < MAX_LINKS as usize, "a path of more links than a frame can count");
        let mut nic_hosts = vec![END; self.fabric.len()];
        for host in 0..self.graph.host_count() {
            nic_hosts[self.graph.nic(host) as usize] = host;
        }
        self.paths = Paths::new(router.longest(), nic_hosts);
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let mut in_its_table = BTreeMap::<u32, u32>::new();
        for spec in &self.specs {
            let index = in_its_table.entry(spec.table).or_default();
            let mut stream = Stream::new(scenario.seed, Entity::FlowPath, in_table(spec.table, *index));
            *index += 1;
            router.path(spec.from, spec.to, stream.bits(), &mut there);
            router.path(spec.to, spec.from, stream.bits(), &mut back);
            self.paths.add(&there, &back);
        }
    }

    fn make_flows(&mut self, makers: &[Maker]) {
        let mut starts: Vec<(Time, u32)> = Vec::with_capacity(self.specs.len());
        for (id, spec) in self.specs.iter().enumerate() {
            let id = id as u32;
            let maker = &makers[spec.transport as usize];
            starts.push((spec.start, id));
            if let (Some(stop), Demand::Endless) = (spec.stop, spec.demand) {
                self.queue.push_odd(Event::bare(stop.as_ps(), Class::Stop, id));
            }
            let mut closed_loop = NO_LOOP;
            if let Demand::ClosedLoop { bytes, .. } = spec.demand {
                closed_loop = self.closed_loops.len() as u32;
                let stop = spec.stop;
                self.closed_loops.push(ClosedLoop {
                    bytes,
                    stop,
                    issued: super::Issued::new(),
                    completed: 0,
                });
            }
            self.flows.push(flow(spec, maker, self.graph.nic(spec.from), closed_loop));
            self.landings.push(landing(spec, maker));
        }
        starts.sort_unstable();
        self.queue.schedule(starts.into_iter().map(|(at, id)| Event::bare(at.as_ps(), Class::Start, id)));
    }
}

fn flow(spec: &FlowSpec, maker: &Maker, nic: u32, closed_loop: u32) -> Flow {
    Flow {
        sender: maker.sender(),
        timer_at: Time::NEVER,
        pace_at: Time::NEVER,
        host: spec.from,
        nic,
        overhead: maker.overhead,
        data_flags: if maker.ecn_capable { Meta::ECT } else { 0 },
        transport: spec.transport,
        waiting: false,
        closed_loop,
        acks: 0,
        lost_data: 0,
        lost_acks: 0,
    }
}

fn landing(spec: &FlowSpec, maker: &Maker) -> Landing {
    Landing {
        receiver: maker.receiver(),
        timer_at: Time::NEVER,
        completed_at: Time::NEVER,
        arrived: 0,
        acks: 0,
        overhead: maker.overhead,
        ack_frame: maker.ack_frame,
        sized: sized(spec).is_some(),
    }
}

/// Gathers the parts of a [`Fabric`].
struct FabricBuilder {
    ports: Vec<Port>,
    kinds: Vec<LinkKind>,
    buffers: Vec<SharedBuffer>,
    particulars: Vec<Particulars>,
}

impl FabricBuilder {
    fn new(scenario: &Scenario, graph: &Graph, makers: &[Maker], queue: &mut EventQueue) -> FabricBuilder {
        let mut builder = FabricBuilder {
            ports: Vec::with_capacity(graph.links().len()),
            kinds: Vec::new(),
            buffers: Vec::new(),
            particulars: Vec::new(),
        };
        let kind_of = builder.link_kinds(graph, makers, queue);
        let mut shared_of = vec![None; graph.nodes().len()];
        for link in graph.links() {
            let kind = kind_of[&(link.rate, link.delay)];
            match graph.nodes()[link.from as usize].kind {
                NodeKind::Host(_) => builder.ports.push(Port::new(kind, NIC_CAPACITY, Port::NIC)),
                NodeKind::Switch(role) => {
                    let switch = scenario.switches.of(role);
                    builder.add_switch_port(scenario.seed, kind, switch, &mut shared_of[link.from as usize]);
                }
            }
        }
        for fault in &scenario.faults {
            builder.add_fault(scenario.seed, graph, fault);
        }
        builder
    }

    /// The kinds of link, the commonest first, so that they get the lanes.
    fn link_kinds(
        &mut self,
        graph: &Graph,
        makers: &[Maker],
        queue: &mut EventQueue,
    ) -> BTreeMap<(Rate, Span), u16> {
        let mut common: Vec<u32> = makers.iter().flat_map(|m| [m.data_frame(), m.ack_frame]).collect();
        assert!(common.iter().all(|&size| size < MAX_FRAME), "a frame heavier than its size field can say");
        let mut seen = Vec::new();
        common.retain(|size| {
            !seen.contains(size) && {
                seen.push(*size);
                true
            }
        });
        let mut counts = BTreeMap::<(Rate, Span), usize>::new();
        for link in graph.links() {
            *counts.entry((link.rate, link.delay)).or_default() += 1;
        }
        let mut by_count: Vec<_> = counts.into_iter().collect();
        by_count.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let mut kind_of = BTreeMap::new();
        for ((rate, delay), _) in by_count {
            kind_of.insert((rate, delay), self.kinds.len() as u16);
            self.kinds.push(LinkKind::new(rate, delay, &common, queue));
        }
        kind_of
    }

    fn add_switch_port(&mut self, seed: u64, kind: u16, switch: &SwitchKind, shared: &mut Option<usize>) {
        let link = self.ports.len();
        let mut port = match switch.buffer {
            Buffer::PerPort(size) => Port::new(kind, size, 0),
            Buffer::Shared { size, alpha } => {
                let buffer = *shared.get_or_insert_with(|| {
                    self.buffers.push(SharedBuffer { size: size.get(), used: 0, alpha });
                    self.buffers.len() - 1
                });
                self.particulars(link).buffer = buffer;
                Port::new(kind, size, Port::SHARED)
            }
        };
        match switch.ecn {
            Ecn::Off => (),
            Ecn::Step(threshold) => port.mark_above = threshold.get(),
            Ecn::Red { min, max, pmax } => {
                let stream = Stream::new(seed, Entity::Marking, link as u64);
                self.particulars(link).red =
                    Some(RedMarking { min: min.get(), max: max.get(), pmax, stream });
                port.flags |= Port::RED;
            }
        }
        self.ports.push(port);
    }

    fn add_fault(&mut self, seed: u64, graph: &Graph, fault: &Fault) {
        let link =
            graph.link_between(&fault.link.0, &fault.link.1).expect("a fault's link is in the network");
        self.ports[link as usize].flags |= Port::FAULTY;
        let particulars = self.particulars(link as usize);
        particulars.faults.push(LossWindow { from: fault.from, until: fault.until, probability: fault.loss });
        particulars.loss.get_or_insert_with(|| Stream::new(seed, Entity::LinkLoss, u64::from(link)));
    }

    fn particulars(&mut self, link: usize) -> &mut Particulars {
        if self.particulars.len() <= link {
            self.particulars.resize_with(link + 1, Particulars::default);
        }
        &mut self.particulars[link]
    }

    fn build(self) -> Fabric {
        Fabric::new(self.ports, self.kinds, self.buffers, self.particulars)
    }
}
