//! The shapes of network that can be built.

use clearway_proto::units::{Rate, Span};

use super::switch::SwitchRole;

/// The shapes of network that can be built.
#[derive(Clone, Debug, PartialEq)]
pub enum Topology {
    /// `hosts` hosts around one switch of role tor.
    Star {
        /// Number of hosts.
        hosts: u32,
    },
    /// `left` hosts, a switch, one bottleneck link, a switch, `right` hosts. Hosts 0..left are on the left.
    Dumbbell {
        /// Hosts on the left.
        left: u32,
        /// Hosts on the right.
        right: u32,
        /// Rate of the link between the switches.
        bottleneck: Rate,
        /// Delay of the link between the switches, one way.
        bottleneck_delay: Span,
    },
    /// Every leaf joined to every spine.
    LeafSpine {
        /// Switches of role tor.
        leaves: u32,
        /// Switches of role spine.
        spines: u32,
        /// Hosts under each leaf; host h is under leaf h / `hosts_per_leaf`.
        hosts_per_leaf: u32,
        /// Rate of each leaf-to-spine link: hosts a leaf times rate, over spines times oversubscription.
        uplink: Rate,
    },
    /// The three-tier Clos network of k-port switches: k^3/4 hosts.
    FatTree {
        /// Ports a switch; even.
        k: u32,
    },
    /// Fat trees of k-port switches, whose spine switches are all joined to a switch of role dci each; these are in a line.
    Datacenters {
        /// How many there are.
        count: u32,
        /// Ports a switch of each fat tree; even.
        k: u32,
        /// Rate of the links between datacenters.
        long_rate: Rate,
        /// Delay of these links, one way.
        long_delay: Span,
        /// Whether a relay stands at each end of these links, which are then links between relays.
        relays: bool,
    },
    /// Nodes and links as listed in a file.
    Listed {
        /// Names and roles; hosts are numbered in this order.
        nodes: Vec<ListedNode>,
        /// Two-way links between them.
        links: Vec<ListedLink>,
    },
}

/// A node of a topology file.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedNode {
    /// A name that no other node has.
    pub name: String,
    /// The role of a switch; none for a host.
    pub switch: Option<SwitchRole>,
}

/// A two-way link of a topology file.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedLink {
    /// Indices into the nodes.
    pub ends: (u32, u32),
    /// The rate of each direction.
    pub rate: Rate,
    /// The delay of each direction.
    pub delay: Span,
}
