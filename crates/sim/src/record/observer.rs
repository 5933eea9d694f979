//! Observes a running simulation at fixed instants, and makes the outcome from what was observed.
//!
//! Steady-state figures are differences between the end of the measurement and its beginning.

use clearway_proto::units::{Span, Time};

use super::baseline::Baseline;
use super::definitions::Definition;
use super::digest::digest;
use super::fairness::Fairness;
use super::fastpass;
use super::faults;
use super::goodput::GoodputSteps;
use super::job_parts;
use super::jobs;
use super::measured::Measured;
use super::outcome::Outcome;
use super::packets;
use super::pauses;
use super::requests;
use super::samples::{self, Samples};
use super::summary::summarise;
use super::tables;
use crate::model::Scenario;
use crate::simulation::counters::TransportCounters;
use crate::simulation::Simulation;

/// The state of the network at the end of the warm-up, and the samples so far.
#[derive(Debug)]
pub struct Observer<'a> {
    scenario: &'a Scenario,
    start: Baseline,
    warm: bool,
    /// The counters when the measurement ended, if that is over.
    stop: Option<(Baseline, Vec<TransportCounters>)>,
    fairness: Fairness,
    samples: Samples,
    goodput: GoodputSteps,
}

impl<'a> Observer<'a> {
    /// An observer of a simulation in which nothing has happened yet.
    pub fn new(scenario: &'a Scenario, simulation: &Simulation) -> Observer<'a> {
        Observer {
            scenario,
            start: Baseline::of(simulation),
            warm: scenario.warmup == Span::ZERO,
            stop: None,
            fairness: Fairness::new(scenario.record.fairness, Time::ZERO + scenario.warmup, simulation),
            samples: Samples::new(scenario, simulation),
            goodput: GoodputSteps::new(scenario),
        }
    }

    /// The flows that have series, which the simulation is to meter.
    pub fn flows_with_series(&self) -> &[u32] {
        self.samples.flows()
    }

    /// The next instant at which there is something to observe.
    pub fn next_look(&self) -> Time {
        let warm_up = if self.warm { Time::NEVER } else { Time::ZERO + self.scenario.warmup };
        let until = if self.stop.is_some() { Time::NEVER } else { Time::ZERO + self.scenario.measure_until };
        let goodput = self.goodput.next_look();
        warm_up.min(until).min(goodput).min(self.fairness.next_look()).min(self.samples.next_look())
    }

    /// Observes the simulation at `now`, if there is something to observe at that instant.
    pub fn look(&mut self, simulation: &mut Simulation, now: Time) {
        self.samples.look(simulation, now);
        self.goodput.look(simulation, now);
        if !self.warm && now >= Time::ZERO + self.scenario.warmup {
            self.warm = true;
            self.start = Baseline::of(simulation);
            self.samples.keep_rtt(simulation);
            simulation.measure_anew();
        }
        self.fairness.look(simulation, now);
        if self.stop.is_none()
            && now >= Time::ZERO + self.scenario.measure_until
            && now < Time::ZERO + self.scenario.duration
        {
            self.fairness.end(simulation, now);
            simulation.end_measurement();
            self.stop = Some((Baseline::of(simulation), counters(simulation)));
        }
    }

    /// The outcome of a run that ended at `end`.
    /// `alone` has the mean time of an iteration of each job by itself, where that was simulated.
    pub fn finish(self, simulation: &Simulation, end: Time, alone: Vec<Option<Span>>) -> Outcome {
        let whole = counters(simulation);
        let (stop, counters) = match self.stop {
            Some((stop, counted)) => {
                let completed = counted.into_iter().zip(&whole).map(|(of, whole)| of.completed_by(whole));
                (Some(stop), completed.collect())
            }
            None => (None, whole),
        };
        let measured = Measured {
            scenario: self.scenario,
            simulation,
            start: self.start,
            stop,
            end,
            counters,
            fairness: self.fairness.finish(simulation, end),
            alone,
            goodput: self.goodput,
        };
        let mut tables = vec![tables::flows(&measured), tables::links(&measured), tables::rtt(&measured)];
        tables.extend(tables::unfinished(&measured));
        tables.extend(tables::hosts(&measured));
        tables.extend(tables::delays(&measured));
        tables.extend(tables::operations(&measured));
        tables.extend(jobs::jobs(&measured));
        tables.extend(jobs::iterations(&measured));
        tables.extend(job_parts::ranks(&measured));
        tables.extend(job_parts::collectives(&measured));
        tables.extend(requests::requests(&measured));
        tables.extend(job_parts::timeline(&measured));
        tables.extend(tables::probes(&measured));
        tables.extend(fastpass::endpoints(&measured));
        tables.extend(fastpass::arbiters(&measured));
        tables.extend(tables::link_classes(&measured));
        tables.extend(faults::faults(&measured));
        tables.extend(pauses::pauses(&measured));
        tables.extend(pauses::deadlock(&measured));
        tables.extend(self.samples.into_tables(&measured));
        let packets = packets::record(&measured);
        tables.extend(packets.iter().flat_map(|packets| packets.tables(&measured)));
        Outcome {
            digest: digest(simulation).to_string(),
            packet_hops: simulation.packet_hops(),
            summary: summarise(&measured, packets.as_ref()),
            tables,
            interrupted: false,
        }
    }
}

/// Returns what each table that a run may have means, in the order in which runs have them.
pub fn definitions() -> Vec<Definition> {
    let always = [tables::Flows::DEFINITION, tables::Links::DEFINITION, tables::Rtt::DEFINITION];
    let others = [
        tables::Unfinished::DEFINITION,
        tables::Hosts::DEFINITION,
        tables::Delays::DEFINITION,
        tables::Operations::DEFINITION,
        jobs::Jobs::DEFINITION,
        jobs::Iterations::DEFINITION,
        job_parts::JobRanks::DEFINITION,
        job_parts::Collectives::DEFINITION,
        requests::Requests::DEFINITION,
        job_parts::Timeline::DEFINITION,
        tables::Probes::DEFINITION,
        fastpass::Endpoints::DEFINITION,
        fastpass::Arbiters::DEFINITION,
        tables::LinkClasses::DEFINITION,
        faults::Faults::DEFINITION,
        pauses::Pauses::DEFINITION,
        pauses::Deadlock::DEFINITION,
    ];
    let samples = samples::DEFINITIONS
        .into_iter()
        .chain([packets::PacketTable::DEFINITION, packets::ControlTable::DEFINITION]);
    always.into_iter().chain(others).chain(samples).collect()
}

/// The counters of each transport as they are now.
fn counters(simulation: &Simulation) -> Vec<TransportCounters> {
    (0..simulation.transports()).map(|transport| simulation.counters(transport)).collect()
}
