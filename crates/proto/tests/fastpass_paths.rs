//! Path selection against a slow count of every link's packets: random slots and the worst ones.

use std::collections::BTreeMap;

use clearway_proto::fastpass::paths::{
    DeadLinks, FatTree, FatTreePath, FatTreeShape, LeafSpine, Link, Pair, PathError, Racks, BLOCKED, BYPASS,
    MAX_ENDPOINTS, MAX_PATHS, MAX_RACKS,
};
use proptest::prelude::*;

/// A network of racks alike, with its failed paths.
#[derive(Clone, Debug)]
struct Network {
    racks: usize,
    hosts: usize,
    paths: usize,
    failed: Vec<usize>,
}

impl Network {
    fn new(racks: usize, hosts: usize, paths: usize) -> Network {
        Network { racks, hosts, paths, failed: vec![] }
    }

    /// All links of these paths are dead.
    fn without(&self, failed: &[usize]) -> DeadLinks {
        let racks = Racks::uniform(self.racks, self.hosts).unwrap();
        let mut dead = DeadLinks::leaf_spine(&racks, self.paths).unwrap();
        for (rack, &switch) in (0..self.racks).flat_map(|rack| failed.iter().map(move |path| (rack, path))) {
            dead.set(Link::FromRack { rack, switch }, true).unwrap();
            dead.set(Link::ToRack { rack, switch }, true).unwrap();
        }
        dead
    }

    fn build(&self) -> LeafSpine {
        let mut network =
            LeafSpine::new(Racks::uniform(self.racks, self.hosts).unwrap(), self.paths).unwrap();
        network.avoid(&self.without(&self.failed)).unwrap();
        network
    }

    /// Selects paths and counts the packets of each link, one by one.
    fn check(&self, slot: &[Pair]) {
        let selected = self.build().select(slot).unwrap().to_vec();
        assert_eq!(selected.len(), slot.len());
        let rack = |endpoint: u16| usize::from(endpoint) / self.hosts;
        let mut degrees = BTreeMap::new();
        let mut links = BTreeMap::new();
        let mut blocked = false;
        for (&(source, destination), &path) in slot.iter().zip(&selected) {
            let (from, to) = (rack(source), rack(destination));
            if from == to {
                assert_eq!(path, BYPASS, "a packet within rack {from} leaves it");
                continue;
            }
            blocked |= path == BLOCKED;
            let end_of = [("out of", from), ("into", to)];
            for end in end_of {
                *degrees.entry(end).or_insert(0_usize) += 1;
            }
            if path != BLOCKED {
                assert!(
                    usize::from(path) < self.paths && !self.failed.contains(&usize::from(path)),
                    "{path}"
                );
                for end in end_of {
                    *links.entry((end, usize::from(path))).or_insert(0_usize) += 1;
                }
            }
        }
        let kept: Vec<_> = (0..self.paths).filter(|path| !self.failed.contains(path)).collect();
        let mut too_many = false;
        for (&end, &degree) in &degrees {
            let carried = if self.failed.is_empty() { 0 } else { self.hosts.div_ceil(self.paths) };
            let most = degree.div_ceil(self.paths).max(carried);
            too_many |= degree > most * kept.len();
            for &path in &kept {
                let load = links.get(&(end, path)).copied().unwrap_or(0);
                let even = self.failed.is_empty() && self.paths.is_power_of_two();
                let least = if even { degree / self.paths } else { 0 };
                assert!((least..=most).contains(&load), "{end:?}, path {path}: {load} of {degree}");
            }
        }
        assert!(too_many || !blocked, "a packet is blocked although the living links carry all");
    }
}

/// Networks of up to 4000 endpoints, with any number of paths, of which at least one is left.
fn network() -> impl Strategy<Value = Network> {
    let paths = prop_oneof![
        3 => prop_oneof![Just(2_usize), Just(4), Just(8), Just(16), Just(32)],
        1 => 1..=MAX_PATHS,
    ];
    let racks = prop_oneof![2..=8_usize, 9..=40_usize, 41..=100_usize];
    (racks, 1..=40_usize, paths)
        .prop_flat_map(|(racks, hosts, paths)| {
            let failed = prop_oneof![
                2 => Just(vec![]),
                3 => proptest::sample::subsequence((0..paths).collect::<Vec<_>>(), 0..paths),
            ];
            (Just(racks), Just(hosts), Just(paths), failed)
        })
        .prop_map(|(racks, hosts, paths, failed)| Network { racks, hosts, paths, failed })
}

/// A matching of a share of the endpoints.
fn matching(endpoints: usize) -> impl Strategy<Value = Vec<Pair>> {
    let receivers = Just((0..endpoints as u16).collect::<Vec<_>>()).prop_shuffle();
    let quiet = prop_oneof![Just(0), 0..=100_u8];
    (receivers, quiet, prop::collection::vec(0..100_u8, endpoints)).prop_map(|(receivers, quiet, draws)| {
        let pairs = (0..).zip(receivers).zip(draws);
        pairs.filter(|&(_, draw)| draw >= quiet).map(|(pair, _)| pair).collect()
    })
}

/// Any packets, many between the same racks.
fn crowd(endpoints: usize) -> impl Strategy<Value = Vec<Pair>> {
    let last = endpoints as u16 - 1;
    let end = move || prop_oneof![0..=last, 0..=last.min(30)];
    prop::collection::vec((end(), end()), 0..=endpoints)
}

fn network_and_slot() -> impl Strategy<Value = (Network, Vec<Pair>)> {
    network().prop_flat_map(|network| {
        let endpoints = network.racks * network.hosts;
        (Just(network), prop_oneof![3 => matching(endpoints).boxed(), 1 => crowd(endpoints).boxed()])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn every_rack_is_balanced_over_the_paths_that_are_left((network, slot) in network_and_slot()) {
        network.check(&slot);
    }

    /// What was selected before leaves no trace.
    #[test]
    fn a_slot_depends_on_nothing_before_it(
        (network, slot) in network_and_slot(),
        other in crowd(64),
        failed in 0..4_usize,
    ) {
        let expected = network.build().select(&slot).unwrap().to_vec();
        let mut used = network.build();
        let endpoints = (network.racks * network.hosts) as u16;
        let other: Vec<_> = other.iter().map(|&(a, b)| (a % endpoints, b % endpoints)).collect();
        let _ = used.avoid(&Network { paths: 4, ..network.clone() }.without(&[failed]));
        used.avoid(&network.without(&[failed % network.paths])).unwrap();
        let _ = used.select(&other);
        let _ = used.select(&[(0, 0), (0, endpoints)]);
        used.avoid(&network.without(&network.failed)).unwrap();
        prop_assert_eq!(used.select(&slot).unwrap(), expected);
    }

    #[test]
    fn no_link_of_a_fat_tree_carries_two_packets_of_a_slot(
        (half, slot) in prop_oneof![Just(1_usize), Just(2), Just(3), Just(4), Just(5)]
            .prop_flat_map(|half| (Just(half), matching(2 * half * half * half)))
    ) {
        check_fat_tree(half, &slot);
    }
}

/// A fat tree of 2 × `half`-port switches: every link of a slot, by name.
fn check_fat_tree(half: usize, slot: &[Pair]) {
    let racks = Racks::uniform(2 * half * half, half).unwrap();
    let shape = FatTreeShape { racks_per_pod: half, aggregation: half, cores: half };
    let selected = FatTree::new(racks, shape).unwrap().select(slot).unwrap().to_vec();
    assert_eq!(selected.len(), slot.len());
    let mut used = BTreeMap::new();
    let mut carry = |link: String, packet| {
        if let Some(other) = used.insert(link.clone(), packet) {
            panic!("link {link} carries {other:?} and {packet:?}");
        }
    };
    for (&packet, &FatTreePath { aggregation, core }) in slot.iter().zip(&selected) {
        let [from, to] = [packet.0, packet.1].map(|endpoint| usize::from(endpoint) / half);
        let [from_pod, to_pod] = [from, to].map(|rack| rack / half);
        if from == to {
            assert_eq!((aggregation, core), (BYPASS, BYPASS));
            continue;
        }
        assert!(usize::from(aggregation) < half);
        carry(format!("rack {from} to aggregation switch {aggregation}"), packet);
        carry(format!("aggregation switch {aggregation} to rack {to}"), packet);
        if from_pod == to_pod {
            assert_eq!(core, BYPASS);
            continue;
        }
        assert!(usize::from(core) < half);
        carry(format!("aggregation switch {aggregation} of pod {from_pod} to core {core}"), packet);
        carry(format!("core {core} to aggregation switch {aggregation} of pod {to_pod}"), packet);
    }
}

/// Returns pairs in which every endpoint sends to the one `by` further on.
fn shifted(endpoints: usize, by: usize) -> Vec<Pair> {
    (0..endpoints).map(|source| (source as u16, ((source + by) % endpoints) as u16)).collect()
}

#[test]
fn permutations_fill_every_link_of_a_fat_tree_once() {
    for half in [2, 4, 8] {
        let endpoints = 2 * half * half * half;
        for by in [1, half, half + 1, half * half, half * half + half + 1, endpoints / 2, endpoints - 1] {
            check_fat_tree(half, &shifted(endpoints, by));
        }
        check_fat_tree(half, &[]);
        check_fat_tree(half, &[(0, endpoints as u16 - 1)]);
        // Everything between two racks of one pod, and of two.
        let swapped = |other: usize| -> Vec<Pair> {
            (0..half).map(|host| (host as u16, (other * half + host) as u16)).collect()
        };
        check_fat_tree(half, &swapped(1));
        check_fat_tree(half, &swapped(half));
    }
}

#[test]
fn the_worst_slots_are_balanced_with_any_paths_left() {
    for paths in [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32] {
        for failed in
            [vec![], vec![0], vec![paths - 1], (1..paths).collect(), (0..paths).step_by(3).collect()]
        {
            if failed.len() >= paths {
                continue;
            }
            for (racks, hosts) in [(2, 32), (5, 40), (16, 32), (33, 7), (64, 3), (65, 3), (128, 128)] {
                let network = Network { failed: failed.clone(), ..Network::new(racks, hosts, paths) };
                for slot in &worst(racks, hosts) {
                    network.check(slot);
                }
            }
        }
    }
}

/// All between two racks, stars out of and into a rack, permutations, one packet, none.
fn worst(racks: usize, hosts: usize) -> Vec<Vec<Pair>> {
    let endpoint = |rack: usize, host: usize| (rack * hosts + host) as u16;
    let two_racks = (0..hosts).map(|host| (endpoint(0, host), endpoint(racks - 1, hosts - 1 - host)));
    let others = |host: usize| endpoint(1 + host % (racks - 1), host / (racks - 1));
    let outward: Vec<_> = (0..hosts).map(|host| (endpoint(0, host), others(host))).collect();
    let inward = outward.iter().map(|&(hub, leaf)| (leaf, hub)).collect();
    let swapped = two_racks.clone().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    vec![
        vec![],
        vec![(endpoint(0, 0), endpoint(racks - 1, 0))],
        vec![(endpoint(0, 0), endpoint(0, hosts - 1))],
        two_racks.collect(),
        swapped,
        outward,
        inward,
        shifted(racks * hosts, 1),
        shifted(racks * hosts, hosts),
        shifted(racks * hosts, hosts / 2 + hosts),
    ]
}

#[test]
fn as_many_paths_as_hosts_make_a_proper_colouring() {
    let network = Network::new(16, 32, 32);
    for by in 1..512 {
        let slot = shifted(512, by * 5 % 512);
        let mut selector = network.build();
        let mut used = std::collections::BTreeSet::new();
        for (&(source, destination), &path) in slot.iter().zip(selector.select(&slot).unwrap()) {
            if path != BYPASS {
                assert!(
                    used.insert(("out of", source / 32, path))
                        && used.insert(("into", destination / 32, path))
                );
            }
        }
    }
}

#[test]
fn racks_may_differ_in_size() {
    let rack_of = [0, 0, 0, 0, 0, 1, 2, 2, 2, 1];
    let mut network = LeafSpine::new(Racks::new(3, &rack_of).unwrap(), 5).unwrap();
    let paths = network.select(&[(0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (5, 0), (6, 8)]).unwrap();
    let mut first: Vec<_> = paths[..5].to_vec();
    first.sort_unstable();
    assert_eq!(first, [0, 1, 2, 3, 4]);
    assert_eq!(paths[6], BYPASS);
}

#[test]
fn bad_networks_and_slots_have_named_errors() {
    let uniform = |racks, hosts| Racks::uniform(racks, hosts).map(|racks| racks.endpoints());
    assert_eq!(uniform(MAX_RACKS, 128), Ok(MAX_ENDPOINTS));
    assert_eq!(uniform(0, 1), Err(PathError::Racks(0)));
    assert_eq!(uniform(MAX_RACKS + 1, 1), Err(PathError::Racks(MAX_RACKS + 1)));
    assert_eq!(uniform(1, 0), Err(PathError::Endpoints(0)));
    assert_eq!(uniform(2, usize::MAX), Err(PathError::Endpoints(usize::MAX)));
    assert_eq!(Racks::new(2, &[]).err(), Some(PathError::Endpoints(0)));
    assert_eq!(Racks::new(2, &[1, 2]).err(), Some(PathError::RackOfEndpoint { endpoint: 1, rack: 2 }));
    let racks = || Racks::uniform(4, 2).unwrap();
    for paths in [0, MAX_PATHS + 1] {
        assert_eq!(LeafSpine::new(racks(), paths).err(), Some(PathError::Paths(paths)));
    }

    let mut network = LeafSpine::new(racks(), 3).unwrap();
    assert_eq!(network.select(&[(0, 8)]), Err(PathError::UnknownEndpoint(8)));
    assert_eq!(network.select(&[(9, 8)]), Err(PathError::UnknownEndpoint(9)));
    assert_eq!(network.select(&[(0, 7); 9]), Err(PathError::TooManyPairs(9)));
    assert_eq!(network.select(&[(0, 7)]).map(<[_]>::len), Ok(1));

    let tree = |racks_per_pod, aggregation, cores| {
        FatTree::new(racks(), FatTreeShape { racks_per_pod, aggregation, cores }).err()
    };
    assert_eq!(tree(0, 2, 2), Some(PathError::RacksPerPod(0)));
    assert_eq!(tree(3, 2, 2), Some(PathError::RacksPerPod(3)));
    assert_eq!(tree(2, 0, 2), Some(PathError::Paths(0)));
    assert_eq!(tree(2, 2, 33), Some(PathError::Paths(33)));
}

#[test]
fn errors_say_what_is_possible() {
    assert_eq!(PathError::Paths(33).to_string(), "33 paths: 1 to 32 are possible");
    assert_eq!(PathError::Racks(0).to_string(), "0 racks or pods: 1 to 128 are possible");
}
