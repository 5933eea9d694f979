//! From a scenario to a network at time zero: the plan, and the domains that it makes.

use clearway_proto::units::{Bytes, Time};

use super::agents::Agents;
use super::arbitration::{self, control_plan};
use super::control_plan::ControlPlan;
use super::cut_off::cut_off;
use super::domain::{Domain, NodeState};
use super::domain_index::DomainIndex;
use super::fabric::Fabric;
use super::hosts::{HostState, Hosts, NONE};
use super::job_plan::job_plans;
use super::jobs::Jobs;
use super::operations::Operations;
use super::out::Out;
use super::outbox::{Exits, Outbox};
use super::partition::Partition;
use super::plan::{sized, Plan, ProbePlan};
use super::port_builder::PortBuilder;
use super::rerouting::{self, Conversations};
use super::route_planner::RoutePlanner;
use crate::engine::batches::Batches;
use crate::engine::event::{Event, Kind, MAX_ID};
use crate::engine::windows::Windows;
use crate::host::agent::{Agent, Seat};
use crate::host::clock::{HostClocks, LocalClock};
use crate::host::ends::{ReceivingEnd, SendingEnd};
use crate::host::prober::{Prober, Responder};
use crate::host::processor::{Costs, Processor};
use crate::host::processors::Processors;
use crate::host::pulls::Pulls;
use crate::host::round::{Round, NO_FLOW};
use crate::host::transport::{Maker, NewSenders};
use crate::model::{FlowOrder, HostKind, Probe, Scenario, Spray, SwitchRole, Timestamps};
use crate::net::pfc::PAUSE_BYTES;
use crate::net::port::Port;
use crate::random::Entity;
use crate::schemes::AnySender;
use crate::topology::Graph;
use crate::traffic::{self, Demand, FlowSpec, Part};

/// The longest window, in picoseconds: short enough that a window's events are few.
const LONGEST_WINDOW: u64 = 1 << 24;

/// The smallest control packet on the wire: the smallest Ethernet frame, preamble and gap.
const LEAST_CONTROL: u64 = 84;

/// Returns the plan of a scenario, over at most `domains` domains.
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
    let planner = RoutePlanner { scenario, graph: &graph, partition: &partition, specs: &specs };
    let routes = planner.plan(&senders, &receivers, &probes, control.as_ref());
    let conversations =
        Conversations { specs: &specs, makers: &makers, probes: &probes, control: control.as_ref() };
    let forwarding = rerouting::forwarding(scenario, (&graph, &partition), &conversations, &routes);
    Plan {
        cut_off: cut_off(scenario, &graph, &specs),
        forwarding,
        windows: Windows::new(look_ahead(&graph, &makers, scenario)),
        longest_frame: scenario.longest_frame(),
        splits_rtt: !scenario.hosts.all_ideal(),
        watches_acks: !scenario.hosts.all_ideal()
            || scenario.record.flows.is_some()
            || scenario.transports.iter().any(|transport| transport.spray.selector().is_some()),
        classes_of: classes_of(scenario, &specs, control.as_ref()),
        classes: scenario.classes.len(),
        jobs: job_plans(scenario, &specs, &partition),
        job_starts: scenario.jobs().map(|(table, _)| scenario.traffic[table as usize].start.0).collect(),
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
    let of_headers = SwitchRole::ALL.iter().filter_map(|&role| scenario.switches.of(role).trimming());
    let of_headers = of_headers.map(|trimming| trimming.size.get());
    let all = of_flows.chain(of_probes).chain(of_headers).chain(of_control).chain(of_pauses);
    let smallest = Bytes::new(all.min().unwrap_or(1));
    let quickest =
        graph.links().iter().map(|link| (link.delay + link.rate.transmission(smallest)).as_ps()).min();
    quickest.unwrap_or(LONGEST_WINDOW).clamp(2, LONGEST_WINDOW)
}

/// The places of all sending and receiving ends: in each domain in the order of the flows.
fn places(partition: &Partition, specs: &[FlowSpec]) -> (Vec<DomainIndex>, Vec<DomainIndex>) {
    let mut next = vec![[0_u32; 2]; partition.domains()];
    let mut place = |host: u32, which: usize| {
        let domain = partition.node(host).domain;
        let at = next[domain as usize][which];
        next[domain as usize][which] += 1;
        DomainIndex { domain, at }
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
    fn next(&mut self, node: u32) -> DomainIndex {
        let domain = self.partition.node(node).domain;
        let at = self.next[domain as usize];
        self.next[domain as usize] += 1;
        DomainIndex { domain, at }
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

/// The domains of a plan, at time zero.
pub(super) fn domains(scenario: &Scenario, plan: &Plan) -> Vec<Domain> {
    let mut builder = PortBuilder::new(scenario, plan);
    let mut domains: Vec<Domain> = (0..plan.partition.domains() as u32)
        .map(|number| domain(scenario, plan, number, &mut builder))
        .collect();
    let mut new_senders = NewSenders::default();
    for (flow, spec) in plan.specs.iter().enumerate() {
        let (from, to) = (plan.senders[flow], plan.receivers[flow]);
        let (maker, path) = (&plan.makers[spec.transport as usize], plan.path_of(flow as u32));
        let sender = new_senders.sender(spec.transport, maker, path);
        add_sender(&mut domains[from.domain as usize], plan, flow as u32, spec, sender);
        domains[to.domain as usize].hosts.incomplete += usize::from(sized(spec).is_some());
        let receiver = receiver(plan, flow as u32, spec);
        domains[to.domain as usize].hosts.receivers.push(receiver);
        let nic = plan.graph.link(plan.graph.nic(spec.to)).rate;
        if let Some(terms) = maker.pull_terms(path, nic) {
            domains[from.domain as usize].hosts.senders[from.at as usize].routes |= SendingEnd::ASKS;
            let of = &mut domains[to.domain as usize];
            let host = of.nodes[plan.partition.node(spec.to).at as usize].host;
            of.hosts.pulls.add(host, to.at, terms);
        }
    }
    seat_probes(scenario, plan, &mut domains);
    await_bypasses(scenario, plan, &mut domains);
    arbitration::seat_all(scenario, plan, &mut domains);
    for domain in &mut domains {
        rerouting::await_changes(plan, domain);
        domain.starts.make_contiguous().sort_unstable();
        domain.hosts.operations = Operations::new(scenario, plan, domain.number);
        domain.hosts.plan_operations(plan, &mut domain.out);
        domain.hosts.jobs = Jobs::new(scenario, plan, domain.number);
        domain.hosts.plan_jobs(plan, &mut domain.out);
        domain.let_nics_catch_up();
        domain.choose_first_nodes();
    }
    domains
}

fn domain(scenario: &Scenario, plan: &Plan, number: u32, builder: &mut PortBuilder) -> Domain {
    let nodes = plan.partition.nodes_in(number);
    let mut exits = Exits::new(nodes.len() as u32);
    let ports = builder.ports(number, &mut exits);
    let (mut hosts, mut processors, mut all_clocks) = (Vec::new(), Vec::new(), Vec::new());
    let costs: Vec<Option<Costs>> = scenario.hosts.kinds.iter().map(|kind| Costs::of(&kind.model)).collect();
    let chooses = scenario.transports.iter().any(|transport| transport.spray == Spray::Adaptive);
    let mut states = Vec::with_capacity(nodes.len());
    for &node in nodes {
        let is_host = node < plan.graph.host_count();
        let ruled = |&link: &u32| ports.port(plan.partition.port(link).at).intersects(Port::RULED);
        states.push(NodeState {
            host: if is_host { hosts.len() as u32 } else { NONE },
            forwards: !is_host
                && plan.forwarding.is_none()
                && !plan.graph.outgoing(node).iter().any(ruled)
                && !chooses,
            goes_first: false,
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
    let hosts = Hosts {
        rounds: vec![Round::EMPTY; hosts.len() * plan.queues()],
        all: hosts,
        senders: Vec::new(),
        receivers: Vec::new(),
        processors: Processors::new(processors, builder.classes()),
        clocks: all_clocks,
        slots: Vec::new(),
        offers: Vec::new(),
        operations: Operations::default(),
        jobs: Jobs::default(),
        pulls: Pulls::default(),
        incomplete: 0,
        nics_catch_up: false,
    };
    Domain {
        number,
        nodes: states,
        starts: std::collections::VecDeque::new(),
        batches: Batches::new(nodes.len()),
        out: Out::new(plan, nodes.len()),
        fabric: Fabric::new(ports),
        hosts,
        agents: Agents::default(),
        exits,
        outboxes: (0..plan.partition.domains()).map(|_| Outbox::default()).collect(),
    }
}

/// Lets relays fail, and be back, when they are to.
fn await_bypasses(scenario: &Scenario, plan: &Plan, domains: &mut [Domain]) {
    for bypass in &scenario.bypasses {
        let port = plan.partition.port(plan.graph.outgoing(bypass.relay)[0]);
        let node = plan.partition.node(bypass.relay);
        for at in [bypass.from, bypass.until].into_iter().filter(|&at| at != Time::NEVER) {
            let event = Event::bare(at.as_ps(), Kind::Bypass, port.at);
            domains[node.domain as usize].out.calendar.add(node.at, event);
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
            assert_eq!(domain.agents.seats.len(), place.at as usize, "seats are given in their order");
            let at = plan.partition.node(node).at;
            domain.nodes[at as usize].forwards = false;
            let mut seat = Seat::new(agent, conversation, clock_of(node));
            if node == probe.from {
                seat.timer_at = probe.start;
                domain.out.calendar.add(at, Event::bare(probe.start.as_ps(), Kind::Act, place.at));
            }
            domain.agents.seats.push(seat);
        }
    }
}

fn add_sender(domain: &mut Domain, plan: &Plan, flow: u32, spec: &FlowSpec, sender: AnySender) {
    let end = domain.hosts.senders.len() as u32;
    // Others are set going by operations.
    if !matches!(spec.demand, Demand::OpenLoop(_) | Demand::ClosedLoop(Part::Answers) | Demand::Messages) {
        domain.starts.push_back((spec.start, end));
    }
    if let (Some(stop), Demand::Endless) = (spec.stop, spec.demand) {
        let node = plan.partition.node(spec.from).at;
        domain.out.calendar.add(node, Event::bare(stop.as_ps(), Kind::Stop, end));
    }
    let (route, routes) = plan.routes.of(flow);
    domain.hosts.senders.push(SendingEnd {
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
        selector: plan.makers[spec.transport as usize].spray.selector().map(Box::new),
        writes: spec.demand.part() == Some(Part::Writes) || spec.demand == Demand::Messages,
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
