//! What a run says of Fastpass's endpoints and arbiters.

use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterCounters, Role};
use clearway_proto::fastpass::endpoint::EndpointCounters;
use clearway_proto::fastpass::isolator::Link;
use clearway_proto::histogram::Histogram;

use super::definitions::table;
use super::footprint::{text_bytes, NUMBER};
use super::measured::Measured;
use super::outcome::{Column, Table, Value};
use crate::host::arbiter::ArbiterHost;
use crate::net::served::Served;
use crate::topology::shape::{RackPaths, Shape};

/// Memory in bytes for a row of the table of endpoints.
pub const ENDPOINT_ROW: f64 = NUMBER * 16.0;

/// Memory in bytes for a row of the table of arbiters.
pub fn arbiter_row_bytes(shape: &dyn Shape) -> f64 {
    NUMBER * 22.0 + 4.0 * text_bytes(shape.longest_name()) + text_bytes("primary".len())
}

table! {
    /// A row for each host that sends in timeslots. No such table without an `[arbiter]`.
    Endpoints as "endpoints" {
        /// The host's number.
        host: Nothing,
        /// Requests that it sent to the arbiter; one that goes to several arbiters counts once.
        requests: Run,
        /// Demands for a destination that it said again, as no arbiter had acknowledged them.
        requests_repeated: Run,
        /// Allocations of its arbiter that it took.
        allocations: Run,
        /// Timeslots that it asked for.
        slots_demanded: Run,
        /// Grants of timeslots that it took.
        slots_granted: Run,
        /// Timeslots in which something left: packets, acknowledgements or both.
        slots_used: Run,
        /// Timeslots whose turn came and in which nothing left, as nothing waited any more.
        slots_unused: Run,
        /// Timeslots that the arbiter granted in allocations that did not come, or had not by the end.
        slots_lost: Run,
        /// Grants refused as their timeslots were over, when they came or when their turn came.
        refused_late: Run,
        /// Grants refused as their timeslots were too far ahead.
        refused_early: Run,
        /// Grants dropped as a new primary arbiter may have granted their timeslots to others.
        fenced: Run,
        /// Times that it forgot all demands and grants, as an arbiter told it to.
        resets: Run,
        /// Times that it began to send without timeslots, as no arbiter answered.
        fallbacks: Run,
        /// Times that it went back to timeslots.
        returns: Run,
        /// The term of the arbiter that it followed at the end of the run.
        term: Nothing,
    }
}

/// The table of endpoints: a row for each; `None` where there is no endpoint. All counts are of the whole run.
pub(super) fn endpoints(measured: &Measured) -> Option<Table> {
    let all: Vec<_> = measured.simulation.endpoints().collect();
    let count = |value: fn(&EndpointCounters) -> u64| {
        Column::Integers(all.iter().map(|(_, endpoint, _)| value(endpoint.counters())).collect())
    };
    let columns = Endpoints {
        host: Column::Integers(all.iter().map(|(host, ..)| u64::from(*host)).collect()),
        requests: count(|of| of.requests),
        requests_repeated: count(|of| of.retransmissions),
        allocations: count(|of| of.allocations),
        slots_demanded: count(|of| of.demanded),
        slots_granted: count(|of| of.granted),
        slots_used: Column::Integers(all.iter().map(|(.., slots)| slots.filling.used()).collect()),
        slots_unused: Column::Integers(all.iter().map(|(.., slots)| slots.filling.unused()).collect()),
        slots_lost: count(|of| of.lost),
        refused_late: count(|of| of.refused_late),
        refused_early: count(|of| of.refused_early),
        fenced: count(|of| of.fenced),
        resets: count(|of| of.resets),
        fallbacks: count(|of| of.fallbacks),
        returns: count(|of| of.returns),
        term: Column::Integers(all.iter().map(|(_, endpoint, _)| endpoint.term().into()).collect()),
    };
    (!all.is_empty()).then(|| columns.table())
}

table! {
    /// A row for each arbiter, in the order in which they take over. Counts are of all its lives, where it
    /// crashed and started again. No such table without an `[arbiter]`.
    Arbiters as "arbiters" {
        /// Its place in the order of takeover, from 0 on.
        rank: Nothing,
        /// The name of the node at which it is.
        node: Nothing,
        /// What it was at the end of the run: `primary`, `standby` or `dead`.
        role: Nothing,
        /// The newest term that it has known.
        term: Nothing,
        /// Requests that it read.
        requests: Run,
        /// Timeslots that endpoints asked it for.
        slots_demanded: Run,
        /// Timeslots that it granted.
        slots_granted: Run,
        /// Allocations that it sent.
        allocations: Run,
        /// Allocations without a grant: acknowledgements and repeated counts.
        allocations_empty: Run,
        /// Allocations whose counts it said again, as no endpoint had acknowledged them.
        retransmissions: Run,
        /// Batches of timeslots that it allocated.
        batches: Run,
        /// Batches that it left out, as their timeslots had begun.
        late_batches: Run,
        /// Grants that it dropped, as it could not tell the endpoint of them soon enough.
        overdue_grants: Run,
        /// Resets that it sent to endpoints.
        resets: Run,
        /// Signs of life that it sent to other arbiters.
        watchdogs: Run,
        /// Times that it became the primary.
        takeovers: Run,
        /// Times that it ceased to be the primary, as it heard a newer term.
        stepped_down: Run,
        /// Times that it began to use other paths than before, as a link failed or was tried again.
        paths_changed: Run,
        /// Requests, demands, reports and signs of life that it rejected as they could not be true.
        rejected: Run,
        /// Mean time that control packets waited for its processor; NaN of none.
        queue_mean_us: Run,
        /// The time that 99 % of these waits do not exceed, at most one part in 256 too large; NaN of none.
        queue_p99_us: Run,
        /// Control packets for which it had no room.
        queue_drops: Run,
        /// Work of its processor over the scenario's `duration`, even where the run ended before.
        utilisation: Run,
        /// The links that it took for failed at the end of the run, with a space between.
        failed_links: Nothing,
    }
}

/// The table of arbiters: a row for each, in the order of their ranks; `None` where there is no arbiter. Counts are of the
/// whole run, of all lives of an arbiter.
pub(super) fn arbiters(measured: &Measured) -> Option<Table> {
    let all: Vec<_> = measured.simulation.arbiters().collect();
    let count = |value: fn(&ArbiterCounters) -> u64| {
        let of = |arbiter: &ArbiterHost| arbiter.machines().map(|machine| value(machine.counters())).sum();
        Column::Integers(all.iter().map(|(_, arbiter)| of(arbiter)).collect())
    };
    let role = |arbiter: &ArbiterHost| match arbiter.machine().map(Arbiter::role) {
        None => "dead",
        Some(Role::Primary) => "primary",
        Some(Role::Standby) => "standby",
    };
    let graph = measured.simulation.graph();
    let name = |node: u32| graph.nodes()[node as usize].name.clone();
    let term = |arbiter: &ArbiterHost| u64::from(arbiter.machines().map(Arbiter::term).max().unwrap_or(0));
    let served = measured.simulation.served();
    let failed = |arbiter: &ArbiterHost| {
        let links = arbiter.machine().into_iter().flat_map(Arbiter::failed_links);
        links.filter_map(|link| Some(link_name(served?, link))).collect::<Vec<_>>().join(" ")
    };
    let wait = |value: fn(&Histogram) -> Option<f64>| {
        let of = |arbiter: &ArbiterHost| value(&arbiter.waits).map_or(f64::NAN, |ps| ps / 1e6);
        Column::Floats(all.iter().map(|(_, arbiter)| of(arbiter)).collect())
    };
    let dropped = Column::Integers(all.iter().map(|(_, arbiter)| arbiter.dropped).collect());
    let busy = |arbiter: &ArbiterHost| arbiter.worked as f64 / measured.scenario.duration.as_ps() as f64;
    let columns = Arbiters {
        rank: Column::Integers((0..all.len() as u64).collect()),
        node: Column::Texts(all.iter().map(|(node, _)| name(*node)).collect()),
        role: Column::Texts(all.iter().map(|(_, arbiter)| role(arbiter)).collect()),
        term: Column::Integers(all.iter().map(|(_, arbiter)| term(arbiter)).collect()),
        requests: count(|of| of.requests),
        slots_demanded: count(|of| of.demanded),
        slots_granted: count(|of| of.granted),
        allocations: count(|of| of.allocations),
        allocations_empty: count(|of| of.empty_allocations),
        retransmissions: count(|of| of.retransmissions),
        batches: count(|of| of.batches),
        late_batches: count(|of| of.late_batches),
        overdue_grants: count(|of| of.overdue_grants),
        resets: count(|of| of.resets),
        watchdogs: count(|of| of.watchdogs),
        takeovers: count(|of| of.takeovers),
        stepped_down: count(|of| of.stepped_down),
        paths_changed: count(|of| of.paths_changed),
        rejected: count(ArbiterCounters::rejected),
        queue_mean_us: wait(Histogram::mean),
        queue_p99_us: wait(|waits| waits.quantile(0.99).map(|ps| ps as f64)),
        queue_drops: dropped,
        utilisation: Column::Floats(all.iter().map(|(_, arbiter)| busy(arbiter)).collect()),
        failed_links: Column::Texts(all.iter().map(|(_, arbiter)| failed(arbiter)).collect()),
    };
    (!all.is_empty()).then(|| columns.table())
}

/// The name of a link as an arbiter numbers racks and switches.
fn link_name(served: &Served, link: Link) -> String {
    let half = match served.racks() {
        Some(RackPaths::FatTree { half }) => half as usize,
        _ => 0,
    };
    // All datacenters are alike; this many come before the one that is served.
    let before = served.hosts.start as usize / served.hosts.len();
    let (racks, spines) = (before * 2 * half * half, before * half * half);
    let middle = |rack: usize, switch: usize| match half {
        0 => format!("spine{switch}"),
        _ => format!("agg{}", racks + rack / half * half + switch),
    };
    let core = |pod: usize, aggregation: usize, core: usize| {
        (
            format!("agg{}", racks + pod * half + aggregation),
            format!("spine{}", spines + aggregation * half + core),
        )
    };
    match link {
        Link::FromRack { rack, switch } => format!("tor{}>{}", racks + rack, middle(rack, switch)),
        Link::ToRack { rack, switch } => format!("{}>tor{}", middle(rack, switch), racks + rack),
        Link::ToCore { pod, aggregation, core: number } => {
            let (below, above) = core(pod, aggregation, number);
            format!("{below}>{above}")
        }
        Link::FromCore { pod, aggregation, core: number } => {
            let (below, above) = core(pod, aggregation, number);
            format!("{above}>{below}")
        }
        Link::FromEndpoint(address) => format!("from h{}", served.host(address)),
        Link::ToEndpoint(address) => format!("to h{}", served.host(address)),
    }
}

/// The figures of Fastpass, where there is an arbiter: what control packets take of what data takes, and what became of
/// slots.
pub(super) fn figures(measured: &Measured) -> Vec<(String, Value)> {
    let simulation = measured.simulation;
    if simulation.arbiters().next().is_none() {
        return Vec::new();
    }
    let [requests, allocations, _] = simulation.control_bytes();
    let flows = 0..simulation.specs().len() as u32;
    let data: u64 = flows.map(|flow| simulation.receiver(flow).receiver.payload()).sum();
    let share = |bytes: u64| match data {
        0 => Value::Missing("no payload was delivered"),
        data => Value::Float(bytes as f64 / data as f64),
    };
    let sum = |value: &dyn Fn(&EndpointCounters) -> u64| {
        Value::Integer(simulation.endpoints().map(|(_, endpoint, _)| value(endpoint.counters())).sum())
    };
    let entry = |name: &str, value: Value| (name.to_string(), value);
    vec![
        entry("request_share", share(requests)),
        entry("allocation_share", share(allocations)),
        entry("slots_granted", sum(&|of| of.granted)),
        entry(
            "slots_unused",
            Value::Integer(simulation.endpoints().map(|(.., slots)| slots.filling.unused()).sum()),
        ),
        entry("slots_refused", sum(&|of| of.refused_late + of.refused_early)),
        entry("fallbacks", sum(&|of| of.fallbacks)),
    ]
}
