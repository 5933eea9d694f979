//! Samples that a scenario may ask for, a file for each kind: queues, windows, round-trip times, throughput, links, flows, classes, and the
//! links and timeslots of a replay, each on a time grid of its own. Each sample has a row, zeros included; ports at which there was nothing in the
//! whole run are left out, and so are links and hosts of a replay at which there was nothing in an interval.

mod classes;
mod contract;
mod flows;
mod grid;
mod links;
mod queues;
mod replay;
mod replay_timeslots;
mod round_trips;
mod rtt;
mod series;
mod throughput;
mod windows;

use clearway_proto::units::{Span, Time};

use classes::ClassSamples;
use contract::instants;
pub use contract::Sampled;
use flows::FlowSamples;
use grid::Grid;
use links::LinkSamples;
use queues::QueueSamples;
use replay::ReplaySamples;
use replay_timeslots::TimeslotSamples;
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
        ClassSamples::footprint(scenario),
        FlowSamples::footprint(scenario),
        ReplaySamples::footprint(scenario),
        TimeslotSamples::footprint(scenario),
    ];
    kinds.into_iter().flatten().collect()
}

/// Returns the most rows that the tables of a replay can have together; none where no replay is asked.
pub fn most_replay_rows(scenario: &Scenario) -> f64 {
    replay::most_rows(scenario) + replay_timeslots::most_rows(scenario)
}

/// What the tables of samples mean, in their order.
pub(super) const DEFINITIONS: [Definition; 9] = [
    queues::Queues::DEFINITION,
    windows::Windows::DEFINITION,
    rtt::RttSeries::DEFINITION,
    throughput::Throughput::DEFINITION,
    links::LinksSeries::DEFINITION,
    classes::ClassSeries::DEFINITION,
    flows::FlowsSeries::DEFINITION,
    replay::ReplaySeries::DEFINITION,
    replay_timeslots::ReplayTimeslots::DEFINITION,
];

/// All samples so far.
#[derive(Debug)]
pub(super) struct Samples {
    queues: (Grid, QueueSamples),
    windows: (Grid, WindowSamples),
    rtt: (Grid, RttSamples),
    throughput: (Grid, ThroughputSamples),
    links: (Grid, LinkSamples),
    classes: (Grid, ClassSamples),
    flows: (Grid, FlowSamples),
    replay: ReplaySamples,
}

impl Samples {
    pub(super) fn new(scenario: &Scenario, simulation: &Simulation) -> Samples {
        let record = &scenario.record;
        let room = |footprint: fn(&Scenario) -> Option<Sampled>| {
            footprint(scenario).map_or(0, |sampled| sampled.rows as usize)
        };
        let times = |interval: Option<Span>| interval.map_or(0, |step| instants(scenario, step) as usize);
        let every = record.flows.as_ref().map(|series| series.every);
        let classes = ClassSamples::new(scenario, simulation, room(ClassSamples::footprint));
        let flows = FlowSamples::new(scenario, simulation, room(FlowSamples::footprint));
        let throughput = ThroughputSamples::new(simulation, room(ThroughputSamples::footprint));
        let [links, slots] = [ReplaySamples::footprint, TimeslotSamples::footprint].map(room);
        let replay = ReplaySamples::new(record.replay, simulation, links, slots);
        Samples {
            queues: (Grid::new(record.queues), QueueSamples::new(simulation, times(record.queues))),
            windows: (Grid::new(record.windows), WindowSamples::new(room(WindowSamples::footprint))),
            rtt: (Grid::new(record.rtt), RttSamples::new(simulation, room(RttSamples::footprint))),
            throughput: (Grid::new(record.throughput), throughput),
            links: (Grid::new(record.links), LinkSamples::new(simulation, times(record.links))),
            classes: (Grid::new(record.classes), classes),
            flows: (Grid::new(every), flows),
            replay,
        }
    }

    pub(super) fn next_look(&self) -> Time {
        let series = self.rtt.0.next.min(self.throughput.0.next).min(self.links.0.next);
        let series = series.min(self.classes.0.next).min(self.flows.0.next).min(self.replay.next_look());
        self.queues.0.next.min(self.windows.0.next).min(series)
    }

    /// The flows that have series, which the simulation is to meter.
    pub(super) fn flows(&self) -> &[u32] {
        self.flows.1.flows()
    }

    /// The round-trip times so far are about to be forgotten.
    pub(super) fn keep_rtt(&mut self, simulation: &mut Simulation) {
        self.note_longest(simulation);
        for round_trips in [&mut self.rtt.1.round_trips, &mut self.classes.1.round_trips] {
            round_trips.keep(simulation);
        }
    }

    /// Both kinds of samples that have the longest round-trip times get to know them.
    fn note_longest(&mut self, simulation: &mut Simulation) {
        let longest = round_trips::longest(simulation);
        for round_trips in [&mut self.rtt.1.round_trips, &mut self.classes.1.round_trips] {
            round_trips.note_longest(&longest);
        }
    }

    pub(super) fn look(&mut self, simulation: &mut Simulation, now: Time) {
        if self.queues.0.strikes(now) {
            self.queues.1.sample(simulation, now);
        }
        if self.windows.0.strikes(now) {
            self.windows.1.sample(simulation, now);
        }
        let (rtt, classes) = (self.rtt.0.strikes(now), self.classes.0.strikes(now));
        if rtt || classes {
            self.note_longest(simulation);
        }
        if rtt {
            self.rtt.1.sample(simulation, now);
        }
        if let (true, Some(step)) = (self.throughput.0.strikes(now), self.throughput.0.step) {
            self.throughput.1.sample(simulation, now, step);
        }
        if let (true, Some(step)) = (self.links.0.strikes(now), self.links.0.step) {
            self.links.1.sample(simulation, now, step);
        }
        if let (true, Some(step)) = (classes, self.classes.0.step) {
            self.classes.1.sample(simulation, now, step);
        }
        if self.flows.0.strikes(now) {
            self.flows.1.look(simulation, now);
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
        let classes = self.classes.0.step.map(|_| self.classes.1.into_table(measured));
        let flows = self.flows.0.step.map(|_| self.flows.1.into_table(measured));
        let [replay, timeslots] = self.replay.into_tables(measured);
        let all = [queues, windows, rtt, throughput, links, classes, flows, replay, timeslots];
        all.into_iter().flatten().collect()
    }
}
