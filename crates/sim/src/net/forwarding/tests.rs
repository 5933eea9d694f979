//! Forwarding around dead links, in a fat tree of 4-port switches and in a ring: who chooses what, and from when on.

use clearway_proto::units::{Span, Time};

use super::*;
use crate::model::{ListedLink, ListedNode, SwitchRole, Topology};
use crate::topology::tests::network;

const US: u64 = 1_000_000;

fn fat_tree() -> Graph {
    Graph::build(&network(Topology::FatTree { k: 4 }))
}

fn both(graph: &Graph, a: &str, b: &str) -> Vec<u32> {
    let link = graph.link_between(a, b).expect("a link");
    vec![link, link ^ 1]
}

fn outage(table: u32, links: Vec<u32>, from_us: u64, until: Time) -> Outage {
    Outage { table, links, from: Time::from_ps(from_us * US), until }
}

/// Forwarding of `count` conversations between two hosts, without usual paths.
fn between(graph: &Graph, hosts: [u32; 2], count: usize, rehash: Rehash, outages: &[Outage]) -> Forwarding {
    let routing = Routing { detect: Span::from_us(10), converge: Span::from_us(100), rehash };
    let mut usual = UsualPaths::default();
    (0..2 * count).for_each(|_| usual.add(&[]));
    Forwarding::new(graph, &routing, outages, vec![Some([hosts[1], hosts[0]]); count], usual)
}

fn data(route: u32, hops: u32) -> Asked {
    let meta = (0..hops).fold(Meta::new(64, 0), |meta, _| meta.crossed());
    Asked { route, conversation: route, meta, salt: 0 }
}

/// The names of the nodes that a frame passes from this one on, at an instant; the last is `nowhere` if it finds no way.
fn path(forwarding: &Forwarding, graph: &Graph, from: &str, route: u32, at_us: u64) -> Vec<String> {
    let mut node = graph.node_named(from).expect("a node");
    let mut names = Vec::new();
    for hop in 1.. {
        match forwarding.hop(graph, node, &data(route, hop), at_us * US) {
            Hop::Over(link) => node = graph.link(link).to,
            Hop::Nowhere(fault) => {
                names.push(format!("nowhere {fault}"));
                return names;
            }
            other => panic!("{other:?}"),
        }
        names.push(graph.nodes()[node as usize].name.clone());
        if node < graph.host_count() {
            return names;
        }
    }
    unreachable!("a path has an end")
}

/// The links from spine0 to the last pod die at 1 ms and live again at 2 ms. What goes through spine0 is lost there from when it knows,
/// and moves when all do; everything else stays where it was.
#[test]
fn a_dead_link_is_left_by_those_that_know_of_it() {
    let graph = fat_tree();
    let dead = outage(3, both(&graph, "spine0", "agg6"), 1000, Time::from_ps(2000 * US));
    for rehash in [Rehash::Minimal, Rehash::Modulo] {
        let forwarding = between(&graph, [0, 15], 400, rehash, std::slice::from_ref(&dead));
        let at = |route, us| path(&forwarding, &graph, "tor0", route, us);
        let mut by_spine = BTreeMap::<String, u32>::new();
        for route in 0..400 {
            let before = at(route, 500);
            *by_spine.entry(before[1].clone()).or_default() += 1;
            assert_eq!(before.len(), 5, "{before:?}");
            // For 10 us nobody knows, and for 90 more the aggregation switch does not.
            assert_eq!(at(route, 1009), before);
            let meanwhile = at(route, 1050);
            if before[1] == "spine0" {
                assert_eq!(meanwhile, ["agg0", "spine0", "nowhere 3"]);
            } else {
                assert_eq!(meanwhile, before);
            }
            let after = at(route, 1100);
            assert_eq!((after.len(), after[1] != "spine0"), (5, true), "{after:?}");
            if rehash == Rehash::Minimal && before[1] != "spine0" {
                assert_eq!(after, before);
            }
            // Its return is believed as late as its death.
            assert_eq!(at(route, 2099), after);
            assert_eq!(at(route, 2100), before);
        }
        // Two draws of one in two each: a quarter of the flows through each spine switch.
        assert!(
            by_spine.len() == 4 && by_spine.values().all(|count| (70..130).contains(count)),
            "{by_spine:?}"
        );
    }
}

/// Most flows of a switch with a dead next hop move under the modulo hash, where there are three and more; under the highest weight only
/// those of the dead one do.
#[test]
fn rehashing_moves_as_many_flows_as_it_says() {
    let graph = Graph::build(&crate::topology::tests::leaf_spine(2, 8, 1));
    let dead = outage(0, both(&graph, "tor0", "spine3"), 1000, Time::NEVER);
    let moved = |rehash| {
        let forwarding = between(&graph, [0, 1], 1000, rehash, std::slice::from_ref(&dead));
        let at = |route, us| path(&forwarding, &graph, "tor0", route, us)[0].clone();
        let of_dead = (0..1000).filter(|&route| at(route, 0) == "spine3").count();
        // The switch of the dead link itself knows after 10 us.
        let moved = (0..1000).filter(|&route| at(route, 0) != at(route, 1010)).count();
        assert!((0..1000).all(|route| at(route, 1010) != "spine3"));
        (of_dead, moved)
    };
    let (of_dead, by_weight) = moved(Rehash::Minimal);
    assert_eq!(by_weight, of_dead);
    assert!((80..170).contains(&of_dead), "{of_dead} of 1000 through one of eight");
    let (_, by_modulo) = moved(Rehash::Modulo);
    // A remainder by 8 and one by 7 name the same link for one flow in eight.
    assert!((820..920).contains(&by_modulo), "{by_modulo} of 1000 move");
}

/// Six switches in a ring: the way around is four links instead of two, or there is none.
#[test]
fn a_longer_way_is_taken_where_no_other_is_left() {
    let switch = |i| ListedNode { name: format!("s{i}"), switch: Some(SwitchRole::Tor) };
    let host = |name: &str| ListedNode { name: name.into(), switch: None };
    let nodes: Vec<_> = (0..6).map(switch).chain([host("a"), host("b")]).collect();
    let link = |a, b| ListedLink {
        ends: (a, b),
        rate: clearway_proto::units::Rate::from_gbps(10),
        delay: Span::from_us(1),
    };
    let links = (0..6).map(|i| link(i, (i + 1) % 6)).chain([link(6, 0), link(7, 2)]).collect();
    let graph = Graph::build(&network(Topology::Listed { nodes, links }));
    let one = outage(0, both(&graph, "s1", "s2"), 1000, Time::NEVER);
    let two = outage(1, both(&graph, "s4", "s5"), 3000, Time::from_ps(5000 * US));
    let forwarding = between(&graph, [0, 1], 1, Rehash::Minimal, &[one, two]);
    let at = |from, us| path(&forwarding, &graph, from, 0, us);
    assert_eq!(at("s0", 0), ["s1", "s2", "b"]);
    assert_eq!(at("s0", 1050), ["s1", "nowhere 0"]);
    assert_eq!(at("s0", 1100), ["s5", "s4", "s3", "s2", "b"]);
    // What is at s1 when routes change turns round.
    assert_eq!(at("s1", 1100), ["s0", "s5", "s4", "s3", "s2", "b"]);
    assert_eq!(at("s0", 3050), ["s5", "nowhere 1"]);
    assert_eq!(at("s0", 3100), ["nowhere 1"]);
    assert_eq!(at("s0", 5100), ["s5", "s4", "s3", "s2", "b"]);
}

/// A link of a host has no way around it; one that is back before anybody notices is not missed, and one that never lived was never in
/// a route.
#[test]
fn what_is_known_of_a_link_has_its_time() {
    let graph = fat_tree();
    let (short, never) = (Time::from_ps(1009 * US), Time::NEVER);
    let last = |from, until| {
        let forwarding = between(
            &graph,
            [0, 1],
            1,
            Rehash::Minimal,
            &[outage(0, both(&graph, "h1", "tor0"), from, until)],
        );
        move |graph: &Graph, us| path(&forwarding, graph, "tor0", 0, us)
    };
    let (flapping, dying, stillborn) = (last(1000, short), last(1000, never), last(0, never));
    assert_eq!((flapping(&graph, 1005), flapping(&graph, 1015)), (vec!["h1".into()], vec!["h1".into()]));
    assert_eq!((dying(&graph, 1005), dying(&graph, 1015)), (vec!["h1".into()], vec!["nowhere 0".into()]));
    assert_eq!(stillborn(&graph, 0), ["nowhere 0"]);
}

/// A conversation whose senders choose its paths is left alone.
#[test]
fn paths_of_senders_are_kept() {
    let graph = fat_tree();
    let routing = Routing { detect: Span::ZERO, converge: Span::ZERO, rehash: Rehash::Minimal };
    let mut usual = UsualPaths::default();
    (0..2).for_each(|_| usual.add(&[]));
    let forwarding = Forwarding::new(&graph, &routing, &[], vec![None], usual);
    assert_eq!(forwarding.hop(&graph, 16, &data(0, 1), 0), Hop::AsRouted);
}
