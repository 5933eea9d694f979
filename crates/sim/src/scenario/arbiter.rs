//! `[arbiter]`: where Fastpass's arbiters are, and how they allocate.

use clearway_proto::fastpass::allocator::{Order, MOST_NODES, MOST_SLOTS};
use clearway_proto::fastpass::endpoint::SendMode;
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::fastpass::paths::{MAX_PATHS, MAX_RACKS};
use clearway_proto::units::{Bytes, Span};

use super::class;
use super::key::{Key, Shown};
use super::late_grants::{late_grants, LateGrants};
use super::node;
use super::reader::Section;
use crate::model::{Arbiters, Protocol, Scenario, Topology, Transport};
use crate::net::served::Served;
use crate::net::shape;
use crate::net::timeslots::SlottedLinks;
use crate::net::topology::Graph;
use crate::simulation::arbitration;
use crate::traffic::pattern;

/// The largest number of arbiters.
const MAX_ARBITERS: usize = 8;

/// Reads the table.
pub(super) fn read(r: &mut Section, scene: &node::Scene) -> Arbiters {
    let doc = "Where they are, in the order of their ranks: the first is the primary, and the next takes over when it is dead.";
    let nodes = node::read_several(r, "at", doc, scene.names).unwrap_or_default();
    let control_share = read_control_share(r);
    let slot = read_slot(r, scene, control_share);
    let count = |name, doc, range| Key::new(name, doc, range);
    let batch = count("batch", "Timeslots that are allocated together.", 1..=MOST_SLOTS);
    let ahead = count("ahead", "Timeslots from the allocation of a batch to its first slot.", 1..=100_000);
    let orders = [("max_min", Order::MaxMin), ("min_fct", Order::MinFct)];
    let doc = "Who comes first: max_min, the pair that was served least recently; min_fct, the one with the fewest packets left.";
    let batch = r.get(&batch.or(16));
    let ahead = r.get(&ahead.or(40));
    let order = r.one_of("order", doc, Some("max_min"), &orders);
    let rate =
        count("allocation_rate", "Allocations to one endpoint a second, in the mean.", 1..=MOST_ALLOCATIONS);
    let burst = Key::new(
        "allocation_burst",
        "Allocations to one endpoint that may leave at once after a silence, as far as allocation_gap lets them.",
        1.0..=1000.0,
    );
    let class_doc = "NAME of the [class.NAME] of requests and allocations.";
    let queue = count(
        "request_queue",
        "Control packets that wait for an arbiter's processor at most; more are dropped.",
        1..=1_000_000,
    );
    let request_queue = r.get(&queue.or(4096));
    let doc = "Failed links are found from the packets that endpoints report as lost, and avoided. Without it every path is used.";
    let fault_isolation = r.flag("fault_isolation", doc, true);
    let times = read_times(r);
    Arbiters {
        nodes,
        slot,
        control_share,
        batch,
        ahead,
        order,
        allocation_rate: r
            .get(&rate.or_as(two_a_batch(slot, batch), "two for each batch, and at least 50000")),
        allocation_burst: r.get(&burst.or(1.5)),
        class: class::read_name_or_first(r, "class", class_doc, scene.classes),
        crashes: Vec::new(),
        allocation_gap: times.allocation_gap,
        retransmit: times.retransmit,
        acknowledge: times.acknowledge,
        watchdog: times.watchdog,
        takeover: times.takeover,
        gap: times.gap,
        fault_isolation,
        poll_interval: times.poll_interval,
        request_queue,
        request_service: times.request_service,
        slot_service: times.slot_service,
        allocation_service: times.allocation_service,
        latency: times.latency,
    }
}

/// Allocations to one endpoint a second. The authors' release has 50,000, one for each of its batches. An allocation names 15
/// destinations at most: who is granted 16 slots to as many endpoints needs two. With fewer, grants come later with each
/// batch, until all are refused.
fn two_a_batch(slot: Span, batch: u32) -> u32 {
    let batches = 1e12 / (slot.as_ps() as f64 * f64::from(batch));
    ((2.0 * batches).ceil() as u32).clamp(50_000, MOST_ALLOCATIONS)
}

/// The largest rate of allocations to one endpoint.
const MOST_ALLOCATIONS: u32 = 10_000_000;

fn read_control_share(r: &mut Section) -> f64 {
    let share = Key::new(
        "control_share",
        "Share of a host's link that is left to requests, allocations and whatever else has no timeslot.",
        0.0..=0.5,
    );
    r.get(&share.or(0.01))
}

/// The length of a slot: by default what a full frame takes on a host's link, and a share for what has no slot.
fn read_slot(r: &mut Section, scene: &node::Scene, share: f64) -> Span {
    let full = scene.network.zip(scene.transports).and_then(|(network, transports)| {
        let slotted = transports.iter().filter(|transport| is_fastpass(transport));
        let header = slotted.map(|transport| transport.header).max()?;
        let frame = Bytes::new((network.mtu + header + network.framing).into());
        let slowest = shape::host_rates(network).slowest()?;
        Some(Span::from_ps((slowest.transmission(frame).as_ps() as f64 / (1.0 - share)) as u64))
    });
    let shortest = Span::from_ns(1);
    let slot = Key::new("slot", "Length of a timeslot.", shortest..=LONGEST_SLOT);
    let default = full.unwrap_or(Span::from_us(1));
    if r.sound() && default > LONGEST_SLOT {
        let whole = Span::from_us(default.as_ps() / Span::from_us(1).as_ps());
        let (default, longest) = (whole.shown(), LONGEST_SLOT.shown());
        let message = format!(
            "a full frame takes {default} on the slowest host's link, and a timeslot is {longest} at most: use faster links or a \
             smaller mtu"
        );
        r.conflict("slot", message);
    }
    r.get(&slot.or_as(
        default.clamp(shortest, LONGEST_SLOT),
        "a full frame on a host's link, over 1 - control_share",
    ))
}

/// The longest timeslot: the timers of endpoints and arbiters are for networks of microseconds.
const LONGEST_SLOT: Span = Span::from_us(100);

/// What the table has of times beside the slot.
struct Times {
    allocation_gap: Span,
    retransmit: Span,
    acknowledge: Span,
    watchdog: Span,
    takeover: Span,
    gap: Span,
    poll_interval: Span,
    request_service: Span,
    slot_service: Span,
    allocation_service: Span,
    latency: Span,
}

fn read_times(r: &mut Section) -> Times {
    let mut time = |name, doc, default| {
        let least = if default == Span::ZERO { Span::ZERO } else { Span::from_ns(100) };
        r.get(&Key::new(name, doc, least..=Span::from_secs(10)).or(default))
    };
    let times = Times {
        allocation_gap: time(
            "allocation_gap",
            "Least time between two allocations to one endpoint.",
            Span::from_us(2),
        ),
        retransmit: time(
            "retransmit",
            "How long an allocation goes without acknowledgement before what it said is said again.",
            Span::from_us(200),
        ),
        acknowledge: time(
            "acknowledge",
            "How long a request goes without an allocation that acknowledges it before an empty one does.",
            Span::from_us(100),
        ),
        watchdog: time(
            "watchdog",
            "Time between two words of the primary to the other arbiters.",
            Span::from_us(100),
        ),
        takeover: time(
            "takeover",
            "Silence of the primary after which the next arbiter takes over.",
            Span::from_us(200),
        ),
        gap: time(
            "gap",
            "How many later than the first slot that nobody can have been granted a new primary's slots begin, as a time.",
            Span::ZERO,
        ),
        poll_interval: time(
            "poll_interval",
            "Time between two looks of an idle arbiter's processor at its NIC: what comes waits for the next.",
            Span::ZERO,
        ),
        request_service: time(
            "request_service",
            "Time that an arbiter's processor takes for a control packet that comes.",
            Span::ZERO,
        ),
        slot_service: time("slot_service", "Time that it takes for a timeslot of the network.", Span::ZERO),
        allocation_service: time(
            "allocation_service",
            "Time that it takes for an allocation that leaves.",
            Span::ZERO,
        ),
        latency: time(
            "latency",
            "Time from there until the packet is at the NIC, as a pipeline of several cores has it.",
            Span::ZERO,
        ),
    };
    if r.sound() && times.takeover <= times.watchdog {
        let (takeover, watchdog) = (times.takeover.shown(), times.watchdog.shown());
        r.conflict("takeover", format!("{takeover} is not above watchdog, {watchdog}"));
    }
    times
}

/// Returns whether a transport's packets have timeslots.
pub(super) fn is_fastpass(transport: &Transport) -> bool {
    matches!(transport.protocol, Protocol::Fastpass(_))
}

/// Returns what the endpoints of a transport do whose packets have timeslots.
fn endpoint_of(transport: &Transport) -> Option<&EndpointSettings> {
    match &transport.protocol {
        Protocol::Fastpass(params) => Some(&params.endpoint),
        _ => None,
    }
}

/// Checks that there are arbiters exactly where there is something to arbitrate, and that they can.
pub(super) fn check(r: &Section, scenario: &Scenario) {
    let fastpass: Vec<&Transport> = scenario.transports.iter().filter(|t| is_fastpass(t)).collect();
    let Some(arbiters) = &scenario.arbiters else {
        if let Some(transport) = fastpass.first() {
            let name = &transport.name;
            let message = "fastpass needs an arbiter: add [arbiter] with at = a node, such as at = \"h0\"";
            r.conflict_at(&format!("transport.{name}.protocol"), message);
        }
        return;
    };
    if fastpass.is_empty() {
        r.conflict_at("arbiter", "no transport has protocol = \"fastpass\"");
    }
    check_alike(r, &fastpass);
    if arbiters.nodes.len() > MAX_ARBITERS {
        let message = format!("found {} arbiters; the most is {MAX_ARBITERS}", arbiters.nodes.len());
        r.conflict_at("arbiter.at", message);
    }
    check_network(r, scenario, arbiters);
    check_horizon(r, scenario, arbiters);
    check_seats(r, scenario, arbiters);
    check_served(r, scenario, arbiters);
    check_slot(r, scenario, arbiters);
    if r.sound() {
        check_machines(r, scenario, arbiters);
        check_grants(r, scenario, arbiters);
    }
}

/// A host has one endpoint, whichever of its transports have timeslots: they agree on what that does.
fn check_alike(r: &Section, fastpass: &[&Transport]) {
    let Some((first, others)) = fastpass.split_first() else { return };
    for other in others.iter().filter(|other| endpoint_of(other) != endpoint_of(first)) {
        let message = format!(
            "a host has one endpoint, and transport {} says otherwise what it does: give both the same send, report_interval, \
             request_timeout, limit, late, early, age_check and fallback_after",
            first.name
        );
        r.conflict_at(&format!("transport.{}.protocol", other.name), message);
    }
}

/// Checks the network: an arbiter knows a bounded number of endpoints, racks and paths, and has to know how they are joined.
fn check_network(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    let served = Served::by(arbiters, &scenario.network);
    let hosts = served.hosts.len();
    if hosts > MOST_NODES {
        let message = format!("found {hosts} hosts; an arbiter knows {MOST_NODES} at most");
        r.conflict_at("arbiter", message);
    }
    let (racks, paths) = match served.topology {
        Topology::Star { .. } | Topology::Dumbbell { .. } => (1, 1),
        Topology::LeafSpine { leaves, spines, .. } => (leaves, spines),
        Topology::FatTree { k } => (k * k / 2, k / 2),
        Topology::Datacenters { .. } | Topology::Listed { .. } => {
            let message = "an arbiter knows the paths of star, dumbbell, leaf_spine, fat_tree, and of one of several datacenters only";
            return r.conflict_at("network.topology", message);
        }
    };
    if racks as usize > MAX_RACKS || paths as usize > MAX_PATHS {
        let message = format!(
            "found {racks} racks and {paths} paths from each switch; an arbiter knows {MAX_RACKS} and {MAX_PATHS} at most"
        );
        r.conflict_at("arbiter", message);
    }
}

/// Asks the arbiters themselves whether they can be built.
fn check_machines(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    if let Err(error) = arbitration::check(scenario, arbiters) {
        r.conflict_at("arbiter", format!("{error}: change the network or the arbiter"));
    }
}

/// A slot is long enough for the longest frame.
fn check_slot(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    let Some(links) = SlottedLinks::new(scenario, arbiters) else { return };
    let (slot, frame) = (arbiters.slot, links.frame_time());
    if slot < frame {
        let message = format!(
            "a frame of {} takes {} on a host's link of {}, and a timeslot is {}: what is granted is {:.2} times what links carry, \
             and queues grow until the run ends; raise slot to {}, or lower network.mtu",
            links.frame.shown(),
            frame.shown(),
            links.rate.shown(),
            slot.shown(),
            frame.as_ps() as f64 / slot.as_ps() as f64,
            Span::from_ps((frame.as_ps() as f64 / (1.0 - arbiters.control_share)).ceil() as u64).shown(),
        );
        r.conflict_at("arbiter.slot", message);
    }
}

/// Checks that grants come early enough before their slots that some are there in time, and no earlier than an endpoint wants.
fn check_horizon(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    let slots = |count: u32| arbiters.slot * u64::from(count);
    let params = scenario.transports.iter().find_map(endpoint_of);
    let Some(endpoint) = params.filter(|params| params.age_check && params.send == SendMode::AtSlot) else {
        return;
    };
    let (furthest, early) =
        (slots(arbiters.ahead + arbiters.batch), endpoint.early.max(slots(EndpointSettings::EARLY_SLOTS)));
    if furthest > early {
        let message = format!(
            "a batch is allocated up to {} before its last slot, and endpoints refuse what is further ahead than {}: lower ahead \
             or raise early in the transport",
            furthest.shown(),
            early.shown()
        );
        r.conflict_at("arbiter.ahead", message);
    }
}

/// Every host is near enough for some grants to come in time.
fn check_grants(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    let Some(late) = late_grants(scenario, arbiters).filter(LateGrants::never_arrive) else { return };
    r.conflict_at("arbiter.ahead", late.to_string());
}

/// An arbiter has a host of its own: its frames to an endpoint have to cross a link.
fn check_seats(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    for (i, traffic) in scenario.traffic.iter().enumerate() {
        if !is_fastpass(&scenario.transports[traffic.transport]) {
            continue;
        }
        let pairs = pattern::of(&traffic.pattern).some_pairs(usize::MAX);
        let is_end = |node: &&u32| pairs.iter().any(|(from, to)| from == *node || to == *node);
        if let Some(host) = arbiters.nodes.iter().find(is_end) {
            let message = format!("host {host} is an arbiter, whose packets have no timeslots: leave it out");
            r.conflict_at(&format!("traffic[{i}]"), message);
        }
    }
}

/// Arbiters of several datacenters are all in one, and what has timeslots stays there.
fn check_served(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    let Topology::Datacenters { .. } = scenario.network.topology else { return };
    let served = Served::by(arbiters, &scenario.network);
    let (first, last) = (served.hosts.start, served.hosts.end - 1);
    let elsewhere = |node: &&u32| Served::from_node(&scenario.network.topology, **node) != served;
    if let Some(node) = arbiters.nodes.iter().find(elsewhere) {
        let graph = Graph::build(&scenario.network);
        let name = |node: u32| &graph.nodes()[node as usize].name;
        let message = format!(
            "{} and {} are in different datacenters, and arbiters serve the one in which they are: put all into one",
            name(arbiters.nodes[0]),
            name(*node)
        );
        r.conflict_at("arbiter.at", message);
    }
    for (i, traffic) in scenario.traffic.iter().enumerate() {
        if !is_fastpass(&scenario.transports[traffic.transport]) {
            continue;
        }
        let pairs = pattern::of(&traffic.pattern).some_pairs(usize::MAX);
        let mut ends = pairs.iter().flat_map(|(from, to)| [from, to]);
        if let Some(host) = ends.find(|host| !served.hosts.contains(host)) {
            let message = format!(
                "host {host} is in another datacenter than the arbiter, which gives timeslots to hosts {first} to {last}: leave it out, \
                 or give this traffic another transport"
            );
            r.conflict_at(&format!("traffic[{i}]"), message);
        }
    }
}
