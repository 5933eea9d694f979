//! From a scenario to a network at time zero.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clearway_proto::units::{Bytes, Rate, Span, Time};

use super::classes::classes;
use super::engines::Engines;
use super::flows::{Flow, FlowLosses, Landing, Paths, END};
use super::{sized, AckPool, Operations, Simulation};
use crate::engine::event::{Class, Event, MAX_FRAME, MAX_ID, MAX_LINKS};
use crate::engine::queue::EventQueue;
use crate::model::{Buffer, Ecn, Fault, Scenario, SwitchKind, SwitchRole};
use crate::net::fabric::{Fabric, LossWindow, Particulars, SharedBuffer};
use crate::net::host::{Host, NO_FLOW};
use crate::net::marking::RedMarking;
use crate::net::port::{LinkKind, Port, PortKind};
use crate::net::routing::Router;
use crate::net::topology::{Graph, Link, NodeKind};
use crate::net::transport::Maker;
use crate::random::{in_table, Entity, Stream};
use crate::record::counters::TransportCounters;
use crate::traffic::{self, Demand, FlowSpec, Part};

impl Simulation {
    /// The network and traffic of a scenario, at time zero.
    pub fn new(scenario: &Scenario) -> Simulation {
        let graph = Graph::build(&scenario.network);
        let makers: Vec<Maker> =
            scenario.transports.iter().map(|t| Maker::new(t, &scenario.network)).collect();
        let mut queue = EventQueue::new();
        let mut fabric = FabricBuilder::new(scenario, &graph, &makers, &mut queue).build();
        let specs = traffic::generate(scenario);
        if let Some(classes) = classes(scenario, &graph, &specs) {
            fabric.classify(classes);
        }
        assert!(specs.len() < MAX_ID as usize, "more flows than a key has room for");
        let engines =
            Engines::new(&scenario.host, scenario.seed, graph.host_count(), specs.len(), fabric.classes());
        let mut simulation = Simulation {
            queue,
            hosts: vec![Host::IDLE; graph.host_count() as usize * fabric.classes().count().max(1)],
            fabric,
            engines,
            flows: Vec::with_capacity(specs.len()),
            landings: Vec::with_capacity(specs.len()),
            paths: Paths::new(0, Vec::new()),
            operations: Operations::new(scenario, &graph, &specs),
            losses: vec![FlowLosses::default(); specs.len()],
            counters: makers.iter().map(|_| TransportCounters::default()).collect(),
            particular_acks: AckPool::default(),
            incomplete: specs.iter().filter(|spec| sized(spec).is_some()).count(),
            last_stop: last_stop(&specs),
            packet_hops: 0,
            countdown: super::CHECK_EVERY,
            graph,
            specs,
        };
        simulation.lay_paths(scenario);
        simulation.make_flows(&makers);
        simulation.plan_operations();
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
            // Others are set going by operations.
            if !matches!(spec.demand, Demand::OpenLoop(_) | Demand::ClosedLoop(Part::Answers)) {
                starts.push((spec.start, id));
            }
            if let (Some(stop), Demand::Endless) = (spec.stop, spec.demand) {
                self.queue.push_odd(Event::bare(stop.as_ps(), Class::Stop, id));
            }
            let rounds = self.rounds_a_host();
            let round = spec.from as usize * rounds + self.fabric.classes().of_data(id);
            self.flows.push(flow(spec, maker, self.graph.nic(spec.from), round as u32));
            self.landings.push(landing(spec, maker));
        }
        starts.sort_unstable();
        self.queue.schedule(starts.into_iter().map(|(at, id)| Event::bare(at.as_ps(), Class::Start, id)));
    }
}

/// Flows without a size and without a stop never end.
fn last_stop(specs: &[FlowSpec]) -> Time {
    let endless = specs.iter().filter(|spec| sized(spec).is_none());
    endless.map(|spec| spec.stop.unwrap_or(Time::NEVER)).max().unwrap_or(Time::ZERO)
}

fn flow(spec: &FlowSpec, maker: &Maker, nic: u32, round: u32) -> Flow {
    Flow {
        sender: maker.sender(),
        timer_at: Time::NEVER,
        pace_at: Time::NEVER,
        acks: 0,
        round,
        nic,
        next_waiting: NO_FLOW,
        overhead: maker.overhead,
        transport: spec.transport as u16,
        ecn_capable: maker.ecn_capable,
        waiting: false,
        writes: spec.demand.part() == Some(Part::Writes),
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
    kinds: Vec<PortKind>,
    buffers: Vec<SharedBuffer>,
    particulars: Vec<Particulars>,
}

/// What tells kinds of port apart: the link, and whose end of it.
type KindKey = (Rate, Span, Option<SwitchRole>);

impl FabricBuilder {
    fn new(scenario: &Scenario, graph: &Graph, makers: &[Maker], queue: &mut EventQueue) -> FabricBuilder {
        let mut builder = FabricBuilder {
            ports: Vec::with_capacity(graph.links().len()),
            kinds: Vec::new(),
            buffers: Vec::new(),
            particulars: Vec::new(),
        };
        let kind_of = builder.port_kinds(scenario, graph, makers, queue);
        let mut shared_of = vec![None; graph.nodes().len()];
        for link in graph.links() {
            let role = role_of(graph, link);
            let kind = kind_of[&(link.rate, link.delay, role)];
            match role {
                None => builder.ports.push(Port::new(kind, Port::NIC)),
                Some(role) => {
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

    /// The kinds of port, the commonest first, so that they get the lanes.
    fn port_kinds(
        &mut self,
        scenario: &Scenario,
        graph: &Graph,
        makers: &[Maker],
        queue: &mut EventQueue,
    ) -> BTreeMap<KindKey, u16> {
        let mut common: Vec<u32> = Vec::new();
        for size in makers.iter().flat_map(|m| [m.data_frame, m.ack_frame]) {
            assert!(size < MAX_FRAME, "a frame heavier than its size field can say");
            if !common.contains(&size) {
                common.push(size);
            }
        }
        let mut counts = BTreeMap::<KindKey, usize>::new();
        for link in graph.links() {
            *counts.entry((link.rate, link.delay, role_of(graph, link))).or_default() += 1;
        }
        let mut by_count: Vec<_> = counts.into_iter().collect();
        by_count.sort_by_key(|&(_, count)| Reverse(count));
        let mut kind_of = BTreeMap::new();
        for (key, _) in by_count {
            let (rate, delay, role) = key;
            kind_of.insert(key, u16::try_from(self.kinds.len()).expect("fewer kinds of link than 65536"));
            let link = LinkKind::new(rate, delay, &common, queue);
            self.kinds.push(port_kind(link, role.map(|role| scenario.switches.of(role))));
        }
        kind_of
    }

    fn add_switch_port(&mut self, seed: u64, kind: u16, switch: &SwitchKind, shared: &mut Option<usize>) {
        let link = self.ports.len();
        let mut flags = 0;
        if let Buffer::Shared { size, alpha } = switch.buffer {
            flags |= Port::SHARED;
            self.particulars(link).buffer = *shared.get_or_insert_with(|| {
                self.buffers.push(SharedBuffer { size: size.get(), used: 0, alpha });
                self.buffers.len() - 1
            });
        }
        if let Ecn::Red { min, max, pmax } = switch.ecn {
            flags |= Port::RED;
            let stream = Stream::new(seed, Entity::Marking, link as u64);
            self.particulars(link).red = Some(RedMarking { min: min.get(), max: max.get(), pmax, stream });
        }
        self.ports.push(Port::new(kind, flags));
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

/// The role of the switch that a link leads from; none for a host.
fn role_of(graph: &Graph, link: &Link) -> Option<SwitchRole> {
    match graph.nodes()[link.from as usize].kind {
        NodeKind::Host(_) => None,
        NodeKind::Switch(role) => Some(role),
    }
}

/// A host's NIC has no queue of data but what its engine is ahead of the wire, and room for 4 GiB: only acknowledgements
/// far heavier than the packets that they answer find none.
fn port_kind(link: LinkKind, switch: Option<&SwitchKind>) -> PortKind {
    let bytes = |size: Bytes| u32::try_from(size.get()).unwrap_or(u32::MAX);
    let capacity = match switch.map(|switch| switch.buffer) {
        Some(Buffer::PerPort(size)) => bytes(size),
        Some(Buffer::Shared { .. }) | None => u32::MAX,
    };
    let mark_above = match switch.map(|switch| switch.ecn) {
        Some(Ecn::Step(threshold)) => bytes(threshold),
        Some(Ecn::Off | Ecn::Red { .. }) | None => u32::MAX,
    };
    PortKind { link, capacity, mark_above }
}
