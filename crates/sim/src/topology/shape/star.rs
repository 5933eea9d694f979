//! Hosts around one switch.

use clearway_proto::units::{Rate, Span};

use super::contract::{down, up, Shape, ShortestPaths};
use super::racks::RackPaths;
use crate::model::SwitchRole;
use crate::topology::graph::{Graph, Plan};

/// See [`Topology::Star`](crate::model::Topology::Star).
#[derive(Clone, Copy, Debug)]
pub(super) struct Star {
    pub(super) hosts: u32,
}

impl Shape for Star {
    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn links(&self) -> f64 {
        f64::from(self.hosts)
    }

    fn roles(&self) -> Vec<SwitchRole> {
        vec![SwitchRole::Tor]
    }

    fn switch_ports(&self, role: SwitchRole) -> (f64, f64) {
        match role {
            SwitchRole::Tor => (1.0, f64::from(self.hosts)),
            _ => (0.0, 0.0),
        }
    }

    fn racks(&self) -> Option<RackPaths> {
        Some(RackPaths::Single)
    }

    fn draw(&self, plan: &mut Plan, rate: Rate, delay: Span) {
        plan.hosts(self.hosts);
        let tor = plan.switches("tor", SwitchRole::Tor, 1);
        for host in 0..self.hosts {
            plan.join(host, tor, rate, delay);
        }
    }

    fn shortest_paths(&self, _: &Graph) -> Box<dyn ShortestPaths> {
        Box::new(*self)
    }

    fn most_paths(&self) -> u32 {
        1
    }
}

impl ShortestPaths for Star {
    fn cross(&self, (from, to): (u32, u32), _: &dyn Fn(u64, u32) -> u32, out: &mut Vec<u32>) {
        out.extend([up(from), down(to)]);
    }

    fn paths(&self, _: u32, _: u32) -> u32 {
        1
    }

    fn longest(&self) -> usize {
        2
    }
}
