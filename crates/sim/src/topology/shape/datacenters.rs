//! Fat trees far from each other, in a line, joined by a switch each (Swing, figure 1), with relays between these or not.

use std::ops::Range;

use clearway_proto::units::{Rate, Span};

use super::contract::{Cut, Shape, ShortestPaths};
use super::listed::Routes;
use crate::model::SwitchRole;
use crate::topology::graph::{Graph, Plan};

/// See [`Topology::Datacenters`](crate::model::Topology::Datacenters).
#[derive(Clone, Copy, Debug)]
pub(super) struct Datacenters {
    pub(super) count: u32,
    pub(super) k: u32,
    pub(super) long_rate: Rate,
    pub(super) long_delay: Span,
    pub(super) relays: bool,
}

impl Datacenters {
    fn half(self) -> u32 {
        self.k / 2
    }

    /// Hosts of each.
    fn hosts_each(self) -> u32 {
        self.k * self.half() * self.half()
    }

    /// Edge switches of each, and aggregation switches.
    fn edges_each(self) -> u32 {
        self.k * self.half()
    }

    /// Spine switches of each.
    fn spines_each(self) -> u32 {
        self.half() * self.half()
    }

    /// The hosts of one.
    pub(super) fn hosts_of(self, datacenter: u32) -> Range<u32> {
        datacenter * self.hosts_each()..(datacenter + 1) * self.hosts_each()
    }

    /// The datacenter in which a node is. Nodes are numbered as they are drawn, and relays in pairs, one for each end of a link.
    pub(super) fn home(self, node: u32) -> u32 {
        let mut rest = node;
        for each in [self.hosts_each(), self.edges_each(), self.edges_each(), self.spines_each(), 1] {
            if rest < self.count * each {
                return rest / each;
            }
            rest -= self.count * each;
        }
        rest.div_ceil(2)
    }

    /// Links from one datacenter to the next, one after the other.
    fn links_between(self) -> u32 {
        if self.relays {
            3
        } else {
            1
        }
    }

    /// Relays of the whole network.
    fn relays_in_all(self) -> u32 {
        if self.relays {
            2 * (self.count - 1)
        } else {
            0
        }
    }

    /// Links within one fat tree: each of its three tiers of links has as many as there are hosts.
    fn draw_one(
        self,
        plan: &mut Plan,
        (host, tor, agg, spine): (u32, u32, u32, u32),
        rate: Rate,
        delay: Span,
    ) {
        let half = self.half();
        for t in 0..self.edges_each() {
            for j in 0..half {
                plan.join(tor + t, agg + t / half * half + j, rate, delay);
            }
        }
        for a in 0..self.edges_each() {
            for i in 0..half {
                plan.join(agg + a, spine + a % half * half + i, rate, delay);
            }
        }
        debug_assert!(host < tor && tor < agg && agg < spine);
    }
}

impl Shape for Datacenters {
    fn hosts(&self) -> u32 {
        self.count * self.hosts_each()
    }

    fn links(&self) -> f64 {
        let each = 3.0 * f64::from(self.hosts_each()) + f64::from(self.spines_each());
        f64::from(self.count) * each + f64::from((self.count - 1) * self.links_between())
    }

    fn roles(&self) -> Vec<SwitchRole> {
        let all = SwitchRole::ALL.into_iter();
        let none = if self.relays { [SwitchRole::Nic; 2] } else { [SwitchRole::Nic, SwitchRole::Relay] };
        all.filter(|role| !none.contains(role)).collect()
    }

    fn switch_ports(&self, role: SwitchRole) -> (f64, f64) {
        let (k, spines) = (self.k, self.spines_each());
        if role == SwitchRole::Relay {
            let relays = f64::from(self.relays_in_all());
            return (relays, 2.0 * relays);
        }
        let (switches, ports) = match role {
            SwitchRole::Tor | SwitchRole::Aggregation => (self.edges_each(), self.edges_each() * k),
            SwitchRole::Spine => (spines, spines * (k + 1)),
            SwitchRole::Dci => (1, spines),
            // Its switches are those of role dci.
            SwitchRole::Long => (0, 2),
            SwitchRole::Nic => (0, 0),
            SwitchRole::Relay => unreachable!("relays are no part of a datacenter"),
        };
        (f64::from(self.count * switches), f64::from(self.count * ports))
    }

    fn racks_alike(&self) -> u32 {
        self.edges_each()
    }

    fn extremes(&self, rate: Rate, delay: Span) -> (Rate, Span) {
        (rate.max(self.long_rate), delay.max(self.long_delay))
    }

    fn cuts(&self) -> Vec<Cut> {
        let cut = |gap: u32| Cut {
            hosts: (0..gap * self.hosts_each()).collect(),
            links: format!("the link from dci{} to dci{gap}", gap - 1),
            bps: self.long_rate.as_bps() as f64,
            remedy: "raise network.long_rate",
        };
        (1..self.count).map(cut).collect()
    }

    fn draw(&self, plan: &mut Plan, rate: Rate, delay: Span) {
        let (hosts, edges, spines) = (self.hosts_each(), self.edges_each(), self.spines_each());
        plan.hosts(self.hosts());
        let tor = plan.switches("tor", SwitchRole::Tor, self.count * edges);
        let agg = plan.switches("agg", SwitchRole::Aggregation, self.count * edges);
        let spine = plan.switches("spine", SwitchRole::Spine, self.count * spines);
        let dci = plan.switches("dci", SwitchRole::Dci, self.count);
        for host in 0..self.hosts() {
            plan.join(host, tor + host / self.half(), rate, delay);
        }
        for dc in 0..self.count {
            let first = (dc * hosts, tor + dc * edges, agg + dc * edges, spine + dc * spines);
            self.draw_one(plan, first, rate, delay);
        }
        for s in 0..self.count * spines {
            plan.join(spine + s, dci + s / spines, rate, delay);
        }
        let relay = plan.switches("relay", SwitchRole::Relay, self.relays_in_all());
        for gap in 0..self.count - 1 {
            let mut ends = [dci + gap, dci + gap + 1];
            if self.relays {
                let relays = [relay + 2 * gap, relay + 2 * gap + 1];
                for (switch, relay) in ends.into_iter().zip(relays) {
                    plan.join(switch, relay, self.long_rate, delay);
                }
                ends = relays;
            }
            plan.join(ends[0], ends[1], self.long_rate, self.long_delay);
        }
    }

    fn shortest_paths(&self, graph: &Graph) -> Box<dyn ShortestPaths> {
        Box::new(Routes::new(graph))
    }

    fn most_paths(&self) -> u32 {
        // Up to a spine switch, and from another down.
        let spines = self.spines_each();
        if self.count > 1 {
            spines * spines
        } else {
            spines
        }
    }

    /// Distances take 4 B for each pair of switches.
    fn route_bytes(&self) -> f64 {
        let of_trees = self.count * (2 * self.edges_each() + self.spines_each() + 1);
        let switches = f64::from(of_trees + self.relays_in_all());
        switches * switches * 4.0
    }

    /// Between datacenters a path has six links of the fat trees, two to the switches that join them, and those between
    /// these.
    fn path_bytes(&self) -> f64 {
        8.0 * f64::from((8 + self.count * self.links_between()).next_power_of_two())
    }
}
