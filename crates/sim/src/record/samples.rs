//! What is sampled on request: queues, windows, round-trip times, throughput, links, each on a grid of its own.

use clearway_proto::units::{Span, Time};

use super::link_samples::LinkSamples;
use super::measured::Measured;
use super::outcome::{Column, Table};
use crate::model::Record;
use crate::net::port::Port;
use crate::simulation::Simulation;

/// A time grid, or none.
#[derive(Debug)]
struct Grid {
    step: Option<Span>,
    next: Time,
}

impl Grid {
    fn new(step: Option<Span>) -> Grid {
        Grid { step, next: step.map_or(Time::NEVER, |step| Time::ZERO + step) }
    }

    /// Whether `now` is on the grid; if so, moves on.
    fn strikes(&mut self, now: Time) -> bool {
        match self.step {
            Some(step) if now >= self.next => {
                self.next = self.next + step;
                true
            }
            _ => false,
        }
    }
}

/// All samples so far.
#[derive(Debug)]
pub(super) struct Samples {
    queues: (Grid, QueueSamples),
    windows: (Grid, WindowSamples),
    rtt: (Grid, SeriesSamples<2>),
    throughput: (Grid, SeriesSamples<1>),
    links: (Grid, LinkSamples),
    /// Per transport at the last sample: sum and count of round-trip times, payload delivered.
    last_rtt: Vec<(u128, u64)>,
    last_payload: Vec<u64>,
}

#[derive(Debug, Default)]
struct QueueSamples {
    time_us: Vec<f64>,
    link: Vec<u32>,
    bytes: Vec<u64>,
    /// Whether the link's last sample was not zero, so that the first zero after it is kept.
    busy: Vec<bool>,
}

#[derive(Debug, Default)]
struct WindowSamples {
    time_us: Vec<f64>,
    flow: Vec<u64>,
    windows: [Vec<f64>; 4],
}

/// `N` values of each transport at each instant.
#[derive(Debug)]
struct SeriesSamples<const N: usize> {
    time_us: Vec<f64>,
    transport: Vec<usize>,
    values: [Vec<f64>; N],
}

impl<const N: usize> SeriesSamples<N> {
    fn new() -> SeriesSamples<N> {
        SeriesSamples {
            time_us: Vec::new(),
            transport: Vec::new(),
            values: std::array::from_fn(|_| Vec::new()),
        }
    }

    fn push(&mut self, now: Time, transport: usize, values: [f64; N]) {
        self.time_us.push(now.as_us_f64());
        self.transport.push(transport);
        for (column, value) in self.values.iter_mut().zip(values) {
            column.push(value);
        }
    }
}

impl Samples {
    pub(super) fn new(record: &Record, simulation: &Simulation) -> Samples {
        let transports = simulation.transports();
        let busy = vec![false; simulation.links() as usize];
        Samples {
            queues: (Grid::new(record.queues), QueueSamples { busy, ..QueueSamples::default() }),
            windows: (Grid::new(record.windows), WindowSamples::default()),
            rtt: (Grid::new(record.rtt), SeriesSamples::new()),
            throughput: (Grid::new(record.throughput), SeriesSamples::new()),
            links: (Grid::new(record.links), LinkSamples::new(simulation)),
            last_rtt: vec![(0, 0); transports],
            last_payload: vec![0; transports],
        }
    }

    pub(super) fn next_look(&self) -> Time {
        let series = self.rtt.0.next.min(self.throughput.0.next).min(self.links.0.next);
        self.queues.0.next.min(self.windows.0.next).min(series)
    }

    /// The round-trip times so far have been forgotten.
    pub(super) fn restart_rtt(&mut self) {
        self.last_rtt.fill((0, 0));
    }

    pub(super) fn look(&mut self, simulation: &mut Simulation, now: Time) {
        if self.queues.0.strikes(now) {
            self.queues.1.sample(simulation, now);
        }
        if self.windows.0.strikes(now) {
            self.windows.1.sample(simulation, now);
        }
        if self.rtt.0.strikes(now) {
            self.sample_rtt(simulation, now);
        }
        if self.throughput.0.strikes(now) {
            self.sample_throughput(simulation, now);
        }
        if let (true, Some(step)) = (self.links.0.strikes(now), self.links.0.step) {
            self.links.1.sample(simulation, now, step);
        }
    }

    fn sample_rtt(&mut self, simulation: &mut Simulation, now: Time) {
        for transport in 0..simulation.transports() {
            let (sum, count) = self.last_rtt[transport];
            let (new_sum, new_count) = simulation.rtt_so_far(transport);
            let max = simulation.take_recent_max_rtt(transport);
            self.last_rtt[transport] = (new_sum, new_count);
            if new_count > count {
                let mean = (new_sum - sum) as f64 / (new_count - count) as f64;
                self.rtt.1.push(now, transport, [mean / 1e6, max as f64 / 1e6]);
            }
        }
    }

    fn sample_throughput(&mut self, simulation: &Simulation, now: Time) {
        let step = self.throughput.0.step.unwrap_or(Span::ZERO).as_secs_f64();
        let mut payload = vec![0; self.last_payload.len()];
        for (flow, spec) in (0..).zip(simulation.specs()) {
            payload[spec.transport as usize] += simulation.receiver(flow).receiver.payload();
        }
        for (transport, &bytes) in payload.iter().enumerate() {
            let gbps = (bytes - self.last_payload[transport]) as f64 * 8.0 / step / 1e9;
            self.throughput.1.push(now, transport, [gbps]);
        }
        self.last_payload = payload;
    }

    pub(super) fn into_tables(self, measured: &Measured) -> Vec<Table> {
        let transport_names = |indices: Vec<usize>| {
            let name = |index: usize| measured.scenario.transports[index].name.clone();
            Column::Texts(indices.into_iter().map(name).collect())
        };
        let mut tables = Vec::new();
        if self.queues.0.step.is_some() {
            tables.push(self.queues.1.into_table(measured));
        }
        if self.windows.0.step.is_some() {
            tables.push(self.windows.1.into_table());
        }
        if self.rtt.0.step.is_some() {
            let SeriesSamples { time_us, transport, values: [mean, max] } = self.rtt.1;
            tables.push(Table {
                name: "rtt_series",
                columns: vec![
                    ("time_us", Column::Floats(time_us)),
                    ("transport", transport_names(transport)),
                    ("rtt_mean_us", Column::Floats(mean)),
                    ("rtt_max_us", Column::Floats(max)),
                ],
            });
        }
        if self.throughput.0.step.is_some() {
            let SeriesSamples { time_us, transport, values: [gbps] } = self.throughput.1;
            tables.push(Table {
                name: "throughput",
                columns: vec![
                    ("time_us", Column::Floats(time_us)),
                    ("transport", transport_names(transport)),
                    ("goodput_gbps", Column::Floats(gbps)),
                ],
            });
        }
        if self.links.0.step.is_some() {
            tables.push(self.links.1.into_table(measured));
        }
        tables
    }
}

impl QueueSamples {
    /// Of switches' ports. Empty queues are left out, save the first sample after a queue has drained.
    fn sample(&mut self, simulation: &Simulation, now: Time) {
        for link in 0..simulation.links() {
            if simulation.port(link).intersects(Port::NIC) {
                continue;
            }
            let bytes = u64::from(simulation.port_figures(link).waiting_bytes);
            let busy = bytes > 0;
            if busy || std::mem::replace(&mut self.busy[link as usize], busy) {
                self.busy[link as usize] = busy;
                self.time_us.push(now.as_us_f64());
                self.link.push(link);
                self.bytes.push(bytes);
            }
        }
    }

    fn into_table(self, measured: &Measured) -> Table {
        let name = |link| measured.simulation.graph().link_name(link);
        Table {
            name: "queues",
            columns: vec![
                ("time_us", Column::Floats(self.time_us)),
                ("link", Column::Texts(self.link.into_iter().map(name).collect())),
                ("queue_bytes", Column::Integers(self.bytes)),
            ],
        }
    }
}

impl WindowSamples {
    /// Of every flow that has begun and is not complete.
    fn sample(&mut self, simulation: &Simulation, now: Time) {
        for (flow, spec) in (0..).zip(simulation.specs()) {
            if spec.start > now || simulation.receiver(flow).completed_at <= now {
                continue;
            }
            let windows = simulation.sender(flow).sender.windows();
            self.time_us.push(now.as_us_f64());
            self.flow.push(u64::from(flow));
            let values = [windows.cwnd, windows.fcwnd, windows.ecwnd, windows.srtt.as_us_f64()];
            for (column, value) in self.windows.iter_mut().zip(values) {
                column.push(value);
            }
        }
    }

    fn into_table(self) -> Table {
        let [cwnd, fcwnd, ecwnd, srtt] = self.windows.map(Column::Floats);
        Table {
            name: "windows",
            columns: vec![
                ("time_us", Column::Floats(self.time_us)),
                ("flow", Column::Integers(self.flow)),
                ("cwnd_packets", cwnd),
                ("fcwnd_packets", fcwnd),
                ("ecwnd_packets", ecwnd),
                ("srtt_us", srtt),
            ],
        }
    }
}
