//! Traffic tables of every pattern, bounded in flows and operations.

use super::transports::Transport;
use super::World;
use crate::random_net::case::{Table, TraceLine, Value, SIZES_FILE, TRACE_FILE};

/// Flows that a Poisson source starts, and operations that an initiator issues, at most: about as many.
const ARRIVALS: f64 = 40.0;

/// Draws one traffic table.
pub fn draw(world: &mut World, transports: &[Transport]) -> Table {
    let mut drawing = Drawing { table: Table::new("traffic"), world, stop: None };
    let patterns =
        ["incast", "permutation", "all_to_all", "poisson", "closed_loop", "open_loop", "trace", "incast"];
    let pattern = drawing.world.dice.pick(&patterns);
    drawing.table.set("pattern", pattern);
    if transports.len() > 1 || drawing.world.dice.percent(20) {
        let transport = drawing.world.dice.below(transports.len() as u64) as usize;
        drawing.table.set("transport", transports[transport].name.as_str());
    }
    drawing.times(pattern);
    match pattern {
        "incast" => drawing.incast(),
        "poisson" => drawing.poisson(),
        "closed_loop" => drawing.closed_loop(),
        "open_loop" => drawing.open_loop(),
        "trace" => drawing.trace(),
        _ => drawing.among_peers(),
    }
    drawing.table
}

struct Drawing<'a> {
    world: &'a mut World,
    table: Table,
    /// When the table's flows stop, in picoseconds.
    stop: Option<u64>,
}

impl Drawing<'_> {
    /// When flows start and stop.
    fn times(&mut self, pattern: &str) {
        let first = self.world.moment(&[0.0, 0.0, 0.1, 0.4]);
        let mut last = first;
        match self.world.dice.below(4) {
            // All flows start at once.
            0 | 1 if first == 0 => {}
            0 | 1 => self.table.set("start", Value::Time(first)),
            _ => {
                last = first + self.world.moment(&[0.01, 0.1, 0.5]).max(1);
                self.table.set("start", Value::Times(first, last));
            }
        }
        if self.world.dice.percent(25) {
            let slot = self.world.slot;
            let stagger = self.world.dice.multiple(slot, &[1.0, 2.5, 10.0], 1);
            self.table.set("stagger", Value::Time(stagger));
        }
        let never_completes = ["poisson", "closed_loop", "open_loop"].contains(&pattern);
        if self.world.dice.percent(30) || self.world.stops && never_completes {
            let stop = last + self.world.moment(&[0.2, 0.5, 1.0]).max(1);
            self.table.set("stop", Value::Time(stop));
            self.stop = Some(stop);
        }
    }

    /// A size in bytes: around one packet, or many of them.
    fn bytes(&mut self) -> u64 {
        let mtu = self.world.frames.mtu;
        let dice = &mut self.world.dice;
        let small = self.world.frames.small_messages && dice.percent(60);
        if small {
            return dice.pick(&[1, mtu / 3, mtu.saturating_sub(1)]).max(1);
        }
        let many = if self.world.ends { [5, 12, 25] } else { [7, 40, 200] };
        dice.pick(&[
            mtu,
            mtu + 1,
            2 * mtu,
            3 * mtu + mtu / 2,
            many[0] * mtu,
            many[1] * mtu + 1,
            many[2] * mtu,
        ])
    }

    /// Gives each flow a size, unless it may go on without end.
    fn flow_bytes(&mut self) {
        let must_end = self.world.stops && self.stop.is_none();
        if must_end || self.world.dice.percent(40) {
            let bytes = self.bytes();
            self.table.set("bytes", Value::Size(bytes));
        }
    }

    fn flows_per_pair(&mut self) {
        if self.world.dice.percent(40) {
            let flows = self.world.dice.pick(&[1, 2, 3, 8]);
            self.table.set("flows_per_pair", Value::Whole(flows));
        }
    }

    /// Draws some of these hosts for a key, by a group's name where one fits.
    fn hosts(&mut self, key: &str, among: &[u32]) -> Vec<u32> {
        let groups = self.world.groups.iter().filter(|(_, group)| group.iter().all(|h| among.contains(h)));
        let groups: Vec<_> = groups.cloned().collect();
        if !groups.is_empty() && self.world.dice.percent(60) {
            let (name, hosts) = self.world.dice.pick(&groups);
            self.table.set(key, name);
            return hosts;
        }
        let hosts = match self.world.dice.below(3) {
            0 => among.to_vec(),
            1 => vec![self.world.dice.pick(among)],
            _ => self.world.dice.some_of(among),
        };
        self.table.set(key, Value::Hosts(hosts.clone()));
        hosts
    }

    fn everyone(&self) -> Vec<u32> {
        (0..self.world.network.hosts).collect()
    }

    fn incast(&mut self) {
        let to = self.world.dice.below(u64::from(self.world.network.hosts)) as u32;
        self.table.set("to", Value::Hosts(vec![to]));
        if self.world.dice.percent(50) {
            let others: Vec<u32> = self.everyone().into_iter().filter(|host| *host != to).collect();
            self.hosts("from", &others);
        }
        self.flows_per_pair();
        self.flow_bytes();
    }

    /// A permutation, or all to all.
    fn among_peers(&mut self) {
        if self.world.dice.percent(40) {
            let everyone = self.everyone();
            let hosts = self.hosts("hosts", &everyone);
            if hosts.len() < 2 {
                self.table.remove("hosts");
            }
        }
        if self.world.network.hosts < 10 {
            self.flows_per_pair();
        }
        self.flow_bytes();
    }

    /// Payload that a host's fastest link carries while the table is active, in bytes.
    fn capacity(&self) -> f64 {
        let active = self.stop.map_or(self.world.active, |stop| stop.min(self.world.active));
        self.world.network.rate as f64 * active as f64 / 8e12
    }

    fn poisson(&mut self) {
        let everyone = self.everyone();
        if self.world.dice.percent(40) {
            self.hosts("from", &everyone);
        }
        if self.world.dice.percent(40) {
            let to = self.hosts("to", &everyone);
            if to.len() < 2 {
                self.table.remove("to");
            }
        }
        let (mean, sizes) = self.flow_sizes();
        let few = ARRIVALS * mean / self.capacity();
        let load = self.world.dice.pick(&[0.05_f64, 0.3, 0.8, 2.0]).min(few).clamp(0.001, 10.0);
        self.table.set("load", Value::Number(load));
        self.table.set("sizes", sizes);
    }

    /// The mean of flow sizes in bytes, and how the file says them.
    fn flow_sizes(&mut self) -> (f64, Value) {
        // With the least load that there is, smaller flows would be too many.
        let least = (self.capacity() * 0.001 / ARRIVALS).ceil() as u64;
        let bytes = self.bytes().max(least).max(1);
        let mean = bytes as f64;
        let built_in = if self.world.ends { 3 } else { 5 };
        match self.world.dice.below(built_in) {
            0 => (mean, Value::Text(format!("fixed:{bytes}B"))),
            1 => (mean, Value::Text(format!("exponential:{bytes}B"))),
            2 => {
                if self.world.sizes.is_empty() {
                    self.world.sizes =
                        vec![(bytes, 0.0), (bytes * 2, 40.0), (bytes * 2, 70.5), (bytes * 4, 100.0)];
                }
                (self.world.sizes[0].0 as f64 * 2.0, SIZES_FILE.into())
            }
            _ => {
                let built_in = [
                    ("websearch", 1.7e6),
                    ("fb_hadoop", 1.2e5),
                    ("ali_storage", 4.1e4),
                    ("google_rpc", 2.9e3),
                ];
                let (name, mean) = self.world.dice.pick(&built_in);
                (mean, name.into())
            }
        }
    }

    fn trace(&mut self) {
        if self.world.trace.is_empty() {
            let hosts = u64::from(self.world.network.hosts);
            for _ in 0..self.world.dice.between(1, 20) {
                let from = self.world.dice.below(hosts);
                let to = (from + self.world.dice.between(1, hosts - 1)) % hosts;
                let start = self.world.moment(&[0.0, 0.01, 0.02, 0.2, 0.5]);
                let bytes = self.bytes();
                self.world.trace.push(TraceLine { start, from: from as u32, to: to as u32, bytes });
            }
        }
        self.table.set("file", TRACE_FILE);
    }

    fn closed_loop(&mut self) {
        self.ends_of_operations(false);
        self.flows_per_pair();
        if self.world.dice.percent(50) {
            let outstanding = self.world.dice.pick(&[1, 2, 5, 16]);
            self.table.set("outstanding", Value::Whole(outstanding));
        }
        self.operations();
        let bytes = self.bytes();
        self.table.set("bytes", Value::Size(bytes));
    }

    fn open_loop(&mut self) {
        self.ends_of_operations(true);
        self.flows_per_pair();
        if self.world.dice.percent(40) {
            let arrivals = self.world.dice.pick(&["poisson", "constant", "constant"]);
            self.table.set("arrivals", arrivals);
        }
        if self.world.dice.percent(40) {
            let backlog = self.world.dice.pick(&[1, 2, 10]);
            self.table.set("backlog", Value::Whole(backlog));
        }
        self.operations();
        let count = self.world.dice.pick(&[2.0, 10.0, ARRIVALS]);
        let mut bytes = self.bytes();
        if self.world.dice.percent(50) {
            let seconds = self.world.active as f64 / 1e12;
            let rate = ((count / seconds) as u64).clamp(1, 1_000_000_000);
            self.table.set("rate", Value::Frequency(rate));
        } else {
            // At most one operation a nanosecond, and with the least load not too many.
            let each_ns = self.world.network.rate as f64 * 10.0 / 8e9;
            bytes = bytes.max(each_ns as u64 + 1).max((self.capacity() * 0.001 / ARRIVALS) as u64);
            let load = (count * bytes as f64 / self.capacity()).clamp(0.001, 10.0);
            self.table.set("load", Value::Number(load));
        }
        self.table.set("bytes", Value::Size(bytes));
    }

    /// Initiators and targets. In a closed loop an initiator may be left without a target as long as another has one;
    /// in an open loop, and where all targets are remote, each has to have one.
    fn ends_of_operations(&mut self, open: bool) {
        let everyone = self.everyone();
        let from = self.hosts("from", &everyone);
        let mut to = self.hosts("to", &everyone);
        let lonely = |to: &[u32]| from.iter().any(|from| to.iter().all(|to| to == from));
        if lonely(&to) && (open || from.len() == 1) {
            to = everyone;
            self.table.set("to", Value::Hosts(to.clone()));
        }
        let rack = |host: &u32| self.world.network.racks[*host as usize];
        let served = from.iter().all(|from| to.iter().any(|to| rack(to) != rack(from)));
        if served && self.world.dice.percent(50) {
            self.table.set("remote", Value::Flag(true));
        }
    }

    fn operations(&mut self) {
        if self.world.dice.percent(50) {
            self.table.set("operation", "read");
            if self.world.dice.percent(40) {
                let request = self.bytes().min(self.world.frames.mtu * 2);
                self.table.set("request_bytes", Value::Size(request));
            }
        } else if self.world.dice.percent(20) {
            self.table.set("operation", "write");
        }
        if self.world.dice.percent(35) {
            let deadline = self.world.dice.multiple(self.world.trip, &[0.3, 1.0, 3.0, 10.0], 1);
            self.table.set("deadline", Value::Time(deadline));
        }
    }
}
