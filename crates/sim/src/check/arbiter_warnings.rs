//! Warnings about arbiters: what costs Fastpass throughput or queues, with the arithmetic that shows it.

use clearway_proto::fastpass::endpoint::SendMode;
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::units::Span;

use super::empty_path::us;
use super::late_grants::late_grants;
use crate::model::{Arbiters, HostKind, HostModel, Protocol, Scenario, Transport};
use crate::net::served::Served;
use crate::net::timeslots::{allocation_bytes, Joint, SlottedLinks, LEAST_BYTES};
use crate::scenario::key::Shown;
use crate::topology::shape;

/// A smaller part of what links carry may be lost without a word.
const LITTLE: f64 = 0.03;

/// A sentence for each thing that is unlikely to be meant.
pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let Some(arbiters) = &scenario.arbiters else { return Vec::new() };
    let Some((transport, endpoint)) = scenario.transports.iter().find_map(slotted) else { return Vec::new() };
    let mut warnings = arbiters_with_too_many_endpoints(scenario);
    warnings.extend(fewer_allocations_than_batches(scenario));
    warnings.extend(grants_that_come_late(scenario));
    warnings.extend(late_grants(scenario, arbiters).map(|late| format!("arbiter.ahead: {late}")));
    if let Some(links) = SlottedLinks::new(scenario, arbiters) {
        warnings.extend(links_that_carry_no_whole_number(&links));
        warnings.extend(requests_of_each_slot(&links, arbiters, transport, endpoint));
        warnings.extend(allocations_over_few_links(&links, arbiters));
        warnings.extend(requests_to_many_arbiters(&links, arbiters, endpoint));
    }
    warnings.extend(silence_of_a_batch(arbiters, transport, endpoint));
    warnings
}

/// A transport whose packets leave in timeslots, and what its endpoints do.
fn slotted(transport: &Transport) -> Option<(&str, &EndpointSettings)> {
    match &transport.protocol {
        Protocol::Fastpass(params) => Some((&transport.name, &params.endpoint)),
        _ => None,
    }
}

/// Warns of links between racks that carry no whole number of packets a slot, where hosts could send more: of all such the ones
/// that lose the most.
fn links_that_carry_no_whole_number(links: &SlottedLinks) -> Option<String> {
    let joints = links.joints().into_iter().rev().map(|joint| (1.0 - joint.granted() / joint.most(), joint));
    let (lost, joint) = joints.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let (few, many) = joint.in_slots();
    (lost > LITTLE).then(|| {
        let (granted, most, percent) = (joint.granted(), joint.most(), 100.0 * lost);
        let (gbps, each, hosts) =
            (joint.rate.as_bps() as f64 / 1e9, joint.carries.each.as_f64(), joint.hosts.len());
        let Joint { key, name, .. } = joint;
        format!(
            "{key}: {name} of {gbps:.2} Gb/s carries {each:.3} packets a timeslot, so for other racks {few} leave in one slot and \
             {many} in another, though the {hosts} hosts send one each at most: {granted:.2} packets a slot of the {most:.2} that \
             links carry, {percent:.0} % less; choose a rate that is a whole number of times {}, as with other spines or \
             hosts_per_leaf",
            links.rate.shown(),
        )
    })
}

/// Warns of links between racks on which what the arbiter tells hosts that wait for slots needs more than slots leave: of all
/// such the ones that lack the most.
fn allocations_over_few_links(links: &SlottedLinks, arbiters: &Arbiters) -> Option<String> {
    let one = small_bps(arbiters.times.acknowledge);
    let far = |joint: &Joint| arbiters.nodes.first().is_some_and(|node| !joint.hosts.contains(node));
    let asked = |joint: &Joint| joint.hosts.len() as f64 * one;
    let share = |joint: &Joint| asked(joint) / (joint.rate.as_bps() as f64 * f64::from(joint.carries.links));
    let joints = links.joints().into_iter().rev().filter(far).map(|joint| (share(&joint), joint));
    let (share, joint) = joints.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let left = links.left().max(arbiters.control_share);
    (share > left).then(|| {
        format!(
            "{}: {} hosts that wait for slots are told so every {}, with {LEAST_BYTES} B each: {:.1} Mb/s over {} of {:.2} Gb/s, {:.1} % \
             of what that carries, and slots leave {:.1} %: packets queue, and grants are late; raise its rate, control_share or \
             arbiter.acknowledge",
            joint.key,
            joint.hosts.len(),
            us(arbiters.times.acknowledge),
            asked(&joint) / 1e6,
            match joint.carries.links {
                1 => joint.name.clone(),
                links => format!("{links} links like {}", joint.name),
            },
            joint.rate.as_bps() as f64 / 1e9,
            100.0 * share,
            100.0 * left,
        )
    })
}

/// Warns of endpoints that may ask several times in a slot.
fn requests_of_each_slot(
    links: &SlottedLinks,
    arbiters: &Arbiters,
    transport: &str,
    endpoint: &EndpointSettings,
) -> Option<String> {
    let (slot, interval) = (arbiters.slot, endpoint.report_interval);
    let bps = small_bps(interval);
    (slot > interval).then(|| {
        format!(
            "transport.{transport}.report_interval: {} is shorter than a timeslot, {}: requests of {LEAST_BYTES} B so often are \
             {:.1} Mb/s, {:.1} % of a link of {}, and slots leave {:.1} %: what has no slot queues; raise it to {} or more",
            interval.shown(),
            us(slot),
            bps / 1e6,
            100.0 * bps / links.rate.as_bps() as f64,
            links.rate.shown(),
            100.0 * links.left(),
            us(slot * SLOTS_A_REQUEST),
        )
    })
}

/// Timeslots from one request of a busy endpoint to the next, at least, as runs at 600 Mb/s to 2 Gb/s have it.
const SLOTS_A_REQUEST: u64 = 6;

/// The time from one request of a busy endpoint to the next.
fn request_interval(arbiters: &Arbiters, endpoint: &EndpointSettings) -> Span {
    endpoint.report_interval.max(arbiters.slot * SLOTS_A_REQUEST)
}

/// Warns of requests to more arbiters than fit beside the slots of a host.
fn requests_to_many_arbiters(
    links: &SlottedLinks,
    arbiters: &Arbiters,
    endpoint: &EndpointSettings,
) -> Option<String> {
    let count = arbiters.nodes.len();
    let interval = request_interval(arbiters, endpoint);
    let share = small_bps(interval) * count as f64 / links.rate.as_bps() as f64;
    (count > 1 && share > links.left()).then(|| {
        let wanted = interval.scaled(share / links.left().max(1e-3));
        let ([interval, wanted], rate) = ([interval, wanted].map(us), links.rate.shown());
        let [share, left] = [share, links.left()].map(|share| 100.0 * share);
        format!(
            "arbiter.at: an endpoint sends its requests to all {count} arbiters, {count} of {LEAST_BYTES} B every {interval}, which \
             is {share:.2} % of its link of {rate}, and slots leave {left:.2} %: its queue grows; use fewer arbiters, a larger \
             control_share, or a report_interval of {wanted} or more",
        )
    })
}

/// Returns what the smallest control packets take of a link, one in this time, in bits per second.
fn small_bps(interval: Span) -> f64 {
    8.0 * LEAST_BYTES as f64 / interval.as_secs_f64()
}

/// Warns of an arbiter that may say nothing for so long that endpoints take it for dead.
fn silence_of_a_batch(arbiters: &Arbiters, transport: &str, endpoint: &EndpointSettings) -> Option<String> {
    let silence = arbiters.slot * u64::from(arbiters.batch);
    (silence >= endpoint.fallback_after).then(|| {
        format!(
            "transport.{transport}.fallback_after: {} is no longer than a batch of {} timeslots, {}, and an arbiter has word for an \
             endpoint once a batch: endpoints may take it for dead, and send without slots; raise it, or lower arbiter.batch",
            endpoint.fallback_after.shown(),
            arbiters.batch,
            us(silence),
        )
    })
}

/// Warns of arbiters at hosts whose link cannot carry what all endpoints are told when all are busy.
fn arbiters_with_too_many_endpoints(scenario: &Scenario) -> Vec<String> {
    let Some(arbiters) = &scenario.arbiters else { return Vec::new() };
    let all = shape::of(&scenario.network.topology).hosts();
    let hosts = Served::by(arbiters, &scenario.network).hosts.len() as u32;
    let a_second = f64::from(arbiters.allocation_rate)
        .min(1e12 / (arbiters.slot.as_ps() as f64 * f64::from(arbiters.batch)));
    let slots = 1e12 / (arbiters.slot.as_ps() as f64 * a_second);
    let one_bps = a_second * allocation_bytes(slots) * 8.0;
    let rates = shape::host_rates(&scenario.network);
    let too_slow = |node: &u32| f64::from(hosts) * one_bps > rates.get(*node).as_bps() as f64;
    let Some(&node) = arbiters.nodes.iter().filter(|node| **node < all).find(|node| too_slow(node)) else {
        return Vec::new();
    };
    let rate = rates.get(node);
    vec![format!(
        "arbiter.at: if all {hosts} hosts are busy, allocations take {:.0} Gb/s, and the link of host {node} has {}: they will come too \
         late; it carries those of {:.0} busy hosts. Put the arbiter at a switch of many links, such as \"spine0\", with a larger \
         control_share, or lower allocation_rate",
        f64::from(hosts) * one_bps / 1e9,
        rate.shown(),
        rate.as_bps() as f64 / one_bps
    )]
}

/// Warns of an arbiter that may not tell an endpoint of every batch.
fn fewer_allocations_than_batches(scenario: &Scenario) -> Option<String> {
    let arbiters = scenario.arbiters.as_ref()?;
    let batches = 1e12 / (arbiters.slot.as_ps() as f64 * f64::from(arbiters.batch));
    (f64::from(arbiters.allocation_rate) < batches).then(|| {
        format!(
            "arbiter.allocation_rate: {} allocations a second are fewer than the {batches:.0} batches: grants to an endpoint that \
             gets slots to many others in each come later and later, until it refuses all; raise it, or batch",
            arbiters.allocation_rate
        )
    })
}

/// Warns of hosts that hear of their timeslots when these are over.
fn grants_that_come_late(scenario: &Scenario) -> Option<String> {
    let arbiters = scenario.arbiters.as_ref()?;
    let slots = arbiters.slot * u64::from(arbiters.ahead + arbiters.batch);
    let lasts = |transport: &Transport| match &transport.protocol {
        Protocol::Fastpass(params) => {
            let endpoint = &params.endpoint;
            (endpoint.send == SendMode::AtSlot && endpoint.age_check).then(|| slots + endpoint.late)
        }
        _ => None,
    };
    let (transport, lasts) = scenario.transports.iter().find_map(|of| Some((&of.name, lasts(of)?)))?;
    let waits = |kind: &HostKind| match &kind.model {
        HostModel::Interrupts(host) => Some((kind.name.clone(), host.wake_interval)),
        _ => None,
    };
    let (host, interval) =
        scenario.hosts.kinds.iter().filter_map(waits).find(|(_, interval)| *interval > lasts)?;
    let [interval, lasts, slots] = [interval, lasts, slots].map(Shown::shown);
    Some(format!(
        "transport.{transport}: grants come up to {interval} late to hosts of host.{host}, which wait so long between interrupts, and \
         are refused when they are {lasts} old: timeslots, the batch and how far ahead it is allocated ({slots}), and the endpoint's \
         late. Such a host may never send; set wake_interval shorter, arbiter.ahead higher, or send = \"on_arrival\"",
    ))
}
