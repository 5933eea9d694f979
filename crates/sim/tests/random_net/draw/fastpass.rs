//! Fastpass: a transport whose packets leave in timeslots, its arbiters, and what goes wrong with these.

use super::{network::transmission, World};
use crate::dice::Dice;
use crate::random_net::case::{Table, Value};

/// The longest frame time and link delay, in picoseconds, of a network in which an arbiter is of use.
const LONGEST_SLOT: u64 = 20_000_000;
const LONGEST_DELAY: u64 = 20_000_000;

/// Makes one of the transports Fastpass's in some scenarios, with arbiters at some switches. It came later and has dice of
/// its own.
pub fn draw(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    if !dice.percent(25) || !suits(world, tables) {
        return;
    }
    let transports: Vec<usize> = (0..tables.len()).filter(|&at| tables[at].kind == "transport").collect();
    let at = dice.pick(&transports);
    let table = &mut tables[at];
    table.keys.retain(|(key, _)| ["header", "ack", "class", "ack_class"].contains(&key.as_str()));
    if !table.gives("header") {
        // No more than any other transport's, as buffers have been drawn for that.
        table.set("header", Value::Size(28));
    }
    draw_transport(dice, world, table);
    let arbiters = draw_arbiters(dice, world, tables);
    let count = arbiters.1;
    tables.push(arbiters.0);
    for rank in 0..count {
        if dice.percent(30) {
            tables.push(draw_crash(dice, world, rank));
        }
    }
    let arbiter = tables.iter_mut().find(|table| table.kind == "arbiter").expect("it was pushed just now");
    draw_queue(dice, world, arbiter);
}

/// How an arbiter's processor looks at its NIC, and what may wait there. It came last of all.
fn draw_queue(dice: &mut Dice, world: &World, arbiter: &mut Table) {
    if dice.percent(30) {
        arbiter.set("poll_interval", Value::Time(dice.multiple(world.slot, &[0.1, 3.0], 100_000)));
    }
    if dice.percent(30) {
        arbiter.set("request_queue", Value::Whole(dice.pick(&[1, 3, 100])));
    }
}

/// Returns whether the network is one whose paths an arbiter knows, with links that carry a packet a slot.
fn suits(world: &World, tables: &[Table]) -> bool {
    let network = &world.network;
    let unknown = |table: &Table| ["file", "datacenters"].iter().any(|shape| table.says("topology", shape));
    let known = tables.iter().any(|table| table.kind == "network" && !unknown(table));
    let slot = transmission(world.heaviest, network.rate);
    known && network.slowest >= network.rate && slot <= LONGEST_SLOT && network.delay <= LONGEST_DELAY
}

fn draw_transport(dice: &mut Dice, world: &World, table: &mut Table) {
    table.set("protocol", "fastpass");
    if dice.percent(60) {
        table.set("send", dice.pick(&["at_slot", "on_arrival", "on_arrival"]));
    }
    if dice.percent(30) {
        table.set("age_check", Value::Flag(false));
    }
    for (key, trips) in [("report_interval", 1.0), ("request_timeout", 5.0), ("fallback_after", 20.0)] {
        if dice.percent(30) {
            let time = dice.multiple(world.trip, &[trips, trips * 3.0], 1_000_000);
            table.set(key, Value::Time(time));
        }
    }
    if dice.percent(20) {
        table.set("unscheduled", Value::Whole(dice.pick(&[1, 20])));
    }
    if dice.percent(30) {
        table.set("limit", Value::Whole(dice.pick(&[1, 10, 1000])));
    }
    if dice.percent(50) {
        let timer = dice.multiple(world.trip, &[30.0, 300.0], 1_000_000);
        table.set("rto", Value::Time(timer));
    }
}

/// The table of arbiters, and how many there are.
fn draw_arbiters(dice: &mut Dice, world: &World, tables: &[Table]) -> (Table, usize) {
    let ends = world.network.links.iter().flat_map(|(a, b)| [a, b]);
    let mut switches: Vec<&String> = ends.filter(|name| !name.starts_with('h')).collect();
    switches.sort_unstable();
    switches.dedup();
    let count = dice.pick(&[1, 1, 2, 3]).min(switches.len() as u64) as usize;
    let first = dice.below(switches.len() as u64) as usize;
    let names: Vec<String> =
        (0..count).map(|rank| switches[(first + rank) % switches.len()].clone()).collect();
    let mut table = Table::new("arbiter").with("at", Value::Names(names));
    if dice.percent(50) {
        table.set("batch", Value::Whole(dice.pick(&[1, 4, 16, 24])));
    }
    if dice.percent(30) {
        table.set("order", "min_fct");
    }
    if dice.percent(30) {
        table.set("control_share", Value::Number(dice.pick(&[0.0, 0.01, 0.1])));
    }
    for key in ["request_service", "slot_service", "allocation_service", "latency"] {
        if dice.percent(20) {
            let time = dice.multiple(world.slot, &[0.01, 0.1, 1.0], 1);
            table.set(key, Value::Time(time));
        }
    }
    if dice.percent(30) {
        let gap = dice.multiple(world.slot, &[1.0, 100.0], 0);
        table.set("gap", Value::Time(gap));
    }
    let classes: Vec<&str> = tables
        .iter()
        .filter(|table| table.kind == "class")
        .filter_map(|table| table.name.as_deref())
        .collect();
    if !classes.is_empty() && dice.percent(50) {
        table.set("class", dice.pick(&classes));
    }
    (table, count)
}

/// An arbiter that is dead for a time or for good.
fn draw_crash(dice: &mut Dice, world: &World, rank: usize) -> Table {
    let mut table = Table::new("fault").with("kind", "crash").with("arbiter", Value::Whole(rank as u64));
    let at = dice.multiple(world.active, &[0.0, 0.2, 0.5], 0);
    table.set("at", Value::Time(at));
    if dice.percent(60) {
        let until = at + dice.multiple(world.active, &[0.1, 0.3], 1);
        table.set("until", Value::Time(until));
    }
    table
}
