//! Draws a scenario from a seed.
//!
//! All lengths of time are multiples of what a frame takes on the drawn links, and all sizes multiples of what a frame
//! weighs, so that buffers overflow, timers fire and faults hit at every speed, and so that a run has a bounded number
//! of frames. What is drawn later fits what was drawn before: a drawn scenario is meant to be accepted.

mod fastpass;
mod faults;
mod jobs;
mod network;
mod ports;
mod rdma;
mod traffic;
mod transports;
mod uec;

use crate::dice::Dice;
use crate::random_net::case::{Case, Table, Value};

/// What a frame weighs beside its transport's header.
struct Frames {
    mtu: u64,
    framing: u64,
    /// Whether messages may be much smaller than `mtu`: many more of them fit the same time.
    small_messages: bool,
}

/// What has been decided before traffic, buffers and faults are drawn.
struct World {
    dice: Dice,
    frames: Frames,
    network: network::Network,
    /// The heaviest frame of any transport on the wire, in bytes.
    heaviest: u64,
    /// What the hosts' fastest link takes for a full frame, in picoseconds.
    slot: u64,
    /// About the time from a frame's start to its acknowledgement's arrival on the empty network, in picoseconds.
    trip: u64,
    /// The time in which traffic starts, stops and meets faults, in picoseconds.
    active: u64,
    /// When the run ends at the latest, in picoseconds.
    duration: u64,
    /// Whether all traffic is finite and the run long enough to complete it.
    ends: bool,
    /// Whether the scenario says `stop_when_complete`.
    stops: bool,
    /// Names of groups of hosts, and who is in them.
    groups: Vec<(&'static str, Vec<u32>)>,
    /// The files that traffic tables name.
    trace: Vec<crate::random_net::case::TraceLine>,
    sizes: crate::random_net::case::SizePoints,
}

/// Time in which every flow of a scenario that is to end has ended, if frames move at all: 3 s, in picoseconds.
pub const LONG_ENOUGH: u64 = 3_000_000_000_000;

/// The scenario of a seed.
pub fn case(seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    let frames = draw_frames(&mut dice);
    let mut transports = transports::draw_weights(&mut dice, &frames);
    let heaviest = transports.iter().map(|transport| transport.heaviest(&frames)).max().unwrap_or(1);
    let network = network::draw(&mut dice, &frames, heaviest);
    let mut world = World::new(dice, frames, network, heaviest);
    let classes = ports::draw_classes(&mut world, &mut transports);
    let mut tables = vec![draw_top(&mut world, seed)];
    tables.extend(draw_groups(&mut world));
    tables.push(world.network.table.clone());
    tables.extend(ports::draw_switches(&mut world));
    tables.extend(ports::draw_host(&mut world));
    tables.extend(classes);
    for transport in &transports {
        tables.push(transports::draw_keys(&mut world, transport));
    }
    let count = world.dice.pick(&[1, 1, 2, 2, 3, 4]);
    for _ in 0..count {
        tables.push(traffic::draw(&mut world, &transports));
    }
    for _ in 0..world.dice.pick(&[0, 0, 0, 1, 1, 2, 3]) {
        tables.push(draw_fault(&mut world));
    }
    tables.extend(draw_record(&mut world));
    ports::draw_interrupts(&mut Dice::new(seed.reverse_bits()), &world, &mut tables);
    fastpass::draw(&mut Dice::new(seed.rotate_left(29) ^ 0xfa57), &world, &mut tables);
    ports::draw_operation_service(&mut Dice::new(!seed), &world, &mut tables);
    rdma::draw(&mut Dice::new(seed.rotate_left(41) ^ 0x0d0c_9c11), &world, &mut tables);
    ports::draw_pfc(&mut Dice::new(seed.rotate_left(17) ^ 0x8021), &world, &mut tables);
    faults::draw(&mut Dice::new(seed.rotate_left(37) ^ 0x2991), &world, &mut tables);
    ports::draw_relays(&mut Dice::new(seed.rotate_left(5) ^ 0x5319), &world, &mut tables);
    rdma::draw_hpcc(&mut Dice::new(seed.rotate_left(23) ^ 0x4970_cc19), &world, &mut tables);
    ports::draw_orders(&mut Dice::new(seed.rotate_left(13) ^ 0x0f1f), &mut tables);
    uec::draw_nscc(&mut Dice::new(seed.rotate_left(31) ^ 0x005c_c0de), &world, &mut tables);
    uec::draw_trimming(&mut Dice::new(seed.rotate_left(37) ^ 0x7217), &mut tables);
    uec::draw_paths(&mut Dice::new(seed.rotate_left(7) ^ 0x9a78), &mut tables);
    rdma::draw_timely(&mut Dice::new(seed.rotate_left(43) ^ 0x7131), &world, &mut tables);
    uec::draw_credit(&mut Dice::new(seed.rotate_left(47) ^ 0x0cec), &world, &mut tables);
    uec::draw_ndp(&mut Dice::new(seed.rotate_left(59) ^ 0x0d9), &world, &mut tables);
    jobs::draw(&mut Dice::new(seed.rotate_left(53) ^ 0x10b5), &world, &mut tables);
    let topology = std::mem::take(&mut world.network.topology);
    Case { tables, topology, trace: world.trace, sizes: world.sizes }
}

fn draw_frames(dice: &mut Dice) -> Frames {
    let mtu = match dice.below(10) {
        0 => dice.pick(&[1, 7, 64, 65_000]),
        1 | 2 => dice.between(50, 9000),
        _ => dice.pick(&[256, 500, 1000, 1460, 1500, 4096, 8999]),
    };
    let framing = if dice.percent(50) { 38 } else { dice.pick(&[0, 1, 20, 37, 1000]) };
    Frames { mtu, framing, small_messages: dice.percent(30) }
}

impl World {
    fn new(mut dice: Dice, frames: Frames, network: network::Network, heaviest: u64) -> World {
        let slot = network::transmission(heaviest, network.rate);
        let slowest = network::transmission(heaviest, network.slowest);
        let trip = network.longest * 2 * (network.delay + slowest);
        let budget = dice.pick(&[500, 1000, 3000, 8000]) / if frames.small_messages { 4 } else { 1 };
        let active = (budget * slot / u64::from(network.hosts)).max(trip * 3).max(1000);
        let ends = dice.percent(25);
        let stops = ends || dice.percent(25);
        let duration = if ends { LONG_ENOUGH } else { dice.multiple(active, &[1.0, 1.0, 1.3, 2.5], 1000) };
        let groups =
            if dice.percent(30) { network::draw_groups(&mut dice, network.hosts) } else { Vec::new() };
        let (trace, sizes) = (Vec::new(), Vec::new());
        World {
            dice,
            frames,
            network,
            heaviest,
            slot,
            trip,
            active,
            duration,
            ends,
            stops,
            groups,
            trace,
            sizes,
        }
    }

    /// Some time in the part of the run in which things happen.
    fn moment(&mut self, factors: &[f64]) -> u64 {
        self.dice.multiple(self.active, factors, 0)
    }
}

fn draw_top(world: &mut World, seed: u64) -> Table {
    let mut top = Table::new("").with("format", Value::Whole(1)).with("name", "drawn");
    top.set("duration", Value::Time(world.duration));
    if world.dice.percent(70) {
        top.set("seed", Value::Whole(seed));
    }
    if world.dice.percent(40) {
        let warmup = world.moment(&[0.01, 0.1, 0.2]).min(world.duration / 5);
        top.set("warmup", Value::Time(warmup));
    }
    // Not drawn, so that the other keys of a seed stay as they were.
    if seed % 5 == 0 {
        top.set("measure_until", Value::Time(world.duration / 4 * 3));
    }
    if world.stops {
        top.set("stop_when_complete", Value::Flag(true));
    }
    top
}

fn draw_groups(world: &mut World) -> Option<Table> {
    let mut table = Table::new("groups");
    for (name, hosts) in &world.groups {
        table.set(name, Value::Hosts(hosts.clone()));
    }
    (!world.groups.is_empty()).then_some(table)
}

/// A lossy link, or one that is down; for a time, save where the run need not end.
fn draw_fault(world: &mut World) -> Table {
    let (a, b) = world.dice.pick(&world.network.links);
    let link = match world.dice.below(3) {
        0 => format!("{a}-{b}"),
        1 => format!("{a}>{b}"),
        _ => format!("{b}>{a}"),
    };
    let down = world.dice.percent(40);
    let mut table = Table::new("fault").with("kind", if down { "down" } else { "loss" });
    table.set("link", Value::Text(link));
    if !down {
        let probability = world.dice.pick(&[0.0, 0.001, 0.02, 0.1, 0.3, 1.0]);
        table.set("probability", Value::Number(probability));
    }
    let at = world.moment(&[0.0, 0.0, 0.1, 0.4, 0.9]);
    if at > 0 || world.dice.percent(20) {
        table.set("at", Value::Time(at));
    }
    if world.ends || world.dice.percent(50) {
        let until = at + world.moment(&[0.01, 0.2, 0.5]).max(1);
        table.set("until", Value::Time(until));
    }
    table
}

/// The quantities that a scenario samples; few in a run whose end may be far away.
fn draw_record(world: &mut World) -> Option<Table> {
    let mut table = Table::new("record");
    if world.dice.percent(25) {
        table.set("operations", Value::Flag(true));
    }
    for key in ["queues", "windows", "rtt", "throughput", "links", "fairness"] {
        if world.dice.percent(if world.ends { 10 } else { 20 }) {
            let every = world.moment(&[0.03, 0.1, 0.123_456_7, 0.5, 2.0]).max(1000);
            let every = if world.ends { every.max(LONG_ENOUGH / 500) } else { every };
            table.set(key, Value::Time(every));
        }
    }
    (!table.keys.is_empty()).then_some(table)
}
