//! From a scenario to a network at time zero: the plan, and the domains that it makes.

use std::collections::BTreeMap;

use clearway_proto::units::{Bytes, Time};

use super::arbitration::{self, control_plan};
use super::control_plan::ControlPlan;
use super::domain::{Domain, HostState, NodeState, NONE};
use super::footprint::CONTROL_WAYS;
use super::operations::Operations;
use super::outbox::{Exits, Outbox};
use super::partition::Partition;
use super::place::Place;
use super::plan::{sized, Plan, ProbePlan};
use super::wiring::Wiring;
use crate::engine::agenda::Agenda;
use crate::engine::batches::Batches;
use crate::engine::calendar::{Calendar, Windows};
use crate::engine::event::{Event, Kind, MAX_ID, MAX_LINKS};
use crate::host::agent::{Agent, Seat};
use crate::host::clock::{HostClocks, LocalClock};
use crate::host::ends::{Losses, ReceivingEnd, SendingEnd};
use crate::host::prober::{Prober, Responder};
use crate::host::processor::{Costs, Processor};
use crate::host::processors::Processors;
use crate::host::round::{Round, NO_FLOW};
use crate::host::transport::{Maker, NewSenders};
use crate::model::{FlowOrder, HostKind, Probe, Scenario, Timestamps, Transport};
use crate::net::pfc::PAUSE_BYTES;
use crate::net::port::Port;
use crate::net::routes::{Next, Routes};
use crate::net::routing::{path_between, Router};
use crate::net::topology::Graph;
use crate::random::{in_table, Entity, Stream};
use crate::record::counters::TransportCounters;
use crate::schemes::AnySender;
use crate::traffic::{self, Demand, FlowSpec, Part};

/// The longest window, in picoseconds: short enough that a window's events are few.
const LONGEST_WINDOW: u64 = 1 << 24;

/// The smallest control packet on the wire: the smallest Ethernet frame, preamble and gap.
const LEAST_CONTROL: u64 = 84;

/// The plan of a scenario, over at most so many domains.
pub(super) fn plan(scenario: &Scenario, domains: usize) -> Plan {
    let graph = Graph::build(&scenario.network);
    let maker = |transport| Maker::new(transport, &scenario.network);
    let makers: Vec<Maker> = scenario.transports.iter().map(maker).collect();
    let specs = traffic::generate(scenario);
    assert!(specs.len() < MAX_ID as usize, "more flows than a key has room for");
    let partition = Partition::new(&graph, domains);
    let (senders, receivers) = places(&partition, &specs);
    let mut seats = Seats::new(&partition);
    let probes = probe_plans(&mut seats, &scenario.probes);
    let first = (specs.len() + probes.len()) as u32;
    let control = control_plan(scenario, &specs, first, &mut |node| seats.next(node));
    let routes = Laying { scenario, graph: &graph, partition: &partition, specs: &specs }.lay(
        &senders,
        &receivers,
        &probes,
        control.as_ref(),
    );
    Plan {
        windows: Windows::new(look_ahead(&graph, &makers, scenario)),
        longest_frame: scenario.longest_frame(),
        splits_rtt: !scenario.hosts.all_ideal(),
        classes_of: classes_of(scenario, &specs, control.as_ref()),
        classes: scenario.classes.len(),
        graph,
        partition,
        routes,
        specs,
        senders,
        receivers,
        makers,
        probes,
        control,
    }
}

/// The quickest way from one node to another, in picoseconds: nothing that a node does is felt elsewhere before.
fn look_ahead(graph: &Graph, makers: &[Maker], scenario: &Scenario) -> u64 {
    let of_flows = makers.iter().map(|maker| maker.ack_frame.min(maker.overhead + 1)).map(u64::from);
    let of_probes = scenario.probes.iter().map(|probe| probe.bytes.get());
    let of_control = scenario.arbiters.iter().map(|_| LEAST_CONTROL);
    let of_pauses = scenario.switches.any_pfc().then_some(u64::from(PAUSE_BYTES));
    let all = of_flows.chain(of_probes).chain(of_control).chain(of_pauses);
    let smallest = Bytes::new(all.min().unwrap_or(1));
    let quickest =
        graph.links().iter().map(|link| (link.delay + link.rate.transmission(smallest)).as_ps()).min();
    quickest.unwrap_or(LONGEST_WINDOW).clamp(2, LONGEST_WINDOW)
}

/// The places of all sending and receiving ends: in each domain in the order of the flows.
fn places(partition: &Partition, specs: &[FlowSpec]) -> (Vec<Place>, Vec<Place>) {
    let mut next = vec![[0_u32; 2]; partition.domains()];
    let mut place = |host: u32, which: usize| {
        let domain = partition.node(host).domain;
        let at = next[domain as usize][which];
        next[domain as usize][which] += 1;
        Place { domain, at }
    };
    specs.iter().map(|spec| (place(spec.from, 0), place(spec.to, 1))).unzip()
}

/// The classes of both directions of each conversation; nothing where there are no classes.
fn classes_of(scenario: &Scenario, specs: &[FlowSpec], control: Option<&ControlPlan>) -> Vec<[u8; 2]> {
    if scenario.classes.is_empty() {
        return Vec::new();
    }
    let of_flow = |spec: &FlowSpec| {
        let transport = &scenario.transports[spec.transport as usize];
        [transport.class as u8, transport.ack_class as u8]
    };
    let of_probe = |probe: &Probe| [probe.class as u8; 2];
    let of_control = scenario.arbiters.iter().zip(control).flat_map(|(arbiters, control)| {
        std::iter::repeat_n([arbiters.class as u8; 2], control.conversations() as usize)
    });
    specs.iter().map(of_flow).chain(scenario.probes.iter().map(of_probe)).chain(of_control).collect()
}

/// Gives out seats: in each domain one after the other.
struct Seats<'a> {
    partition: &'a Partition,
    next: Vec<u32>,
}

impl Seats<'_> {
    fn new(partition: &Partition) -> Seats<'_> {
        Seats { partition, next: vec![0; partition.domains()] }
    }

    /// The next seat at a node.
    fn next(&mut self, node: u32) -> Place {
        let domain = self.partition.node(node).domain;
        let at = self.next[domain as usize];
        self.next[domain as usize] += 1;
        Place { domain, at }
    }
}

/// Who takes part in each probe; in each domain the seats stand in the order of the probes.
fn probe_plans(seats: &mut Seats, probes: &[Probe]) -> Vec<ProbePlan> {
    let mut plan = |probe: &Probe| {
        let nodes = [probe.from, probe.to];
        ProbePlan { nodes, seats: nodes.map(|node| seats.next(node)), bytes: probe.bytes.get() as u32 }
    };
    probes.iter().map(&mut plan).collect()
}

/// Lays the routes of all conversations.
struct Laying<'a> {
    scenario: &'a Scenario,
    graph: &'a Graph,
    partition: &'a Partition,
    specs: &'a [FlowSpec],
}

impl Laying<'_> {
    /// Routes every flow there and back: each way by its own draw, or over all shortest paths if its packets are
    /// sprayed.
    fn lay(
        &self,
        senders: &[Place],
        receivers: &[Place],
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
            if self.scenario.transports[spec.transport as usize].has_several_paths() {
                router.each_path(spec.from, spec.to, |links| {
                    self.partition.steps(links, ends[0], &mut there);
                    // A link's way back is its number with the last bit flipped.
                    let home: Vec<u32> = links.iter().rev().map(|link| link ^ 1).collect();
                    self.partition.steps(&home, ends[1], &mut back);
                    routes.add(&there, &back);
                });
            } else {
                router.path(spec.from, spec.to, stream.bits(), &mut links);
                self.partition.steps(&links, ends[0], &mut there);
                router.path(spec.to, spec.from, stream.bits(), &mut links);
                self.partition.steps(&links, ends[1], &mut back);
                routes.add(&there, &back);
            }
            routes.end_conversation();
        }
        for Agents { seats: [one, other], paths } in &agents {
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
    fn agents(&self, router: &Router, probes: &[ProbePlan], control: Option<&ControlPlan>) -> Vec<Agents> {
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
            Agents { seats: probe.seats, paths }
        });
        let of_control = (0..).zip(control.iter().flat_map(|control| control.ends()));
        let of_control = of_control.map(|(number, (nodes, seats))| {
            let between_hosts = nodes.iter().all(|&node| node < self.graph.host_count());
            let paths = if between_hosts {
                all(nodes)
            } else {
                drawn((Entity::ControlPath, number), nodes, CONTROL_WAYS)
            };
            Agents { seats, paths }
        });
        of_probes.chain(of_control).collect()
    }
}

/// Two agents that exchange frames: their seats, and for each of their ways the links there and back.
struct Agents {
    seats: [Place; 2],
    paths: Vec<[Vec<u32>; 2]>,
}

/// The domains of a plan, at time zero.
pub(super) fn domains(scenario: &Scenario, plan: &Plan) -> Vec<Domain> {
    let mut wiring = Wiring::new(scenario, plan);
    let mut domains: Vec<Domain> = (0..plan.partition.domains() as u32)
        .map(|number| domain(scenario, plan, number, &mut wiring))
        .collect();
    let mut new_senders = NewSenders::default();
    for (flow, spec) in plan.specs.iter().enumerate() {
        let (from, to) = (plan.senders[flow], plan.receivers[flow]);
        let sender = new_senders.sender(
            spec.transport,
            &plan.makers[spec.transport as usize],
            plan.path_of(flow as u32),
        );
        add_sender(&mut domains[from.domain as usize], plan, flow as u32, spec, sender);
        domains[to.domain as usize].incomplete += usize::from(sized(spec).is_some());
        let receiver = receiver(plan, flow as u32, spec);
        domains[to.domain as usize].receivers.push(receiver);
    }
    seat_probes(scenario, plan, &mut domains);
    await_bypasses(scenario, plan, &mut domains);
    arbitration::seat_all(scenario, plan, &mut domains);
    for domain in &mut domains {
        domain.starts.make_contiguous().sort_unstable();
        domain.operations = Operations::new(scenario, plan, domain.number);
        domain.plan_operations(plan);
    }
    domains
}

fn domain(scenario: &Scenario, plan: &Plan, number: u32, wiring: &mut Wiring) -> Domain {
    let nodes = plan.partition.nodes_in(number);
    let mut exits = Exits::new(nodes.len() as u32);
    let ports = wiring.ports(number, &mut exits);
    let (mut hosts, mut processors, mut all_clocks) = (Vec::new(), Vec::new(), Vec::new());
    let costs: Vec<Option<Costs>> = scenario.hosts.kinds.iter().map(|kind| Costs::of(&kind.model)).collect();
    let mut states = Vec::with_capacity(nodes.len());
    for &node in nodes {
        let is_host = node < plan.graph.host_count();
        let ruled = |&link: &u32| ports.port(plan.partition.port(link).at).intersects(Port::RULED);
        states.push(NodeState {
            host: if is_host { hosts.len() as u32 } else { NONE },
            forwards: !is_host && !plan.graph.outgoing(node).iter().any(ruled),
        });
        if is_host {
            let kind = scenario.hosts.index_of(node);
            let costs = costs[kind].as_ref();
            let processor = costs.map_or(NONE, |_| processors.len() as u32);
            processors.extend(costs.map(|costs| Processor::new(scenario.seed, node, costs)));
            let HostKind { clock, operation_service, flow_order, .. } = &scenario.hosts.kinds[kind];
            let reads = clock.timestamps == Timestamps::Clock;
            let clocks = if reads { all_clocks.len() as u32 } else { NONE };
            all_clocks.extend(reads.then(|| HostClocks::new(scenario.seed, node, clock)));
            hosts.push(HostState {
                nic: plan.partition.port(plan.graph.nic(node)).at,
                rounds: (hosts.len() * plan.queues()) as u32,
                processor,
                clocks,
                slots: NONE,
                operation_service: operation_service.as_ps(),
                fifo: *flow_order == FlowOrder::Fifo,
                armed: false,
            });
        }
    }
    Domain {
        number,
        now: 0,
        end: 0,
        node: 0,
        calendar: Calendar::new(plan.windows, nodes.len() as u32),
        agenda: Agenda::new(nodes.len()),
        starts: std::collections::VecDeque::new(),
        rounds: vec![Round::EMPTY; hosts.len() * plan.queues()],
        processors: Processors::new(processors, wiring.classes()),
        clocks: all_clocks,
        seats: Vec::new(),
        nodes: states,
        ports,
        hosts,
        senders: Vec::new(),
        receivers: Vec::new(),
        slots: Vec::new(),
        offers: Vec::new(),
        exchanged: Vec::new(),
        rotations: Vec::new(),
        operations: Operations::default(),
        losses: vec![Losses::default(); plan.conversations()],
        measured: Time::ZERO..Time::NEVER,
        counters: plan.makers.iter().map(|_| TransportCounters::default()).collect(),
        parcels: super::parcels::Parcels::default(),
        incomplete: 0,
        packet_hops: 0,
        events: 0,
        exits,
        outboxes: (0..plan.partition.domains()).map(|_| Outbox::default()).collect(),
        batches: Batches::new(nodes.len()),
        frames: Vec::new(),
        spare_frames: Vec::new(),
        dropped: Vec::new(),
    }
}

/// Lets relays fail, and be back, when they are to.
fn await_bypasses(scenario: &Scenario, plan: &Plan, domains: &mut [Domain]) {
    for bypass in &scenario.bypasses {
        let port = plan.partition.port(plan.graph.outgoing(bypass.relay)[0]);
        let node = plan.partition.node(bypass.relay);
        for at in [bypass.from, bypass.until].into_iter().filter(|&at| at != Time::NEVER) {
            let event = Event::bare(at.as_ps(), Kind::Bypass, port.at);
            domains[node.domain as usize].calendar.add(node.at, event);
        }
    }
}

/// Gives each probe's prober and responder their seats.
fn seat_probes(scenario: &Scenario, plan: &Plan, domains: &mut [Domain]) {
    for (number, probe) in scenario.probes.iter().enumerate() {
        let conversation = (plan.specs.len() + number) as u32;
        let clock_of = |node: u32| {
            let clock = (node < plan.graph.host_count()).then(|| &scenario.hosts.of(node).clock);
            let clock = clock.filter(|clock| !clock.is_exact());
            clock.map(|clock| LocalClock::new(scenario.seed, Entity::HostClock, node, clock))
        };
        let local = |at: Time| clock_of(probe.from).map_or(at, |clock| clock.local(at));
        let stop = probe.stop.unwrap_or(Time::NEVER);
        let prober = Prober::new(probe.interval, probe.bytes.get() as u32, local(probe.start), local(stop));
        let agents =
            [(probe.from, Agent::Prober(prober)), (probe.to, Agent::Responder(Responder::default()))];
        for (place, (node, agent)) in plan.probes[number].seats.iter().zip(agents) {
            let domain = &mut domains[place.domain as usize];
            assert_eq!(domain.seats.len(), place.at as usize, "seats are given in their order");
            let at = plan.partition.node(node).at;
            domain.nodes[at as usize].forwards = false;
            let mut seat = Seat::new(agent, conversation, clock_of(node));
            if node == probe.from {
                seat.timer_at = probe.start;
                domain.calendar.add(at, Event::bare(probe.start.as_ps(), Kind::Act, place.at));
            }
            domain.seats.push(seat);
        }
    }
}

fn add_sender(domain: &mut Domain, plan: &Plan, flow: u32, spec: &FlowSpec, sender: AnySender) {
    let end = domain.senders.len() as u32;
    // Others are set going by operations.
    if !matches!(spec.demand, Demand::OpenLoop(_) | Demand::ClosedLoop(Part::Answers)) {
        domain.starts.push_back((spec.start, end));
    }
    if let (Some(stop), Demand::Endless) = (spec.stop, spec.demand) {
        let node = plan.partition.node(spec.from).at;
        domain.calendar.add(node, Event::bare(stop.as_ps(), Kind::Stop, end));
    }
    let (route, routes) = plan.routes.of(flow);
    domain.senders.push(SendingEnd {
        sender,
        timer_at: Time::NEVER,
        pace_at: Time::NEVER,
        acks: 0,
        flow,
        route,
        routes,
        next_waiting: NO_FLOW,
        transport: spec.transport as u16,
        waiting: false,
        writes: spec.demand.part() == Some(Part::Writes),
    });
}

fn receiver(plan: &Plan, flow: u32, spec: &FlowSpec) -> ReceivingEnd {
    ReceivingEnd {
        receiver: plan.makers[spec.transport as usize].receiver(),
        timer_at: Time::NEVER,
        completed_at: Time::NEVER,
        arrived: 0,
        acks: 0,
        flow,
        route: plan.routes.of(flow).0,
        transport: spec.transport as u16,
        sized: sized(spec).is_some(),
    }
}
