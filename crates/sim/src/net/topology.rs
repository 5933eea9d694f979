//! A topology as nodes and directed links with numbers.
//!
//! Node h is host h; switches follow. The two-way link i is the directed links 2i and 2i+1, so the way back
//! over a link is its number with the last bit flipped.

use crate::model::{ListedLink, ListedNode, Network, SwitchRole, Topology};
use clearway_proto::units::{Rate, Span};

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
    /// Unique.
    pub name: String,
    /// Which of the two.
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
    /// The graph of this network. Panics when a listed host has not exactly one link, to a switch.
    pub fn build(network: &Network) -> Graph {
        let mut plan = Plan::new(network);
        match &network.topology {
            Topology::Star { hosts } => plan.star(*hosts),
            Topology::Dumbbell { left, right, bottleneck, bottleneck_delay } => {
                plan.dumbbell(*left, *right, *bottleneck, *bottleneck_delay);
            }
            Topology::LeafSpine { leaves, spines, hosts_per_leaf, uplink } => {
                plan.leaf_spine(*leaves, *spines, *hosts_per_leaf, *uplink);
            }
            Topology::FatTree { k } => plan.fat_tree(*k),
            Topology::Listed { nodes, links } => plan.listed(nodes, links),
        }
        plan.finish()
    }

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

    /// The links that leave a node, in rising order.
    pub fn outgoing(&self, node: u32) -> &[u32] {
        let ends = &self.first_outgoing[node as usize..node as usize + 2];
        &self.outgoing[ends[0] as usize..ends[1] as usize]
    }

    /// The node of this name.
    pub fn node_named(&self, name: &str) -> Option<u32> {
        self.nodes.iter().position(|node| node.name == name).map(|node| node as u32)
    }

    /// The link from one named node to another; of several in parallel, the first.
    pub fn link_between(&self, from: &str, to: &str) -> Option<u32> {
        let (from, to) = (self.node_named(from)?, self.node_named(to)?);
        self.outgoing(from).iter().copied().find(|&link| self.link(link).to == to)
    }

    /// What a person calls a link: `h0>tor0`.
    pub fn link_name(&self, link: u32) -> String {
        let Link { from, to, .. } = *self.link(link);
        format!("{}>{}", self.nodes[from as usize].name, self.nodes[to as usize].name)
    }
}

/// A graph being drawn: nodes first, hosts before switches, then links.
struct Plan {
    rate: Rate,
    delay: Span,
    nodes: Vec<Node>,
    links: Vec<Link>,
}

impl Plan {
    fn new(network: &Network) -> Plan {
        Plan { rate: network.rate, delay: network.delay, nodes: Vec::new(), links: Vec::new() }
    }

    fn star(&mut self, hosts: u32) {
        self.hosts(hosts);
        let tor = self.switches("tor", SwitchRole::Tor, 1);
        for host in 0..hosts {
            self.join(host, tor, self.rate);
        }
    }

    fn dumbbell(&mut self, left: u32, right: u32, bottleneck: Rate, bottleneck_delay: Span) {
        self.hosts(left + right);
        let tor = self.switches("tor", SwitchRole::Tor, 2);
        for host in 0..left + right {
            self.join(host, tor + u32::from(host >= left), self.rate);
        }
        self.join_after(tor, tor + 1, bottleneck, bottleneck_delay);
    }

    fn leaf_spine(&mut self, leaves: u32, spines: u32, hosts_per_leaf: u32, uplink: Rate) {
        let hosts = leaves * hosts_per_leaf;
        self.hosts(hosts);
        let tor = self.switches("tor", SwitchRole::Tor, leaves);
        let spine = self.switches("spine", SwitchRole::Spine, spines);
        for host in 0..hosts {
            self.join(host, tor + host / hosts_per_leaf, self.rate);
        }
        for leaf in 0..leaves {
            for s in 0..spines {
                self.join(tor + leaf, spine + s, uplink);
            }
        }
    }

    fn fat_tree(&mut self, k: u32) {
        let half = k / 2;
        let (hosts, edges) = (k * half * half, k * half);
        self.hosts(hosts);
        let tor = self.switches("tor", SwitchRole::Tor, edges);
        let agg = self.switches("agg", SwitchRole::Aggregation, edges);
        let spine = self.switches("spine", SwitchRole::Spine, half * half);
        for host in 0..hosts {
            self.join(host, tor + host / half, self.rate);
        }
        for t in 0..edges {
            for j in 0..half {
                self.join(tor + t, agg + t / half * half + j, self.rate);
            }
        }
        for a in 0..edges {
            for i in 0..half {
                self.join(agg + a, spine + a % half * half + i, self.rate);
            }
        }
    }

    fn listed(&mut self, listed: &[ListedNode], links: &[ListedLink]) {
        let hosts = listed.iter().filter(|node| node.switch.is_none()).count() as u32;
        let (mut next_host, mut next_switch) = (0, hosts);
        let mut number = Vec::with_capacity(listed.len());
        for node in listed {
            let next = if node.switch.is_none() { &mut next_host } else { &mut next_switch };
            number.push(*next);
            *next += 1;
        }
        let (as_hosts, as_switches): (Vec<_>, Vec<_>) = listed.iter().partition(|node| node.switch.is_none());
        for (host, node) in as_hosts.into_iter().enumerate() {
            self.nodes.push(Node { name: node.name.clone(), kind: NodeKind::Host(host as u32) });
        }
        for node in as_switches {
            let role = node.switch.expect("partitioned by it");
            self.nodes.push(Node { name: node.name.clone(), kind: NodeKind::Switch(role) });
        }
        for link in links {
            let (a, b) = (number[link.ends.0 as usize], number[link.ends.1 as usize]);
            self.join_after(a, b, link.rate, link.delay);
        }
    }

    fn hosts(&mut self, count: u32) {
        self.nodes
            .extend((0..count).map(|host| Node { name: format!("h{host}"), kind: NodeKind::Host(host) }));
    }

    /// Adds switches named by a prefix and their number among them; returns the first one's node.
    fn switches(&mut self, prefix: &str, role: SwitchRole, count: u32) -> u32 {
        let first = self.nodes.len() as u32;
        self.nodes
            .extend((0..count).map(|i| Node { name: format!("{prefix}{i}"), kind: NodeKind::Switch(role) }));
        first
    }

    fn join(&mut self, a: u32, b: u32, rate: Rate) {
        self.join_after(a, b, rate, self.delay);
    }

    fn join_after(&mut self, a: u32, b: u32, rate: Rate, delay: Span) {
        self.links.push(Link { from: a, to: b, rate, delay });
        self.links.push(Link { from: b, to: a, rate, delay });
    }

    fn finish(self) -> Graph {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A network of this shape at 100 Gb/s and 1 us a link.
    pub(crate) fn network(topology: Topology) -> Network {
        Network { topology, rate: Rate::from_gbps(100), delay: Span::from_us(1), mtu: 4000, framing: 0 }
    }

    pub(crate) fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Network {
        network(Topology::LeafSpine { leaves, spines, hosts_per_leaf, uplink: Rate::from_gbps(40) })
    }

    pub(crate) fn dumbbell(left: u32, right: u32) -> Network {
        let (bottleneck, bottleneck_delay) = (Rate::from_gbps(10), Span::from_us(50));
        network(Topology::Dumbbell { left, right, bottleneck, bottleneck_delay })
    }

    fn host(name: &str) -> ListedNode {
        ListedNode { name: name.into(), switch: None }
    }

    fn switch(name: &str, role: SwitchRole) -> ListedNode {
        ListedNode { name: name.into(), switch: Some(role) }
    }

    fn link(a: u32, b: u32, gbps: u64) -> ListedLink {
        ListedLink { ends: (a, b), rate: Rate::from_gbps(gbps), delay: Span::from_ns(500) }
    }

    fn listed(nodes: Vec<ListedNode>, links: Vec<ListedLink>) -> Graph {
        Graph::build(&network(Topology::Listed { nodes, links }))
    }

    fn names(graph: &Graph, links: impl IntoIterator<Item = u32>) -> Vec<String> {
        links.into_iter().map(|link| graph.link_name(link)).collect()
    }

    #[test]
    fn every_link_has_its_way_back_beside_it() {
        for network in [
            network(Topology::Star { hosts: 5 }),
            dumbbell(3, 2),
            leaf_spine(3, 4, 2),
            network(Topology::FatTree { k: 4 }),
        ] {
            let graph = Graph::build(&network);
            for (id, link) in graph.links().iter().enumerate() {
                let back = graph.link(id as u32 ^ 1);
                assert_eq!(
                    (back.from, back.to, back.rate, back.delay),
                    (link.to, link.from, link.rate, link.delay)
                );
            }
            for host in 0..graph.host_count() {
                assert_eq!(graph.nodes()[host as usize].kind, NodeKind::Host(host));
                assert_eq!(graph.link(graph.nic(host)).from, host);
                assert_eq!(graph.link(graph.downlink(host)).to, host);
            }
            let outgoing: usize =
                (0..graph.nodes().len() as u32).map(|node| graph.outgoing(node).len()).sum();
            assert_eq!(outgoing, graph.links().len());
        }
    }

    #[test]
    fn a_star_joins_each_host_to_tor0() {
        let graph = Graph::build(&network(Topology::Star { hosts: 3 }));
        assert_eq!((graph.host_count(), graph.switch_count()), (3, 1));
        assert_eq!(names(&graph, 0..4), ["h0>tor0", "tor0>h0", "h1>tor0", "tor0>h1"]);
        assert_eq!(graph.link_between("tor0", "h2"), Some(graph.downlink(2)));
        assert_eq!(graph.link_between("h0", "h1"), None);
        assert_eq!(graph.link_between("h0", "tor1"), None);
    }

    #[test]
    fn a_dumbbell_has_its_bottleneck_between_tor0_and_tor1() {
        let graph = Graph::build(&dumbbell(2, 3));
        let middle = graph.link(graph.link_between("tor0", "tor1").unwrap());
        assert_eq!((middle.rate, middle.delay), (Rate::from_gbps(10), Span::from_us(50)));
        assert_eq!(names(&graph, (0..5).map(|h| graph.nic(h)))[1..3], ["h1>tor0", "h2>tor1"]);
        assert_eq!(graph.link(graph.nic(4)).rate, Rate::from_gbps(100));
    }

    #[test]
    fn a_leaf_spine_joins_every_leaf_to_every_spine() {
        let graph = Graph::build(&leaf_spine(3, 2, 4));
        assert_eq!((graph.host_count(), graph.switch_count(), graph.links().len()), (12, 5, 2 * (12 + 6)));
        for leaf in 0..3 {
            for spine in 0..2 {
                let up = graph.link_between(&format!("tor{leaf}"), &format!("spine{spine}")).unwrap();
                assert_eq!(graph.link(up).rate, Rate::from_gbps(40));
            }
        }
        assert_eq!(graph.link_name(graph.nic(7)), "h7>tor1");
    }

    #[test]
    fn a_fat_tree_joins_aggregation_j_to_its_half_of_spines() {
        let graph = Graph::build(&network(Topology::FatTree { k: 4 }));
        assert_eq!((graph.host_count(), graph.switch_count(), graph.links().len()), (16, 20, 2 * 48));
        let up = |name: &str| {
            let node = graph.node_named(name).unwrap();
            names(&graph, graph.outgoing(node).iter().copied())
        };
        assert_eq!(up("tor5"), ["tor5>h10", "tor5>h11", "tor5>agg4", "tor5>agg5"]);
        assert_eq!(up("agg4"), ["agg4>tor4", "agg4>tor5", "agg4>spine0", "agg4>spine1"]);
        assert_eq!(up("agg5"), ["agg5>tor4", "agg5>tor5", "agg5>spine2", "agg5>spine3"]);
        assert_eq!(up("spine3"), ["spine3>agg1", "spine3>agg3", "spine3>agg5", "spine3>agg7"]);
        assert_eq!(graph.nodes()[20].kind, NodeKind::Switch(SwitchRole::Tor));
        assert_eq!(graph.nodes()[24].kind, NodeKind::Switch(SwitchRole::Aggregation));
        assert_eq!(graph.nodes()[35].kind, NodeKind::Switch(SwitchRole::Spine));
    }

    #[test]
    fn a_listed_network_keeps_its_names_and_numbers_hosts_in_order() {
        let nodes =
            vec![switch("edge", SwitchRole::Tor), host("a"), switch("core", SwitchRole::Spine), host("b")];
        let graph = listed(nodes, vec![link(1, 0, 10), link(0, 2, 40), link(2, 3, 25)]);
        assert_eq!(names(&graph, [graph.nic(0), graph.nic(1)]), ["a>edge", "b>core"]);
        assert_eq!(names(&graph, 0..6), ["a>edge", "edge>a", "edge>core", "core>edge", "core>b", "b>core"]);
        assert_eq!(graph.nodes()[3].kind, NodeKind::Switch(SwitchRole::Spine));
        assert_eq!(graph.link(graph.downlink(1)).rate, Rate::from_gbps(25));
    }

    #[test]
    #[should_panic(expected = "host a has 2 links")]
    fn a_host_with_two_links_is_refused() {
        let nodes = vec![host("a"), switch("s", SwitchRole::Tor)];
        listed(nodes, vec![link(0, 1, 10), link(0, 1, 10)]);
    }

    #[test]
    #[should_panic(expected = "is linked to a host")]
    fn a_host_linked_to_a_host_is_refused() {
        listed(vec![host("a"), host("b")], vec![link(0, 1, 10)]);
    }
}
