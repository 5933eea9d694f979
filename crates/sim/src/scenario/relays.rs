//! Swing's relays: what must hold of the links at which they stand, and what is legal there but unlikely to be meant.

use clearway_proto::swing::headroom::LosslessLink;
use clearway_proto::swing::plan::relay_buffer;
use clearway_proto::units::{Bytes, Rate, Span};

use super::key::Shown;
use super::reader::Section;
use super::shape::role_name;
use crate::model::{ListedLink, Pfc, Scenario, SwitchKinds, SwitchRole, Topology, Xoff};
use crate::net::{relay, shape};

/// By how much two clocks of Ethernet may differ: each by 100 parts in a million (IEEE 802.3).
const CLOCKS_PPM: u64 = 200;

/// A fibre with a relay at one end.
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
        if inside(switches).is_some() {
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
        let params = relay::params(pfc, &link, Bytes::new(0), 1);
        let name = role_name(fibre.role);
        let needed = relay_buffer(&link);
        let least = LosslessLink { drain: None, ..link.clone() }.headroom().any_sizes();
        if params.safety.is_none() && params.remote_buffer < least {
            warnings.push(format!(
                "switch.{name}.relay_buffer: {} is below the {} that the fibre and what is sent before a PAUSE works may bring \
                 at once; leave it out ({}), or set relay_safety",
                params.remote_buffer.shown(),
                least.shown(),
                needed.shown(),
            ));
        }
        let grows = difference(&fibre) / 8;
        if grows > 0 && params.safety.is_none() {
            warnings.push(format!(
                "switch.{name}: the relay's links have {} and {}: while it is busy, up to {} more wait in it each second, and \
                 nothing takes them away; set relay_safety",
                fibre.local.shown(),
                fibre.rate.shown(),
                Bytes::new(grows).shown(),
            ));
        }
    }
    warnings.dedup();
    warnings
}

/// The flow control of ports with a relay inside the switch.
fn inside(switches: &SwitchKinds) -> Option<&Pfc> {
    switches.long.pfc.as_ref().filter(|pfc| pfc.relay.is_some())
}

/// The fibres at the ends of which relays stand, each kind once.
fn fibres(scenario: &Scenario) -> Vec<Fibre> {
    let topology = &scenario.network.topology;
    let long = inside(&scenario.switches).is_some();
    match topology {
        Topology::Datacenters { long_rate, long_delay, relays, .. } if *relays || long => {
            let role = if *relays { SwitchRole::Relay } else { SwitchRole::Long };
            vec![Fibre { role, rate: *long_rate, delay: *long_delay, local: *long_rate }]
        }
        Topology::Listed { nodes, links } => {
            let role = |node: u32| nodes[node as usize].switch;
            let local_of = |relay: u32| {
                let other = |link: &&ListedLink| {
                    let (a, b) = link.ends;
                    (a == relay && role(b) != role(a)) || (b == relay && role(a) != role(b))
                };
                links.iter().find(other).map(|link| link.rate)
            };
            let mut fibres = Vec::new();
            for &ListedLink { ends: (a, b), rate, delay } in links {
                for (end, peer) in [(a, b), (b, a)] {
                    match (role(end), role(peer)) {
                        (Some(SwitchRole::Relay), Some(SwitchRole::Relay)) => {
                            let local = local_of(end).unwrap_or(rate);
                            fibres.push(Fibre { role: SwitchRole::Relay, rate, delay, local });
                        }
                        (Some(SwitchRole::Dci), Some(SwitchRole::Dci)) if long => {
                            fibres.push(Fibre { role: SwitchRole::Long, rate, delay, local: rate });
                        }
                        _ => (),
                    }
                }
            }
            fibres
        }
        _ => Vec::new(),
    }
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
    for conflict in relay::params(pfc, &link, Bytes::new(0), 1).conflicts() {
        let spell = |name: &str| match name {
            "safety" => "relay_safety".to_owned(),
            "remote_buffer" => "relay_buffer".to_owned(),
            other => format!("pfc_{other}"),
        };
        let first = conflict.names().next().map_or(String::new(), spell);
        r.conflict_at(&format!("switch.{name}.{first}"), conflict.message(spell));
    }
}

/// By how many bits a second the rates of a relay's links differ.
fn difference(fibre: &Fibre) -> u64 {
    fibre.rate.as_bps().abs_diff(fibre.local.as_bps())
}
