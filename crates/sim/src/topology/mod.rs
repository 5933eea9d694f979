//! Topologies: the graph of a network, as its shape draws it, and the paths through it. Nothing here runs: readers of scenarios ask
//! how many hosts there are, and what they are called.

mod distances;
mod graph;
pub mod routing;
pub mod shape;

pub use graph::{Graph, Link, Node, NodeKind};

use crate::model::Network;
use graph::Plan;

impl Graph {
    /// The graph of this network. Panics when a listed host has not exactly one link, to a switch.
    pub fn build(network: &Network) -> Graph {
        let mut plan = Plan::default();
        shape::of(&network.topology).draw(&mut plan, network.rate, network.delay);
        plan.finish()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{ListedLink, ListedNode, SwitchRole, Topology};
    use clearway_proto::units::{Rate, Span};

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

    pub(crate) fn datacenters(count: u32, k: u32) -> Network {
        let (long_rate, long_delay) = (Rate::from_gbps(400), Span::from_us(400));
        network(Topology::Datacenters { count, k, long_rate, long_delay, relays: false })
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
            datacenters(3, 4),
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
    fn datacenters_are_fat_trees_in_a_line() {
        let graph = Graph::build(&datacenters(3, 4));
        // Each has 16 hosts, 8 edge, 8 aggregation, 4 spine switches and one that joins them.
        assert_eq!(
            (graph.host_count(), graph.switch_count(), graph.links().len()),
            (48, 63, 2 * (3 * 52 + 2))
        );
        let long = graph.link(graph.link_between("dci1", "dci2").unwrap());
        assert_eq!((long.rate, long.delay), (Rate::from_gbps(400), Span::from_us(400)));
        assert_eq!(graph.link_between("dci0", "dci2"), None);
        for spine in 0..12 {
            let up = graph.link_between(&format!("spine{spine}"), &format!("dci{}", spine / 4)).unwrap();
            assert_eq!(graph.link(up).rate, Rate::from_gbps(100));
        }
        assert_eq!(graph.link(graph.nic(16)).to, graph.node_named("tor8").unwrap());
        let within = graph.link_between("agg8", "spine4").unwrap();
        assert_eq!(graph.link(within).delay, graph.link(graph.nic(0)).delay);
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
