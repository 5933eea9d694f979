//! Two tiers of switches, every leaf joined to every spine.

use clearway_proto::units::{Rate, Span};

use super::contract::{down, up, Cut, Shape, ShortestPaths};
use super::racks::{RackPaths, Uplinks};
use crate::model::SwitchRole;
use crate::topology::graph::{Graph, Plan};

/// See [`Topology::LeafSpine`](crate::model::Topology::LeafSpine).
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafSpine {
    pub(super) leaves: u32,
    pub(super) spines: u32,
    pub(super) hosts_per_leaf: u32,
    pub(super) uplink: Rate,
}

impl LeafSpine {
    fn uplinks(&self) -> f64 {
        f64::from(self.leaves) * f64::from(self.spines)
    }
}

impl Shape for LeafSpine {
    fn hosts(&self) -> u32 {
        self.leaves * self.hosts_per_leaf
    }

    fn links(&self) -> f64 {
        f64::from(self.hosts()) + self.uplinks()
    }

    fn roles(&self) -> Vec<SwitchRole> {
        vec![SwitchRole::Tor, SwitchRole::Spine]
    }

    fn switch_ports(&self, role: SwitchRole) -> (f64, f64) {
        match role {
            SwitchRole::Tor => (f64::from(self.leaves), f64::from(self.hosts()) + self.uplinks()),
            SwitchRole::Spine => (f64::from(self.spines), self.uplinks()),
            SwitchRole::Aggregation
            | SwitchRole::Dci
            | SwitchRole::Long
            | SwitchRole::Relay
            | SwitchRole::Nic => (0.0, 0.0),
        }
    }

    fn extremes(&self, rate: Rate, delay: Span) -> (Rate, Span) {
        (rate.max(self.uplink), delay)
    }

    fn cuts(&self) -> Vec<Cut> {
        let cut = |leaf: u32| Cut {
            hosts: (leaf * self.hosts_per_leaf..(leaf + 1) * self.hosts_per_leaf).collect(),
            links: format!("the uplinks of tor{leaf}"),
            bps: self.uplink.as_bps() as f64 * f64::from(self.spines),
            remedy: "lower network.oversubscription",
        };
        (0..self.leaves).map(cut).collect()
    }

    fn racks(&self) -> Option<RackPaths> {
        Some(RackPaths::LeafSpine { racks: self.leaves, hosts: self.hosts_per_leaf, spines: self.spines })
    }

    fn racks_alike(&self) -> u32 {
        self.leaves
    }

    fn uplinks(&self) -> Vec<Uplinks> {
        if self.leaves < 2 {
            return Vec::new();
        }
        let of = |leaf| Uplinks {
            hosts: leaf * self.hosts_per_leaf..(leaf + 1) * self.hosts_per_leaf,
            name: format!("an uplink of tor{leaf}"),
            key: "network.oversubscription",
            rate: self.uplink,
            links: self.spines,
        };
        (0..self.leaves).map(of).collect()
    }

    fn draw(&self, plan: &mut Plan, rate: Rate, delay: Span) {
        let hosts = self.hosts();
        plan.hosts(hosts);
        let tor = plan.switches("tor", SwitchRole::Tor, self.leaves);
        let spine = plan.switches("spine", SwitchRole::Spine, self.spines);
        for host in 0..hosts {
            plan.join(host, tor + host / self.hosts_per_leaf, rate, delay);
        }
        for leaf in 0..self.leaves {
            for s in 0..self.spines {
                plan.join(tor + leaf, spine + s, self.uplink, delay);
            }
        }
    }

    fn shortest_paths(&self, _: &Graph) -> Box<dyn ShortestPaths> {
        Box::new(*self)
    }

    fn most_paths(&self) -> u32 {
        if self.leaves > 1 {
            self.spines
        } else {
            1
        }
    }
}

impl ShortestPaths for LeafSpine {
    fn cross(&self, (from, to): (u32, u32), choose: &dyn Fn(u64, u32) -> u32, out: &mut Vec<u32>) {
        out.push(up(from));
        let (leaf, to_leaf) = (from / self.hosts_per_leaf, to / self.hosts_per_leaf);
        if leaf != to_leaf {
            let spine = choose(0, self.spines);
            out.push(up(self.hosts() + leaf * self.spines + spine));
            out.push(down(self.hosts() + to_leaf * self.spines + spine));
        }
        out.push(down(to));
    }

    fn paths(&self, from: u32, to: u32) -> u32 {
        if from / self.hosts_per_leaf == to / self.hosts_per_leaf {
            1
        } else {
            self.spines
        }
    }

    fn longest(&self) -> usize {
        2 + 2 * usize::from(self.leaves > 1)
    }
}
