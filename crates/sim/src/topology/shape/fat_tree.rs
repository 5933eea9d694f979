//! The three-tier Clos network of k-port switches (Al-Fares et al., "A Scalable, Commodity Data Center Network
//! Architecture", 2008).

use clearway_proto::units::{Rate, Span};

use super::contract::{down, up, Shape, ShortestPaths};
use super::racks::RackPaths;
use crate::model::SwitchRole;
use crate::topology::graph::{Graph, Plan};

/// See [`Topology::FatTree`](crate::model::Topology::FatTree).
#[derive(Clone, Copy, Debug)]
pub(super) struct FatTree {
    pub(super) k: u32,
}

impl FatTree {
    fn half(self) -> u32 {
        self.k / 2
    }

    /// The pod of a host.
    fn pod(self, host: u32) -> u32 {
        host / (self.half() * self.half())
    }
}

impl Shape for FatTree {
    fn hosts(&self) -> u32 {
        self.k * self.k * self.k / 4
    }

    fn links(&self) -> f64 {
        // Each of the three tiers of links has as many as there are hosts.
        f64::from(self.hosts()) * 3.0
    }

    fn roles(&self) -> Vec<SwitchRole> {
        vec![SwitchRole::Tor, SwitchRole::Aggregation, SwitchRole::Spine]
    }

    fn switch_ports(&self, role: SwitchRole) -> (f64, f64) {
        let switches = match role {
            SwitchRole::Tor | SwitchRole::Aggregation => self.k * self.k / 2,
            SwitchRole::Spine => self.k * self.k / 4,
            SwitchRole::Dci | SwitchRole::Long | SwitchRole::Relay | SwitchRole::Nic => 0,
        };
        (f64::from(switches), f64::from(switches * self.k))
    }

    fn racks_alike(&self) -> u32 {
        self.k * self.k / 2
    }

    fn racks(&self) -> Option<RackPaths> {
        Some(RackPaths::FatTree { half: self.k / 2 })
    }

    fn draw(&self, plan: &mut Plan, rate: Rate, delay: Span) {
        let half = self.half();
        let (hosts, edges) = (self.k * half * half, self.k * half);
        plan.hosts(hosts);
        let tor = plan.switches("tor", SwitchRole::Tor, edges);
        let agg = plan.switches("agg", SwitchRole::Aggregation, edges);
        let spine = plan.switches("spine", SwitchRole::Spine, half * half);
        for host in 0..hosts {
            plan.join(host, tor + host / half, rate, delay);
        }
        for t in 0..edges {
            for j in 0..half {
                plan.join(tor + t, agg + t / half * half + j, rate, delay);
            }
        }
        for a in 0..edges {
            for i in 0..half {
                plan.join(agg + a, spine + a % half * half + i, rate, delay);
            }
        }
    }

    fn shortest_paths(&self, _: &Graph) -> Box<dyn ShortestPaths> {
        Box::new(*self)
    }

    fn most_paths(&self) -> u32 {
        self.half() * self.half()
    }
}

impl ShortestPaths for FatTree {
    fn cross(&self, (from, to): (u32, u32), choose: &dyn Fn(u64, u32) -> u32, out: &mut Vec<u32>) {
        let half = self.half();
        // Each tier has as many links to the next as there are hosts.
        let (tor_tier, agg_tier) = (self.hosts(), 2 * self.hosts());
        let (tor, to_tor) = (from / half, to / half);
        let (pod, to_pod) = (self.pod(from), self.pod(to));
        out.push(up(from));
        if tor != to_tor {
            let agg = choose(0, half);
            out.push(up(tor_tier + tor * half + agg));
            if pod != to_pod {
                let spine = choose(1, half);
                out.push(up(agg_tier + (pod * half + agg) * half + spine));
                out.push(down(agg_tier + (to_pod * half + agg) * half + spine));
            }
            out.push(down(tor_tier + to_tor * half + agg));
        }
        out.push(down(to));
    }

    fn paths(&self, from: u32, to: u32) -> u32 {
        let half = self.half();
        match (from / half == to / half, self.pod(from) == self.pod(to)) {
            (true, _) => 1,
            (false, true) => half,
            (false, false) => half * half,
        }
    }

    fn longest(&self) -> usize {
        6
    }
}
