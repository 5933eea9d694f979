//! What switches, hosts and classes do with frames: buffers, marking, priorities, work.

use super::transports::Transport;
use super::World;
use crate::dice::Dice;
use crate::random_net::case::{Table, Value};

const NAMES: [&str; 4] = ["gold", "silver", "bulk", "acks"];

/// Draws traffic classes, and who uses them: each is used by a transport for its data or for its acknowledgements.
pub fn draw_classes(world: &mut World, transports: &mut [Transport]) -> Vec<Table> {
    if world.dice.percent(55) {
        return Vec::new();
    }
    let count = world.dice.pick(&[1, 2, 2, 3, 4]);
    let mut used = [false; NAMES.len()];
    let mut name = |class: u64| {
        used[class as usize] = true;
        Some(NAMES[class as usize].to_string())
    };
    for transport in transports {
        transport.class = name(world.dice.below(count));
        if world.dice.percent(50) {
            transport.ack_class = name(world.dice.below(count));
        }
    }
    let names = NAMES.into_iter().zip(used).filter(|(_, used)| *used).map(|(name, _)| name);
    names.map(|name| draw_class(world, name)).collect()
}

fn draw_class(world: &mut World, name: &str) -> Table {
    let mut table = Table::named("class", name);
    if world.dice.percent(60) {
        table.set("priority", Value::Whole(world.dice.pick(&[0, 1, 2, 255])));
    }
    if world.dice.percent(60) {
        table.set("weight", Value::Whole(world.dice.pick(&[1, 2, 3, 10, 1000])));
    }
    if world.dice.percent(50) {
        // Every buffer has room for a frame: a threshold below that is below all of them.
        let room = world.heaviest;
        let marking = world.dice.pick(&["switch", "off", "step", "red"]);
        draw_marking(world, &mut table, marking, room);
    }
    table
}

/// Sets how a queue marks that holds at most `room` bytes.
fn draw_marking(world: &mut World, table: &mut Table, marking: &str, room: u64) {
    table.set("ecn", marking);
    let most = room - 1;
    let frames = &[0.0, 0.3, 1.0, 3.0, 10.0];
    match marking {
        "step" => {
            let at = world.dice.multiple(world.heaviest, frames, 0).min(most);
            table.set("ecn_threshold", Value::Size(at));
        }
        "red" => {
            let (a, b) = (
                world.dice.multiple(world.heaviest, frames, 0),
                world.dice.multiple(world.heaviest, frames, 0),
            );
            table.set("ecn_min", Value::Size(a.min(b).min(most)));
            table.set("ecn_max", Value::Size(a.max(b).min(most)));
            table.set("ecn_pmax", Value::Number(world.dice.pick(&[0.0, 0.1, 0.5, 1.0])));
        }
        _ => return,
    }
    // By what was drawn already, so that every seed goes on as before there was a choice.
    let even = (world.heaviest + marking.len() as u64) % 2 == 0;
    table.set("ecn_mark_at", if even { "dequeue" } else { "enqueue" });
}

/// Draws the tables of switches: of all of them, and of some roles.
pub fn draw_switches(world: &mut World) -> Vec<Table> {
    let mut tables = Vec::new();
    if world.dice.percent(85) {
        tables.push(draw_switch(world, "default"));
    }
    for role in world.network.roles.clone() {
        if world.dice.percent(20) {
            tables.push(draw_switch(world, role));
        }
    }
    tables
}

fn draw_switch(world: &mut World, role: &str) -> Table {
    let mut table = Table::named("switch", role);
    let buffer = match world.dice.below(10) {
        // With less, what is lost again and again may not arrive before the end.
        _ if world.ends && world.dice.percent(80) => {
            world.dice.multiple(world.heaviest, &[12.0, 30.0, 500.0], 100)
        }
        0..=3 => world.dice.multiple(world.heaviest, &[1.0, 1.1, 2.0, 3.7], 100),
        4..=6 => world.dice.multiple(world.heaviest, &[6.0, 12.5, 30.0], 100),
        _ => world.dice.multiple(world.heaviest, &[300.0, 5000.0], 100),
    };
    table.set("buffer", Value::Size(buffer));
    let shared = world.dice.percent(45);
    table.set("sharing", if shared { "shared" } else { "port" });
    let mut room = buffer;
    // A role that gave none would have the alpha of all switches, which may be too little for its buffer.
    if shared && (role != "default" || world.dice.percent(70)) {
        let alpha = world.dice.pick(&[0.25, 0.5, 1.0, 2.0, 16.0]);
        // A port that has the whole buffer to itself has room for a frame.
        let alpha = if (buffer as f64 * alpha) < world.heaviest as f64 { 1.0 } else { alpha };
        table.set("alpha", Value::Number(alpha));
        room = room.min((buffer as f64 * alpha) as u64);
    }
    let marking = world.dice.pick(&["off", "step", "step", "red", "red"]);
    draw_marking(world, &mut table, marking, room);
    table
}

/// Draws what hosts cost; `None`: nothing.
pub fn draw_host(world: &mut World) -> Option<Table> {
    let mut table = Table::named("host", "default");
    if world.dice.percent(60) {
        let said = world.dice.percent(10);
        return said.then(|| table.with("model", "ideal"));
    }
    table.set("model", "snap");
    let costs = ["receive_packet", "operation", "receive_ack", "completion", "transmit"];
    for key in costs {
        if world.dice.percent(75) {
            let cost = world.dice.multiple(world.slot, &[0.0, 0.1, 0.5, 1.0, 2.0], 0);
            table.set(key, Value::Time(cost.min(10_000_000_000)));
        }
    }
    if world.dice.percent(75) {
        let rate = world.dice.multiple(world.network.rate, &[0.5, 1.1, 3.0], 1000);
        table.set("copy_rate", Value::Rate(rate.min(10_000_000_000_000)));
    }
    if world.dice.percent(75) {
        let jitter = world.dice.multiple(world.slot, &[0.0, 0.5, 5.0, 50.0], 0);
        table.set("jitter", Value::Time(jitter.min(10_000_000_000)));
    }
    if world.dice.percent(75) {
        let interval = world.moment(&[0.05, 0.2, 1.0]).max(1_000_000);
        let pause = world.dice.multiple(interval, &[0.0, 0.05, 0.3, 1.0], 0);
        table.set("pause_interval", Value::Time(interval));
        table.set("pause", Value::Time(pause.min(10_000_000_000)));
    }
    if world.dice.percent(60) {
        let frames: &[f64] = if world.ends { &[1.0, 20.0, 40.0, 90.0] } else { &[1.0, 1.5, 4.0, 20.0] };
        let room = world.dice.multiple(world.heaviest, frames, 100);
        table.set("receive_queue", Value::Size(room));
    }
    Some(table)
}

/// Lets hosts wait for interrupts in some scenarios: all of those that are ideal, or some beside Snap hosts. It came later
/// and has dice of its own too.
pub fn draw_interrupts(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    if !dice.percent(30) {
        return;
    }
    let snap = tables.iter().any(|table| table.kind == "host" && table.says("model", "snap"));
    let mut table = Table::named("host", if snap { "late" } else { "default" });
    if snap {
        let first = dice.below(u64::from(world.network.hosts)) as u32;
        table.set("hosts", Value::Hosts((first..world.network.hosts).collect()));
    } else {
        tables.retain(|table| table.kind != "host");
    }
    table.set("model", "interrupts");
    let most = 10_000_000_000;
    let wake = dice.multiple(world.slot, &[0.0, 0.7, 5.0, 50.0], 0).min(most);
    table.set("wake_interval", Value::Time(wake));
    if dice.percent(50) {
        table.set("wake_spread", Value::Number(dice.pick(&[0.0, 0.1, 0.5, 1.0])));
    }
    for key in ["softirq", "softirq_mean", "send_delay"] {
        let time = dice.multiple(world.slot, &[0.0, 0.1, 1.0, 3.0], 0);
        table.set(key, Value::Time(time.min(most)));
    }
    if dice.percent(50) {
        let interval = dice.multiple(world.active, &[0.05, 0.2, 1.0], 0).max(1_000_000);
        table.set("stall_interval", Value::Time(interval));
        let stall = dice.multiple(interval, &[0.0, 0.05, 0.3, 1.0], 0);
        table.set("stall", Value::Time(stall.min(most)));
    }
    if dice.percent(40) {
        let rate = dice.multiple(world.network.rate, &[0.3, 0.9, 2.0], 1000);
        table.set("send_rate", Value::Rate(rate.min(10_000_000_000_000)));
    }
    if dice.percent(50) {
        let frames: &[f64] = if world.ends { &[20.0, 40.0, 90.0] } else { &[1.0, 4.0, 20.0] };
        table.set("receive_queue", Value::Size(dice.multiple(world.heaviest, frames, 100)));
    }
    // These came last of all.
    if dice.percent(40) {
        let jitter = dice.multiple(world.slot, &[0.5, 3.0, 15.0], 0);
        table.set("send_jitter", Value::Time(jitter.min(most)));
    }
    if table.gives("send_rate") && dice.percent(50) {
        table.set("send_spread", Value::Number(dice.pick(&[0.02, 0.5])));
    }
    tables.push(table);
}

/// Sets how long all hosts serve a read, in some scenarios. It came later than all else and has dice of its own, so that
/// everything else is drawn as it was without it.
pub fn draw_operation_service(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    if !dice.percent(35) {
        return;
    }
    let service = dice.multiple(world.slot, &[0.0, 0.01, 1.0, 7.3, 100.0], 0).min(10_000_000_000_000);
    if tables.iter().all(|table| table.kind != "host") {
        tables.push(Table::named("host", "default"));
    }
    for host in tables.iter_mut().filter(|table| table.kind == "host") {
        host.set("operation_service", Value::Time(service));
    }
}

/// Lets hosts serve their flows first in, first out, and switches replace PAUSEs that have not left, in some scenarios. They
/// came later and have dice of their own.
pub fn draw_orders(dice: &mut Dice, tables: &mut Vec<Table>) {
    if dice.percent(25) {
        if tables.iter().all(|table| table.kind != "host") {
            tables.push(Table::named("host", "default"));
        }
        for host in tables.iter_mut().filter(|table| table.kind == "host") {
            host.set("flow_order", Value::Text("fifo".into()));
        }
    }
    if dice.percent(25) {
        let pauses =
            |table: &Table| table.kind == "switch" && table.gives("pfc") && !table.says("pfc", "off");
        for switch in tables.iter_mut().filter(|table| pauses(table)) {
            switch.set("pfc_unsent", Value::Text("replace".into()));
        }
    }
}

/// Lets switches pause what sends to them in some scenarios, in all classes or some. It came later and has dice of its own.
pub fn draw_pfc(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    let distant = tables.iter().any(|table| table.says("topology", "datacenters"));
    if !dice.percent(if distant { 85 } else { 30 }) {
        return;
    }
    let mut classes: Vec<&mut Table> = tables.iter_mut().filter(|table| table.kind == "class").collect();
    if !classes.is_empty() {
        let sure = dice.below(classes.len() as u64) as usize;
        for (at, class) in classes.iter_mut().enumerate() {
            if at == sure || dice.percent(40) {
                class.set("lossless", Value::Flag(true));
            }
        }
    }
    if !tables.iter().any(|table| table.kind == "switch" && table.name.as_deref() == Some("default")) {
        tables.push(Table::named("switch", "default"));
    }
    // Some role may pause nobody, if there is another.
    let kinds = [dice.pick(&["static", "dynamic"]), dice.pick(&["off", "static", "dynamic"])];
    let mut off = usize::from(world.network.roles.len() > 1);
    for table in tables.iter_mut().filter(|table| table.kind == "switch") {
        let mut kind = kinds[usize::from(table.name.as_deref() != Some("default"))];
        if kind == "off" {
            kind = if off > 0 { "off" } else { "static" };
            off = 0;
        }
        draw_pfc_of(dice, world, table, kind);
    }
    // Where a PAUSE may be lost, frames may be dropped.
    let faulty = tables.iter().any(|table| table.kind == "fault" && table.gives("link"));
    let top = tables.iter_mut().find(|table| table.kind.is_empty());
    if let Some(top) = top.filter(|_| faulty) {
        top.set("allow_loss", Value::Flag(true));
    }
}

fn draw_pfc_of(dice: &mut Dice, world: &World, table: &mut Table, kind: &'static str) {
    let kind = if kind == "dynamic" && !table.says("sharing", "shared") { "static" } else { kind };
    table.set("pfc", kind);
    let thresholds = &[0.0, 0.9, 1.0, 3.0, 20.0];
    match kind {
        "static" => {
            let xoff = dice.multiple(world.heaviest, thresholds, 0);
            table.set("pfc_xoff", Value::Size(xoff));
            // What a role does not give it has of default, whose XOFF may be another.
            if dice.percent(50) || table.name.as_deref() != Some("default") {
                table.set("pfc_xon", Value::Size(dice.multiple(xoff, &[0.0, 0.5, 1.0], 0).min(xoff)));
            }
        }
        "dynamic" => {
            table.set("pfc_alpha", Value::Number(dice.pick(&[0.01, 0.25, 1.0, 100.0])));
            if dice.percent(50) {
                table.set("pfc_hysteresis", Value::Size(dice.multiple(world.heaviest, thresholds, 0)));
            }
        }
        _ => return,
    }
    if dice.percent(40) {
        // Enough for a frame of 65 kB and eight PAUSEs in half of it.
        table.set("pfc_quanta", Value::Whole(dice.pick(&[2100, 3000, 65_535])));
    }
    if dice.percent(30) {
        let response = dice.multiple(world.slot, &[0.0, 0.5, 7.0], 0);
        table.set("pfc_response", Value::Time(response.min(1_000_000_000)));
    }
}

/// Puts relays at long links that hold a frame, or into their switches, where switches pause. It came later and has dice of
/// its own.
pub fn draw_relays(dice: &mut Dice, world: &World, tables: &mut Vec<Table>) {
    let pauses = tables.iter().any(|table| table.name.as_deref() == Some("default") && pauses(table));
    let Some(network) = tables.iter_mut().find(|table| table.says("topology", "datacenters")) else { return };
    let (Some(rate), Some(km)) = (network.number("long_rate"), network.number("long_km")) else { return };
    // A kilometre takes 5 us.
    let held = rate * km * 5e-6 / 8.0;
    if !pauses || held < world.heaviest as f64 {
        return;
    }
    let boxes = dice.percent(75);
    network.set("relays", Value::Flag(boxes));
    if boxes {
        for fault in tables.iter_mut().filter(|table| table.kind == "fault") {
            let renamed = fault.text("link").map(|link| link.replace("dci0>dci1", "relay0>relay1"));
            let renamed = renamed
                .map(|link| link.replace("dci0-dci1", "relay0-relay1").replace("dci1-dci2", "relay2-relay3"));
            let renamed = renamed
                .map(|link| link.replace("dci1-dci0", "relay1-relay0").replace("dci2-dci1", "relay3-relay2"));
            let renamed = renamed.map(|link| link.replace("dci1>dci0", "relay1>relay0"));
            let renamed = renamed
                .map(|link| link.replace("dci1>dci2", "relay2>relay3").replace("dci2>dci1", "relay3>relay2"));
            if let Some(link) = renamed {
                fault.set("link", Value::Text(link));
            }
        }
    }
    // When one fails, what waits in it is dropped, and what its switch has no room for.
    if boxes && dice.percent(50) {
        let at = Value::Time(dice.below(40) * world.slot);
        tables.push(Table::new("fault").with("kind", "bypass").with("relay", "relay1").with("at", at));
        if let Some(top) = tables.iter_mut().find(|table| table.kind.is_empty()) {
            top.set("allow_loss", Value::Flag(true));
        }
    }
    let role = if boxes { "relay" } else { "long" };
    tables.retain(|table| table.kind != "switch" || table.name.as_deref() != Some(role));
    let mut table = Table::named("switch", role).with("pfc", if boxes { "static" } else { "relay" });
    if boxes {
        let xoff = dice.multiple(world.heaviest, &[0.0, 1.0, 3.0, 20.0], 0);
        table.set("pfc_xoff", Value::Size(xoff));
        table.set("pfc_xon", Value::Size(dice.multiple(xoff, &[0.0, 0.5, 1.0], 0).min(xoff)));
    }
    // With safety, and inside, as much room as is held for: each frame more would be dropped. Without it, each PAUSE that waits
    // for a frame and whose RESUME does not adds to what waits.
    let needed = 2.0 * held + 50.0 * world.heaviest as f64;
    let safety = dice.percent(60).then_some(Value::Size((2.0 * needed) as u64));
    if let Some(safety) = safety.clone() {
        table.set("relay_safety", safety);
    }
    if boxes {
        table.set("relay_buffer", safety.unwrap_or(Value::Size((20.0 * needed) as u64)));
    }
    // PAUSEs that a link loses cost more than that.
    if tables.iter().any(|table| table.kind == "fault") {
        if let Some(top) = tables.iter_mut().find(|table| table.kind.is_empty()) {
            top.set("allow_loss", Value::Flag(true));
        }
    }
    if dice.percent(60) {
        table.set("relay_virtual_queue", Value::Size(dice.multiple(world.heaviest, &[1.0, 10.0, 100.0], 1)));
        table.set(
            "relay_virtual_queue_above",
            Value::Size(dice.multiple(world.heaviest, &[0.0, 1.0, 10.0], 0)),
        );
    }
    tables.push(table);
}

/// Returns whether the table of a role has flow control.
fn pauses(table: &Table) -> bool {
    table.kind == "switch" && (table.says("pfc", "static") || table.says("pfc", "dynamic"))
}
