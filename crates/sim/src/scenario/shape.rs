//! What is known of a network without building it: hosts, links, switch ports, roles, and the hosts' rates.

use std::ops::Range;

use clearway_proto::units::{Rate, Span};

use super::link::MAX_RATE;
use crate::model::{Network, SwitchRole, Topology};

/// More hosts than this are not simulated.
pub(super) const MAX_HOSTS: u32 = 1_000_000;

/// How many hosts a topology has.
pub(super) fn host_count(topology: &Topology) -> u32 {
    topology.host_count()
}

/// Two-way links of a topology, in a number that does not overflow.
pub(super) fn links(topology: &Topology) -> f64 {
    let hosts = f64::from(host_count(topology));
    match topology {
        Topology::Star { .. } => hosts,
        Topology::Dumbbell { .. } => hosts + 1.0,
        Topology::LeafSpine { leaves, spines, .. } => hosts + f64::from(*leaves) * f64::from(*spines),
        // Each of the three tiers of links has as many as there are hosts.
        Topology::FatTree { .. } => hosts * 3.0,
        Topology::Listed { links, .. } => links.len() as f64,
    }
}

/// Switches and switch ports of a role.
pub(super) fn switch_ports(network: &Network, role: SwitchRole) -> (f64, f64) {
    let hosts = f64::from(host_count(&network.topology));
    match (&network.topology, role) {
        (Topology::Star { .. }, SwitchRole::Tor) => (1.0, hosts),
        (Topology::Dumbbell { .. }, SwitchRole::Tor) => (2.0, hosts + 2.0),
        (Topology::LeafSpine { leaves, spines, .. }, SwitchRole::Tor) => {
            (f64::from(*leaves), hosts + f64::from(*leaves) * f64::from(*spines))
        }
        (Topology::LeafSpine { leaves, spines, .. }, SwitchRole::Spine) => {
            (f64::from(*spines), f64::from(*leaves) * f64::from(*spines))
        }
        (Topology::FatTree { k }, SwitchRole::Tor | SwitchRole::Aggregation) => {
            (f64::from(k * k / 2), f64::from(k * k / 2 * k))
        }
        (Topology::FatTree { k }, SwitchRole::Spine) => (f64::from(k * k / 4), f64::from(k * k / 4 * k)),
        (Topology::Listed { nodes, links }, _) => {
            let of_role = |i: u32| f64::from(u8::from(nodes[i as usize].switch == Some(role)));
            let switches = nodes.iter().filter(|node| node.switch == Some(role)).count() as f64;
            (switches, links.iter().map(|link| of_role(link.ends.0) + of_role(link.ends.1)).sum())
        }
        _ => (0.0, 0.0),
    }
}

/// The shortest link of a network.
pub(super) fn least_delay(network: &Network) -> Span {
    match &network.topology {
        Topology::Listed { links, .. } => links.iter().map(|link| link.delay).min().unwrap_or(network.delay),
        _ => network.delay,
    }
}

/// The name of a role in the file.
pub(super) fn role_name(role: SwitchRole) -> &'static str {
    match role {
        SwitchRole::Tor => "tor",
        SwitchRole::Aggregation => "aggregation",
        SwitchRole::Spine => "spine",
    }
}

/// The roles that a topology's switches have, lowest first.
pub(super) fn roles(topology: &Topology) -> Vec<SwitchRole> {
    match topology {
        Topology::Star { .. } | Topology::Dumbbell { .. } => vec![SwitchRole::Tor],
        Topology::LeafSpine { .. } => vec![SwitchRole::Tor, SwitchRole::Spine],
        Topology::FatTree { .. } => vec![SwitchRole::Tor, SwitchRole::Aggregation, SwitchRole::Spine],
        Topology::Listed { nodes, .. } => {
            let mut roles: Vec<SwitchRole> = nodes.iter().filter_map(|node| node.switch).collect();
            roles.sort_unstable();
            roles.dedup();
            roles
        }
    }
}

/// The rates of the hosts' links.
pub(super) enum HostRates {
    /// All alike.
    Alike(Rate),
    /// By host.
    Listed(Vec<Rate>),
}

impl HostRates {
    /// Of the hosts of this network.
    pub(super) fn of(network: &Network) -> HostRates {
        let Topology::Listed { nodes, links } = &network.topology else {
            return HostRates::Alike(network.rate);
        };
        let mut rates = vec![network.rate; nodes.len()];
        for link in links {
            rates[link.ends.0 as usize] = link.rate;
            rates[link.ends.1 as usize] = link.rate;
        }
        let hosts = nodes.iter().zip(rates).filter(|(node, _)| node.switch.is_none());
        HostRates::Listed(hosts.map(|(_, rate)| rate).collect())
    }

    /// Of this host.
    pub(super) fn get(&self, host: u32) -> Rate {
        match self {
            HostRates::Alike(rate) => *rate,
            HostRates::Listed(rates) => rates[host as usize],
        }
    }

    /// The fastest among the hosts of these ranges; none if there are none.
    pub(super) fn fastest_of(&self, hosts: &[Range<u32>]) -> Option<Rate> {
        match self {
            HostRates::Alike(rate) => hosts.first().map(|_| *rate),
            HostRates::Listed(rates) => {
                hosts.iter().flat_map(|range| &rates[range.start as usize..range.end as usize]).copied().max()
            }
        }
    }

    /// The fastest of them.
    pub(super) fn fastest(&self) -> Rate {
        match self {
            HostRates::Alike(rate) => *rate,
            HostRates::Listed(rates) => rates.iter().copied().max().unwrap_or(MAX_RATE),
        }
    }
}
