//! Two switches with a bottleneck between them, and hosts at each.

use clearway_proto::units::{Rate, Span};

use super::contract::{down, up, Cut, Shape, ShortestPaths};
use super::racks::{RackPaths, Uplinks};
use crate::model::SwitchRole;
use crate::topology::graph::{Graph, Plan};

/// See [`Topology::Dumbbell`](crate::model::Topology::Dumbbell).
#[derive(Clone, Copy, Debug)]
pub(super) struct Dumbbell {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) bottleneck: Rate,
    pub(super) bottleneck_delay: Span,
}

impl Shape for Dumbbell {
    fn hosts(&self) -> u32 {
        self.left + self.right
    }

    fn links(&self) -> f64 {
        f64::from(self.hosts()) + 1.0
    }

    fn roles(&self) -> Vec<SwitchRole> {
        vec![SwitchRole::Tor]
    }

    fn switch_ports(&self, role: SwitchRole) -> (f64, f64) {
        match role {
            SwitchRole::Tor => (2.0, f64::from(self.hosts()) + 2.0),
            _ => (0.0, 0.0),
        }
    }

    fn extremes(&self, rate: Rate, delay: Span) -> (Rate, Span) {
        (rate.max(self.bottleneck), delay.max(self.bottleneck_delay))
    }

    fn cuts(&self) -> Vec<Cut> {
        vec![Cut {
            hosts: (0..self.left).collect(),
            links: "the bottleneck".into(),
            bps: self.bottleneck.as_bps() as f64,
            remedy: "raise network.bottleneck",
        }]
    }

    fn racks(&self) -> Option<RackPaths> {
        Some(RackPaths::Single)
    }

    fn uplinks(&self) -> Vec<Uplinks> {
        let of = |hosts| Uplinks {
            hosts,
            name: "the bottleneck".into(),
            key: "network.bottleneck",
            rate: self.bottleneck,
            links: 1,
        };
        vec![of(0..self.left), of(self.left..self.left + self.right)]
    }

    fn draw(&self, plan: &mut Plan, rate: Rate, delay: Span) {
        let hosts = self.hosts();
        plan.hosts(hosts);
        let tor = plan.switches("tor", SwitchRole::Tor, 2);
        for host in 0..hosts {
            plan.join(host, tor + u32::from(host >= self.left), rate, delay);
        }
        plan.join(tor, tor + 1, self.bottleneck, self.bottleneck_delay);
    }

    fn shortest_paths(&self, _: &Graph) -> Box<dyn ShortestPaths> {
        Box::new(*self)
    }

    fn most_paths(&self) -> u32 {
        1
    }
}

impl ShortestPaths for Dumbbell {
    fn cross(&self, (from, to): (u32, u32), _: &dyn Fn(u64, u32) -> u32, out: &mut Vec<u32>) {
        out.push(up(from));
        let middle = self.hosts();
        match (from < self.left, to < self.left) {
            (true, false) => out.push(up(middle)),
            (false, true) => out.push(down(middle)),
            _ => {}
        }
        out.push(down(to));
    }

    fn paths(&self, _: u32, _: u32) -> u32 {
        1
    }

    fn longest(&self) -> usize {
        2 + usize::from(self.left > 0 && self.right > 0)
    }
}
