//! Topologies and what links are like.

use super::Frames;
use crate::dice::Dice;
use crate::random_net::case::{Table, Value, TOPOLOGY_FILE};

/// A drawn network, and what the rest of the scenario has to know of it.
pub struct Network {
    pub table: Table,
    /// The tables of the topology file, if there is one.
    pub topology: Vec<Table>,
    pub hosts: u32,
    /// The number of each host's switch.
    pub racks: Vec<u32>,
    /// The ends of every link, by name.
    pub links: Vec<(String, String)>,
    /// The roles of its switches.
    pub roles: Vec<&'static str>,
    /// The rate of the hosts' fastest link, in bits a second.
    pub rate: u64,
    /// The rate of the slowest link, in bits a second.
    pub slowest: u64,
    /// The longest delay of a link, in picoseconds.
    pub delay: u64,
    /// Links on the longest path.
    pub longest: u64,
}

/// Returns how long a link takes for `bytes` bytes, in picoseconds.
pub fn transmission(bytes: u64, bps: u64) -> u64 {
    (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(bps)) as u64
}

const GBPS: u64 = 1_000_000_000;

fn draw_rate(dice: &mut Dice) -> u64 {
    match dice.below(10) {
        0 => dice.pick(&[100_000_000, GBPS, 99_999_999_999, 33_300_000_000, 10_000 * GBPS]),
        1 => dice.between(GBPS, 400 * GBPS),
        _ => dice.pick(&[7, 10, 25, 40, 50, 100, 200, 400]) * GBPS,
    }
}

/// Whole multiples of a frame's time make ties between what arrives and what leaves.
fn draw_delay(dice: &mut Dice, slot: u64) -> u64 {
    match dice.below(4) {
        0 => dice.pick(&[1, 2]) * slot,
        1 => dice.multiple(slot, &[0.001, 0.013, 0.37], 1),
        _ => dice.multiple(slot, &[0.5, 1.7, 3.1, 10.0], 1),
    }
}

/// Draws a network; the heaviest frame has `heaviest` bytes.
pub fn draw(dice: &mut Dice, frames: &Frames, heaviest: u64) -> Network {
    let frame = heaviest;
    let rate = draw_rate(dice);
    let delay = draw_delay(dice, transmission(frame, rate));
    let mut table = Table::new("network");
    table.set("rate", Value::Rate(rate));
    table.set("delay", Value::Time(delay));
    table.set("mtu", Value::Size(frames.mtu));
    if frames.framing != 38 {
        table.set("framing", Value::Size(frames.framing));
    }
    let network = Network {
        table,
        topology: Vec::new(),
        hosts: 0,
        racks: Vec::new(),
        links: Vec::new(),
        roles: Vec::new(),
        rate,
        slowest: rate,
        delay,
        longest: 2,
    };
    match dice.below(10) {
        0..=2 => star(dice, network),
        3 | 4 => dumbbell(dice, network),
        5 | 6 => leaf_spine(dice, network),
        7 if dice.percent(50) => datacenters(dice, network, frame),
        7 => fat_tree(dice, network),
        _ => listed(dice, network, frame),
    }
}

impl Network {
    fn join(&mut self, a: impl Into<String>, b: impl Into<String>) {
        self.links.push((a.into(), b.into()));
    }

    /// Adds the next host, under this switch.
    fn add_host(&mut self, rack: u32) {
        self.join(format!("h{}", self.hosts), format!("tor{rack}"));
        self.racks.push(rack);
        self.hosts += 1;
    }
}

fn star(dice: &mut Dice, mut network: Network) -> Network {
    let hosts = dice.between(2, 8);
    network.table.set("topology", "star");
    network.table.set("hosts", Value::Whole(hosts));
    (0..hosts).for_each(|_| network.add_host(0));
    Network { roles: vec!["tor"], ..network }
}

fn dumbbell(dice: &mut Dice, mut network: Network) -> Network {
    let (left, right) = (dice.between(1, 4), dice.between(1, 4));
    network.table.set("topology", "dumbbell");
    network.table.set("left", Value::Whole(left));
    network.table.set("right", Value::Whole(right));
    if dice.percent(70) {
        let bottleneck = dice.multiple(network.rate, &[0.1, 0.25, 0.777, 1.0, 2.0], 1000);
        network.table.set("bottleneck", Value::Rate(bottleneck.min(10_000 * GBPS)));
        network.slowest = network.rate.min(bottleneck);
    }
    if dice.percent(50) {
        let delay = dice.multiple(network.delay, &[0.1, 1.0, 4.0], 1);
        network.table.set("bottleneck_delay", Value::Time(delay));
        network.delay = network.delay.max(delay);
    }
    (0..left).for_each(|_| network.add_host(0));
    (0..right).for_each(|_| network.add_host(1));
    network.join("tor0", "tor1");
    Network { roles: vec!["tor"], longest: 3, ..network }
}

fn leaf_spine(dice: &mut Dice, mut network: Network) -> Network {
    let (leaves, spines) = (dice.between(1, 3), dice.between(1, 3));
    let each = if leaves == 1 { dice.between(2, 4) } else { dice.between(1, 3) };
    network.table.set("topology", "leaf_spine");
    network.table.set("leaves", Value::Whole(leaves));
    network.table.set("spines", Value::Whole(spines));
    network.table.set("hosts_per_leaf", Value::Whole(each));
    let mut over = 1.0;
    if dice.percent(60) {
        over = dice.pick(&[0.3, 1.0, 1.7, 4.0]);
        network.table.set("oversubscription", Value::Number(over));
    }
    for leaf in 0..leaves {
        (0..each).for_each(|_| network.add_host(leaf as u32));
    }
    for leaf in 0..leaves {
        (0..spines).for_each(|spine| network.join(format!("tor{leaf}"), format!("spine{spine}")));
    }
    let uplink = (each * network.rate) as f64 / (spines as f64 * over);
    let slowest = network.rate.min(uplink as u64);
    Network { roles: vec!["tor", "spine"], longest: 4, slowest, ..network }
}

fn fat_tree(dice: &mut Dice, mut network: Network) -> Network {
    let k = dice.pick(&[2_u64, 4, 4]);
    let half = k / 2;
    network.table.set("topology", "fat_tree");
    network.table.set("k", Value::Whole(k));
    for host in 0..k * half * half {
        network.add_host((host / half) as u32);
    }
    for tor in 0..k * half {
        (0..half).for_each(|j| network.join(format!("tor{tor}"), format!("agg{}", tor / half * half + j)));
    }
    for agg in 0..k * half {
        (0..half).for_each(|i| network.join(format!("agg{agg}"), format!("spine{}", agg % half * half + i)));
    }
    Network { roles: vec!["tor", "aggregation", "spine"], longest: 6, ..network }
}

/// Two or three fat trees of two hosts in a line.
fn datacenters(dice: &mut Dice, mut network: Network, frame: u64) -> Network {
    let count = dice.between(2, 3);
    let faster = (network.rate * 4).min(10_000 * GBPS);
    let long_rate = dice.pick(&[network.rate, network.rate, faster, network.rate.div_ceil(3)]);
    let slot = transmission(frame, network.rate);
    // Of a multiple of 5000 ps, as a kilometre takes 5 us and a number has some digits.
    let long_delay = dice.multiple(slot, &[0.5, 4.0, 20.0], 1).div_ceil(5000) * 5000;
    network.table.set("topology", "datacenters");
    network.table.set("k", Value::Whole(2));
    network.table.set("datacenters", Value::Whole(count));
    network.table.set("long_rate", Value::Rate(long_rate));
    network.table.set("long_km", Value::Number(long_delay as f64 / 5e6));
    (0..2 * count).for_each(|host| network.add_host(host as u32));
    for tor in 0..2 * count {
        network.join(format!("tor{tor}"), format!("agg{tor}"));
    }
    for agg in 0..2 * count {
        network.join(format!("agg{agg}"), format!("spine{}", agg / 2));
    }
    for dc in 0..count {
        network.join(format!("spine{dc}"), format!("dci{dc}"));
    }
    for dc in 1..count {
        network.join(format!("dci{}", dc - 1), format!("dci{dc}"));
    }
    let roles = vec!["tor", "aggregation", "spine", "dci", "long"];
    let (slowest, delay) = (network.rate.min(long_rate), network.delay.max(long_delay));
    Network { roles, longest: 7 + count, slowest, delay, ..network }
}

/// A connected graph of switches with hosts at some of them, each link with a rate and delay of its own.
fn listed(dice: &mut Dice, mut network: Network, frame: u64) -> Network {
    let (switches, hosts) = (dice.between(1, 5), dice.between(2, 6));
    // Names may contain the dash that joins two of them in a fault's link.
    let host_name = if dice.percent(50) { "host-" } else { "h" };
    let switch_name = if dice.percent(50) { "sw-" } else { "rack/1:" };
    let switch = |number: u64| format!("{switch_name}{number}");
    network.links = join_switches(dice, switches, switch);
    let mut nodes = Vec::new();
    for number in 0..switches {
        let role = dice.pick(&["tor", "tor", "aggregation", "spine"]);
        nodes.push(Table::new("node").with("name", Value::Text(switch(number))).with("role", role));
        if !network.roles.contains(&role) {
            network.roles.push(role);
        }
    }
    for number in 0..hosts {
        let (rack, name) = (dice.below(switches), format!("{host_name}{number}"));
        let node = Table::new("node").with("name", Value::Text(name.clone())).with("role", "host");
        // Hosts are numbered in the file's order, wherever switches stand between them.
        let before = nodes.iter().rposition(|node| node.says("role", "host")).map_or(0, |last| last + 1);
        let at = dice.between(before as u64, nodes.len() as u64) as usize;
        nodes.insert(at, node);
        network.join(name, switch(rack));
        network.racks.push(rack as u32);
    }
    network.hosts = hosts as u32;
    network.topology = nodes;
    list_links(dice, &mut network, frame);
    network.table.set("topology", "file");
    network.table.set("file", TOPOLOGY_FILE);
    Network { longest: switches + 1, ..network }
}

/// A tree of switches, and some links more.
fn join_switches(dice: &mut Dice, switches: u64, name: impl Fn(u64) -> String) -> Vec<(String, String)> {
    let mut links: Vec<(String, String)> = Vec::new();
    for switch in 1..switches {
        links.push((name(switch), name(dice.below(switch))));
    }
    for _ in 0..dice.below(4) {
        let (a, b) = (name(dice.below(switches)), name(dice.below(switches)));
        let known = links.contains(&(a.clone(), b.clone())) || links.contains(&(b.clone(), a.clone()));
        if a != b && !known {
            links.push((a, b));
        }
    }
    links
}

/// Gives each link its table, with a rate and a delay of its own or without.
fn list_links(dice: &mut Dice, network: &mut Network, frame: u64) {
    let (usual_rate, usual_delay) = (network.rate, network.delay);
    let slot = transmission(frame, usual_rate);
    network.rate = 0;
    for (at, (a, b)) in network.links.iter().enumerate() {
        let mut link = Table::new("link").with("ends", Value::Ends(a.clone(), b.clone()));
        let (mut rate, mut delay) = (usual_rate, usual_delay);
        if dice.percent(60) {
            rate = dice.multiple(usual_rate, &[0.1, 0.333_333, 1.0, 1.234_567, 2.5], 1000).min(10_000 * GBPS);
            link.set("rate", Value::Rate(rate));
        }
        if dice.percent(60) {
            delay = draw_delay(dice, slot);
            link.set("delay", Value::Time(delay));
        }
        network.topology.push(link);
        network.slowest = network.slowest.min(rate);
        network.delay = network.delay.max(delay);
        // The links of hosts come last, one each.
        if at + network.hosts as usize >= network.links.len() {
            network.rate = network.rate.max(rate);
        }
    }
}

/// Some names for sets of hosts.
pub fn draw_groups(dice: &mut Dice, hosts: u32) -> Vec<(&'static str, Vec<u32>)> {
    let all: Vec<u32> = (0..hosts).collect();
    let names = if dice.percent(50) { &["some"][..] } else { &["some", "others"] };
    names.iter().map(|name| (*name, dice.some_of(&all))).collect()
}
