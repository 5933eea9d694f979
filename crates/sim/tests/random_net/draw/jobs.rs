//! Jobs: collectives and training steps beside the other traffic.

use super::World;
use crate::dice::Dice;
use crate::random_net::case::{Table, Value};

/// Collectives with their algorithms; those of the second list need a power of two of ranks.
const COLLECTIVES: [(&str, &[&str], &[&str]); 7] = [
    ("all_reduce", &["ring", "double_tree"], &["halving_doubling", "recursive_doubling"]),
    ("reduce_scatter", &["ring"], &["halving_doubling"]),
    ("all_gather", &["ring"], &["halving_doubling"]),
    ("all_to_all", &["direct", "pairwise"], &[]),
    ("broadcast", &["binomial", "ring"], &[]),
    ("reduce", &["binomial", "ring"], &[]),
    ("barrier", &["dissemination"], &[]),
];

/// Puts jobs in some scenarios in which nothing is cut off for good: a run ends when one of its jobs is. They came later and have dice
/// of their own.
pub fn draw(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    let cuts_off = |table: &Table| {
        table.kind == "fault"
            && !table.gives("until")
            && (table.says("kind", "down") || table.says("kind", "dead"))
    };
    if world.network.hosts < 2 || tables.iter().any(cuts_off) || !dice.percent(30) {
        return;
    }
    for _ in 0..dice.pick(&[1, 1, 2]) {
        let mut job = Table::new("job");
        let ranks = draw_ranks(dice, world, &mut job);
        let transports: Vec<String> = tables
            .iter()
            .filter(|table| table.kind == "transport")
            .filter_map(|table| table.name.clone())
            .collect();
        if transports.len() > 1 {
            job.set("transport", dice.pick(&transports).as_str());
        }
        if dice.percent(50) {
            let start = dice.multiple(world.active, &[0.01, 0.3, 0.8], 0);
            job.set("start", Value::Time(start));
        }
        if dice.percent(50) {
            job.set("iterations", Value::Whole(dice.pick(&[2, 3, 10])));
        }
        let layer = if dice.percent(30) { Some(draw_training(dice, world, ranks, &mut job)) } else { None };
        if layer.is_none() {
            draw_collective(dice, world, ranks, &mut job);
        }
        tables.push(job);
        tables.extend(layer);
    }
    for record in tables.iter_mut().filter(|table| table.kind == "record") {
        for key in ["timeline", "alone"] {
            if dice.percent(40) {
                record.set(key, Value::Flag(true));
            }
        }
    }
}

/// Draws where ranks are; there are as many as there is room for, which is returned.
fn draw_ranks(dice: &mut Dice, world: &World, job: &mut Table) -> u64 {
    let all: Vec<u32> = (0..world.network.hosts).collect();
    let hosts = match dice.below(3) {
        0 if all.len() <= 8 => all,
        1 => {
            let first = dice.below(all.len() as u64 - 1) as usize;
            all[first..(first + 4).min(all.len())].to_vec()
        }
        _ => {
            let first = dice.below(all.len() as u64 - 1) as usize;
            all[first..first + 2].to_vec()
        }
    };
    job.set("hosts", Value::Hosts(hosts.clone()));
    let on_each = dice.pick(&[1, 1, 2]);
    if on_each > 1 {
        job.set("ranks_per_host", Value::Whole(on_each));
        if dice.percent(60) {
            job.set("local_rate", Value::Rate(world.network.slowest * dice.pick(&[1, 8])));
        }
    }
    if dice.percent(50) {
        job.set("placement", dice.pick(&["packed", "round_robin", "random"]));
    }
    hosts.len() as u64 * on_each
}

fn draw_collective(dice: &mut Dice, world: &World, ranks: u64, job: &mut Table) {
    let (collective, always, doubling) = dice.pick(&COLLECTIVES);
    job.set("kind", "collective");
    job.set("collective", collective);
    let in_groups = ranks % 2 == 0 && ranks > 2 && dice.percent(30);
    let group = if in_groups { ranks / 2 } else { ranks };
    if in_groups {
        job.set("group_size", Value::Whole(group));
        job.set("groups", dice.pick(&["consecutive", "strided"]));
    }
    if group.is_power_of_two() && !doubling.is_empty() && dice.percent(50) {
        job.set("algorithm", dice.pick(doubling));
    } else if dice.percent(70) {
        job.set("algorithm", dice.pick(always));
    }
    if collective == "barrier" {
        return;
    }
    let bytes = draw_bytes(dice, world) * dice.pick(&[1, group]);
    job.set("bytes", Value::Size(bytes));
    let chunks = dice.pick(&[2, 7]);
    if collective != "all_to_all" && chunks <= bytes && dice.percent(40) {
        job.set("chunks", Value::Whole(chunks));
    }
}

/// Draws a training step of one sort of layer, which is returned.
fn draw_training(dice: &mut Dice, world: &World, ranks: u64, job: &mut Table) -> Table {
    job.set("kind", "training");
    let parallel = dice.pick(&["data_parallel", "tensor_parallel", "pipeline_parallel", "expert_parallel"]);
    let count = if parallel == "pipeline_parallel" { ranks } else { dice.pick(&[1, 2]) };
    let mut layer = Table::new("job.layer").with("count", Value::Whole(count));
    layer.set("forward", Value::Time(dice.multiple(world.trip, &[0.0, 0.3, 5.0], 2)));
    if parallel != "data_parallel" {
        job.set(parallel, Value::Whole(ranks));
    }
    let size = Value::Size(draw_bytes(dice, world));
    match parallel {
        "tensor_parallel" => layer.set("tensor", size),
        "pipeline_parallel" => job.set("activations", size),
        "expert_parallel" => layer.set("exchange", size),
        _ => {}
    }
    layer.set("gradients", Value::Size(draw_bytes(dice, world)));
    if dice.percent(40) {
        job.set("micro_batches", Value::Whole(dice.pick(&[2, 3])));
    }
    if dice.percent(40) {
        job.set("overlap", Value::Flag(false));
    }
    if dice.percent(40) {
        job.set("gradients", "sharded");
    }
    layer
}

/// A size around one packet, or of some.
fn draw_bytes(dice: &mut Dice, world: &World) -> u64 {
    let mtu = world.frames.mtu;
    dice.pick(&[1, mtu, mtu + 1, 3 * mtu, 12 * mtu + 1])
}
