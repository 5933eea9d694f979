//! Nodes and directed links with numbers, and how they are drawn.
//!
//! Node h is host h; switches follow. The two-way link i is the directed links 2i and 2i+1, so the way back
//! over a link is its number with the last bit flipped.

use clearway_proto::units::{Rate, Span};

use crate::model::SwitchRole;

/// Nodes and directed links.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    links: Vec<Link>,
    hosts: u32,
    /// For each host the link towards its switch.
    nics: Vec<u32>,
    /// Links out of node n are `outgoing[first_outgoing[n]..first_outgoing[n + 1]]`, in rising order.
    outgoing: Vec<u32>,
    first_outgoing: Vec<u32>,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The node's name, which no other node has.
    pub name: String,
    /// Whether it is a host or a switch.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// The host of this number, which is its node's number too.
    Host(u32),
    /// A switch with its role.
    Switch(SwitchRole),
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Node that transmits.
    pub from: u32,
    /// Node that receives.
    pub to: u32,
    /// The rate of transmission.
    pub rate: Rate,
    /// The time from a bit's departure to its arrival.
    pub delay: Span,
}

impl Graph {
    /// Number of hosts; they are the nodes `0..host_count()`.
    pub fn host_count(&self) -> u32 {
        self.hosts
    }

    /// Number of switches; they are the nodes from `host_count()` on.
    pub fn switch_count(&self) -> u32 {
        self.nodes.len() as u32 - self.hosts
    }

    /// All nodes, by number.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The role of a switch; `None` for a host.
    pub fn role(&self, node: u32) -> Option<SwitchRole> {
        match self.nodes[node as usize].kind {
            NodeKind::Host(_) => None,
            NodeKind::Switch(role) => Some(role),
        }
    }

    /// All directed links, by number.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The link of this number.
    pub fn link(&self, link: u32) -> &Link {
        &self.links[link as usize]
    }

    /// The link from a host to its switch.
    pub fn nic(&self, host: u32) -> u32 {
        self.nics[host as usize]
    }

    /// The link from its switch to a host.
    pub fn downlink(&self, host: u32) -> u32 {
        self.nics[host as usize] ^ 1
    }

    /// The switch that a host is linked to, by its node's number.
    pub fn switch_of(&self, host: u32) -> u32 {
        self.link(self.nic(host)).to
    }

    /// The links that leave a node, in rising order.
    pub fn outgoing(&self, node: u32) -> &[u32] {
        let ends = &self.first_outgoing[node as usize..node as usize + 2];
        &self.outgoing[ends[0] as usize..ends[1] as usize]
    }

    /// The node of this name.
    pub fn node_named(&self, name: &str) -> Option<u32> {
        self.nodes.iter().position(|node| node.name == name).map(|node| node as u32)
    }

    /// The link from one named node to another; of several in parallel, the first. A host with several links is named by itself or by
    /// its card, which has them.
    pub fn link_between(&self, from: &str, to: &str) -> Option<u32> {
        let (from, to) = (self.node_named(from)?, self.node_named(to)?);
        let between = |from, to| self.outgoing(from).iter().copied().find(|&link| self.link(link).to == to);
        between(from, to).or_else(|| between(self.card_of(from), self.card_of(to)))
    }

    /// The card of a host with several links, and any other node itself.
    pub fn card_of(&self, node: u32) -> u32 {
        match self.outgoing(node) {
            &[nic] if node < self.hosts && self.role(self.link(nic).to) == Some(SwitchRole::Nic) => {
                self.link(nic).to
            }
            _ => node,
        }
    }

    /// Returns what a person calls a link: `h0>tor0`.
    pub fn link_name(&self, link: u32) -> String {
        let Link { from, to, .. } = *self.link(link);
        let [from, to] = [from, to].map(|node| self.nodes[node as usize].name.as_str());
        [from, ">", to].concat()
    }

    /// Returns what a person calls each link, by number.
    pub fn link_names(&self) -> Vec<String> {
        (0..self.links.len() as u32).map(|link| self.link_name(link)).collect()
    }
}

/// A graph being drawn: nodes first, hosts before switches, then links.
#[derive(Default)]
pub struct Plan {
    nodes: Vec<Node>,
    links: Vec<Link>,
}

impl Plan {
    /// Adds hosts named by their numbers.
    pub(super) fn hosts(&mut self, count: u32) {
        self.nodes
            .extend((0..count).map(|host| Node { name: format!("h{host}"), kind: NodeKind::Host(host) }));
    }

    /// Adds switches named by a prefix and their number among them; returns the first one's node.
    pub(super) fn switches(&mut self, prefix: &str, role: SwitchRole, count: u32) -> u32 {
        let first = self.nodes.len() as u32;
        self.nodes
            .extend((0..count).map(|i| Node { name: format!("{prefix}{i}"), kind: NodeKind::Switch(role) }));
        first
    }

    /// Adds a host or a switch of this name.
    pub(super) fn node(&mut self, name: &str, kind: NodeKind) {
        self.nodes.push(Node { name: name.into(), kind });
    }

    /// Adds a two-way link; its first direction is from `a` to `b`.
    pub(super) fn join(&mut self, a: u32, b: u32, rate: Rate, delay: Span) {
        self.links.push(Link { from: a, to: b, rate, delay });
        self.links.push(Link { from: b, to: a, rate, delay });
    }

    /// The graph that was drawn. Panics when a host has not exactly one link, to a switch.
    pub(super) fn finish(self) -> Graph {
        let hosts = self.nodes.iter().take_while(|node| matches!(node.kind, NodeKind::Host(_))).count();
        let (first_outgoing, outgoing) = sorted_by_source(self.nodes.len(), &self.links);
        let nics = (0..hosts)
            .map(|host| {
                let name = &self.nodes[host].name;
                let ends = (first_outgoing[host] as usize, first_outgoing[host + 1] as usize);
                assert!(ends.1 == ends.0 + 1, "host {name} has {} links, not one", ends.1 - ends.0);
                let nic = outgoing[ends.0];
                let peer = self.links[nic as usize].to as usize;
                assert!(peer >= hosts, "host {name} is linked to a host");
                nic
            })
            .collect();
        Graph { nodes: self.nodes, links: self.links, hosts: hosts as u32, nics, outgoing, first_outgoing }
    }
}

/// A counting sort: where each node's links begin, and the links in the order of their sources.
fn sorted_by_source(nodes: usize, links: &[Link]) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; nodes + 1];
    for link in links {
        first[link.from as usize + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut free = first.clone();
    let mut sorted = vec![0u32; links.len()];
    for (id, link) in links.iter().enumerate() {
        let slot = &mut free[link.from as usize];
        sorted[*slot as usize] = id as u32;
        *slot += 1;
    }
    (first, sorted)
}
