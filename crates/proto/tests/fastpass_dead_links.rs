//! Path selection with dead links, against a count of every link's packets and the most packets that can have a path at all.

use std::collections::BTreeMap;

use clearway_proto::fastpass::isolator::Link;
use clearway_proto::fastpass::paths::{
    DeadLinks, FatTree, FatTreePath, FatTreeShape, LeafSpine, Pair, PathError, Racks, BLOCKED, BYPASS,
};

/// A small generator of cases.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn shuffled(&mut self, n: usize) -> Vec<u16> {
        let mut items: Vec<_> = (0..n as u16).collect();
        for last in (1..n).rev() {
            items.swap(last, self.below(last + 1));
        }
        items
    }

    /// A matching of all endpoints, without the packets that the racks' living links do not carry.
    fn matching(&mut self, racks: &Racks, dead: &DeadLinks) -> Vec<Pair> {
        let capacities: Vec<_> = (0..racks.racks()).map(|rack| dead.capacity(rack)).collect();
        let (mut up, mut down): (Vec<_>, Vec<_>) = capacities.into_iter().unzip();
        let pairs = self.shuffled(racks.endpoints()).into_iter().zip(self.shuffled(racks.endpoints()));
        pairs
            .filter(|&(source, destination)| {
                let [from, to] = [source, destination].map(|endpoint| racks.rack_of(endpoint.into()));
                let fits = from == to || up[from] > 0 && down[to] > 0;
                if fits && from != to {
                    up[from] -= 1;
                    down[to] -= 1;
                }
                fits
            })
            .collect()
    }
}

/// Which directions of a dead cable are dead.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ways {
    Up,
    Down,
    Both,
}

/// A leaf-spine network with dead links.
struct Case {
    hosts: usize,
    spines: usize,
    racks: Racks,
    dead: DeadLinks,
    links: Vec<Link>,
}

impl Case {
    fn new(racks: usize, hosts: usize, spines: usize) -> Case {
        let uniform = Racks::uniform(racks, hosts).unwrap();
        let dead = DeadLinks::leaf_spine(&uniform, spines).unwrap();
        Case { hosts, spines, racks: uniform, dead, links: vec![] }
    }

    fn kill(&mut self, rack: usize, switch: usize, ways: Ways) {
        if ways != Ways::Down {
            self.links.push(Link::FromRack { rack, switch });
        }
        if ways != Ways::Up {
            self.links.push(Link::ToRack { rack, switch });
        }
        for &link in &self.links {
            self.dead.set(link, true).unwrap();
        }
    }

    fn lives(&self, link: Link) -> bool {
        !self.links.contains(&link)
    }

    /// Whether a packet between two racks can take a path.
    fn can(&self, (from, to): (usize, usize), switch: usize) -> bool {
        self.lives(Link::FromRack { rack: from, switch }) && self.lives(Link::ToRack { rack: to, switch })
    }

    fn network(&self) -> LeafSpine {
        let mut network = LeafSpine::new(self.racks.clone(), self.spines).unwrap();
        network.avoid(&self.dead).unwrap();
        network
    }

    fn ends(&self, pair: Pair) -> (usize, usize) {
        (self.racks.rack_of(pair.0.into()), self.racks.rack_of(pair.1.into()))
    }

    /// Panics if a packet takes a dead link or a link carries more than `hosts / spines` packets. How many packets are blocked,
    /// and at least how many must be.
    fn check(&self, slot: &[Pair], paths: &[u8]) -> (usize, usize) {
        assert_eq!(slot.len(), paths.len());
        let most = self.hosts.div_ceil(self.spines);
        let mut loads = BTreeMap::new();
        let mut blocked = 0;
        let mut leaving = vec![];
        for (&pair, &path) in slot.iter().zip(paths) {
            let (from, to) = self.ends(pair);
            if from == to {
                assert_eq!(path, BYPASS);
                continue;
            }
            leaving.push((from, to));
            if path == BLOCKED {
                blocked += 1;
                continue;
            }
            let switch = usize::from(path);
            assert!(switch < self.spines && self.can((from, to), switch), "{pair:?} takes dead path {path}");
            for (end, rack) in [("out of", from), ("into", to)] {
                let load = loads.entry((end, rack, path)).or_insert(0);
                *load += 1;
                assert!(*load <= most, "{load} packets {end} rack {rack} on path {path}");
            }
        }
        (blocked, self.least_blocked(&leaving, most))
    }

    /// Packets that cannot have a path, whatever the selection: counted at the senders alone or the receivers alone.
    fn least_blocked(&self, packets: &[(usize, usize)], most: usize) -> usize {
        let at = |rack_of: fn(&(usize, usize)) -> usize| -> usize {
            (0..self.racks.racks())
                .map(|rack| {
                    let here: Vec<_> = packets.iter().filter(|packet| rack_of(packet) == rack).collect();
                    let can = |packet: usize, path: usize| self.can(*here[packet], path);
                    here.len() - most_placed(here.len(), self.spines, most, can)
                })
                .sum()
        };
        at(|packet| packet.0).max(at(|packet| packet.1))
    }
}

/// The most of some packets of one rack that can have a path, `most` packets a path (a maximum flow, by augmenting paths).
fn most_placed(packets: usize, paths: usize, most: usize, can: impl Fn(usize, usize) -> bool) -> usize {
    fn place(
        packet: usize,
        taken: &mut [Vec<usize>],
        seen: &mut [bool],
        most: usize,
        can: &dyn Fn(usize, usize) -> bool,
    ) -> bool {
        for path in 0..taken.len() {
            if seen[path] || !can(packet, path) {
                continue;
            }
            seen[path] = true;
            if taken[path].len() < most {
                taken[path].push(packet);
                return true;
            }
            for at in 0..most {
                if place(taken[path][at], taken, seen, most, can) {
                    taken[path][at] = packet;
                    return true;
                }
            }
        }
        false
    }
    let mut taken = vec![vec![]; paths];
    (0..packets).filter(|&packet| place(packet, &mut taken, &mut vec![false; paths], most, &can)).count()
}

/// What came of many slots.
#[derive(Debug, Default)]
struct Tally {
    slots: usize,
    packets: usize,
    blocked: usize,
    /// Packets that no selection has a path for.
    must: usize,
    /// Slots in which more were blocked than had to be.
    worse: usize,
}

impl Tally {
    fn add(&mut self, case: &Case, slot: &[Pair], paths: &[u8]) {
        let (blocked, must) = case.check(slot, paths);
        assert!(blocked >= must);
        self.slots += 1;
        self.packets += slot.len();
        self.blocked += blocked;
        self.must += must;
        self.worse += usize::from(blocked > must);
    }
}

const NETWORKS: [(usize, usize, usize); 5] = [(4, 4, 4), (4, 8, 8), (4, 16, 4), (16, 16, 16), (16, 16, 4)];
const SLOTS: usize = 400;

/// Slots of full load in random networks with so many dead cables, of racks of their own or of any.
fn run(shape: (usize, usize, usize), cables: usize, ways: Ways, own_racks: bool) -> Tally {
    let (racks, hosts, spines) = shape;
    let mut random = Random(7);
    let mut tally = Tally::default();
    for number in 0..SLOTS {
        let mut case = Case::new(racks, hosts, spines);
        let order = random.shuffled(racks);
        for cable in 0..cables {
            let rack = if own_racks { order[cable].into() } else { random.below(racks) };
            case.kill(rack, random.below(spines), ways);
        }
        let slot = random.matching(&case.racks, &case.dead);
        let mut network = case.network();
        network.turn(number as u64);
        tally.add(&case, &slot, network.select(&slot).unwrap());
    }
    tally
}

#[test]
fn explore() {
    for shape in NETWORKS {
        for ways in [Ways::Up, Ways::Down, Ways::Both] {
            for cables in [1, 2, 4] {
                let t = run(shape, cables, ways, cables <= 4);
                println!("{shape:?} {ways:?} {cables}: {t:?}");
            }
        }
    }
}
