//! Path selection with dead links, against a count of every link's packets and the most packets that can have a path at all.

use std::collections::BTreeMap;

use clearway_proto::fastpass::paths::{
    DeadLinks, FatTree, FatTreePath, FatTreeShape, LeafSpine, Link, Pair, PathError, Racks, BLOCKED, BYPASS,
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
enum Directions {
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

    fn kill(&mut self, rack: usize, switch: usize, directions: Directions) {
        if directions != Directions::Down {
            self.links.push(Link::FromRack { rack, switch });
        }
        if directions != Directions::Up {
            self.links.push(Link::ToRack { rack, switch });
        }
        for &link in &self.links {
            self.dead.set(link, true).unwrap();
        }
    }

    fn lives(&self, link: Link) -> bool {
        !self.links.contains(&link)
    }

    /// Returns whether a packet between two racks can take a path.
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

    /// Panics if a packet takes a dead link or a link carries more than `hosts / spines` packets. Returns how many packets are
    /// blocked, and at least how many must be.
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
        let must = self.least_blocked(&leaving, most);
        let can = |packet, path| self.can(packet, path);
        (blocked, at_least(must, blocked, |fewer| Search::exists(&leaving, self.spines, most, &can, fewer)))
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

/// Packets that must be blocked: the fewest from `must` to `blocked` with which a search succeeds, or does not know.
fn at_least(must: usize, blocked: usize, exists: impl Fn(usize) -> Option<bool>) -> usize {
    (must..blocked).find(|&fewer| exists(fewer) != Some(false)).unwrap_or(blocked)
}

/// A search for paths of all packets but a few, by trying all.
struct Search<'a> {
    packets: &'a [(usize, usize)],
    can: &'a dyn Fn((usize, usize), usize) -> bool,
    paths: usize,
    most: usize,
    loads: BTreeMap<(bool, usize, usize), usize>,
    done: Vec<bool>,
    /// Steps that are left.
    steps: usize,
}

impl Search<'_> {
    /// Returns whether all packets but `blocked` of them can have paths; `None` if too many steps do not tell.
    fn exists(
        packets: &[(usize, usize)],
        paths: usize,
        most: usize,
        can: &dyn Fn((usize, usize), usize) -> bool,
        blocked: usize,
    ) -> Option<bool> {
        let done = vec![false; packets.len()];
        let mut search = Search { packets, can, paths, most, loads: BTreeMap::new(), done, steps: 20_000 };
        let found = search.go(blocked);
        (found || search.steps > 0).then_some(found)
    }

    fn options(&self, packet: usize) -> Vec<usize> {
        let (from, to) = self.packets[packet];
        let room = |end| self.loads.get(&end).is_none_or(|&load| load < self.most);
        (0..self.paths)
            .filter(|&path| {
                (self.can)((from, to), path) && room((false, from, path)) && room((true, to, path))
            })
            .collect()
    }

    fn go(&mut self, blocked: usize) -> bool {
        let open = (0..self.packets.len()).filter(|&packet| !self.done[packet]);
        // The packet with the fewest choices comes first.
        let Some((packet, options)) =
            open.map(|packet| (packet, self.options(packet))).min_by_key(|(_, options)| options.len())
        else {
            return true;
        };
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        self.done[packet] = true;
        let (from, to) = self.packets[packet];
        for path in options {
            let ends = [(false, from, path), (true, to, path)];
            for end in ends {
                *self.loads.entry(end).or_default() += 1;
            }
            if self.go(blocked) {
                return true;
            }
            for end in &ends {
                *self.loads.get_mut(end).unwrap() -= 1;
            }
        }
        if blocked > 0 && self.go(blocked - 1) {
            return true;
        }
        self.done[packet] = false;
        false
    }
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
    fn note(&mut self, packets: usize, blocked: usize, must: usize) {
        assert!(blocked >= must);
        self.slots += 1;
        self.packets += packets;
        self.blocked += blocked;
        self.must += must;
        self.worse += usize::from(blocked > must);
    }
}

const NETWORKS: [(usize, usize, usize); 5] = [(4, 4, 4), (4, 8, 8), (4, 16, 4), (16, 16, 16), (16, 16, 4)];
const SLOTS: usize = 300;

/// Tallies slots of full load in random networks with `cables` dead cables, each of another rack or of any.
fn run(shape: (usize, usize, usize), cables: usize, directions: Directions, own_racks: bool) -> Tally {
    let (racks, hosts, spines) = shape;
    let mut random = Random(7);
    let mut tally = Tally::default();
    for number in 0..SLOTS {
        let mut case = Case::new(racks, hosts, spines);
        let order = random.shuffled(racks);
        for &rack in &order[..cables] {
            let rack = if own_racks { rack.into() } else { random.below(racks) };
            case.kill(rack, random.below(spines), directions);
        }
        let slot = random.matching(&case.racks, &case.dead);
        let mut network = case.network();
        network.turn(number as u64);
        let (blocked, must) = case.check(&slot, network.select(&slot).unwrap());
        tally.note(slot.len(), blocked, must);
    }
    tally
}

/// A fat tree of 2 × `half`-port switches with dead links.
struct Tree {
    half: usize,
    racks: Racks,
    shape: FatTreeShape,
    dead: DeadLinks,
    links: Vec<Link>,
}

impl Tree {
    fn new(half: usize) -> Tree {
        let racks = Racks::uniform(2 * half * half, half).unwrap();
        let shape = FatTreeShape { racks_per_pod: half, aggregation: half, cores: half };
        let dead = DeadLinks::fat_tree(&racks, shape).unwrap();
        Tree { half, racks, shape, dead, links: vec![] }
    }

    fn kill(&mut self, link: Link) {
        if !self.links.contains(&link) {
            self.links.push(link);
        }
        self.dead.set(link, true).unwrap();
    }

    /// Kills a cable between a rack and an aggregation switch, or between that and a core switch.
    fn kill_cable(&mut self, random: &mut Random, of_core: bool, directions: Directions) {
        let [aggregation, core] = [random.below(self.half), random.below(self.half)];
        let (pod, rack) = (random.below(2 * self.half), random.below(2 * self.half * self.half));
        let cable = if of_core {
            [Link::ToCore { pod, aggregation, core }, Link::FromCore { pod, aggregation, core }]
        } else {
            [Link::FromRack { rack, switch: aggregation }, Link::ToRack { rack, switch: aggregation }]
        };
        if directions != Directions::Down {
            self.kill(cable[0]);
        }
        if directions != Directions::Up {
            self.kill(cable[1]);
        }
    }

    /// The links of a packet's way.
    fn way(&self, (from, to): (usize, usize), path: FatTreePath) -> Vec<Link> {
        let (aggregation, core) = (usize::from(path.aggregation), usize::from(path.core));
        let [from_pod, to_pod] = [from, to].map(|rack| rack / self.half);
        let mut way = vec![
            Link::FromRack { rack: from, switch: aggregation },
            Link::ToRack { rack: to, switch: aggregation },
        ];
        if from_pod == to_pod {
            assert_eq!(path.core, BYPASS);
        } else {
            assert!(core < self.half);
            way.push(Link::ToCore { pod: from_pod, aggregation, core });
            way.push(Link::FromCore { pod: to_pod, aggregation, core });
        }
        way
    }

    /// Panics if a packet takes a dead link or a link carries two. Returns how many packets are blocked, and at least how many
    /// must be.
    fn check(&self, slot: &[Pair], paths: &[FatTreePath]) -> (usize, usize) {
        assert_eq!(slot.len(), paths.len());
        let mut used = BTreeMap::new();
        let mut leaving = vec![];
        let mut blocked = 0;
        for (&pair, &path) in slot.iter().zip(paths) {
            let ends = (self.racks.rack_of(pair.0.into()), self.racks.rack_of(pair.1.into()));
            if ends.0 == ends.1 {
                assert_eq!((path.aggregation, path.core), (BYPASS, BYPASS));
                continue;
            }
            leaving.push(ends);
            if path == FatTreePath::BLOCKED {
                blocked += 1;
                continue;
            }
            for link in self.way(ends, path) {
                assert!(!self.links.contains(&link), "{pair:?} takes {link:?}, which is dead");
                let other = used.insert(format!("{link:?}"), pair);
                assert!(other.is_none(), "{link:?} carries {pair:?} and {other:?}");
            }
        }
        let must = self.least_blocked(&leaving);
        if self.links.iter().any(|link| matches!(link, Link::ToCore { .. } | Link::FromCore { .. })) {
            return (blocked, must);
        }
        let lives = |link| !self.links.contains(&link);
        let can = |(from, to), switch| {
            lives(Link::FromRack { rack: from, switch }) && lives(Link::ToRack { rack: to, switch })
        };
        (blocked, at_least(must, blocked, |fewer| Search::exists(&leaving, self.half, 1, &can, fewer)))
    }

    /// Packets that cannot have a path, counted at racks alone, and at pods alone.
    fn least_blocked(&self, packets: &[(usize, usize)]) -> usize {
        let lives = |link| !self.links.contains(&link);
        let at_racks = |rack_of: fn(&(usize, usize)) -> usize| -> usize {
            (0..self.racks.racks())
                .map(|rack| {
                    let here: Vec<_> = packets.iter().filter(|packet| rack_of(packet) == rack).collect();
                    let can = |packet: usize, switch: usize| {
                        let &(from, to) = here[packet];
                        lives(Link::FromRack { rack: from, switch })
                            && lives(Link::ToRack { rack: to, switch })
                    };
                    here.len() - most_placed(here.len(), self.half, 1, can)
                })
                .sum()
        };
        let pods: Vec<_> = packets.iter().map(|&(from, to)| (from / self.half, to / self.half)).collect();
        let between = || pods.iter().filter(|(from, to)| from != to);
        let (mut out, mut into, mut of_one) = (0, 0, 0);
        for pod in 0..2 * self.half {
            let dead = |of: fn(&Link) -> Option<usize>| {
                self.links.iter().filter(|link| of(link) == Some(pod)).count()
            };
            let all = self.half * self.half;
            let up = all - dead(|link| if let Link::ToCore { pod, .. } = link { Some(*pod) } else { None });
            let down =
                all - dead(|link| if let Link::FromCore { pod, .. } = link { Some(*pod) } else { None });
            let too_many_out = between().filter(|(from, _)| *from == pod).count().saturating_sub(up);
            let too_many_in = between().filter(|(_, to)| *to == pod).count().saturating_sub(down);
            of_one = of_one.max(too_many_out + too_many_in);
            out += too_many_out;
            into += too_many_in;
        }
        at_racks(|packet| packet.0).max(at_racks(|packet| packet.1)).max(out).max(into).max(of_one)
    }
}

/// Tallies slots of full load in fat trees with `cables` dead cables.
fn run_tree(half: usize, cables: usize, of_core: bool, directions: Directions) -> Tally {
    let mut random = Random(11);
    let mut tally = Tally::default();
    for number in 0..SLOTS {
        let mut tree = Tree::new(half);
        (0..cables).for_each(|_| tree.kill_cable(&mut random, of_core, directions));
        let slot = random.matching(&tree.racks, &tree.dead);
        let mut network = FatTree::new(tree.racks.clone(), tree.shape).unwrap();
        network.avoid(&tree.dead).unwrap();
        network.turn(number as u64);
        let (blocked, must) = tree.check(&slot, network.select(&slot).unwrap());
        tally.note(slot.len(), blocked, must);
    }
    tally
}

const DIRECTIONS: [Directions; 3] = [Directions::Up, Directions::Down, Directions::Both];

#[test]
fn one_dead_cable_blocks_no_packet_that_the_racks_living_links_carry() {
    for shape in NETWORKS {
        for directions in DIRECTIONS {
            let tally = run(shape, 1, directions, true);
            assert_eq!((tally.slots, tally.blocked), (SLOTS, 0), "{shape:?}, {directions:?}: {tally:?}");
        }
    }
}

/// Where two racks cannot send up to the same spine switch, a rack that receives from them alone gets nothing over it: then
/// some packets have to be blocked.
#[test]
fn two_dead_cables_block_only_what_they_must() {
    for shape in NETWORKS {
        for (directions, own_racks) in
            DIRECTIONS.into_iter().flat_map(|directions| [(directions, true), (directions, false)])
        {
            let tally = run(shape, 2, directions, own_racks);
            let told = format!("{shape:?}, {directions:?}: {tally:?}");
            assert!(tally.worse * 100 <= SLOTS, "more are blocked than must be: {told}");
            assert!(tally.blocked * 200 <= tally.packets, "too many are blocked: {told}");
        }
    }
}

#[test]
fn four_dead_cables_block_hardly_more_than_they_must() {
    for shape in NETWORKS {
        for directions in DIRECTIONS {
            let tally = run(shape, 4, directions, false);
            assert!(
                (tally.blocked - tally.must) * 50 <= tally.packets,
                "{shape:?}, {directions:?}: {tally:?}"
            );
        }
    }
}

#[test]
fn dead_links_between_racks_and_aggregation_switches_cost_themselves() {
    for half in [2, 4] {
        for directions in DIRECTIONS {
            let tally = run_tree(half, 1, false, directions);
            assert_eq!(tally.blocked, 0, "{half}, {directions:?}: {tally:?}");
            let tally = run_tree(half, 2, false, directions);
            assert!(tally.worse * 75 <= SLOTS, "{half}, {directions:?}: {tally:?}");
        }
    }
}

#[test]
fn dead_links_to_the_core_cost_themselves() {
    for half in [2, 4] {
        for directions in DIRECTIONS {
            let tally = run_tree(half, 1, true, directions);
            assert_eq!(tally.worse, 0, "{half}, {directions:?}: {tally:?}");
            // What must be blocked is counted at each pod alone, so that it is too few in small trees.
            let tally = run_tree(half, 2, true, directions);
            let share = if half == 2 { 40 } else { 1000 };
            assert!(
                (tally.blocked - tally.must) * share <= tally.packets,
                "{half}, {directions:?}: {tally:?}"
            );
        }
    }
}

#[test]
fn links_carry_what_they_are_said_to() {
    // Of 16 hosts a rack, four links carry four packets a slot, or eight.
    for carried in [4, 8] {
        let mut case = Case::new(2, 16, 4);
        case.dead = case.dead.carrying([(carried, carried); 2]);
        case.kill(0, 2, Directions::Up);
        let slot: Vec<_> = (0..carried).map(|host| (host, 16 + host)).collect();
        let mut network = case.network();
        let paths = network.select(&slot).unwrap();
        let on = |path: u8| paths.iter().map(|&other| usize::from(other == path)).sum::<usize>();
        let each = usize::from(carried / 4);
        assert_eq!([on(0), on(1), on(2), on(3), on(BLOCKED)], [each, each, 0, each, each]);
        assert_eq!(case.dead.capacity(0), (carried * 3 / 4, carried));
        assert_eq!(case.dead.capacity(1), (carried, carried));
    }
    // Of links that carry more than the slot has packets, those that live carry all of them.
    let mut case = Case::new(2, 16, 4);
    case.kill(0, 2, Directions::Up);
    let slot: Vec<_> = (0..4).map(|host| (host, 16 + host)).collect();
    assert!(case.network().select(&slot).unwrap().iter().all(|&path| path < 4 && path != 2));
}

#[test]
fn a_rack_without_a_living_link_is_blocked_and_no_other() {
    let mut case = Case::new(3, 2, 2);
    (0..2).for_each(|spine| case.kill(1, spine, Directions::Up));
    assert_eq!((case.dead.capacity(1), case.dead.capacity(0)), ((0, 2), (2, 2)));
    let slot = [(0, 4), (1, 2), (2, 0), (3, 5), (4, 3), (5, 4)];
    let selected = case.network().select(&slot).unwrap().to_vec();
    let blocked: Vec<_> = selected.iter().map(|&path| path == BLOCKED).collect();
    assert_eq!(blocked, [false, false, true, true, false, false]);
    assert_eq!(selected[5], BYPASS);
    // Racks 1 and 2 are parted: the one cannot send up to 0, nor the other get from 1.
    let mut case = Case::new(3, 2, 2);
    case.kill(1, 0, Directions::Up);
    case.kill(2, 1, Directions::Down);
    assert_eq!(case.network().select(&[(2, 4), (2, 0), (0, 4)]).unwrap(), [BLOCKED, 1, 0]);
    // Nothing lives.
    let mut case = Case::new(3, 2, 2);
    (0..6).for_each(|link| case.kill(link / 2, link % 2, Directions::Both));
    assert_eq!(case.network().select(&[(0, 2), (1, 0)]).unwrap(), [BLOCKED, BYPASS]);
}

#[test]
fn links_that_live_again_leave_no_trace() {
    let mut random = Random(3);
    for shape in NETWORKS {
        let mut case = Case::new(shape.0, shape.1, shape.2);
        let slots: Vec<_> = (0..20).map(|_| random.matching(&case.racks, &case.dead)).collect();
        let mut fresh = LeafSpine::new(case.racks.clone(), shape.2).unwrap();
        let mut used = case.network();
        case.kill(1, 1, Directions::Both);
        used.avoid(&case.dead).unwrap();
        for slot in &slots {
            // In any order, the same slot has the same paths.
            let first = used.select(slot).unwrap().to_vec();
            used.select(&slots[7]).unwrap();
            assert_eq!(used.select(slot).unwrap(), first);
            assert_eq!(case.network().select(slot).unwrap(), first);
        }
        for link in std::mem::take(&mut case.links) {
            assert!(!case.dead.is_empty());
            case.dead.set(link, false).unwrap();
        }
        assert!(case.dead.is_empty());
        used.avoid(&case.dead).unwrap();
        for slot in &slots {
            assert_eq!(used.select(slot).unwrap(), fresh.select(slot).unwrap());
        }
    }
}

#[test]
fn capacities_of_a_fat_tree_are_those_of_living_links() {
    let mut tree = Tree::new(4);
    tree.kill(Link::FromRack { rack: 5, switch: 2 });
    assert_eq!((tree.dead.capacity(5), tree.dead.capacity(4)), ((3, 4), (4, 4)));
    // One of a pod's 16 links to the core: less than one of a rack.
    tree.kill(Link::FromCore { pod: 0, aggregation: 1, core: 3 });
    assert_eq!(tree.dead.capacity(0), (4, 4));
    // All of an aggregation switch: one of each rack.
    (0..3).for_each(|core| tree.kill(Link::FromCore { pod: 0, aggregation: 1, core }));
    assert_eq!((tree.dead.capacity(0), tree.dead.capacity(5)), ((4, 3), (3, 4)));
}

#[test]
fn links_and_networks_that_there_are_not_have_named_errors() {
    let mut tree = Tree::new(2);
    for link in [
        Link::FromRack { rack: 8, switch: 0 },
        Link::ToRack { rack: 0, switch: 2 },
        Link::ToCore { pod: 4, aggregation: 0, core: 0 },
        Link::ToCore { pod: 0, aggregation: 2, core: 0 },
        Link::FromCore { pod: 0, aggregation: 0, core: 2 },
    ] {
        assert_eq!(tree.dead.set(link, true), Err(PathError::UnknownLink(link)));
    }
    assert_eq!(tree.dead.set(Link::ToEndpoint(0), true), Ok(()));
    assert!(tree.dead.is_empty());
    let mut case = Case::new(8, 2, 2);
    let link = Link::ToCore { pod: 0, aggregation: 0, core: 0 };
    assert_eq!(case.dead.set(link, true), Err(PathError::UnknownLink(link)));
    assert_eq!(case.network().avoid(&tree.dead), Err(PathError::OtherNetwork));
    assert_eq!(case.network().avoid(&Case::new(8, 2, 3).dead), Err(PathError::OtherNetwork));
    let mut network = FatTree::new(tree.racks.clone(), tree.shape).unwrap();
    assert_eq!(network.avoid(&case.dead), Err(PathError::OtherNetwork));
    let three = FatTreeShape { cores: 3, ..tree.shape };
    assert_eq!(
        network.avoid(&DeadLinks::fat_tree(&tree.racks, three).unwrap()),
        Err(PathError::OtherNetwork)
    );
    assert_eq!(DeadLinks::leaf_spine(&tree.racks, 33).err(), Some(PathError::Paths(33)));
    let uneven = FatTreeShape { racks_per_pod: 3, ..tree.shape };
    assert_eq!(DeadLinks::fat_tree(&tree.racks, uneven).err(), Some(PathError::RacksPerPod(3)));
}
