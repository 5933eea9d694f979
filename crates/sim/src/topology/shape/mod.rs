//! The shapes of networks: what each has, how it is drawn, and how frames are routed through it.
//!
//! Each shape is a file and a line of [`of`].

mod contract;
mod datacenters;
mod dumbbell;
mod fat_tree;
mod leaf_spine;
mod listed;
mod racks;
mod rates;
mod star;

use std::ops::Range;

use clearway_proto::units::Span;

use crate::model::{Network, Topology};
pub use contract::{Cut, Shape, ShortestPaths};
pub use racks::{RackPaths, Uplinks};
pub use rates::HostRates;

/// The shape of this topology.
pub fn of(topology: &Topology) -> Box<dyn Shape + '_> {
    match *topology {
        Topology::Star { hosts } => Box::new(star::Star { hosts }),
        Topology::Dumbbell { left, right, bottleneck, bottleneck_delay } => {
            Box::new(dumbbell::Dumbbell { left, right, bottleneck, bottleneck_delay })
        }
        Topology::LeafSpine { leaves, spines, hosts_per_leaf, uplink } => {
            Box::new(leaf_spine::LeafSpine { leaves, spines, hosts_per_leaf, uplink })
        }
        Topology::FatTree { k } => Box::new(fat_tree::FatTree { k }),
        Topology::Datacenters { count, k, long_rate, long_delay, relays } => {
            Box::new(datacenters::Datacenters { count, k, long_rate, long_delay, relays })
        }
        Topology::Listed { ref nodes, ref links } => Box::new(listed::Listed { nodes, links }),
    }
}

/// The datacenter in which a node is, as a network of its own, and its hosts; `None` where there are not several.
pub fn datacenter_of(topology: &Topology, node: u32) -> Option<(Topology, Range<u32>)> {
    let Topology::Datacenters { count, k, long_rate, long_delay, relays } = *topology else { return None };
    let all = datacenters::Datacenters { count, k, long_rate, long_delay, relays };
    Some((Topology::FatTree { k }, all.hosts_of(all.home(node))))
}

/// The rates of the hosts' links of this network.
pub fn host_rates(network: &Network) -> HostRates {
    of(&network.topology).host_rates(network.rate)
}

/// Returns how many racks in a row see this network alike, so that one may stand for all of them.
pub fn racks_alike(network: &Network) -> u32 {
    of(&network.topology).racks_alike()
}

/// The delay of a host's link; in a listed network, whose links may differ, the delay of its shortest link.
pub fn least_delay(network: &Network) -> Span {
    of(&network.topology).least_delay(network.delay)
}
