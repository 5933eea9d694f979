//! The part of a network that Fastpass's arbiters serve.

use std::ops::Range;

use clearway_proto::fastpass::fcp::Address;

use crate::model::{Arbiters, Network, Topology};
use crate::topology::shape::{self, RackPaths};

/// The hosts that arbiters serve, and how these are joined: the whole network, or of several datacenters the one in which the
/// arbiters are. An arbiter knows nothing of other datacenters, and what crosses the links between them has no timeslots.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// How the hosts are joined.
    pub topology: Topology,
    /// The hosts.
    pub hosts: Range<u32>,
}

impl Served {
    /// Returns what these arbiters serve, which are in one datacenter.
    pub fn by(arbiters: &Arbiters, network: &Network) -> Served {
        Served::from_node(&network.topology, arbiters.nodes.first().copied().unwrap_or_default())
    }

    /// Returns what an arbiter at this node serves.
    pub fn from_node(topology: &Topology, node: u32) -> Served {
        match shape::datacenter_of(topology, node) {
            Some((topology, hosts)) => Served { topology, hosts },
            None => Served { topology: topology.clone(), hosts: 0..shape::of(topology).hosts() },
        }
    }

    /// How the racks of the hosts are joined, if an arbiter knows networks of this shape.
    pub fn racks(&self) -> Option<RackPaths> {
        shape::of(&self.topology).racks()
    }

    /// The address of a host's endpoint: its place among the hosts that are served.
    pub fn address(&self, host: u32) -> Address {
        debug_assert!(self.hosts.contains(&host), "host {host} is not served");
        (host - self.hosts.start) as Address
    }

    /// The host with this address.
    pub fn host(&self, address: Address) -> u32 {
        self.hosts.start + u32::from(address)
    }
}

#[cfg(test)]
mod tests {
    use clearway_proto::units::{Rate, Span};

    use super::*;
    use crate::model::{Network, SwitchRole};
    use crate::topology::Graph;

    #[test]
    fn an_arbiter_serves_the_datacenter_whose_switches_are_nearest() {
        let (rate, delay) = (Rate::from_gbps(10), Span::from_us(1));
        let long_delay = Span::from_us(400);
        let topology = Topology::Datacenters { count: 3, k: 4, long_rate: rate, long_delay, relays: true };
        let network = Network { topology: topology.clone(), rate, delay, mtu: 1448, framing: 38 };
        let graph = Graph::build(&network);
        for (name, first) in [
            ("h0", 0),
            ("h15", 0),
            ("h16", 16),
            ("tor7", 0),
            ("tor8", 16),
            ("agg23", 32),
            ("spine3", 0),
            ("spine4", 16),
            ("dci2", 32),
            ("relay0", 0),
            ("relay1", 16),
            ("relay2", 16),
            ("relay3", 32),
        ] {
            let node = graph.node_named(name).unwrap_or_else(|| panic!("there is no {name}"));
            let served = Served::from_node(&topology, node);
            assert_eq!(
                served,
                Served { topology: Topology::FatTree { k: 4 }, hosts: first..first + 16 },
                "{name}"
            );
            assert_eq!(served.host(served.address(first + 5)), first + 5);
        }
        assert_eq!(graph.role(graph.nodes().len() as u32 - 1), Some(SwitchRole::Relay));
    }

    #[test]
    fn elsewhere_it_serves_all() {
        let topology = Topology::Star { hosts: 5 };
        assert_eq!(Served::from_node(&topology, 5), Served { topology: topology.clone(), hosts: 0..5 });
    }
}
