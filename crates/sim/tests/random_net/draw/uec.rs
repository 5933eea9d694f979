//! Transports under NSCC, switches that cut packets for which they have no room, and packets on several paths.

use super::World;
use crate::dice::Dice;
use crate::random_net::case::{Table, Value};

/// Puts transports of a TCP under NSCC in some scenarios. It came later and has dice of its own.
pub fn draw_nscc(dice: &mut Dice, world: &World, tables: &mut [Table]) {
    let of_tcp = |table: &Table| {
        let protocol = |name| table.says("protocol", name);
        table.kind == "transport" && (protocol("dctcp") || protocol("cubic") || protocol("reno"))
    };
    for table in tables.iter_mut().filter(|table| of_tcp(table)) {
        if !dice.percent(35) {
            continue;
        }
        let kept = ["header", "ack", "class", "ack_class"];
        table.keys.retain(|(key, _)| kept.contains(&key.as_str()));
        if !table.gives("header") {
            // No more than any other transport's, as buffers have been drawn for that.
            table.set("header", Value::Size(28));
        }
        table.set("protocol", "nscc");
        draw_nscc_keys(dice, world, table);
    }
}

fn draw_nscc_keys(dice: &mut Dice, world: &World, table: &mut Table) {
    let most = 1_000_000_000_000;
    for (key, trips) in [("base_rtt", [0.3, 1.0, 3.0]), ("target", [0.1, 0.75, 2.0])] {
        if dice.percent(40) {
            let time = dice.multiple(world.trip, &trips, 1000).min(most);
            table.set(key, Value::Time(time));
        }
    }
    if world.ends || dice.percent(85) {
        let time = dice.multiple(world.trip, &[1.3, 4.0, 10.0, 300.0], 1_000_000);
        table.set("rto", Value::Time(time.min(100 * most)));
    }
    if dice.percent(40) {
        table.set("max_window", Value::Number(dice.pick(&[0.1, 1.0, 5.0])));
    }
    for (key, numbers) in [
        ("gain", [0.001, 0.125, 1.0]),
        ("gamma", [0.0, 0.5, 1.0]),
        ("proportional_increase", [0.0, 1.0, 100.0]),
        ("fair_increase", [0.0, 1.0, 100.0]),
        ("fast_increase", [0.0, 0.1, 2.0]),
        ("eta", [0.0, 0.5, 10.0]),
        ("quick_adapt_below", [0.0, 0.5, 1.0]),
    ] {
        if dice.percent(25) {
            table.set(key, Value::Number(dice.pick(&numbers)));
        }
    }
    if dice.percent(30) {
        table.set("quick_adapt", Value::Flag(false));
    }
    if dice.percent(40) {
        table.set("ack_every", Value::Whole(dice.pick(&[2, 4, 16])));
        let delay = dice.multiple(world.trip, &[0.1, 1.0], 1000).min(most);
        table.set("ack_delay", Value::Time(delay));
    }
    if dice.percent(30) {
        table.set("dup_threshold", Value::Whole(dice.pick(&[1, 3, 100])));
    }
    if dice.percent(30) {
        table.set("reach", Value::Whole(dice.pick(&[64, 1024])));
    }
}

/// Puts credit of receivers beside NSCC in some scenarios, or in its place. It came later and has dice of its own.
pub fn draw_credit(dice: &mut Dice, world: &World, tables: &mut [Table]) {
    for table in tables.iter_mut().filter(|table| table.says("protocol", "nscc")) {
        if !dice.percent(50) {
            continue;
        }
        let protocol = dice.pick(&["rccc", "nscc_rccc"]);
        table.set("protocol", protocol);
        if protocol == "rccc" {
            let kept = ["protocol", "header", "ack", "class", "ack_class", "spray", "paths"];
            let both = ["base_rtt", "rto", "dup_threshold", "reach"];
            table.keys.retain(|(key, _)| kept.iter().chain(&both).any(|other| key == other));
        }
        // A timer below the round trip sends packets again that are there, and all credit goes for them.
        let rto = dice.multiple(world.trip, &[10.0, 300.0], 1_000_000);
        table.set("rto", Value::Time(rto.min(100_000_000_000_000)));
        if dice.percent(40) {
            table.set("max_credit", Value::Number(dice.pick(&[0.1, 1.0, 5.0])));
        }
        if dice.percent(40) {
            table.set("pull_packets", Value::Whole(dice.pick(&[1, 7, 100])));
        }
        if dice.percent(40) {
            table.set("pull_rate", Value::Number(dice.pick(&[0.1, 0.7, 1.0])));
        }
        if dice.percent(70) {
            let time = dice.multiple(world.trip, &[0.5, 3.0, 20.0], 1_000_000);
            table.set("credit_timeout", Value::Time(time.min(100_000_000_000_000)));
        }
    }
}

/// Puts NDP in the place of NSCC or RCCC in some scenarios, and lets switches that cut packets let one go after a few headers. It
/// came later and has dice of its own.
pub fn draw_ndp(dice: &mut Dice, world: &World, tables: &mut [Table]) {
    let trims = |table: &Table| table.says("overflow", "trim");
    for table in tables.iter_mut().filter(|table| trims(table)) {
        if dice.percent(50) {
            table.set("trim_headers_first", Value::Whole(dice.pick(&[1, 10, 100])));
        }
    }
    let replaced =
        |table: &Table| ["nscc", "rccc", "nscc_rccc"].iter().any(|name| table.says("protocol", name));
    for table in tables.iter_mut().filter(|table| replaced(table)) {
        if !dice.percent(35) {
            continue;
        }
        let kept = ["header", "ack", "class", "ack_class", "spray", "paths", "reach"];
        table.keys.retain(|(key, _)| kept.contains(&key.as_str()));
        table.set("protocol", "ndp");
        // A timer below the round trip sends packets again that are there.
        let rto = dice.multiple(world.trip, &[10.0, 300.0], 1_000_000);
        table.set("rto", Value::Time(rto.min(100_000_000_000_000)));
        if dice.percent(60) {
            table.set("initial_window", Value::Whole(dice.pick(&[1, 5, 64])));
        }
        if dice.percent(70) {
            let time = dice.multiple(world.trip, &[0.5, 3.0, 20.0], 1_000_000);
            table.set("pull_timeout", Value::Time(time.min(100_000_000_000_000)));
        }
    }
}

/// Lets switches whose ports have buffers of their own cut packets in some scenarios, where no switch pauses anybody. It came later
/// and has dice of its own.
pub fn draw_trimming(dice: &mut Dice, tables: &mut [Table]) {
    let pauses = |table: &Table| table.kind == "switch" && table.gives("pfc");
    if tables.iter().any(pauses) || !dice.percent(60) {
        return;
    }
    // What a role does not give it has of default, and shared buffers drop.
    let default = tables.iter().any(|table| table.kind == "switch" && table.says("sharing", "shared"));
    for table in tables.iter_mut().filter(|table| table.kind == "switch" && table.says("sharing", "port")) {
        if table.name.as_deref() == Some("default") && default {
            continue;
        }
        table.set("overflow", "trim");
        if dice.percent(40) {
            table.set("trim_size", Value::Size(dice.pick(&[1, 20, 100])));
        }
        if dice.percent(40) {
            table.set("trim_room", Value::Size(dice.pick(&[20_000, 1_000_000, 50_000_000])));
        }
        if dice.percent(50) {
            table.set("trim_tail", Value::Number(dice.pick(&[0.0, 0.3, 1.0])));
        }
    }
}

/// Lets the packets of transports take several paths in some scenarios. It came later and has dice of its own.
pub fn draw_paths(dice: &mut Dice, tables: &mut [Table]) {
    let fastpass = |table: &Table| table.says("protocol", "fastpass");
    // Switches that choose ports by their queues do not route around what is dead.
    let routes_around = tables.iter().any(|table| table.kind == "routing");
    for table in tables.iter_mut().filter(|table| table.kind == "transport" && !fastpass(table)) {
        if !dice.percent(40) {
            continue;
        }
        let spray = dice.pick(&["packet", "round_robin", "reps", "mixed", "flowlet", "adaptive"]);
        let spray = if routes_around && spray == "adaptive" { "reps" } else { spray };
        table.set("spray", spray);
        if spray != "adaptive" && dice.percent(30) {
            table.set("paths", Value::Whole(dice.pick(&[1, 2, 7, 64])));
        }
    }
}
