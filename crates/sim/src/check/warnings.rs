//! Warnings: what can be run but is unlikely to be meant, with the arithmetic that shows it.

use clearway_proto::transport::Path;
use clearway_proto::units::{Bytes, Rate, Span, Time};

use super::arbiter_warnings;
use super::empty_path::{longest_empty_paths, pairs_of, snap, us, EmptyPath};
use super::fault_warnings;
use super::pfc_warnings;
use super::rdma_warnings;
use super::relays;
use super::replay;
use super::traffic_warnings;
use crate::engine::event::Meta;
use crate::model::{Ecn, HostKind, HostModel, Protocol, Scenario, Spray, Timestamps, Transport};
use crate::scenario::key::Shown;
use crate::topology::routing::{most_paths, path_between};
use crate::topology::shape;
use crate::topology::Graph;

/// A measurement is little if this many times its length is less than the time until its end.
const LEAST_MEASURED: u64 = 10;

/// The most probes whose paths are examined.
const PROBES: usize = 100;

/// The largest part of a link that a probe may take and still be said to measure the load of others.
const MOST_OF_A_LINK: f64 = 0.1;

/// A sentence for each thing that is unlikely to be meant.
pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let mut warnings = targets_below_empty_paths(scenario);
    warnings.extend(timeouts_below_empty_paths(scenario));
    warnings.extend(little_to_measure(scenario));
    let rates = shape::host_rates(&scenario.network);
    let hosts = shape::of(&scenario.network.topology).hosts();
    let kinds = 0..scenario.hosts.kinds.len();
    let fastest: Vec<Option<Rate>> =
        kinds.map(|kind| rates.fastest_of(&scenario.hosts.members(kind, hosts))).collect();
    for (i, transport) in scenario.transports.iter().enumerate() {
        for (kind, rate) in scenario.hosts.kinds.iter().zip(&fastest) {
            // A kind may have no host left.
            warnings.extend(rate.and_then(|rate| slow_host(scenario, transport, kind, rate)));
        }
        warnings.extend(endpoint_target_below_service(scenario, i));
    }
    warnings.extend(spray_taken_for_loss(scenario));
    warnings.extend(pulled_over_switches_that_drop(scenario));
    warnings.extend(unread_clocks(scenario));
    warnings.extend(arbiter_warnings::of(scenario));
    warnings.extend(probes_that_load(scenario));
    warnings.extend(scenario.transports.iter().filter_map(|transport| unmarked(scenario, transport)));
    warnings.extend(rdma_warnings::of(scenario));
    warnings.extend(pfc_warnings::of(scenario));
    warnings.extend(relays::warnings(scenario));
    warnings.extend(replay::warning(scenario));
    warnings.extend(traffic_warnings::of(scenario));
    warnings.extend(fault_warnings::of(scenario));
    warnings
}

/// Warns of a measurement that begins when traffic has stopped, or ends soon after the warm-up.
fn little_to_measure(scenario: &Scenario) -> Option<String> {
    let (warmup, until) = (scenario.warmup, scenario.measure_until);
    let stops: Option<Vec<Time>> = scenario.traffic.iter().map(|table| table.stop).collect();
    let stopped = stops.and_then(|stops| stops.into_iter().max()).map(|stop| stop.since(Time::ZERO));
    if let Some(stopped) = stopped.filter(|stopped| *stopped <= warmup) {
        let (stopped, warmup) = (us(stopped), us(warmup));
        return Some(format!(
            "warmup: all traffic has stopped at {stopped}, and the measurement begins at {warmup}: steady-state figures are of what \
             is left over; lower warmup",
        ));
    }
    (until - warmup < until / LEAST_MEASURED).then(|| {
        let [measured, warmup, until] = [until - warmup, warmup, until].map(us);
        format!(
            "warmup: only {measured} are measured, from {warmup} to {until}: steady-state figures are of little; lower warmup, or \
             raise measure_until",
        )
    })
}

/// Warns of a transport whose signal of congestion is a mark, where no switch marks its data.
fn unmarked(scenario: &Scenario, transport: &Transport) -> Option<String> {
    if !transport.protocol.ecn_capable() {
        return None;
    }
    let marks = match scenario.classes.get(transport.class).and_then(|class| class.ecn) {
        Some(ecn) => ecn != Ecn::Off,
        None => shape::of(&scenario.network.topology)
            .roles()
            .iter()
            .any(|role| scenario.switches.of(*role).ecn != Ecn::Off),
    };
    let key = if transport.has_notifications() { "congestion" } else { "protocol" };
    (!marks).then(|| {
        format!(
            "transport.{}.{key}: no switch marks its packets, and marks are how it hears of congestion; set ecn of switch.default, \
             such as ecn = \"step\" with ecn_threshold, or ecn = \"red\" with ecn_min, ecn_max and ecn_pmax",
            transport.name
        )
    })
}

fn targets_below_empty_paths(scenario: &Scenario) -> Vec<String> {
    let swift = |transport: &Transport| matches!(transport.protocol, Protocol::Swift(_));
    let longest = longest_empty_paths(scenario, swift);
    longest.iter().filter_map(|(transport, path)| target_below(scenario, *transport, path)).collect()
}

fn target_below(scenario: &Scenario, transport: usize, path: &EmptyPath) -> Option<String> {
    let Transport { name, protocol: Protocol::Swift(params), .. } = &scenario.transports[transport] else {
        return None;
    };
    let hops = if params.topology_scaling { params.hop_scaling * path.switches } else { Span::ZERO };
    let target = params.base_target + hops;
    let wire = path.there + path.back;
    // From stack to NIC a frame takes half of the most on average, and so does its acknowledgement.
    let (mean, most) = (wire + path.jitter / 2, wire + path.jitter);
    if target >= most {
        return None;
    }
    let (empty, what, so) = if target < mean {
        (mean, "that", "windows will shrink without any queue")
    } else {
        (most, "that at most", "few flows will not fill a link, as chance cuts their windows")
    };
    let in_hosts = if path.jitter == Span::ZERO {
        String::new()
    } else {
        format!(" + {} between stacks and NICs", us(empty - wire))
    };
    let ((from, to), switches, wanted) = (path.hosts, path.switches, empty.saturating_sub(hops));
    let [base, target, empty, there, back, wanted] =
        [params.base_target, target, empty, path.there, path.back, wanted].map(us);
    Some(format!(
        "transport.{name}.base_target: {base} + {switches} switches x hop_scaling = {target} is below the {empty} {what} a full \
         frame and its acknowledgement take on the empty path from host {from} to host {to} ({there} there + {back} \
         back{in_hosts}): {so}; raise base_target to {wanted} or more",
    ))
}

/// Warns of transports whose timer runs out before the first answer can have come.
fn timeouts_below_empty_paths(scenario: &Scenario) -> Vec<String> {
    // IRN has a warning of its own: it has two timeouts.
    let has_one = |transport: &Transport| !matches!(transport.protocol, Protocol::Irn(_));
    let longest = longest_empty_paths(scenario, has_one);
    longest.iter().filter_map(|(transport, path)| timeout_below(scenario, *transport, path)).collect()
}

fn timeout_below(scenario: &Scenario, transport: usize, path: &EmptyPath) -> Option<String> {
    let Transport { name, protocol, header, .. } = &scenario.transports[transport];
    let network = &scenario.network;
    let frame = Bytes::new(u64::from(network.mtu + header + network.framing));
    let rate = shape::host_rates(network).get(path.hosts.0);
    let trip = path.there + path.back;
    let sender = protocol.sender(network.mtu, Path::new(frame, rate).with_base_rtt(trip));
    let timeout = sender.retransmission_timeout();
    let key = match protocol {
        Protocol::Swift(_)
        | Protocol::Dctcp(_)
        | Protocol::Gcn(_)
        | Protocol::Cubic(_)
        | Protocol::Reno(_) => "initial_rto",
        _ => "rto",
    };
    (timeout < trip).then(|| {
        let (from, to) = path.hosts;
        let [timeout, trip, there, back] = [timeout, trip, path.there, path.back].map(us);
        format!(
            "transport.{name}.{key}: {timeout} is below the {trip} that a full frame and its acknowledgement take on the empty path \
             from host {from} to host {to} ({there} there + {back} back): what a flow sends first is sent again before an answer \
             can have come; raise {key} to {trip} or more",
        )
    })
}

/// Warns of hosts of a kind whose processor takes longer for a packet than their fastest link, of this `rate`.
fn slow_host(scenario: &Scenario, transport: &Transport, kind: &HostKind, rate: Rate) -> Option<String> {
    let HostModel::Snap(host) = &kind.model else { return None };
    let network = &scenario.network;
    let frame = u64::from(network.mtu + transport.header + network.framing);
    let (service, wire) =
        (Span::from_ps(host.service(Meta::new(0, 0), network.mtu)), rate.transmission(Bytes::new(frame)));
    (service > wire).then(|| {
        let (most, rate) = (frame as f64 * 8e3 / service.as_ps() as f64, rate.shown());
        let ([service, wire], transport) = ([service, wire].map(us), &transport.name);
        format!(
            "host.{}: the processor takes {service} for a full packet of transport {transport} and the link {wire}: a host receives \
             at most {most:.1}Gbps of {rate} and its receive queue fills; lower receive_packet or raise copy_rate",
            kind.name,
        )
    })
}

/// Warns of an endpoint target that a packet's own service time exceeds.
fn endpoint_target_below_service(scenario: &Scenario, transport: usize) -> Option<String> {
    let pairs = pairs_of(scenario, transport);
    let transport = &scenario.transports[transport];
    let Protocol::Swift(params) = &transport.protocol else { return None };
    let serve = |host: u32, meta, payload| {
        snap(scenario, host).map_or(Span::ZERO, |host| Span::from_ps(host.service(meta, payload)))
    };
    let services = pairs.map(|(from, to)| {
        let packet = serve(to, Meta::new(0, Meta::LAST), scenario.network.mtu);
        (packet, serve(from, Meta::new(0, Meta::ACK | Meta::LAST), 0))
    });
    let (packet, ack) = services.max_by_key(|(packet, ack)| *packet + *ack)?;
    let service = packet + ack;
    (params.watches_endpoint() && params.endpoint_target < service).then(|| {
        let [target, service, packet, ack] = [params.endpoint_target, service, packet, ack].map(us);
        format!(
            "transport.{}.endpoint_target: {target} is below the {service} that idle hosts take for a full packet and its \
             acknowledgement ({packet} + {ack}): windows will shrink without any load",
            transport.name,
        )
    })
}

/// Warns of sprayed packets that are taken for lost: they overtake each other, and the scheme waits for fewer of them
/// than there are paths.
fn spray_taken_for_loss(scenario: &Scenario) -> Vec<String> {
    let sprayed = scenario.transports.iter().filter(|transport| transport.spray.reorders());
    let few = sprayed.map(|transport| (transport, transport.protocol.dup_threshold()));
    let mut few: Vec<_> = few.filter(|(_, threshold)| *threshold < Spray::MOST_PATHS).collect();
    if few.is_empty() {
        return Vec::new();
    }
    let shortest = most_paths(&scenario.network);
    few.retain(|(transport, threshold)| *threshold < transport.sprayed_over(shortest).min(shortest));
    few.into_iter()
        .map(|(transport, threshold)| {
            let paths = transport.sprayed_over(shortest).min(shortest);
            let consequence = match &transport.protocol {
                protocol if protocol.tracked_packets() == 0 => "go-back-N sends everything again from each that is overtaken".into(),
                _ => format!("with a dup_threshold of {threshold} many will count as lost that are only late"),
            };
            let name = &transport.name;
            format!(
                "transport.{name}.spray: packets of a flow take any of {paths} paths and overtake each other; {consequence}"
            )
        })
        .collect()
}

/// Warns of NDP where no switch tells its receivers of what it has no room for.
fn pulled_over_switches_that_drop(scenario: &Scenario) -> Option<String> {
    let ndp = |transport: &&Transport| matches!(transport.protocol, Protocol::Ndp(_));
    let transport = scenario.transports.iter().find(ndp).filter(|_| !scenario.switches.any_trimming())?;
    Some(format!(
        "transport.{}.protocol: \"ndp\" pushes a window into whatever queue there is, and no switch trims what finds no room: each loss \
         waits for a timer; set overflow = \"trim\" in [switch.default], and buffer to eight packets",
        transport.name
    ))
}

/// Warns of clocks that are wrong and that nothing reads.
fn unread_clocks(scenario: &Scenario) -> Vec<String> {
    let hosts = shape::of(&scenario.network.topology).hosts();
    let probed = |kind: usize| {
        let mut sources = scenario.probes.iter().map(|probe| probe.from).filter(|from| *from < hosts);
        sources.any(|from| scenario.hosts.index_of(from) == kind)
    };
    if scenario.arbiters.is_some() {
        // Endpoints go by their hosts' clocks, and which hosts have one is known when the flows are.
        return Vec::new();
    }
    let kinds = scenario.hosts.kinds.iter().enumerate();
    let unread = kinds.filter(|(i, kind)| {
        !kind.clock.is_exact() && kind.clock.timestamps == Timestamps::Exact && !probed(*i)
    });
    unread
        .map(|(_, kind)| {
            format!(
                "host.{}: its clocks are wrong and nothing reads them; set timestamps = \"clock\", or probe from such \
                 a host",
                kind.name
            )
        })
        .collect()
}

/// Warns of probes that take a large part of a link on their way.
fn probes_that_load(scenario: &Scenario) -> Vec<String> {
    if scenario.probes.is_empty() {
        return Vec::new();
    }
    let graph = Graph::build(&scenario.network);
    let mut path = Vec::new();
    let mut warnings = Vec::new();
    for (i, probe) in scenario.probes.iter().take(PROBES).enumerate() {
        path_between(&graph, probe.from, probe.to, 0, &mut path);
        let Some(slowest) = path.iter().map(|&link| graph.link(link).rate).min() else { continue };
        let offered = probe.bytes.get() as f64 * 8e12 / probe.interval.as_ps() as f64;
        if offered > slowest.as_bps() as f64 * MOST_OF_A_LINK {
            warnings.push(format!(
                "probe[{i}]: {} every {} is {:.1}Gbps, more than a tenth of a link of {} on its way: it measures its own \
                 load",
                probe.bytes.shown(),
                probe.interval.shown(),
                offered / 1e9,
                slowest.shown(),
            ));
        }
    }
    warnings
}
