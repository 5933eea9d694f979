//! Swing's relays: what must hold of the links at which they stand, and what is legal there but unlikely to be meant.

use std::collections::{BTreeMap, BTreeSet};

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::swing::plan::relay_buffer;
use clearway_proto::swing::relay::RelayParams;
use clearway_proto::units::{Bytes, Rate, Span};

use crate::model::{ListedLink, ListedNode, Pfc, Safety, Scenario, SwitchRole, Topology, Xoff};
use crate::net::relay;
use crate::scenario::key::Shown;
use crate::scenario::reader::Section;
use crate::scenario::shape::role_name;
use crate::topology::shape;

/// How far two clocks of Ethernet may differ: each by 100 parts in a million (IEEE 802.3).
const CLOCKS_PPM: u64 = 200;

/// A fibre with a relay at one end.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Fibre {
    /// The role whose table sets this relay: the relays', or that of a switch's port with one inside.
    role: SwitchRole,
    rate: Rate,
    delay: Span,
    /// The rate of the link between the relay and its switch; that of the fibre where it is inside.
    local: Rate,
}

/// Checks relays, and the links at which they stand.
pub(super) fn check(r: &Section, scenario: &Scenario) {
    let switches = &scenario.switches;
    let roles = shape::of(&scenario.network.topology).roles();
    if roles.contains(&SwitchRole::Relay) {
        let sound = switches.relay.pfc.as_ref().is_some_and(|pfc| matches!(pfc.xoff, Xoff::Static(_)));
        if !sound {
            let message = "the network has relays, which have thresholds of their own: give \"static\"";
            r.conflict_at("switch.relay.pfc", message);
            return;
        }
        if switches.relay_inside().is_some() {
            let message = "relay is for switches without relays before them, and the network has these";
            r.conflict_at("switch.long.pfc", message);
            return;
        }
    }
    for fibre in fibres(scenario) {
        check_fibre(r, scenario, &fibre);
    }
}

/// A sentence for each thing that is unlikely to be meant.
pub(super) fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut warnings = Vec::new();
    for fibre in fibres(scenario) {
        let Some((pfc, link)) = of_fibre(scenario, &fibre) else { continue };
        let params = fibre.params(pfc, &link);
        warnings.extend(buffer_below_need(&fibre, pfc, &link));
        let grows = difference(&fibre) / 8;
        if grows > 0 && params.safety.is_none() {
            warnings.push(format!(
                "switch.{}: the relay's links have {} and {}: while it is busy, up to {} more wait in it each second, and \
                 nothing takes them away; set relay_safety",
                role_name(fibre.role),
                fibre.local.shown(),
                fibre.rate.shown(),
                Bytes::new(grows).shown(),
            ));
        }
    }
    warnings.dedup();
    warnings
}

/// Warns of room for less than may come over a fibre.
fn buffer_below_need(fibre: &Fibre, pfc: &Pfc, link: &LosslessLink) -> Option<String> {
    let (params, name) = (fibre.params(pfc, link), role_name(fibre.role));
    if let Some(safety) = params.safety {
        return (params.remote_buffer < safety).then(|| {
            format!(
                "switch.{name}.relay_buffer: {} is below the {} that wait here or may come before the far end is held; leave it \
                 out, or give that much",
                params.remote_buffer.shown(),
                safety.shown(),
            )
        });
    }
    let least = LosslessLink { drain: None, ..link.clone() }.headroom().any_sizes();
    (params.remote_buffer < least).then(|| {
        format!(
            "switch.{name}.relay_buffer: {} is below the {} that the fibre and what is sent before a PAUSE works may bring at \
             once; leave it out ({}), or set relay_safety",
            params.remote_buffer.shown(),
            least.shown(),
            relay_buffer(link).shown(),
        )
    })
}

impl Fibre {
    /// Returns what a relay at its end is set to, as far as that depends on the fibre.
    fn params(&self, pfc: &Pfc, link: &LosslessLink) -> RelayParams {
        let headroom = (self.role == SwitchRole::Relay).then_some(Bytes::new(0));
        relay::params(pfc, link, headroom, usize::from(link.priorities.max(1)))
    }
}

/// The fibres at the ends of which relays stand, each kind once.
fn fibres(scenario: &Scenario) -> BTreeSet<Fibre> {
    let inside = scenario.switches.relay_inside().is_some();
    match &scenario.network.topology {
        Topology::Datacenters { long_rate, long_delay, relays, .. } if *relays || inside => {
            let role = if *relays { SwitchRole::Relay } else { SwitchRole::Long };
            BTreeSet::from([Fibre { role, rate: *long_rate, delay: *long_delay, local: *long_rate }])
        }
        Topology::Listed { nodes, links } => listed_fibres(nodes, links, inside),
        _ => BTreeSet::new(),
    }
}

/// The fibres of a listed network, of which ports between datacenters may have a relay inside their switch.
fn listed_fibres(nodes: &[ListedNode], links: &[ListedLink], inside: bool) -> BTreeSet<Fibre> {
    let role = |node: u32| nodes[node as usize].switch;
    let directions = || links.iter().flat_map(|link| [(link, link.ends), (link, (link.ends.1, link.ends.0))]);
    let is_local = |(end, peer)| role(end) == Some(SwitchRole::Relay) && role(peer) != role(end);
    let local_rates: BTreeMap<u32, Rate> =
        directions().filter(|(_, ends)| is_local(*ends)).map(|(link, (end, _))| (end, link.rate)).collect();
    let fibre = |(&ListedLink { rate, delay, .. }, (end, peer)): (&ListedLink, (u32, u32))| match (
        role(end)?,
        role(peer)?,
    ) {
        (SwitchRole::Relay, SwitchRole::Relay) => {
            let local = local_rates.get(&end).copied().unwrap_or(rate);
            Some(Fibre { role: SwitchRole::Relay, rate, delay, local })
        }
        (SwitchRole::Dci, SwitchRole::Dci) if inside => {
            Some(Fibre { role: SwitchRole::Long, rate, delay, local: rate })
        }
        _ => None,
    };
    directions().filter_map(fibre).collect()
}

/// The flow control at the end of a fibre, and the fibre as far as that depends on it.
fn of_fibre<'a>(scenario: &'a Scenario, fibre: &Fibre) -> Option<(&'a Pfc, LosslessLink)> {
    let pfc = scenario.switches.of(fibre.role).pfc.as_ref()?;
    let (frame, classes) = (scenario.longest_frame(), scenario.lossless_classes());
    let link = pfc.lossless_link((fibre.rate, fibre.delay), frame, classes);
    Some((pfc, link))
}

fn check_fibre(r: &Section, scenario: &Scenario, fibre: &Fibre) {
    let Some((pfc, link)) = of_fibre(scenario, fibre) else { return };
    let name = role_name(fibre.role);
    let (held, frame) = (fibre.rate.sent_in(fibre.delay), link.frame);
    if held < frame {
        let message = format!(
            "a relay stands at a link of {} and {}, which holds {} bytes, less than a frame of {}: it is for links that hold \
             many",
            fibre.rate.shown(),
            fibre.delay.shown(),
            held.get(),
            frame.get()
        );
        r.conflict_at(&format!("switch.{name}.pfc"), message);
        return;
    }
    let difference = difference(fibre);
    if difference * 1_000_000 > fibre.rate.as_bps().saturating_mul(CLOCKS_PPM) {
        let message = format!(
            "a relay's two links have {} and {}, and must have the same rate; up to {CLOCKS_PPM} millionths are taken for clocks \
             that differ",
            fibre.local.shown(),
            fibre.rate.shown()
        );
        r.conflict_at("network.file", message);
        return;
    }
    let params = fibre.params(pfc, &link);
    let given = pfc.relay.and_then(|relay| relay.safety);
    if let Some(Safety::Bytes(safety)) =
        given.filter(|_| params.remote_buffer < params.safety.unwrap_or_default())
    {
        let message = format!("{} is above relay_buffer, {}", safety.shown(), params.remote_buffer.shown());
        r.conflict_at(&format!("switch.{name}.relay_safety"), message);
    }
    for conflict in params.conflicts() {
        let spell = |name: &str| match name {
            "safety" => "relay_safety".to_owned(),
            other => format!("pfc_{other}"),
        };
        let first = conflict.names().next().map_or(String::new(), spell);
        r.conflict_at(&format!("switch.{name}.{first}"), conflict.message(spell));
    }
}

/// Returns how many bits a second the rates of a relay's links differ.
fn difference(fibre: &Fibre) -> u64 {
    fibre.rate.as_bps().abs_diff(fibre.local.as_bps())
}
