//! Transports: protocols with any of their keys, and what their frames weigh.

use super::{Frames, World};
use crate::dice::Dice;
use crate::random_net::case::{Table, Value};

/// A transport before its protocol's keys are drawn.
pub struct Transport {
    pub name: String,
    pub protocol: &'static str,
    /// Bytes of a frame beside payload and framing; `None`: the protocol's own.
    header: Option<u64>,
    /// The size of an acknowledgement; none: as the header.
    ack: Option<u64>,
    /// Names of the classes of its data and of its acknowledgements.
    pub class: Option<String>,
    pub ack_class: Option<String>,
}

impl Transport {
    fn header(&self) -> u64 {
        self.header.unwrap_or(match self.protocol {
            "swift" => 64,
            "none" => 28,
            "go_back_n" => 44,
            _ => 52,
        })
    }

    /// The heavier of a full frame and an acknowledgement, on the wire.
    pub fn heaviest(&self, frames: &Frames) -> u64 {
        let header = self.header();
        (frames.mtu + header).max(self.ack.unwrap_or(header)) + frames.framing
    }
}

/// Draws how many transports there are, and what does not depend on the network.
pub fn draw_weights(dice: &mut Dice, frames: &Frames) -> Vec<Transport> {
    let count = dice.pick(&[1, 1, 2, 2, 3]);
    let draw = |number| {
        let protocol = dice.pick(&[
            "swift",
            "swift",
            "swift",
            "dctcp",
            "dctcp",
            "gcn",
            "cubic",
            "reno",
            "none",
            "go_back_n",
        ]);
        let header = dice.percent(25).then(|| dice.pick(&[0, 1, 33, 100, 1200]));
        let ack = dice.percent(25).then(|| match dice.below(4) {
            0 => frames.mtu,
            1 => frames.mtu / 2 + 200,
            2 => 2,
            // Nothing at all weighs nothing on the wire only without framing, which is refused.
            _ => u64::from(frames.framing == 0),
        });
        // A header of nothing makes acknowledgements of nothing.
        let weightless = frames.framing == 0 && header == Some(0) && ack.is_none();
        let header = if weightless { Some(1) } else { header };
        Transport { name: format!("t{number}"), protocol, header, ack, class: None, ack_class: None }
    };
    (0..count).map(draw).collect()
}

/// The whole table of a transport.
pub fn draw_keys(world: &mut World, transport: &Transport) -> Table {
    let mut table = Table::named("transport", &transport.name).with("protocol", transport.protocol);
    let mut keys = Keys { world, table: &mut table };
    match transport.protocol {
        "swift" => keys.swift(),
        "none" => keys.none(),
        "go_back_n" => keys.go_back_n(),
        protocol => {
            match protocol {
                "dctcp" => keys.dctcp(),
                "gcn" => keys.number(30, "ai", &[0.1, 1.0, 4.0]),
                "cubic" => keys.cubic(),
                _ => {}
            }
            keys.tcp();
        }
    }
    for (key, bytes) in [("header", transport.header), ("ack", transport.ack)] {
        if let Some(bytes) = bytes {
            table.set(key, Value::Size(bytes));
        }
    }
    for (key, class) in [("class", &transport.class), ("ack_class", &transport.ack_class)] {
        if let Some(name) = class {
            table.set(key, name.as_str());
        }
    }
    table
}

/// Draws keys into a table, each in a given share of the cases.
struct Keys<'a> {
    world: &'a mut World,
    table: &'a mut Table,
}

impl Keys<'_> {
    fn number(&mut self, percent: u64, key: &str, options: &[f64]) {
        if self.world.dice.percent(percent) {
            self.table.set(key, Value::Number(self.world.dice.pick(options)));
        }
    }

    fn whole(&mut self, percent: u64, key: &str, options: &[u64]) {
        if self.world.dice.percent(percent) {
            self.table.set(key, Value::Whole(self.world.dice.pick(options)));
        }
    }

    fn flag(&mut self, percent: u64, key: &str) {
        if self.world.dice.percent(percent) {
            let flag = self.world.dice.percent(30);
            self.table.set(key, Value::Flag(flag));
        }
    }

    /// A time in round trips.
    fn time(&mut self, percent: u64, key: &str, trips: &[f64], least: u64) {
        if self.world.dice.percent(percent) {
            let time = self.world.dice.multiple(self.world.trip, trips, least);
            self.table.set(key, Value::Time(time));
        }
    }

    /// A timer, which is at least 1 us. Where flows must end, it is often so long that it expires only for what is lost.
    fn timer(&mut self, percent: u64, key: &str) {
        let patient = self.world.ends && self.world.dice.percent(60);
        let trips: &[f64] = if patient { &[30.0, 300.0] } else { &[0.5, 1.3, 2.0, 4.0, 10.0] };
        self.time(percent, key, trips, 1_000_000);
    }

    fn swift(&mut self) {
        let ns = 1000;
        if self.world.dice.percent(20) {
            let variant = self.world.dice.pick(&["swift", "v0", "v0"]);
            self.table.set("variant", variant);
        }
        self.time(70, "base_target", &[0.5, 1.0, 1.3, 2.0, 5.0], ns);
        self.time(50, "hop_scaling", &[0.0, 0.01, 0.1], 0);
        self.time(50, "fs_range", &[0.0, 0.5, 3.0], 0);
        if self.world.dice.percent(25) {
            let (least, most) = self.world.dice.pick(&[(0.1, 10.0), (0.005, 256.0), (1.0, 1.5)]);
            self.table.set("fs_min_cwnd", Value::Number(least));
            self.table.set("fs_max_cwnd", Value::Number(most));
        }
        self.flag(25, "topology_scaling");
        self.flag(25, "flow_scaling");
        self.flag(25, "endpoint_window");
        self.time(30, "endpoint_target", &[0.1, 1.0, 5.0], ns);
        self.number(20, "endpoint_gain", &[0.01, 0.5, 1.0]);
        self.number(20, "endpoint_beta", &[0.0, 0.8, 3.0]);
        self.number(25, "ai", &[0.1, 1.0, 5.0]);
        self.number(25, "beta", &[0.0, 0.8, 10.0]);
        self.number(25, "max_mdf", &[0.1, 0.5, 0.9]);
        if self.world.dice.percent(if self.world.ends { 85 } else { 50 }) {
            let one = self.world.dice.percent(40);
            if one {
                self.table.set("cwnd_below_one", Value::Flag(false));
            }
            self.windows(&[0.01, 0.1, 1.0], !one);
        }
        self.flag(20, "pacing");
        self.whole(20, "retx_reset_threshold", &[1, 2, 10]);
        self.whole(20, "rto_backoff", &[0, 1, 16]);
        self.whole(20, "dup_threshold", &[1, 2, 10]);
        self.timer(80, "min_rto");
        self.timer(80, "initial_rto");
    }

    /// Windows that fit each other: smallest, initial and largest, and how far a sender may reach.
    fn windows(&mut self, least: &[f64], below_one: bool) {
        let largest = self.world.dice.pick(&[1.0_f64, 2.0, 8.0, 33.3, 64.0]);
        let largest = if below_one && self.world.dice.percent(15) { 0.5 } else { largest };
        let initial = largest * self.world.dice.pick(&[0.1, 0.5, 1.0]);
        let initial = if below_one { initial } else { initial.max(1.0) };
        let smallest = self.world.dice.pick(least).min(initial);
        self.table.set("max_cwnd", Value::Number(largest));
        self.table.set("initial_cwnd", Value::Number(initial));
        self.table.set("min_cwnd", Value::Number(smallest));
        self.whole(50, "reach", &[64, 256, 4096]);
    }

    fn tcp(&mut self) {
        if self.world.dice.percent(50) {
            self.windows(&[0.5, 1.0, 2.0], false);
        }
        if self.world.dice.percent(40) {
            self.whole(100, "ack_every", &[2, 2, 3, 16]);
            self.time(80, "ack_delay", &[0.1, 1.0, 5.0], 1000);
        }
        self.whole(25, "dup_threshold", &[1, 2, 10]);
        self.timer(85, "min_rto");
        self.timer(85, "initial_rto");
    }

    fn dctcp(&mut self) {
        self.number(30, "gain", &[0.01, 0.0625, 1.0]);
        self.number(30, "initial_alpha", &[0.0, 0.5, 1.0]);
    }

    fn cubic(&mut self) {
        self.number(40, "c", &[0.4, 1e7, 1e12]);
        self.number(30, "beta", &[0.1, 0.7, 0.95]);
        self.flag(30, "fast_convergence");
    }

    fn none(&mut self) {
        self.whole(60, "window", &[1, 3, 10, 64]);
        if self.world.dice.percent(50) {
            let rate = self.world.dice.multiple(self.world.network.rate, &[0.01, 0.1, 0.4, 1.0], 1000);
            self.table.set("rate", Value::Rate(rate));
        }
        self.whole(20, "dup_threshold", &[1, 2, 10]);
        self.timer(85, "rto");
        self.whole(30, "reach", &[64, 1024]);
    }

    fn go_back_n(&mut self) {
        self.whole(60, "window", &[1, 3, 10, 64, 200]);
        self.timer(85, "rto");
    }
}
