use super::super::topology::tests::{datacenters, dumbbell, leaf_spine, network};
use super::super::topology::NodeKind;
use super::*;
use crate::model::{ListedLink, ListedNode, SwitchRole, Topology};
use crate::random::{Entity, Stream};
use clearway_proto::units::{Rate, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Every shortest path between two nodes, found by widening the search link by link.
fn all_shortest(graph: &Graph, from: u32, to: u32) -> BTreeSet<Vec<u32>> {
    let ends_at = |path: &Vec<u32>| graph.link(path[path.len() - 1]).to;
    let leads_on = |path: &Vec<u32>| ends_at(path) >= graph.host_count() || ends_at(path) == to;
    let first = graph.outgoing(from).iter().map(|&link| vec![link]);
    let mut paths: Vec<Vec<u32>> = first.filter(leads_on).collect();
    let mut seen = BTreeSet::from([from]);
    while !paths.is_empty() && !paths.iter().any(|path| ends_at(path) == to) {
        seen.extend(paths.iter().map(ends_at));
        let mut longer = Vec::new();
        for path in paths {
            for &link in graph.outgoing(ends_at(&path)) {
                let next = graph.link(link).to;
                if !seen.contains(&next) && (next >= graph.host_count() || next == to) {
                    longer.push([&path[..], &[link]].concat());
                }
            }
        }
        paths = longer;
    }
    paths.into_iter().filter(|path| ends_at(path) == to).collect()
}

/// Uniform use of the paths: the Wilson-Hilferty cube root makes a chi-square value nearly normal.
fn assert_balanced(counts: &BTreeMap<Vec<u32>, u32>, draws: u32) {
    let freedom = counts.len() as f64 - 1.0;
    if freedom == 0.0 {
        return;
    }
    let expected = f64::from(draws) / counts.len() as f64;
    let chi_square: f64 =
        counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    let spread = 2.0 / (9.0 * freedom);
    let deviations = ((chi_square / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    assert!(deviations < 3.5, "{deviations} standard deviations: {counts:?}");
}

/// The router uses exactly the shortest paths, all alike, between these hosts.
fn assert_routes(graph: &Graph, router: &Router, from: u32, to: u32) -> usize {
    let shortest = all_shortest(graph, from, to);
    let draws = 60 * shortest.len() as u32;
    let mut counts: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let mut path = vec![99; 3];
    for flow in 0..u64::from(draws) {
        let hash = Stream::new(u64::from(from), Entity::FlowPath, u64::from(to) << 32 | flow).bits();
        router.path(from, to, hash, &mut path);
        assert!(shortest.contains(&path), "{path:?} from {from} to {to} is none of {shortest:?}");
        *counts.entry(path.clone()).or_default() += 1;
    }
    assert_eq!(counts.len(), shortest.len(), "every path is used");
    assert_balanced(&counts, draws);
    assert_lists(graph, router, from, to, &shortest);
    path.len()
}

/// The router lists exactly these paths, each once and in their order, and knows how many there are.
fn assert_lists(graph: &Graph, router: &Router, from: u32, to: u32, shortest: &BTreeSet<Vec<u32>>) {
    let mut listed = Vec::new();
    router.each_path(from, to, |path| listed.push(path.to_vec()));
    assert!(listed.iter().eq(shortest), "{listed:?} from {from} to {to} are not {shortest:?}");
    assert_eq!(router.paths(from, to) as usize, shortest.len());
    let (mut path, mut between) = (Vec::new(), Vec::new());
    for hash in (0..50).map(mix) {
        router.path(from, to, hash, &mut path);
        assert!(path_between(graph, from, to, hash, &mut between));
        assert_eq!(between, path);
    }
}

fn assert_routes_between_all(network: &Network) {
    let graph = Graph::build(network);
    let router = Router::new(&graph, network);
    let hosts = graph.host_count();
    let pairs = (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b))).filter(|(a, b)| a != b);
    let longest = pairs.clone().map(|(from, to)| assert_routes(&graph, &router, from, to)).max();
    assert_eq!(router.longest(), longest.unwrap_or(0));
    assert_eq!(Some(most_paths(network)), pairs.map(|(from, to)| router.paths(from, to)).max());
    assert_eq!(most_paths(&as_list(network)), most_paths(network));
}

/// Between any two nodes, paths by hash are exactly the shortest ones.
fn assert_joins_all_nodes(network: &Network) {
    let graph = Graph::build(network);
    let nodes = graph.nodes().len() as u32;
    let pairs = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))).filter(|(a, b)| a != b);
    let mut path = Vec::new();
    for (from, to) in pairs {
        let shortest = all_shortest(&graph, from, to);
        let mut used = BTreeSet::new();
        for hash in 0..60 * shortest.len().max(1) as u64 {
            assert_eq!(path_between(&graph, from, to, mix(hash), &mut path), !shortest.is_empty());
            used.insert(path.clone());
        }
        used.remove(&Vec::new());
        assert_eq!(used, shortest, "from {from} to {to}");
    }
}

/// Returns the network written out as a list.
fn as_list(network: &Network) -> Network {
    let graph = Graph::build(network);
    let nodes = graph.nodes().iter().map(|node| ListedNode {
        name: node.name.clone(),
        switch: match node.kind {
            NodeKind::Host(_) => None,
            NodeKind::Switch(role) => Some(role),
        },
    });
    let links = graph.links().chunks(2).map(|ways| ListedLink {
        ends: (ways[0].from, ways[0].to),
        rate: ways[0].rate,
        delay: ways[0].delay,
    });
    let topology = Topology::Listed { nodes: nodes.collect(), links: links.collect() };
    Network { topology, ..network.clone() }
}

fn fat_tree(k: u32) -> Network {
    network(Topology::FatTree { k })
}

#[test]
fn every_shape_uses_all_shortest_paths_alike() {
    assert_routes_between_all(&network(Topology::Star { hosts: 5 }));
    assert_routes_between_all(&dumbbell(3, 2));
    assert_routes_between_all(&leaf_spine(3, 5, 2));
    assert_routes_between_all(&fat_tree(4));
    assert_routes_between_all(&datacenters(2, 4));
}

#[test]
fn every_two_nodes_of_every_shape_are_joined_by_their_shortest_paths() {
    assert_joins_all_nodes(&network(Topology::Star { hosts: 3 }));
    assert_joins_all_nodes(&dumbbell(1, 2));
    assert_joins_all_nodes(&leaf_spine(3, 3, 1));
    assert_joins_all_nodes(&fat_tree(4));
    assert_joins_all_nodes(&datacenters(3, 2));
    for seed in 0..10 {
        assert_joins_all_nodes(&random_network(seed));
    }
}

#[test]
fn nodes_without_a_path_are_said_to_have_none() {
    let graph = Graph::build(&apart());
    let mut path = vec![1];
    for (from, to) in [(0, 1), (0, 3), (3, 0), (2, 3)] {
        assert!(!path_between(&graph, from, to, 0, &mut path));
        assert_eq!(path, [0; 0]);
    }
    assert!(path_between(&graph, 0, 2, 0, &mut path));
    assert_eq!(path, [0]);
}

#[test]
fn more_paths_than_can_be_counted_are_the_most_that_can() {
    // Forty tiers of two switches, each joined to both of the next.
    let name = |i: u32| ListedNode { name: format!("s{i}"), switch: Some(SwitchRole::Tor) };
    let mut nodes: Vec<ListedNode> = (0..82).map(name).collect();
    let (rate, delay) = (Rate::from_gbps(1), Span::from_us(1));
    let mut links = Vec::new();
    let mut join = |a, b| links.push(ListedLink { ends: (a, b), rate, delay });
    for tier in 0..40 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| 2 * tier + i);
        for (from, to) in [(a, c), (a, d), (b, c), (b, d)] {
            join(from, to);
        }
    }
    for (host, switch) in [(82, 0), (83, 80)] {
        nodes.push(ListedNode { name: format!("h{host}"), switch: None });
        join(host, switch);
    }
    let network = network(Topology::Listed { nodes, links });
    assert_eq!(most_paths(&network), u32::MAX);
    assert_eq!(Router::new(&Graph::build(&network), &network).paths(0, 1), u32::MAX);
}

#[test]
fn a_larger_fat_tree_too() {
    let network = fat_tree(8);
    let graph = Graph::build(&network);
    let router = Router::new(&graph, &network);
    for (from, to, links) in [(0, 3, 2), (0, 4, 4), (127, 113, 4), (0, 127, 6), (100, 17, 6), (64, 63, 6)] {
        assert_eq!(assert_routes(&graph, &router, from, to), links);
    }
}

#[test]
fn a_shape_and_its_list_are_one_network_with_the_same_routes() {
    for network in [
        network(Topology::Star { hosts: 4 }),
        dumbbell(2, 3),
        leaf_spine(4, 3, 2),
        fat_tree(6),
        datacenters(2, 4),
    ] {
        let list = as_list(&network);
        let graph = Graph::build(&network);
        assert_eq!(graph, Graph::build(&list));
        let (closed, listed) = (Router::new(&graph, &network), Router::new(&graph, &list));
        assert_eq!(closed.longest(), listed.longest());
        let mut stream = Stream::new(9, Entity::FlowPath, 0);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..2000 {
            let from = stream.below(u64::from(graph.host_count())) as u32;
            let to = stream.below(u64::from(graph.host_count())) as u32;
            if from != to {
                let hash = stream.bits();
                closed.path(from, to, hash, &mut a);
                listed.path(from, to, hash, &mut b);
                assert_eq!(a, b);
            }
        }
    }
}

/// Switches in a random tree with some more links, some of them parallel, and hosts at random switches.
fn random_network(seed: u64) -> Network {
    let mut stream = Stream::new(seed, Entity::TrafficTable, 0);
    let (switches, hosts) = (2 + stream.below(6), 2 + stream.below(5));
    let mut nodes = Vec::new();
    for switch in 0..switches {
        nodes.push(ListedNode { name: format!("s{switch}"), switch: Some(SwitchRole::Tor) });
    }
    let mut ends: Vec<(u64, u64)> = (1..switches).map(|switch| (stream.below(switch), switch)).collect();
    for _ in 0..stream.below(8) {
        let (a, b) = (stream.below(switches), stream.below(switches));
        if a != b {
            ends.push((a, b));
        }
    }
    for host in 0..hosts {
        nodes.push(ListedNode { name: format!("h{host}"), switch: None });
        ends.push((stream.below(switches), switches + host));
    }
    let (rate, delay) = (Rate::from_gbps(1), Span::from_us(1));
    let links = ends.into_iter().map(|(a, b)| ListedLink { ends: (a as u32, b as u32), rate, delay });
    network(Topology::Listed { nodes, links: links.collect() })
}

/// In an irregular graph the hash is uniform over links at each hop, hence not over paths.
#[test]
fn an_irregular_network_uses_all_shortest_paths() {
    for seed in 0..60 {
        let network = random_network(seed);
        let graph = Graph::build(&network);
        let router = Router::new(&graph, &network);
        let (mut longest, mut most) = (0, 0);
        let mut path = Vec::new();
        for (from, to) in (1..graph.host_count()).flat_map(|a| (0..a).flat_map(move |b| [(a, b), (b, a)])) {
            let shortest = all_shortest(&graph, from, to);
            let mut used = BTreeSet::new();
            for hash in 0..100 * shortest.len() as u64 {
                router.path(from, to, hash, &mut path);
                used.insert(path.clone());
            }
            assert_eq!(used, shortest);
            assert_lists(&graph, &router, from, to, &shortest);
            longest = longest.max(path.len());
            most = most.max(shortest.len());
        }
        assert_eq!(router.longest(), longest);
        assert_eq!(most_paths(&network) as usize, most);
    }
}

#[test]
fn a_flow_keeps_its_path_and_its_way_back_is_its_own() {
    let network = fat_tree(8);
    let graph = Graph::build(&network);
    let router = Router::new(&graph, &network);
    let (mut there, mut again, mut back) = (Vec::new(), Vec::new(), Vec::new());
    router.path(0, 127, 5, &mut there);
    router.path(0, 127, 5, &mut again);
    assert_eq!(there, again);
    let symmetric = (0..1600).filter(|&hash| {
        router.path(0, 127, hash, &mut there);
        router.path(127, 0, mix(hash), &mut back);
        there.iter().rev().map(|link| link ^ 1).eq(back.iter().copied())
    });
    // One in 16 paths by chance: 100 of 1600, standard deviation 9.7.
    assert!(symmetric.count().abs_diff(100) < 30);
}

/// Two hosts, each at a switch of its own, and nothing between.
fn apart() -> Network {
    let node = |name: &str, switch| ListedNode { name: name.into(), switch };
    let tor = Some(SwitchRole::Tor);
    let nodes = vec![node("a", None), node("b", None), node("s", tor), node("t", tor)];
    let link = |a, b| ListedLink { ends: (a, b), rate: Rate::from_gbps(1), delay: Span::from_us(1) };
    network(Topology::Listed { nodes, links: vec![link(0, 2), link(1, 3)] })
}

#[test]
#[should_panic(expected = "no path from host 0 to host 1")]
fn hosts_that_are_not_joined_have_no_path() {
    let network = apart();
    let graph = Graph::build(&network);
    Router::new(&graph, &network).path(0, 1, 0, &mut Vec::new());
}
