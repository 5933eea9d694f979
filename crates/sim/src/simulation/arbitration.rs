//! Fastpass in a scenario's network: who its endpoints and arbiters are, and what they know of it.

use clearway_proto::fastpass::allocator::AllocatorParams;
use clearway_proto::fastpass::arbiter::{
    Arbiter, ArbiterError, ArbiterParams, Neighbours, Pacer, PathParams,
};
use clearway_proto::fastpass::endpoint::{Endpoint, EndpointParams};
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::fastpass::filling::Filling;
use clearway_proto::fastpass::paths::{FatTreeShape, Racks};
use clearway_proto::fastpass::rotation::Rotation;
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::fastpass::transport::FastpassParams;
use clearway_proto::units::{Span, Time};

use super::control_plan::ControlPlan;
use super::domain::Domain;
use super::domain_index::DomainIndex;
use super::exchanged::Exchanged;
use super::plan::Plan;
use crate::engine::event::{Event, Kind};
use crate::host::agent::{Agent, Seat};
use crate::host::arbiter::{ArbiterHost, Change, Costs};
use crate::host::clock::LocalClock;
use crate::host::endpoint::EndpointHost;
use crate::host::slots::{Offer, Slots};
use crate::model::{Arbiters, Clock, Protocol, Scenario};
use crate::net::served::Served;
use crate::net::timeslots::SlottedLinks;
use crate::random::Entity;
use crate::topology::shape::{self, RackPaths};
use crate::traffic::FlowSpec;

/// Who exchanges control packets, if any; `first` is the first conversation that is free, and `seat` gives a node its next
/// seat.
pub(super) fn control_plan(
    scenario: &Scenario,
    specs: &[FlowSpec],
    first: u32,
    seat: &mut impl FnMut(u32) -> DomainIndex,
) -> Option<ControlPlan> {
    let arbiters = scenario.arbiters.as_ref()?;
    let slotted = |spec: &&FlowSpec| {
        matches!(scenario.transports[spec.transport as usize].protocol, Protocol::Fastpass(_))
    };
    let mut endpoints: Vec<u32> =
        specs.iter().filter(slotted).flat_map(|spec| [spec.from, spec.to]).collect();
    endpoints.sort_unstable();
    endpoints.dedup();
    let served = Served::by(arbiters, &scenario.network);
    let [aggregations, cores] = served.racks().map_or([1, 1], RackPaths::paths);
    Some(ControlPlan {
        first,
        neighbours: neighbours(&served, &endpoints),
        endpoint_seats: endpoints.iter().map(|&host| seat(host)).collect(),
        arbiter_seats: arbiters.nodes.iter().map(|&node| seat(node)).collect(),
        arbiters: arbiters.nodes.clone(),
        served,
        endpoints,
        aggregations,
        cores,
    })
}

/// The endpoints that send each other trials of links, by their places among all: the lower one first, in rising order.
fn neighbours(served: &Served, endpoints: &[u32]) -> Vec<(u32, u32)> {
    let neighbours = match paths(served) {
        PathParams::Single => return Vec::new(),
        PathParams::LeafSpine { racks, .. } => Neighbours::new(&racks, racks.racks()),
        PathParams::FatTree { racks, shape } => Neighbours::new(&racks, shape.racks_per_pod),
    };
    let place = |host: u32| endpoints.binary_search(&host).ok().map(|at| at as u32);
    let of = |(at, &host): (u32, &u32)| {
        let next = neighbours.next(served.address(host)).filter_map(move |next| place(served.host(next)));
        next.map(|other| (at.min(other), at.max(other))).collect::<Vec<_>>()
    };
    let mut pairs: Vec<(u32, u32)> = (0..).zip(endpoints).flat_map(of).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Gives endpoints and arbiters their seats, and hosts with endpoints their queues.
pub(super) fn seat_all(scenario: &Scenario, plan: &Plan, domains: &mut [Domain]) {
    let (Some(control), Some(arbiters)) = (&plan.control, &scenario.arbiters) else { return };
    let (Some(params), Some(links)) = (fastpass_params(scenario), SlottedLinks::new(scenario, arbiters))
    else {
        return;
    };
    for domain in domains.iter_mut() {
        domain.agents.exchanged = vec![[Exchanged::default(); 2]; control.conversations() as usize];
        domain.agents.rotations = vec![[Rotation::default(); 2]; control.conversations() as usize];
        domain.hosts.offers = vec![Offer::default(); domain.hosts.senders.len()];
    }
    let clocks = Clocks::new(scenario);
    let endpoint = endpoint_params(scenario, arbiters, &params);
    let slotted = plan.makers.iter().filter(|maker| maker.slotted);
    let ack = slotted.map(|maker| maker.ack_frame).max().unwrap_or(1);
    for (number, (&host, place)) in control.endpoints.iter().zip(&control.endpoint_seats).enumerate() {
        let domain = &mut domains[place.domain as usize];
        let at = domain.nodes[plan.partition.node(host).at as usize].host;
        let machine = Endpoint::new(&endpoint, control.served.address(host), 1);
        let agent = Agent::Endpoint(Box::new(EndpointHost { machine, host: at, number }));
        take_seat(domain, plan, (host, *place), Seat::new(agent, 0, clocks.of(host)));
        let rate = plan.graph.link(plan.graph.nic(host)).rate;
        domain.hosts.all[at as usize].slots = domain.hosts.slots.len() as u32;
        let filling = Filling::new(links.room(rate), ack, arbiters.slot);
        domain.hosts.slots.push(Slots::new(place.at, filling));
    }
    for ((flow, end), spec) in (0..).zip(&plan.senders).zip(&plan.specs) {
        if plan.takes_slots(flow) {
            let domain = &mut domains[end.domain as usize];
            let host = domain.nodes[plan.partition.node(spec.from).at as usize].host;
            let slots = domain.hosts.all[host as usize].slots;
            domain.hosts.slots[slots as usize].ends.push(end.at);
        }
    }
    for (rank, (&node, place)) in control.arbiters.iter().zip(&control.arbiter_seats).enumerate() {
        let domain = &mut domains[place.domain as usize];
        let clock = clocks.of(node);
        let local = clock.as_ref().map_or(Time::ZERO, |clock| clock.local(Time::ZERO));
        let params = arbiter_params(scenario, arbiters, &params, rank);
        let host = ArbiterHost::new(params, local, costs(arbiters), changes(arbiters, rank));
        take_seat(domain, plan, (node, *place), Seat::new(Agent::Arbiter(Box::new(host)), 0, clock));
        let seat = &mut domain.agents.seats[place.at as usize];
        seat.timer_at = Time::ZERO;
        let event = Event::bare(0, Kind::Act, place.at);
        domain.out.calendar.add(plan.partition.node(node).at, event);
    }
}

fn take_seat(domain: &mut Domain, plan: &Plan, (node, place): (u32, DomainIndex), seat: Seat) {
    assert_eq!(domain.agents.seats.len(), place.at as usize, "seats are given in their order");
    domain.nodes[plan.partition.node(node).at as usize].forwards = false;
    domain.agents.seats.push(seat);
}

/// The clocks of endpoints and arbiters. If any of them errs, all count from the same beginning as that one.
struct Clocks<'a> {
    scenario: &'a Scenario,
    hosts: u32,
    all_exact: bool,
}

impl Clocks<'_> {
    fn new(scenario: &Scenario) -> Clocks<'_> {
        Clocks {
            scenario,
            hosts: shape::of(&scenario.network.topology).hosts(),
            all_exact: scenario.hosts.kinds.iter().all(|kind| kind.clock.is_exact()),
        }
    }

    /// The clock of a node; a switch has an exact one.
    fn of(&self, node: u32) -> Option<LocalClock> {
        let exact = Clock::default();
        let clock = if node < self.hosts { &self.scenario.hosts.of(node).clock } else { &exact };
        (!self.all_exact).then(|| LocalClock::new(self.scenario.seed, Entity::HostClock, node, clock))
    }
}

fn fastpass_params(scenario: &Scenario) -> Option<FastpassParams> {
    scenario.transports.iter().find_map(|transport| match &transport.protocol {
        Protocol::Fastpass(params) => Some(params.clone()),
        _ => None,
    })
}

/// Says why a scenario's arbiters cannot be built, if they cannot.
pub(crate) fn check(scenario: &Scenario, arbiters: &Arbiters) -> Result<(), ArbiterError> {
    let Some(params) = fastpass_params(scenario) else { return Ok(()) };
    Arbiter::check(&arbiter_params(scenario, arbiters, &params, 0))
}

/// Endpoints that an arbiter knows.
fn nodes(served: &Served) -> usize {
    served.hosts.len().max(2)
}

fn endpoint_params(scenario: &Scenario, arbiters: &Arbiters, params: &FastpassParams) -> EndpointParams {
    let settings = &params.endpoint;
    EndpointParams {
        timeslots: Timeslots::new(arbiters.slot),
        nodes: nodes(&Served::by(arbiters, &scenario.network)) as u16,
        send: settings.send,
        report_interval: settings.report_interval,
        retransmit: settings.retransmit,
        limit: settings.limit,
        late: settings.late.max(arbiters.slot * u64::from(EndpointSettings::LATE_SLOTS)),
        early: settings.early.max(arbiters.slot * u64::from(EndpointSettings::EARLY_SLOTS)),
        age_check: settings.age_check,
        fallback: settings.fallback_after,
        ..EndpointParams::default()
    }
}

fn arbiter_params(
    scenario: &Scenario,
    arbiters: &Arbiters,
    params: &FastpassParams,
    rank: usize,
) -> ArbiterParams {
    let served = Served::by(arbiters, &scenario.network);
    let node = arbiters.nodes[rank];
    ArbiterParams {
        timeslots: Timeslots::new(arbiters.slot),
        allocator: AllocatorParams {
            nodes: nodes(&served),
            slots: arbiters.batch,
            limit: u16::try_from(params.endpoint.limit).unwrap_or(u16::MAX),
            order: arbiters.order,
            capacities: SlottedLinks::new(scenario, arbiters).and_then(|links| links.capacities()),
        },
        paths: paths(&served),
        address: served.hosts.contains(&node).then(|| served.address(node)),
        ahead: arbiters.ahead,
        pacer: pacer(arbiters),
        retransmit: arbiters.times.retransmit,
        acknowledge: arbiters.times.acknowledge,
        watchdog: arbiters.times.watchdog,
        takeover: arbiters.times.takeover,
        gap: arbiters.times.gap,
        fault_isolation: arbiters.fault_isolation,
        rank: rank as u8,
        arbiters: arbiters.nodes.len() as u8,
        ..ArbiterParams::default()
    }
}

fn pacer(arbiters: &Arbiters) -> Pacer {
    let interval = Span::from_secs(1) / u64::from(arbiters.allocation_rate);
    let slack = interval.scaled(arbiters.allocation_burst - 1.0);
    Pacer { gap: arbiters.times.allocation_gap, interval, slack }
}

/// How racks are joined, as an arbiter is told.
fn paths(served: &Served) -> PathParams {
    const KNOWN: &str = "a scenario's network has racks and paths that an arbiter knows";
    let uniform = |racks: u32, hosts: u32| Racks::uniform(racks as usize, hosts as usize).expect(KNOWN);
    match served.racks() {
        Some(RackPaths::LeafSpine { racks, hosts, spines }) => {
            PathParams::LeafSpine { racks: uniform(racks, hosts), paths: spines as usize }
        }
        Some(RackPaths::FatTree { half }) => {
            let racks = uniform(2 * half * half, half);
            let half = half as usize;
            PathParams::FatTree {
                racks,
                shape: FatTreeShape { racks_per_pod: half, aggregation: half, cores: half },
            }
        }
        Some(RackPaths::Single) | None => PathParams::Single,
    }
}

fn costs(arbiters: &Arbiters) -> Costs {
    Costs {
        poll: arbiters.times.poll_interval,
        queue: arbiters.request_queue as usize,
        request: arbiters.times.request_service,
        slot: arbiters.times.slot_service,
        output: arbiters.times.allocation_service,
        latency: arbiters.times.latency,
    }
}

/// Returns when the arbiter of this rank dies and starts again.
fn changes(arbiters: &Arbiters, rank: usize) -> Vec<(Time, Change)> {
    let of_rank = arbiters.crashes.iter().filter(|crash| crash.rank == rank);
    let mut changes: Vec<(Time, Change)> =
        of_rank.flat_map(|crash| [(crash.from, Change::Dies), (crash.until, Change::Starts)]).collect();
    changes.retain(|(at, _)| *at != Time::NEVER);
    changes.sort_by_key(|(at, change)| (*at, *change == Change::Dies));
    changes
}
