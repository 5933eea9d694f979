//! RDMA: transports that send as RoCE or IRN does, alone or under DCQCN, and those under HPCC.

use super::World;
use crate::dice::Dice;
use crate::random_net::case::{Table, Value};

/// Makes transports without congestion control RoCE's or IRN's in many scenarios. It came later and has dice of its own.
pub fn draw(dice: &mut Dice, world: &World, tables: &mut [Table]) {
    let plain = |table: &Table| {
        let protocol = |name| table.says("protocol", name);
        table.kind == "transport" && (protocol("none") || protocol("go_back_n") || protocol("gcn"))
    };
    for table in tables.iter_mut().filter(|table| plain(table)) {
        if !dice.percent(if table.says("protocol", "go_back_n") { 25 } else { 55 }) {
            continue;
        }
        let kept = ["header", "ack", "class", "ack_class", "spray"];
        table.keys.retain(|(key, _)| kept.contains(&key.as_str()));
        if !table.gives("header") {
            // No more than any other transport's, as buffers have been drawn for that.
            table.set("header", Value::Size(28));
        }
        if dice.percent(60) {
            draw_roce(dice, world, table);
        } else {
            draw_irn(dice, world, table);
        }
    }
}

/// Puts transports that are RoCE's or IRN's under HPCC in some scenarios. It came later and has dice of its own.
pub fn draw_hpcc(dice: &mut Dice, world: &World, tables: &mut [Table]) {
    // What is rare enough by itself stays.
    let rare = |table: &Table| table.gives("scale_window") || table.gives("timeout_loss");
    let rdma = |table: &Table| table.says("protocol", "roce") || table.says("protocol", "irn");
    let rdma = |table: &Table| table.kind == "transport" && rdma(table) && !rare(table);
    for table in tables.iter_mut().filter(|table| rdma(table)) {
        if !dice.percent(28) {
            continue;
        }
        let kept = ["header", "ack", "class", "ack_class", "spray"];
        table.keys.retain(|(key, _)| kept.contains(&key.as_str()));
        table.set("protocol", "hpcc");
        draw_hpcc_keys(dice, world, table);
    }
}

fn draw_hpcc_keys(dice: &mut Dice, world: &World, table: &mut Table) {
    if dice.percent(50) {
        table.set("recovery", dice.pick(&["go_back_n", "selective_repeat"]));
    }
    if dice.percent(30) {
        table.set("reach", Value::Whole(dice.pick(&[64, 1024])));
    }
    if world.ends || dice.percent(85) {
        let time = dice.multiple(world.trip, &[1.3, 2.0, 4.0, 10.0, 300.0], 1_000_000);
        table.set("rto", Value::Time(time.min(100_000_000_000_000)));
    }
    if dice.percent(50) {
        table.set("eta", Value::Number(dice.pick(&[0.5, 0.95, 1.0])));
    }
    if dice.percent(50) {
        table.set("max_stage", Value::Whole(dice.pick(&[0, 1, 5])));
    }
    // A little of a packet at least, or a flow in a crowd hardly gets on.
    let frame = world.heaviest;
    if world.ends || dice.percent(60) {
        table.set("wai", Value::Size(dice.pick(&[frame / 10, frame / 2, frame]).clamp(1, 1_000_000)));
    }
    if dice.percent(65) {
        let time = dice.multiple(world.trip, &[0.1, 0.5, 1.0, 3.0], 1000);
        table.set("base_rtt", Value::Time(time.min(1_000_000_000_000)));
    }
}

/// Puts TIMELY in place of HPCC in some scenarios. It came later and has dice of its own.
pub fn draw_timely(dice: &mut Dice, world: &World, tables: &mut [Table]) {
    for table in tables.iter_mut().filter(|table| table.says("protocol", "hpcc")) {
        if !dice.percent(50) {
            continue;
        }
        table.set("protocol", "timely");
        let of_hpcc = ["eta", "max_stage", "wai", "base_rtt"];
        table.keys.retain(|(key, _)| !of_hpcc.contains(&key.as_str()));
        let low = dice.multiple(world.trip, &[0.3, 1.5, 5.0], 1000).min(500_000_000_000);
        let high = dice.multiple(low, &[1.0, 2.0, 10.0], 1000).min(1_000_000_000_000);
        let growth = dice.multiple(world.trip, &[0.3, 1.0, 10.0], 1000).min(1_000_000_000_000);
        for (key, time) in [("t_low", low), ("t_high", high), ("min_rtt", growth)] {
            table.set(key, Value::Time(time));
        }
        if dice.percent(40) {
            table.set("ewma", Value::Number(dice.pick(&[0.1, 1.0])));
        }
        if dice.percent(40) {
            table.set("beta", Value::Number(dice.pick(&[0.1, 1.0])));
        }
        if dice.percent(40) {
            table.set("hyper_after", Value::Whole(dice.pick(&[1, 20])));
        }
        if world.ends || dice.percent(50) {
            let rate = dice.multiple(world.network.rate, &[0.1, 1.0, 2.0], 1000);
            table.set("min_rate", Value::Rate(rate.min(10_000_000_000_000)));
        }
    }
}

fn draw_roce(dice: &mut Dice, world: &World, table: &mut Table) {
    table.set("protocol", "roce");
    if dice.percent(50) {
        table.set("recovery", dice.pick(&["go_back_n", "selective_repeat"]));
    }
    // Many packets that are sent again and again make a long run that is to end.
    let windowed = world.ends || dice.percent(50);
    if windowed {
        table.set("window", Value::Whole(dice.pick(&[1, 3, 10, 64])));
    }
    if dice.percent(30) {
        table.set("reach", Value::Whole(dice.pick(&[64, 1024])));
    }
    if world.ends || dice.percent(85) {
        let time = dice.multiple(world.trip, &[1.3, 2.0, 4.0, 10.0, 300.0], 1_000_000);
        table.set("rto", Value::Time(time.min(100_000_000_000_000)));
    }
    draw_dcqcn(dice, world, table, windowed);
}

fn draw_irn(dice: &mut Dice, world: &World, table: &mut Table) {
    table.set("protocol", "irn");
    if dice.percent(60) {
        table.set("bitmap", Value::Whole(dice.pick(&[1, 3, 10, 64, 100])));
    }
    if dice.percent(80) {
        let low = dice.multiple(world.trip, &[0.5, 1.3, 3.0], 1_000_000).min(50_000_000_000_000);
        let high = dice.multiple(low, &[1.0, 1.5, 10.0], 1_000_000).min(100_000_000_000_000);
        table.set("rto_low", Value::Time(low));
        table.set("rto_high", Value::Time(high));
    }
    if dice.percent(30) {
        table.set("few_packets", Value::Whole(dice.pick(&[0, 1, 10])));
    }
    if dice.percent(50) {
        table.set("timeout_loss", dice.pick(&["first", "all"]));
    }
    draw_dcqcn(dice, world, table, true);
}

fn draw_dcqcn(dice: &mut Dice, world: &World, table: &mut Table, windowed: bool) {
    if !dice.percent(70) {
        return;
    }
    table.set("congestion", "dcqcn");
    if dice.percent(50) {
        table.set("dcqcn", dice.pick(&["paper", "mellanox"]));
    }
    if windowed && dice.percent(30) {
        table.set("scale_window", Value::Flag(true));
    }
    let keys = [
        ("cnp_interval", 0),
        ("decrease_interval", 0),
        ("alpha_timer", 1000),
        // No more events than packets.
        ("increase_timer", (world.slot / 4).max(1000)),
    ];
    for (key, least) in keys {
        if dice.percent(30) {
            let time = dice.multiple(world.trip, &[0.0, 0.3, 1.0, 5.0], least).min(1_000_000_000_000);
            table.set(key, Value::Time(time));
        }
    }
    for (key, numbers) in [("gain", [0.01, 0.5, 1.0]), ("initial_alpha", [0.0, 0.5, 1.0])] {
        if dice.percent(25) {
            table.set(key, Value::Number(dice.pick(&numbers)));
        }
    }
    if dice.percent(30) {
        table.set("byte_counter", Value::Size(dice.pick(&[0, 1, 10_000, 1_000_000])));
    }
    if dice.percent(30) {
        table.set("fast_recovery", Value::Whole(dice.pick(&[0, 1, 3])));
    }
    for (key, shares) in [("ai_rate", [1e-4, 0.01, 0.3]), ("hai_rate", [0.001, 0.1, 1.0])] {
        if dice.percent(40) {
            let rate = dice.multiple(world.network.rate, &shares, 1000);
            table.set(key, Value::Rate(rate.min(10_000_000_000_000)));
        }
    }
    if world.ends || dice.percent(50) {
        let rate = dice.multiple(world.network.rate, &[0.01, 0.1, 1.0, 2.0], 1000);
        table.set("min_rate", Value::Rate(rate.min(10_000_000_000_000)));
    }
}
