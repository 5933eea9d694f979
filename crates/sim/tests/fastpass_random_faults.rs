//! Fastpass in random networks in which one or two cables die or lose packets, in one direction or both, for ever or for a time:
//! what flows is compared with a maximum flow, and nothing that lives and is of use may be avoided at the end. `FAULTS=300` runs
//! 300 networks, from network `FIRST` on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use crate::cases::{cases, setting};
use crate::experiment::{figure, floats, run, texts, Outcome};

/// The least share of the maximum flow.
const ENOUGH: f64 = 0.9;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % bound as u64) as usize
    }
}

/// A network, as the links between its switches and the hosts of each rack.
struct Network {
    toml: String,
    racks: usize,
    pods: usize,
    hosts: usize,
    /// Cables between switches, by the names of their ends, the lower one first.
    cables: Vec<(String, String)>,
}

fn network(random: &mut Random) -> Network {
    if random.below(3) == 0 {
        let mut cables = Vec::new();
        for pod in 0..4 {
            for agg in [2 * pod, 2 * pod + 1] {
                cables.extend([2 * pod, 2 * pod + 1].map(|tor| (format!("tor{tor}"), format!("agg{agg}"))));
                cables
                    .extend([0, 1].map(|core| (format!("agg{agg}"), format!("spine{}", agg % 2 * 2 + core))));
            }
        }
        return Network { toml: "topology = 'fat_tree'\nk = 4".into(), racks: 8, pods: 4, hosts: 2, cables };
    }
    let (racks, spines) = (3 + random.below(3), 2 + random.below(4));
    let cables = (0..racks * spines).map(|i| (format!("tor{}", i / spines), format!("spine{}", i % spines)));
    let toml =
        format!("topology = 'leaf_spine'\nleaves = {racks}\nspines = {spines}\nhosts_per_leaf = {spines}");
    Network { toml, racks, pods: 1, hosts: spines, cables: cables.collect() }
}

/// A fault: the directions of a cable that it takes, and whether it ends.
struct Fault {
    toml: String,
    links: Vec<(String, String)>,
    ends: bool,
}

fn fault(random: &mut Random, (a, b): &(String, String)) -> Fault {
    let (up, down) = ((a.clone(), b.clone()), (b.clone(), a.clone()));
    let (link, links) = match random.below(3) {
        0 => (format!("{a}-{b}"), vec![up, down]),
        1 => (format!("{a}>{b}"), vec![up]),
        _ => (format!("{b}>{a}"), vec![down]),
    };
    let kind = if random.below(3) == 0 {
        format!("kind = 'loss'\nprobability = {}", 0.01 + random.below(190) as f64 / 1000.0)
    } else {
        "kind = 'down'".to_owned()
    };
    let ends = random.below(3) == 0;
    let (at, until) = (6000 + random.below(2000), 14_000 + random.below(4000));
    let until = if ends { format!("until = '{until}us'\n") } else { String::new() };
    Fault { toml: format!("[[fault]]\n{kind}\nlink = '{link}'\nat = '{at}us'\n{until}"), links, ends }
}

/// The links of a network without the dead ones.
struct Living<'a> {
    network: &'a Network,
    dead: &'a BTreeSet<(String, String)>,
}

impl Living<'_> {
    fn has(&self, from: &str, to: &str) -> bool {
        let mut cables = self.network.cables.iter();
        let cable = cables.any(|(a, b)| (a == from && b == to) || (b == from && a == to));
        cable && !self.dead.contains(&(from.to_owned(), to.to_owned()))
    }

    /// The switches above one.
    fn above(&self, of: &str) -> Vec<&str> {
        self.network.cables.iter().filter(|(a, _)| a == of).map(|(_, b)| &b[..]).collect()
    }

    /// Returns how many paths lead from a rack to another.
    fn paths(&self, from: usize, to: usize) -> usize {
        let (from, to) = (tor(from), tor(to));
        let through = |up: &str| -> usize {
            if !self.has(&from, up) {
                return 0;
            }
            if self.above(&to).contains(&up) {
                return usize::from(self.has(up, &to));
            }
            let down = |core: &str| {
                let last =
                    self.above(&to).into_iter().filter(|last| self.has(core, last) && self.has(last, &to));
                if self.has(up, core) {
                    last.count()
                } else {
                    0
                }
            };
            self.above(up).into_iter().map(down).sum()
        };
        self.above(&from).into_iter().map(through).sum()
    }

    /// Returns whether the links of racks and pods, and the paths between racks, are enough for all of these flows.
    fn carries(&self, flows: impl Iterator<Item = (usize, usize)>) -> bool {
        let racks_per_pod = self.network.racks / self.network.pods;
        let pod = |rack: usize| rack / racks_per_pod;
        let mut used: BTreeMap<(&str, usize, usize), usize> = BTreeMap::new();
        for (from, to) in flows.filter(|(from, to)| from != to) {
            let mut uses = vec![("up", from, 0), ("down", to, 0), ("pair", from, to)];
            if pod(from) != pod(to) {
                uses.extend([("out", pod(from), 0), ("in", pod(to), 0)]);
            }
            for what in uses {
                *used.entry(what).or_default() += 1;
            }
        }
        let above = |of: &str| self.above(of).into_iter().map(str::to_owned).collect::<Vec<_>>();
        let up = |of: &str| above(of).into_iter().filter(|up| self.has(of, up)).count();
        let down = |of: &str| above(of).into_iter().filter(|down| self.has(down, of)).count();
        let of_pod = |pod: usize| above(&tor(pod * racks_per_pod));
        let room = |(what, a, b): (&str, usize, usize)| match what {
            "up" => up(&tor(a)),
            "down" => down(&tor(a)),
            "pair" => self.paths(a, b),
            "out" => of_pod(a).iter().map(|aggregation| up(aggregation)).sum(),
            _ => of_pod(a).iter().map(|aggregation| down(aggregation)).sum(),
        };
        used.into_iter().all(|(what, used)| used <= room(what))
    }

    /// Returns whether packets get from each of two racks to the other.
    fn joins(&self, a: usize, b: usize) -> bool {
        a == b || (self.paths(a, b) > 0 && self.paths(b, a) > 0)
    }
}

impl Living<'_> {
    /// Returns whether a link lives and some path between two of these racks that lives leads over it: nobody can use others, or
    /// try them.
    fn is_of_use(&self, link: &(String, String), racks: &BTreeSet<usize>) -> bool {
        let mut dead = self.dead.clone();
        let was_alive = dead.insert(link.clone());
        let without = Living { network: self.network, dead: &dead };
        let differs = |(from, to): (usize, usize)| self.paths(from, to) > without.paths(from, to);
        let pairs = racks.iter().flat_map(|&from| racks.iter().map(move |&to| (from, to)));
        was_alive && pairs.filter(|(from, to)| from != to).any(differs)
    }
}

fn tor(rack: usize) -> String {
    format!("tor{rack}")
}

/// The most of the flows, by rack, that links of one flow each carry at a time: no rack sends or receives more than its living
/// links, and none sends another more than there are paths; nor does more leave a pod or come into it than its links to the core
/// carry.
fn maximum_flow(living: &Living, flows: &[(usize, usize)]) -> usize {
    if living.network.pods == 1 {
        return between_racks(living, flows);
    }
    (0..1_u32 << flows.len())
        .filter(|chosen| {
            living.carries((0..).zip(flows).filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, flow)| *flow))
        })
        .map(|chosen| chosen.count_ones() as usize)
        .max()
        .expect("none at least")
}

fn between_racks(living: &Living, flows: &[(usize, usize)]) -> usize {
    let mut room: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut within = 0;
    for rack in 0..living.network.racks {
        let name = tor(rack);
        let up = living.above(&name).into_iter().filter(|up| living.has(&name, up)).count();
        let down = living.above(&name).into_iter().filter(|down| living.has(down, &name)).count();
        room.insert(("source".into(), format!("{name}^")), up);
        room.insert((name, "sink".into()), down);
    }
    let mut wanted: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for &(from, to) in flows {
        if from == to {
            within += 1;
        } else {
            *wanted.entry((from, to)).or_default() += 1;
        }
    }
    for ((from, to), wanted) in wanted {
        room.insert((format!("{}^", tor(from)), tor(to)), wanted.min(living.paths(from, to)));
    }
    let mut flow = within;
    while let Some(path) = path_with_room(&room) {
        for edge in path.windows(2) {
            *room.get_mut(&(edge[0].clone(), edge[1].clone())).expect("an edge of the path") -= 1;
            *room.entry((edge[1].clone(), edge[0].clone())).or_default() += 1;
        }
        flow += 1;
    }
    flow
}

fn path_with_room(room: &BTreeMap<(String, String), usize>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::from(["source".to_owned()]);
    let mut paths = VecDeque::from([vec!["source".to_owned()]]);
    while let Some(path) = paths.pop_front() {
        let end = path[path.len() - 1].clone();
        if end == "sink" {
            return Some(path);
        }
        let edges = room.range((end.clone(), String::new())..).take_while(|((from, _), _)| *from == end);
        for ((_, to), _) in edges.filter(|(_, &room)| room > 0) {
            if seen.insert(to.clone()) {
                paths.push_back([&path[..], std::slice::from_ref(to)].concat());
            }
        }
    }
    None
}

fn goodput(outcome: &Outcome, from: f64, until: f64) -> f64 {
    let times = floats(outcome, "throughput", "time_us").iter();
    let of_times = times.zip(floats(outcome, "throughput", "goodput_gbps"));
    let within: Vec<f64> =
        of_times.filter(|(&time, _)| time > from && time <= until).map(|(_, gbps)| *gbps).collect();
    within.iter().sum::<f64>() / within.len() as f64
}

/// A random network with its flows and faults.
struct Experiment {
    number: u64,
    network: Network,
    /// The arbiter's host.
    arbiter: usize,
    /// Source and destination of each flow.
    flows: Vec<(usize, usize)>,
    faults: Vec<Fault>,
}

impl Experiment {
    fn draw(number: u64) -> Experiment {
        let mut random = Random(number);
        let network = network(&mut random);
        let hosts = network.racks * network.hosts;
        let arbiter = random.below(hosts);
        let mut to: Vec<usize> = (0..hosts).collect();
        for i in (1..hosts).rev() {
            to.swap(i, random.below(i + 1));
        }
        let share = 5 + random.below(6);
        let flows = (0..hosts)
            .map(|from| (from, to[from]))
            .filter(|&(from, to)| from != to && from != arbiter && to != arbiter && random.below(10) < share)
            .collect();
        let first = random.below(network.cables.len());
        let second = (first + 1 + random.below(network.cables.len() - 1)) % network.cables.len();
        let cables = if random.below(2) == 0 { vec![first] } else { vec![first, second] };
        let faults = cables.iter().map(|&cable| fault(&mut random, &network.cables[cable])).collect();
        Experiment { number, network, arbiter, flows, faults }
    }

    /// Returns the experiment as the text of a scenario.
    fn text(&self) -> String {
        let Experiment { number, network, arbiter, flows, faults } = self;
        let mut text = format!(
            "format = 1\nname = 'faults'\nseed = {number}\nduration = '45ms'\nwarmup = '1ms'\n[network]\n{}\nrate = '10Gbps'\n\
             delay = '1us'\nmtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n[arbiter]\nat = 'h{arbiter}'\n\
             [record]\nthroughput = '500us'\n",
            network.toml
        );
        for fault in faults {
            text += &fault.toml;
        }
        for (from, to) in flows {
            write!(text, "[[traffic]]\npattern = 'incast'\nfrom = {from}\nto = {to}\n").expect("room");
        }
        text
    }

    /// The links of those faults that this is true of.
    fn links(&self, of: impl Fn(&Fault) -> bool) -> BTreeSet<(String, String)> {
        self.faults.iter().filter(|fault| of(fault)).flat_map(|fault| fault.links.clone()).collect()
    }

    /// Returns what is wrong with its run, if anything is.
    fn trouble(&self) -> Result<(), String> {
        let Experiment { network, flows, .. } = self;
        let outcome = run(&self.text());
        let racks: Vec<_> =
            flows.iter().map(|&(from, to)| (from / network.hosts, to / network.hosts)).collect();
        let own = self.arbiter / network.hosts;
        let (lasting, all) = (self.links(|fault| !fault.ends), self.links(|_| true));
        let (living, meanwhile) = (Living { network, dead: &lasting }, Living { network, dead: &all });
        // Nothing is said of flows that no acknowledgement or word of the arbiter reaches.
        let meets = |living: &Living, &(from, to): &(usize, usize)| {
            living.joins(from, to) && living.joins(from, own) && living.joins(to, own)
        };
        let possible: Vec<_> = racks.iter().copied().filter(|flow| meets(&living, flow)).collect();
        let most = maximum_flow(&living, &possible);
        let (before, after) = (goodput(&outcome, 3000.0, 6000.0), goodput(&outcome, 30_000.0, 45_000.0));
        let least = before * most as f64 / flows.len() as f64;
        if after < ENOUGH * least {
            return Err(format!("{after} Gb/s, and {least} would flow (before: {before})"));
        }
        let spoken_with: BTreeSet<usize> = racks
            .iter()
            .flat_map(|&(from, to)| [from, to, own])
            .filter(|&rack| living.joins(rack, own))
            .collect();
        let named = texts(&outcome, "arbiters", "failed_links");
        let lives = |name: &&str| {
            let (a, b) = name.split_once('>').expect("a direction");
            living.is_of_use(&(a.to_owned(), b.to_owned()), &spoken_with)
        };
        let alive: Vec<&str> = named[0].split_whitespace().filter(lives).collect();
        if !alive.is_empty() {
            return Err(format!("{alive:?} live and are avoided"));
        }
        let all_meet = racks.iter().all(|flow| meets(&meanwhile, flow));
        let (drops, fallbacks) = (figure(&outcome, "drops"), figure(&outcome, "fallbacks"));
        if drops > 0.0 || (all_meet && fallbacks > 0.0) {
            return Err(format!("{drops} drops, {fallbacks} fallbacks"));
        }
        Ok(())
    }
}

/// Returns what is wrong with the network of this number, if anything is.
fn trouble(number: u64) -> Result<(), String> {
    let experiment = Experiment::draw(number);
    if experiment.flows.is_empty() {
        return Ok(());
    }
    let what = || format!("network {number}: {}", experiment.text().replace('\n', " "));
    experiment.trouble().map_err(|trouble| format!("{trouble}: {}", what()))
}

#[test]
fn random_faults_cost_what_they_take() {
    let (first, count) = (setting("FIRST", 5), cases("FAULTS", 2, 6));
    let troubles: Vec<String> = (first..first + count).filter_map(|number| trouble(number).err()).collect();
    let missed = troubles.len() as u64;
    println!("{missed} of {count} networks fall short:\n{}", troubles.join("\n"));
    assert_eq!(missed, 0, "of {count} networks fall short");
}
