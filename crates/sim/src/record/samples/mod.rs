//! Samples that a scenario may ask for, a file for each kind: queues, windows, round-trip times, throughput, links, and what a
//! replay shows, each on a
//! time grid of its own. Each sample has a row, zeros included; ports at which there was nothing in the whole run are left
//! out.

mod contract;
mod grid;
mod links;
mod queues;
mod replay;
mod rtt;
mod series;
mod throughput;
mod windows;

use clearway_proto::units::{Span, Time};

use contract::instants;
pub use contract::Sampled;
use grid::Grid;
use links::LinkSamples;
use queues::QueueSamples;
pub use replay::most_rows as most_replay_rows;
use replay::ReplaySamples;
use rtt::RttSamples;
use throughput::ThroughputSamples;
use windows::WindowSamples;

use super::definitions::Definition;
use super::measured::Measured;
use super::outcome::Table;
use crate::model::Scenario;
use crate::simulation::Simulation;

/// The memory that the samples of each kind take that a scenario asks for.
pub fn footprints(scenario: &Scenario) -> Vec<Sampled> {
    let kinds = [
        QueueSamples::footprint(scenario),
        WindowSamples::footprint(scenario),
        RttSamples::footprint(scenario),
        ThroughputSamples::footprint(scenario),
        LinkSamples::footprint(scenario),
        ReplaySamples::footprint(scenario),
    ];
    kinds.into_iter().flatten().collect()
}

/// What the tables of samples mean, in their order.
pub(super) const DEFINITIONS: [Definition; 6] = [
    queues::Queues::DEFINITION,
    windows::Windows::DEFINITION,
    rtt::RttSeries::DEFINITION,
    throughput::Throughput::DEFINITION,
    links::LinksSeries::DEFINITION,
    replay::ReplaySeries::DEFINITION,
];

/// All samples so far.
#[derive(Debug)]
pub(super) struct Samples {
    queues: (Grid, QueueSamples),
    windows: (Grid, WindowSamples),
    rtt: (Grid, RttSamples),
    throughput: (Grid, ThroughputSamples),
    links: (Grid, LinkSamples),
    replay: ReplaySamples,
}

impl Samples {
    pub(super) fn new(scenario: &Scenario, simulation: &Simulation) -> Samples {
        let record = &scenario.record;
        let room = |footprint: fn(&Scenario) -> Option<Sampled>| {
            footprint(scenario).map_or(0, |sampled| sampled.rows as usize)
        };
        let times = |interval: Option<Span>| interval.map_or(0, |step| instants(scenario, step) as usize);
        let throughput = ThroughputSamples::new(simulation, room(ThroughputSamples::footprint));
        Samples {
            queues: (Grid::new(record.queues), QueueSamples::new(simulation, times(record.queues))),
            windows: (Grid::new(record.windows), WindowSamples::new(room(WindowSamples::footprint))),
            rtt: (Grid::new(record.rtt), RttSamples::new(simulation, room(RttSamples::footprint))),
            throughput: (Grid::new(record.throughput), throughput),
            links: (Grid::new(record.links), LinkSamples::new(simulation, times(record.links))),
            replay: ReplaySamples::new(record.replay, simulation, room(ReplaySamples::footprint)),
        }
    }

    pub(super) fn next_look(&self) -> Time {
        let series = self.rtt.0.next.min(self.throughput.0.next).min(self.links.0.next);
        self.queues.0.next.min(self.windows.0.next).min(series).min(self.replay.next_look())
    }

    /// The round-trip times so far are about to be forgotten.
    pub(super) fn keep_rtt(&mut self, simulation: &mut Simulation) {
        self.rtt.1.keep(simulation);
    }

    pub(super) fn look(&mut self, simulation: &mut Simulation, now: Time) {
        if self.queues.0.strikes(now) {
            self.queues.1.sample(simulation, now);
        }
        if self.windows.0.strikes(now) {
            self.windows.1.sample(simulation, now);
        }
        if self.rtt.0.strikes(now) {
            self.rtt.1.sample(simulation, now);
        }
        if let (true, Some(step)) = (self.throughput.0.strikes(now), self.throughput.0.step) {
            self.throughput.1.sample(simulation, now, step);
        }
        if let (true, Some(step)) = (self.links.0.strikes(now), self.links.0.step) {
            self.links.1.sample(simulation, now, step);
        }
        if now >= self.replay.next_look() {
            self.replay.sample(simulation, now);
        }
    }

    pub(super) fn into_tables(self, measured: &Measured) -> Vec<Table> {
        let queues = self.queues.0.step.map(|_| self.queues.1.into_table(measured));
        let windows = self.windows.0.step.map(|_| self.windows.1.into_table());
        let rtt = self.rtt.0.step.map(|_| self.rtt.1.into_table(measured));
        let throughput = self.throughput.0.step.map(|_| self.throughput.1.into_table(measured));
        let links = self.links.0.step.map(|_| self.links.1.into_table(measured));
        let replay = self.replay.into_table(measured);
        [queues, windows, rtt, throughput, links, replay].into_iter().flatten().collect()
    }
}
