//! Jain's index of the flows' goodput, over intervals of a fixed length.

use clearway_proto::units::{Span, Time};

use super::footprint::NUMBER;
use super::samples::Sampled;
use crate::model::Scenario;
use crate::simulation::Simulation;
use crate::traffic::{Demand, Part};

/// Jain's index, `(Σx)² / (n Σx²)`: 1 when all values are equal, 1/n when one has everything. `None` for no values, or
/// where all are zero.
///
/// ```
/// # use clearway_sim::record::fairness::jain;
/// assert_eq!(jain(&[2.0, 2.0]), Some(1.0));
/// assert_eq!(jain(&[1.0, 0.0]), Some(0.5));
/// ```
pub fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Takes the index of every whole interval after the warm-up, per transport, among the flows that had data to
/// send all through it: endless and looped ones that began before it, and sized ones that also end after it.
#[derive(Debug)]
pub(super) struct Fairness {
    interval: Span,
    /// Start of the interval under way.
    from: Time,
    /// Whether the measurement is over.
    ended: bool,
    payload: Vec<u64>,
    /// For each transport, an index for each interval.
    indices: Vec<Vec<f64>>,
}

/// The memory that the indices of a run take.
pub fn footprint(scenario: &Scenario) -> Option<Sampled> {
    let (interval, rows) = (Some(scenario.record.fairness), scenario.transports.len() as f64);
    Sampled::every("record.fairness", interval, rows, NUMBER, scenario)
}

impl Fairness {
    pub(super) fn new(interval: Span, warm: Time, simulation: &Simulation) -> Fairness {
        let indices = vec![Vec::new(); simulation.transports()];
        Fairness { interval, from: warm, ended: false, payload: delivered(simulation), indices }
    }

    pub(super) fn next_look(&self) -> Time {
        if self.ended {
            Time::NEVER
        } else {
            self.from + self.interval
        }
    }

    pub(super) fn look(&mut self, simulation: &Simulation, now: Time) {
        if now == self.from {
            self.payload = delivered(simulation);
        } else if now == self.next_look() {
            self.close(simulation, now);
            self.from = now;
            self.payload = delivered(simulation);
        }
    }

    fn close(&mut self, simulation: &Simulation, now: Time) {
        let mut shares: Vec<Vec<f64>> = vec![Vec::new(); self.indices.len()];
        for (id, spec) in simulation.specs().iter().enumerate() {
            let receiver = simulation.receiver(id as u32);
            let stopped =
                spec.stop.is_some_and(|stop| stop < now) && !matches!(spec.demand, Demand::Sized(_));
            // What waits for requests, for operations to come, or for other messages, need not have data.
            let idle = matches!(
                spec.demand,
                Demand::OpenLoop(_) | Demand::ClosedLoop(Part::Requests) | Demand::Messages
            );
            let busy = spec.start <= self.from && receiver.completed_at > now && !stopped && !idle;
            if busy {
                shares[spec.transport as usize].push((receiver.receiver.payload() - self.payload[id]) as f64);
            }
        }
        for (indices, shares) in self.indices.iter_mut().zip(&shares) {
            // The fairness of one flow says nothing.
            if shares.len() > 1 {
                indices.extend(jain(shares));
            }
        }
    }

    /// Takes no index from `end` on. A measurement too short for a whole interval counts as one.
    pub(super) fn end(&mut self, simulation: &Simulation, end: Time) {
        if !self.ended && self.indices.iter().all(Vec::is_empty) && end > self.from {
            self.close(simulation, end);
        }
        self.ended = true;
    }

    /// The mean index of each transport, for a run that ended at `end`.
    pub(super) fn finish(mut self, simulation: &Simulation, end: Time) -> Vec<Option<f64>> {
        self.end(simulation, end);
        let mean = |all: &Vec<f64>| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
        self.indices.iter().map(mean).collect()
    }
}

fn delivered(simulation: &Simulation) -> Vec<u64> {
    (0..simulation.specs().len() as u32).map(|flow| simulation.receiver(flow).receiver.payload()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_nothing_is_none() {
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn one_of_four_with_everything_is_a_quarter() {
        assert_eq!(jain(&[0.0, 8.0, 0.0, 0.0]), Some(0.25));
    }
}
