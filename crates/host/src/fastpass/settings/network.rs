//! The `[network]` table of a deployment: the scenario's own words for a network that exists.

use std::fmt;

use clearway_proto::fastpass::arbiter::PathParams;
use clearway_proto::fastpass::paths::{FatTreeShape, PathError, Racks};
use clearway_proto::parameter::{Parameter, ParameterReader};
use clearway_proto::units::{Bytes, Rate, RATES};

use crate::daemon::table::Table;

/// The shape of a network, as far as an arbiter needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One switch.
    Star {
        /// Hosts around it.
        hosts: u32,
    },
    /// Leaves, each with a link to each spine.
    LeafSpine {
        /// Switches that join hosts.
        leaves: u32,
        /// Switches that join leaves: the paths.
        spines: u32,
        /// Hosts under each leaf.
        hosts_per_leaf: u32,
    },
    /// A fat tree.
    FatTree {
        /// Ports of each switch.
        k: u32,
    },
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Shape::Star { hosts } => write!(f, "a star of {hosts} hosts"),
            Shape::LeafSpine { leaves, spines, hosts_per_leaf } => {
                write!(f, "{leaves} leaves of {hosts_per_leaf} hosts under {spines} spines")
            }
            Shape::FatTree { k } => write!(f, "a fat tree of switches with {k} ports"),
        }
    }
}

/// A network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Its shape.
    pub shape: Shape,
    /// The rate of a host's link.
    pub rate: Rate,
    /// The largest payload of a frame, in bytes.
    pub mtu: u32,
}

const MOST: u32 = 8192;

impl Network {
    pub(super) fn read(table: &mut Table<'_>) -> Network {
        let shapes = [("star", 0), ("leaf_spine", 1), ("fat_tree", 2)];
        let which = table.choice("topology", "The shape of the network.", &shapes, 0);
        let rate = Parameter::new("rate", "The rate of a host's link.", RATES);
        let rate = table.value(&rate, Rate::from_gbps(10));
        let mtus = Bytes::new(256)..=Bytes::new(65_000);
        let mtu = Parameter::new("mtu", "Largest payload of a frame.", mtus);
        let mtu = table.value(&mtu, Bytes::new(1448)).get() as u32;
        let mut count = |name: &'static str, least: u32| {
            let found = table.optional(&Parameter::new(name, "", least..=MOST), "");
            if found.is_none() {
                table.must_have(name);
            }
            found.unwrap_or(least)
        };
        let shape = match which {
            0 => Shape::Star { hosts: count("hosts", 2) },
            1 => Shape::LeafSpine {
                leaves: count("leaves", 1),
                spines: count("spines", 1),
                hosts_per_leaf: count("hosts_per_leaf", 1),
            },
            _ => Shape::FatTree { k: count("k", 2) },
        };
        Network { shape, rate, mtu }
    }

    /// The number of hosts.
    pub fn hosts(&self) -> u64 {
        match self.shape {
            Shape::Star { hosts } => hosts.into(),
            Shape::LeafSpine { leaves, hosts_per_leaf, .. } => u64::from(leaves) * u64::from(hosts_per_leaf),
            Shape::FatTree { k } => u64::from(k).pow(3) / 4,
        }
    }

    /// The number of paths between two hosts that have the most.
    pub fn paths(&self) -> u16 {
        let paths = match self.shape {
            Shape::Star { .. } => 1,
            Shape::LeafSpine { spines, .. } => spines,
            Shape::FatTree { k } => (k / 2) * (k / 2),
        };
        u16::try_from(paths).unwrap_or(u16::MAX)
    }

    /// The paths as an arbiter is told of them.
    pub fn path_params(&self) -> Result<PathParams, PathError> {
        Ok(match self.shape {
            Shape::Star { .. } => PathParams::Single,
            Shape::LeafSpine { leaves, spines, hosts_per_leaf } => PathParams::LeafSpine {
                racks: Racks::uniform(leaves as usize, hosts_per_leaf as usize)?,
                paths: spines as usize,
            },
            Shape::FatTree { k } => {
                let half = (k / 2) as usize;
                PathParams::FatTree {
                    racks: Racks::uniform(2 * half * half, half)?,
                    shape: FatTreeShape { racks_per_pod: half, aggregation: half, cores: half },
                }
            }
        })
    }
}
