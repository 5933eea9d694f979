//! Descriptions of networks before a run, against arithmetic: paths, base round trips, bandwidth-delay products, how flows begin, and the load
//! of links.
//!
//! Frames have 4096 bytes of payload, 28 of headers and 38 of framing; acknowledgements 28 and 38.

use std::collections::BTreeMap;

use clearway_proto::units::{Rate, Span};
use clearway_sim::host::transport::Maker;
use clearway_sim::model::Scenario;
use clearway_sim::preview::{self, Expected};
use clearway_sim::simulation::DataRoutes;
use clearway_sim::topology::routing::Router;
use clearway_sim::topology::Graph;

use crate::experiment::loaded;

/// A megabyte on the wire: 245 frames.
const MEGABYTE: f64 = 1_000_000.0 + 245.0 * 66.0;

/// The time that a link of 100 Gb/s and 1 us adds to a base round trip, in picoseconds: 4162 bytes there and 66 back, at 80 ps a byte.
const CROSSING: u64 = 4162 * 80 + 66 * 80 + 2 * 1_000_000;

fn scenario(network: &str, transport: &str, rest: &str) -> Scenario {
    let text = format!(
        "format = 1\nname = 'preview'\nduration = '1ms'\n[network]\n{network}\nrate = '100Gbps'\ndelay = '1us'\nmtu = '4096B'\n\
         [transport.t]\nprotocol = 'none'\nheader = '28B'\n{transport}\n{rest}"
    );
    loaded(&text, None).scenario
}

fn star(rest: &str) -> Scenario {
    scenario("topology = 'star'\nhosts = 4", "", rest)
}

fn fat_tree(transport: &str) -> Scenario {
    let one = "[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 4\nbytes = '1MB'";
    scenario("topology = 'fat_tree'\nk = 4", transport, one)
}

fn load(scenario: &Scenario) -> (Expected, BTreeMap<String, f64>) {
    let routes = DataRoutes::of(scenario);
    let all = preview::expected(scenario, &routes);
    let carrying = (0..).zip(&all.links).filter(|(_, load)| load.bytes > 0.0);
    let named = carrying.map(|(link, load)| (routes.graph().link_name(link), load.bytes)).collect();
    (all, named)
}

fn named<const N: usize>(loads: [(&str, f64); N]) -> BTreeMap<String, f64> {
    loads.map(|(name, bytes)| (name.to_string(), bytes)).into()
}

#[test]
fn two_hosts_of_a_star_are_two_links_apart() {
    let scenario = star("[[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 3");
    let graph = Graph::build(&scenario.network);
    let pair = preview::pair(&scenario, &graph, (1, 3), 10);
    assert_eq!((pair.paths, &pair.listed), (1, &vec![vec![graph.nic(1), graph.downlink(3)]]));
    let [least, greatest] = pair.beginnings[0].limits;
    assert_eq!((least.base_rtt, least), (Span::from_ps(2 * CROSSING), greatest));
    // 4.67648 us at 12.5 bytes a nanosecond.
    assert_eq!((2 * CROSSING, least.bdp()), (4_676_480, 58_456));
}

#[test]
fn hosts_of_a_fat_tree_have_a_path_for_each_switch_that_joins_them() {
    let scenario = fat_tree("");
    let graph = Graph::build(&scenario.network);
    // Hosts 0 and 1 are under one switch, 2 is in their pod, 4 in the next.
    for (to, paths, links) in [(1, 1, 2), (2, 2, 4), (4, 4, 6)] {
        let pair = preview::pair(&scenario, &graph, (0, to), 3);
        assert_eq!((pair.paths, pair.listed.len()), (paths, 3.min(paths as usize)));
        assert!(pair.listed.iter().all(|path| path.len() == links));
        let rtt = Span::from_ps(links as u64 * CROSSING);
        assert_eq!(pair.beginnings[0].limits.map(|way| way.base_rtt), [rtt; 2]);
    }
    let maker = Maker::new(&scenario.transports[0], &scenario.network);
    let [least, greatest] = preview::extremes(&scenario.network, &graph, &maker).unwrap();
    let rtts = [least.limits.base_rtt, greatest.limits.base_rtt];
    assert_eq!(rtts, [2, 6].map(|links| Span::from_ps(links * CROSSING)));
}

#[test]
fn paths_of_as_many_links_may_take_different_times() {
    let uneven = "topology = 'file'\nfile = 'uneven_paths.toml'";
    let scenario = scenario(uneven, "", "[[traffic]]\npattern = 'permutation'");
    let graph = Graph::build(&scenario.network);
    let pair = preview::pair(&scenario, &graph, (0, 1), 4);
    assert_eq!(pair.paths, 2);
    // Four links, of which two have a tenth of the rate: nine times more for a frame there and its acknowledgement back.
    let slower = 2 * 9 * (CROSSING - 2_000_000);
    let [least, greatest] = pair.beginnings[0].limits;
    assert_eq!((least.base_rtt, least.slowest), (Span::from_ps(4 * CROSSING), Rate::from_gbps(100)));
    assert_eq!(
        (greatest.base_rtt, greatest.slowest),
        (Span::from_ps(4 * CROSSING + slower), Rate::from_gbps(10))
    );
}

/// The shortest and longest base round trip and the slowest link of each, path by path.
fn by_enumeration(scenario: &Scenario, graph: &Graph, maker: &Maker) -> [(Span, Rate); 2] {
    let router = Router::new(graph, &scenario.network);
    let mut all = Vec::new();
    for (from, to) in (0..graph.host_count()).flat_map(|a| (0..graph.host_count()).map(move |b| (a, b))) {
        if from != to {
            router.each_path(from, to, |path| {
                let links = || path.iter().map(|&link| graph.link(link));
                let rtt = links().map(|link| maker.there_and_back(link.rate, link.delay));
                let rtt = rtt.fold(Span::ZERO, |sum, each| sum + each);
                all.push((rtt, links().map(|link| link.rate).min().unwrap()));
            });
        }
    }
    [*all.iter().min_by_key(|path| path.0).unwrap(), *all.iter().max_by_key(|path| path.0).unwrap()]
}

#[test]
fn the_range_of_round_trips_is_that_of_all_paths_of_all_pairs() {
    for network in [
        "topology = 'star'\nhosts = 4",
        "topology = 'dumbbell'\nleft = 1\nright = 3\nbottleneck = '10Gbps'\nbottleneck_delay = '7us'",
        "topology = 'leaf_spine'\nleaves = 3\nspines = 2\nhosts_per_leaf = 4",
        "topology = 'leaf_spine'\nleaves = 3\nspines = 2\nhosts_per_leaf = 1",
        "topology = 'fat_tree'\nk = 4",
        "topology = 'datacenters'\nk = 2\ndatacenters = 3\nlong_rate = '40Gbps'\nlong_km = 10.0\nrelays = true",
        "topology = 'file'\nfile = 'odd_rates.toml'",
        "topology = 'file'\nfile = 'ring.toml'",
        "topology = 'file'\nfile = 'uneven_paths.toml'",
    ] {
        let rest = "[switch.default]\npfc = 'static'\npfc_xoff = '288kB'\n[[traffic]]\npattern = 'permutation'";
        let scenario = scenario(network, "", rest);
        let graph = Graph::build(&scenario.network);
        let maker = Maker::new(&scenario.transports[0], &scenario.network);
        let found = preview::extremes(&scenario.network, &graph, &maker).unwrap();
        let found = found.map(|end| (end.limits.base_rtt, end.limits.slowest));
        assert_eq!(found, by_enumeration(&scenario, &graph, &maker), "{network}");
    }
}

#[test]
fn an_incast_loads_the_receivers_link_with_all_of_it() {
    let (all, loads) = load(&star("[[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 3\nbytes = '1MB'"));
    let each = ["h0>tor0", "h1>tor0", "h2>tor0"].map(|name| (name, MEGABYTE));
    let mut expected = named(each);
    expected.extend(named([("tor0>h3", 3.0 * MEGABYTE)]));
    assert_eq!((loads, all.counted_flows, all.payload_bytes), (expected, 3, 3e6));
}

#[test]
fn sprayed_packets_load_every_path_alike() {
    let (_, loads) = load(&fat_tree("spray = 'packet'"));
    let (half, quarter) = (MEGABYTE / 2.0, MEGABYTE / 4.0);
    let mut expected = named([("h0>tor0", MEGABYTE), ("tor2>h4", MEGABYTE)]);
    expected.extend(named([
        ("tor0>agg0", half),
        ("tor0>agg1", half),
        ("agg2>tor2", half),
        ("agg3>tor2", half),
    ]));
    for (number, aggregation) in [0, 0, 1, 1].into_iter().enumerate() {
        expected.insert(format!("agg{aggregation}>spine{number}"), quarter);
        expected.insert(format!("spine{number}>agg{}", aggregation + 2), quarter);
    }
    assert_eq!(loads, expected);
}

#[test]
fn a_flow_on_one_path_loads_that_path_alone() {
    let (_, loads) = load(&fat_tree(""));
    assert_eq!(loads.len(), 6);
    assert!(loads.values().all(|&bytes| bytes == MEGABYTE), "{loads:?}");
}

#[test]
fn flows_without_a_size_count_as_flows_and_late_ones_not_at_all() {
    // The third flow of the incast would start at 1.2 ms, and the run ends at 1 ms.
    let scenario = star(
        "[[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 3\nstagger = '600us'\n\
         [[traffic]]\npattern = 'closed_loop'\nfrom = 0\nto = 1\nbytes = '1kB'",
    );
    let (all, loads) = load(&scenario);
    assert!(loads.is_empty());
    assert_eq!((all.counted_flows, all.greedy_flows, all.late_flows), (0, 3, 1));
    let graph = Graph::build(&scenario.network);
    let greedy = |link: u32| all.links[link as usize].greedy;
    assert_eq!(
        [graph.nic(0), graph.downlink(1), graph.downlink(3), graph.nic(2)].map(greedy),
        [2.0, 1.0, 2.0, 0.0]
    );
}

#[test]
fn reads_of_an_open_loop_load_both_ways_with_their_mean() {
    // 50 reads in the half of a millisecond, by turns from two targets: requests of 100 bytes, answers of two frames.
    let (all, loads) = load(&star(
        "[[traffic]]\npattern = 'open_loop'\nfrom = 0\nto = '1..3'\nbytes = '5kB'\noperation = 'read'\nrequest_bytes = '100B'\nrate = '100k/s'\n\
         stop = '500us'",
    ));
    let (requests, answers) = (50.0 * 166.0, 50.0 * (5000.0 + 2.0 * 66.0));
    let expected = named([
        ("h0>tor0", requests),
        ("h1>tor0", answers / 2.0),
        ("h2>tor0", answers / 2.0),
        ("tor0>h0", answers),
        ("tor0>h1", requests / 2.0),
        ("tor0>h2", requests / 2.0),
    ]);
    assert_eq!((loads, all.counted_flows), (expected, 4));
}

#[test]
fn a_job_loads_links_with_all_its_messages_in_all_iterations() {
    // A ring all-reduce of 4 ranks: each sends 6 messages of a quarter to the next, 100 kB in 25 frames, three times.
    let (all, loads) = load(&star(
        "[[job]]\nkind = 'collective'\ncollective = 'all_reduce'\nalgorithm = 'ring'\nbytes = '400kB'\niterations = 3",
    ));
    let bytes = 3.0 * 6.0 * (100_000.0 + 25.0 * 66.0);
    assert_eq!((loads.len(), all.counted_flows, all.payload_bytes), (8, 4, 4.0 * 18.0 * 100_000.0));
    assert!(loads.values().all(|&found| found == bytes), "{loads:?} {bytes}");
}

#[test]
fn a_flow_begins_as_its_transport_says() {
    let scenario = scenario(
        "topology = 'star'\nhosts = 4",
        "window = 7\nrto = '3ms'\n[transport.hpcc]\nprotocol = 'hpcc'\nheader = '28B'",
        "[[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 3\ntransport = 't'",
    );
    let graph = Graph::build(&scenario.network);
    let pair = preview::pair(&scenario, &graph, (0, 3), 1);
    let fixed = &pair.beginnings[0];
    assert_eq!((fixed.windows.cwnd, fixed.rto), (7.0, Span::from_ms(3)));
    // HPCC begins with the packets that the NIC sends in a base round trip, rounded up: 4676.48 / 332.96 is 14.05.
    assert_eq!(pair.beginnings[1].windows.cwnd, 15.0);
}
