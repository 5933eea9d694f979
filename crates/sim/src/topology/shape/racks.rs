//! How racks are joined.

use std::ops::Range;

use clearway_proto::units::Rate;

/// How the racks of a network are joined, as an arbiter of Fastpass knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackPaths {
    /// There is one path between any two hosts.
    Single,
    /// There is one path through each spine switch.
    LeafSpine {
        /// Number of racks.
        racks: u32,
        /// Hosts of each rack.
        hosts: u32,
        /// Number of spine switches.
        spines: u32,
    },
    /// There is one path through each aggregation switch of a pod, and between pods through each of its core switches.
    FatTree {
        /// Half the number of a switch's ports: the hosts of each rack, the racks and the aggregation switches of each pod, and the
        /// core switches above each of these.
        half: u32,
    },
}

impl RackPaths {
    /// Number of racks.
    pub fn count(self) -> u32 {
        match self {
            RackPaths::Single => 1,
            RackPaths::LeafSpine { racks, .. } => racks,
            RackPaths::FatTree { half } => 2 * half * half,
        }
    }

    /// Number of switches of the next tier that a rack's switch has links to, and of core switches that each of these has links to.
    pub fn paths(self) -> [u32; 2] {
        match self {
            RackPaths::Single => [1, 1],
            RackPaths::LeafSpine { spines, .. } => [spines, 1],
            RackPaths::FatTree { half } => [half, half],
        }
    }
}

/// Links that join some hosts to all others, and may carry less than these hosts send.
pub struct Uplinks {
    /// The hosts.
    pub hosts: Range<u32>,
    /// What a person calls one of the links.
    pub name: String,
    /// The key that says how fast they are.
    pub key: &'static str,
    /// The rate of each.
    pub rate: Rate,
    /// How many there are.
    pub links: u32,
}
