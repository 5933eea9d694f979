//! Goodput of the whole network in steps, before and after faults.

use clearway_proto::units::{Span, Time};

use crate::model::{FaultTable, Scenario};
use crate::simulation::Simulation;

/// Goodput is back when it is at least this share of what it was before.
const BACK: f64 = 0.9;

/// Into how many steps a run is cut for goodput before and after faults.
const STEPS: u64 = 1000;

/// The shortest of these steps.
const SHORTEST: Span = Span::from_us(10);

/// How many steps before a fault tell what goodput was.
const STEPS_BEFORE: usize = 10;

/// Payload that was delivered at the end of each step so far.
#[derive(Debug)]
pub(super) struct GoodputSteps {
    step: Span,
    next: Time,
    delivered: Vec<u64>,
}

impl GoodputSteps {
    /// No steps yet; and none to come where the scenario has no fault of links or nodes.
    pub(super) fn new(scenario: &Scenario) -> GoodputSteps {
        let step = (scenario.duration / STEPS).max(SHORTEST);
        let any = scenario.fault_tables.iter().any(FaultTable::is_of_network);
        GoodputSteps {
            step,
            next: if any { Time::ZERO + step } else { Time::NEVER },
            delivered: if any { vec![0] } else { Vec::new() },
        }
    }

    /// The end of the step that is under way.
    pub(super) fn next_look(&self) -> Time {
        self.next
    }

    /// Notes what has been delivered, if a step ends at `now`.
    pub(super) fn look(&mut self, simulation: &Simulation, now: Time) {
        if now >= self.next {
            let flows = 0..simulation.specs().len() as u32;
            self.delivered.push(flows.map(|flow| simulation.receiver(flow).receiver.payload()).sum());
            self.next = self.next + self.step;
        }
    }

    /// Goodput from the end of one step to that of another, in Gb/s.
    fn goodput(&self, from: usize, to: usize) -> f64 {
        let bytes = self.delivered[to] - self.delivered[from];
        bytes as f64 * 8.0 / (self.step.as_secs_f64() * (to - from) as f64) / 1e9
    }

    /// Goodput before an instant, the least after it until it was back, and the time until then in microseconds.
    pub(super) fn course(&self, from: Time) -> [f64; 3] {
        let before = (from.as_ps() / self.step.as_ps()) as usize;
        let (first, last) = (before.saturating_sub(STEPS_BEFORE), self.delivered.len().saturating_sub(1));
        if before > last || before == first {
            return [f64::NAN; 3];
        }
        let usual = self.goodput(first, before);
        let (mut least, mut was_below) = (f64::NAN, false);
        for step in before..last {
            let now = self.goodput(step, step + 1);
            least = least.min(now);
            if now < BACK * usual {
                was_below = true;
            } else if was_below {
                let back = (self.step * (step as u64 + 1)).as_us_f64();
                return [usual, least, back - from.as_us_f64()];
            }
        }
        [usual, least, if was_below || usual == 0.0 { f64::NAN } else { 0.0 }]
    }
}
