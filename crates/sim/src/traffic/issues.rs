//! When an initiator of an open loop issues its operations, and to whom: drawn from the initiator's own stream.

use clearway_proto::units::{Rate, Span, Time};

use super::flow::FlowSpec;
use super::pattern::{self, OperationLoop};
use crate::model::{Arrivals, Scenario};
use crate::random::{in_table, Entity, Stream};

/// The operations of one initiator, one after the other: [`Issues::next_time`], then [`Issues::target`], and so on.
#[derive(Clone, Debug)]
pub struct Issues {
    arrivals: Arrivals,
    stream: Stream,
    start: Time,
    /// Mean time between operations, in picoseconds.
    gap_ps: f64,
    /// Since the start: in a Poisson process the sum of the gaps so far, in picoseconds.
    elapsed_ps: f64,
    /// Operations due so far.
    due: u64,
}

impl Issues {
    /// Returns the operations of the initiator of this flow, which is one of an open loop's, and whose link has this `rate`.
    pub fn of(scenario: &Scenario, spec: &FlowSpec, rate: Rate) -> Issues {
        let pattern = pattern::of(&scenario.traffic[spec.table as usize].pattern);
        let OperationLoop { operations, issued, .. } = pattern.operation_loop().expect("a loop's table");
        let (arrivals, offered) = issued.expect("a flow of an open loop is of an open loop's table");
        Issues {
            arrivals,
            stream: Stream::new(scenario.seed, Entity::Initiator, in_table(spec.table, spec.from)),
            start: spec.start,
            gap_ps: offered.gap_ps(operations.bytes, rate),
            elapsed_ps: 0.0,
            due: 0,
        }
    }

    /// Draws when the next operation is due.
    pub fn next_time(&mut self) -> Time {
        match self.arrivals {
            Arrivals::Poisson => self.elapsed_ps += self.stream.exponential(self.gap_ps),
            // Not a sum, whose rounding would add up.
            Arrivals::Constant => self.elapsed_ps = self.due as f64 * self.gap_ps,
        }
        self.due += 1;
        self.start + Span::from_ps(self.elapsed_ps as u64)
    }

    /// Draws the target of the operation that is due, uniformly from this many.
    pub fn target(&mut self, targets: u32) -> u32 {
        self.stream.below(u64::from(targets)) as u32
    }
}
