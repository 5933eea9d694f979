//! Observes a running simulation at fixed instants, and makes the outcome from what was observed.
//!
//! Steady-state figures are differences between the end of the run and the end of its warm-up.

use clearway_proto::units::{Span, Time};

use super::baseline::Baseline;
use super::digest::digest;
use super::fairness::Fairness;
use super::fastpass;
use super::measured::Measured;
use super::outcome::Outcome;
use super::pauses;
use super::samples::Samples;
use super::summary::summarise;
use super::tables;
use crate::model::Scenario;
use crate::simulation::Simulation;

/// The state of the network at the end of the warm-up, and the samples so far.
#[derive(Debug)]
pub struct Observer<'a> {
    scenario: &'a Scenario,
    start: Baseline,
    warm: bool,
    fairness: Fairness,
    samples: Samples,
}

impl<'a> Observer<'a> {
    /// An observer of a simulation in which nothing has happened yet.
    pub fn new(scenario: &'a Scenario, simulation: &Simulation) -> Observer<'a> {
        Observer {
            scenario,
            start: Baseline::of(simulation),
            warm: scenario.warmup == Span::ZERO,
            fairness: Fairness::new(scenario.record.fairness, Time::ZERO + scenario.warmup, simulation),
            samples: Samples::new(scenario, simulation),
        }
    }

    /// The next instant at which there is something to observe.
    pub fn next_look(&self) -> Time {
        let warm_up = if self.warm { Time::NEVER } else { Time::ZERO + self.scenario.warmup };
        warm_up.min(self.fairness.next_look()).min(self.samples.next_look())
    }

    /// Observes the simulation at `now`, if there is something to observe at that instant.
    pub fn look(&mut self, simulation: &mut Simulation, now: Time) {
        self.samples.look(simulation, now);
        if !self.warm && now >= Time::ZERO + self.scenario.warmup {
            self.warm = true;
            self.start = Baseline::of(simulation);
            simulation.measure_anew();
            self.samples.restart_rtt();
        }
        self.fairness.look(simulation, now);
    }

    /// The outcome of a run that ended at `end`.
    pub fn finish(self, simulation: &Simulation, end: Time) -> Outcome {
        let measured = Measured {
            scenario: self.scenario,
            simulation,
            start: self.start,
            end,
            counters: (0..simulation.transports()).map(|t| simulation.counters(t)).collect(),
            fairness: self.fairness.finish(simulation, end),
        };
        let mut tables = vec![tables::flows(&measured), tables::links(&measured), tables::rtt(&measured)];
        tables.extend(tables::unfinished(&measured));
        tables.extend(tables::hosts(&measured));
        tables.extend(tables::delays(&measured));
        tables.extend(tables::operations(&measured));
        tables.extend(tables::probes(&measured));
        tables.extend(fastpass::endpoints(&measured));
        tables.extend(fastpass::arbiters(&measured));
        tables.extend(tables::link_classes(&measured));
        tables.extend(pauses::pauses(&measured));
        tables.extend(pauses::deadlock(&measured));
        tables.extend(self.samples.into_tables(&measured));
        Outcome {
            digest: digest(simulation).to_string(),
            packet_hops: simulation.packet_hops(),
            summary: summarise(&measured),
            tables,
        }
    }
}
