//! What arbiters and the rest of a scenario demand of each other.

use clearway_proto::fastpass::allocator::MOST_NODES;
use clearway_proto::fastpass::endpoint::SendMode;
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::fastpass::paths::{MAX_PATHS, MAX_RACKS};
use clearway_proto::units::Span;

use super::late_grants::{late_grants, LateGrants};
use crate::model::{Arbiters, Protocol, Scenario, Transport};
use crate::net::served::Served;
use crate::net::timeslots::SlottedLinks;
use crate::scenario::arbiter::{is_fastpass, MAX_ARBITERS};
use crate::scenario::key::Shown;
use crate::scenario::reader::Section;
use crate::simulation::arbitration;
use crate::topology::Graph;
use crate::traffic::pattern;

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

/// Checks the number of endpoints, racks and paths, and that an arbiter knows how they are joined.
fn check_network(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    let served = Served::by(arbiters, &scenario.network);
    let hosts = served.hosts.len();
    if hosts > MOST_NODES {
        let message = format!("found {hosts} hosts; an arbiter knows {MOST_NODES} at most");
        r.conflict_at("arbiter", message);
    }
    let Some(known) = served.racks() else {
        let message = "an arbiter knows the paths of star, dumbbell, leaf_spine, fat_tree, and of one of several datacenters only";
        return r.conflict_at("network.topology", message);
    };
    let (racks, [paths, _]) = (known.count(), known.paths());
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

/// A grant comes so long before its slot that some are there in time, and no longer than an endpoint wants.
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
    for (i, traffic) in (0..).zip(&scenario.traffic) {
        if !is_fastpass(&scenario.transports[traffic.transport]) {
            continue;
        }
        let pairs = pattern::of(&traffic.pattern).some_pairs(usize::MAX);
        let is_end = |node: &&u32| pairs.iter().any(|(from, to)| from == *node || to == *node);
        if let Some(host) = arbiters.nodes.iter().find(is_end) {
            let message = format!("host {host} is an arbiter, whose packets have no timeslots: leave it out");
            r.conflict_at(&scenario.path_of_table(i), message);
        }
    }
}

/// Arbiters of several datacenters are all in one, and what has timeslots stays there.
fn check_served(r: &Section, scenario: &Scenario, arbiters: &Arbiters) {
    let served = Served::by(arbiters, &scenario.network);
    if served.topology == scenario.network.topology {
        return;
    }
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
    for (i, traffic) in (0..).zip(&scenario.traffic) {
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
            r.conflict_at(&scenario.path_of_table(i), message);
        }
    }
}

/// What the endpoints of a transport do whose packets have timeslots.
fn endpoint_of(transport: &Transport) -> Option<&EndpointSettings> {
    match &transport.protocol {
        Protocol::Fastpass(params) => Some(&params.endpoint),
        _ => None,
    }
}
