//! Routes around dead links, and dead, slow and noisy places of a network. They came later and have dice of their own.

use super::World;
use crate::dice::Dice;
use crate::random_net::case::{Table, Value};

/// Lets switches route around dead links in some scenarios, and then some node be dead; lets a link be slow in some, and a link have
/// wrong bits in some.
pub fn draw(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    let drawn = tables.len();
    if dice.percent(35) {
        draw_routing(dice, world, tables);
    }
    if dice.percent(15) {
        let share = dice.pick(&[1, 2, 10]);
        let slow = of_a_link(dice, world, "slow").with("rate", Value::Rate(world.network.slowest / share));
        tables.push(lasting(dice, world, slow));
    }
    if dice.percent(15) {
        let rate = Value::Number(dice.pick(&[0.0, 1e-7, 1e-5, 1e-3]));
        let noisy = of_a_link(dice, world, "corruption").with("bit_error_rate", rate);
        tables.push(lasting(dice, world, noisy));
    }
    // Where a PAUSE may be lost or forgotten, frames may be dropped.
    let pauses = tables.iter().any(|table| table.gives("pfc"));
    if tables.len() > drawn && pauses {
        tables[0].set("allow_loss", Value::Flag(true));
    }
}

fn draw_routing(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    let detect = dice.multiple(world.trip, &[0.0, 0.5, 3.0], 0);
    let converge = detect + dice.multiple(world.trip, &[0.0, 1.0, 10.0], 0);
    let mut routing = Table::new("routing").with("detect", Value::Time(detect));
    routing.set("converge", Value::Time(converge));
    if dice.percent(60) {
        routing.set("rehash", dice.pick(&["minimal", "modulo"]));
    }
    tables.push(routing);
    // A run that waits for flows which are cut off for good ends before its time.
    for down in tables.iter_mut().filter(|table| table.says("kind", "down") && !table.gives("until")) {
        if world.stops {
            let at = down.number("at").unwrap_or(0.0) as u64;
            down.set("until", Value::Time(at + dice.multiple(world.active, &[0.05, 0.3], 1)));
        }
    }
    if dice.percent(60) {
        let (a, b) = dice.pick(&world.network.links);
        let node = if dice.percent(50) { a } else { b };
        let dead = Table::new("fault").with("kind", "dead").with("node", Value::Text(node));
        tables.push(lasting(dice, world, dead));
    }
}

fn of_a_link(dice: &mut Dice, world: &World, kind: &'static str) -> Table {
    let (a, b) = dice.pick(&world.network.links);
    let link = if dice.percent(50) { format!("{a}-{b}") } else { format!("{b}>{a}") };
    Table::new("fault").with("kind", kind).with("link", Value::Text(link))
}

/// A fault with a beginning, and an end save where the run need not end.
fn lasting(dice: &mut Dice, world: &World, mut fault: Table) -> Table {
    let at = dice.multiple(world.active, &[0.0, 0.1, 0.4, 0.9], 0);
    if at > 0 || dice.percent(20) {
        fault.set("at", Value::Time(at));
    }
    if world.stops || dice.percent(50) {
        fault.set("until", Value::Time(at + dice.multiple(world.active, &[0.01, 0.2, 0.5], 1)));
    }
    fault
}
