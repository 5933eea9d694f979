//! A run that has ended, and the figures that the summary and the tables share.

use clearway_proto::units::{Span, Time};

use super::baseline::{Baseline, LinkBaseline};
use super::goodput::GoodputSteps;
use super::texts::Texts;
use crate::host::processor::ProcessorCounters;
use crate::model::Scenario;
use crate::net::rules::ClassCounters;
use crate::simulation::counters::TransportCounters;
use crate::simulation::{OperationRecord, Simulation};
use crate::traffic::Demand;

/// A simulation that has ended, and what it looked like when the measurement began and ended.
pub(super) struct Measured<'a> {
    pub scenario: &'a Scenario,
    pub simulation: &'a Simulation,
    pub start: Baseline,
    /// The counters when the measurement ended, if that was before the run's end.
    pub stop: Option<Baseline>,
    /// When the run ended.
    pub end: Time,
    /// The counters of each transport.
    pub counters: Vec<TransportCounters>,
    /// Jain's index of each transport.
    pub fairness: Vec<Option<f64>>,
    /// The mean time of an iteration of each job in a run of it alone, as far as there was one.
    pub alone: Vec<Option<Span>>,
    /// Goodput in steps, for faults.
    pub goodput: GoodputSteps,
}

/// The figures of a link in the measured time.
pub(super) struct LinkFigures {
    pub utilisation: f64,
    pub frames: u64,
    pub wire_bytes: u64,
    /// Time-weighted mean of the bytes waiting, without the frame in transmission.
    pub queue_mean_bytes: f64,
    /// The most bytes at the port in the whole run, with the frame in transmission.
    pub queue_peak_bytes: u64,
    pub drops: u64,
    pub marks: u64,
    pub fault_losses: u64,
    pub trims: u64,
}

impl Measured<'_> {
    /// Returns when the measurement ended.
    pub fn until(&self) -> Time {
        self.stop.as_ref().map_or(self.end, |stop| stop.time)
    }

    /// The measured time, in seconds.
    pub fn seconds(&self) -> f64 {
        self.until().since(self.start.time).as_secs_f64()
    }

    /// Payload that a flow delivered in the measured time, in bytes.
    pub fn delivered(&self, flow: u32) -> u64 {
        let whole = || self.simulation.receiver(flow).receiver.payload();
        self.stop.as_ref().map_or_else(whole, |stop| stop.payload[flow as usize])
            - self.start.payload[flow as usize]
    }

    /// Data packets that a flow sent in the measured time.
    pub fn sent(&self, flow: u32) -> u64 {
        let whole = || self.simulation.sender(flow).sender.flight().sent;
        self.stop.as_ref().map_or_else(whole, |stop| stop.sent[flow as usize])
            - self.start.sent[flow as usize]
    }

    /// Packets that a flow retransmitted in the measured time.
    pub fn retransmitted(&self, flow: u32) -> u64 {
        let whole = || self.retransmissions(flow);
        let until = self.stop.as_ref().map_or_else(whole, |stop| stop.retransmissions[flow as usize]);
        until - self.start.retransmissions[flow as usize]
    }

    /// Packets of a flow that arrived again, in the measured time, although they had arrived.
    pub fn duplicates(&self, flow: u32) -> u64 {
        let whole = || self.simulation.receiver(flow).receiver.duplicates();
        self.stop.as_ref().map_or_else(whole, |stop| stop.duplicates[flow as usize])
            - self.start.duplicates[flow as usize]
    }

    /// The counters of each host whose work takes time, when the measurement ended.
    pub fn processors(&self) -> Vec<ProcessorCounters> {
        let whole = || self.simulation.processors().map(|(_, counters)| counters).collect();
        self.stop.as_ref().map_or_else(whole, |stop| stop.processors.clone())
    }

    /// The counters of each class at a link, when the measurement ended.
    pub fn classes(&self, link: u32) -> Vec<ClassCounters> {
        let classes = self.scenario.classes.len();
        match &self.stop {
            Some(stop) => stop.classes[link as usize * classes..][..classes].to_vec(),
            None => self.simulation.port_classes(link).iter().map(|queue| queue.counters).collect(),
        }
    }

    /// A column of the names of these transports.
    pub fn transport_names(&self, transports: Vec<u32>) -> Texts {
        let names = self.scenario.transports.iter().map(|transport| transport.name.clone());
        Texts::new(names.collect(), transports)
    }

    /// A sized flow's size in bytes.
    pub fn size(&self, flow: u32) -> Option<u64> {
        match self.simulation.specs()[flow as usize].demand {
            Demand::Sized(bytes) => Some(bytes.get()),
            _ => None,
        }
    }

    /// The time from a sized flow's start to the arrival of its last byte.
    pub fn completion(&self, flow: u32) -> Option<Span> {
        let at = self.simulation.receiver(flow).completed_at;
        (at != Time::NEVER).then(|| at.since(self.simulation.specs()[flow as usize].start))
    }

    /// The time since the start of a sized flow that was under way when the run ended; `None` of any other.
    pub fn age(&self, flow: u32) -> Option<Span> {
        let start = self.simulation.specs()[flow as usize].start;
        let unfinished = self.size(flow).is_some() && self.completion(flow).is_none() && start < self.end;
        unfinished.then(|| self.end.since(start))
    }

    /// The operations that were issued in the measured time and were open when the run ended, by flow.
    pub fn open_operations(&self) -> Vec<OperationRecord> {
        let mut open = self.simulation.open_operations();
        open.retain(|operation| self.simulation.is_measured(operation.issued));
        open
    }

    /// The longest time without a completion that began before the measurement's end and was not over when the run ended, of
    /// these transports' flows.
    pub fn longest_open_wait(&self, is_of: &dyn Fn(u32) -> bool) -> Option<Span> {
        let waits = self.simulation.operation_waits().into_iter();
        let counted = waits.filter(|(flow, since)| is_of(*flow) && *since < self.until());
        counted.map(|(_, since)| self.end.since(since)).max()
    }

    /// Packets that a flow retransmitted in the whole run.
    pub fn retransmissions(&self, flow: u32) -> u64 {
        u64::from(self.simulation.sender(flow).sender.flight().retransmissions)
    }

    pub fn link(&self, link: u32) -> LinkFigures {
        let start = self.start.link(link);
        let stop = self
            .stop
            .as_ref()
            .map_or_else(|| LinkBaseline::of(self.simulation, link), |stop| stop.link(link));
        let (port, then) = (&stop.figures, &start.figures);
        let (counters, counted_then) = (&stop.counters, &start.counters);
        let transmitted = stop.transmitted - start.transmitted;
        let rate = self.simulation.graph().link(link).rate;
        let picoseconds = self.until().since(self.start.time).as_ps() as f64;
        LinkFigures {
            utilisation: transmitted * 8.0 / (rate.as_bps() as f64 * self.seconds()),
            frames: port.sent_frames - then.sent_frames,
            wire_bytes: port.sent_bytes - then.sent_bytes,
            queue_mean_bytes: (port.waited - then.waited) as f64 / picoseconds,
            queue_peak_bytes: u64::from(self.simulation.port(link).peak),
            drops: counters.dropped_frames - counted_then.dropped_frames,
            marks: counters.marked_frames - counted_then.marked_frames,
            fault_losses: counters.lost_frames - counted_then.lost_frames,
            trims: counters.trimmed_frames - counted_then.trimmed_frames,
        }
    }
}
