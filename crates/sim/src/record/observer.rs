//! Looks at a running simulation at fixed instants and makes the outcome of what it saw.
//!
//! Steady-state figures are differences between the end of the run and the end of its warm-up.

use clearway_proto::units::{Span, Time};

use super::counters::TransportCounters;
use super::digest::digest;
use super::fairness::Fairness;
use super::samples::Samples;
use super::summary::{summarise, Measured};
use super::tables;
use super::Outcome;
use crate::model::Scenario;
use crate::net::classes::ClassCounters;
use crate::net::engine::EngineCounters;
use crate::net::port::PortCounters;
use crate::simulation::Simulation;

/// What is remembered of the end of the warm-up, and what has been sampled so far.
#[derive(Debug)]
pub struct Observer<'a> {
    scenario: &'a Scenario,
    start: Baseline,
    warm: bool,
    fairness: Fairness,
    samples: Samples,
}

/// Counters at the end of the warm-up.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    pub time: Time,
    /// Payload delivered, per flow.
    pub payload: Vec<u64>,
    /// Data packets sent, and sent again, per flow.
    pub sent: Vec<u64>,
    pub retransmissions: Vec<u64>,
    /// Data packets lost, per transport.
    pub lost_data: Vec<u64>,
    /// Per link.
    pub waited: Vec<u128>,
    pub transmitted: Vec<f64>,
    pub ports: Vec<PortCounters>,
    /// Per link and class.
    pub classes: Vec<ClassCounters>,
    pub sent_bytes: Vec<u64>,
    pub sent_frames: Vec<u64>,
    /// Per host, where hosts are not ideal.
    pub engines: Vec<EngineCounters>,
}

impl Baseline {
    fn of(simulation: &Simulation) -> Baseline {
        let time = simulation.time();
        let fabric = simulation.fabric();
        let links = 0..fabric.len() as u32;
        let flights = simulation.flows().iter().map(|flow| flow.sender.flight());
        Baseline {
            time,
            payload: simulation.landings().iter().map(|l| l.receiver.payload()).collect(),
            sent: flights.clone().map(|f| f.sent).collect(),
            retransmissions: flights.map(|f| u64::from(f.retransmissions)).collect(),
            lost_data: simulation.counters().iter().map(|c| c.lost_data).collect(),
            waited: links.clone().map(|link| fabric.waited(link, time.as_ps())).collect(),
            transmitted: links.clone().map(|link| fabric.transmitted(link, time.as_ps())).collect(),
            ports: links.clone().map(|link| fabric.counters(link).clone()).collect(),
            classes: links
                .clone()
                .flat_map(|link| fabric.classes().queues(link))
                .map(|q| q.counters)
                .collect(),
            sent_bytes: links.clone().map(|link| fabric.port(link).sent_bytes).collect(),
            sent_frames: links.map(|link| fabric.port(link).sent_frames).collect(),
            engines: simulation.engines().collect(),
        }
    }
}

impl<'a> Observer<'a> {
    /// Before anything has happened.
    pub fn new(scenario: &'a Scenario, simulation: &Simulation) -> Observer<'a> {
        Observer {
            scenario,
            start: Baseline::of(simulation),
            warm: scenario.warmup == Span::ZERO,
            fairness: Fairness::new(scenario.record.fairness, Time::ZERO + scenario.warmup, simulation),
            samples: Samples::new(&scenario.record, simulation),
        }
    }

    /// When it wants to look next.
    pub fn next_look(&self) -> Time {
        let warm_up = if self.warm { Time::NEVER } else { Time::ZERO + self.scenario.warmup };
        warm_up.min(self.fairness.next_look()).min(self.samples.next_look())
    }

    /// Looks, if it is time for any of what it looks at.
    pub fn look(&mut self, simulation: &mut Simulation, now: Time) {
        self.samples.look(simulation, now);
        if !self.warm && now >= Time::ZERO + self.scenario.warmup {
            self.warm = true;
            self.start = Baseline::of(simulation);
            simulation.counters_mut().iter_mut().for_each(TransportCounters::clear_times);
            simulation.measure_operations_anew();
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
            fairness: self.fairness.finish(simulation, end),
        };
        let mut tables = vec![tables::flows(&measured), tables::links(&measured), tables::rtt(&measured)];
        tables.extend(tables::hosts(&measured));
        tables.extend(tables::delays(&measured));
        tables.extend(tables::operations(&measured));
        tables.extend(tables::link_classes(&measured));
        tables.extend(self.samples.into_tables(&measured));
        Outcome {
            digest: digest(simulation).to_string(),
            packet_hops: simulation.packet_hops(),
            summary: summarise(&measured),
            tables,
        }
    }
}
