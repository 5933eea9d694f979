//! The messages of a job: a persistent flow for each pair of ranks on different hosts of which one sends to the other.

use super::contract::TrafficPattern;
use crate::model::{Job, Pair};
use crate::traffic::flow::{Demand, FlowSpec};
use crate::traffic::table::Table;

/// Memory in bytes for an operation while the job runs: what it waits for, and the order of the messages of its pair.
const OPERATION: f64 = 16.0;

/// Memory in bytes for a rank while the job runs.
const RANK: f64 = 700.0;

/// Memory in bytes for each channel and pair while the job runs.
const CHANNEL: f64 = 120.0;

/// Memory in bytes for what is measured at a rank, and for each lane of it.
const MEASURE: f64 = 128.0;
const LANE: f64 = 8.0;

/// Memory in bytes for the histogram of a sort of request.
const REQUESTS: f64 = 120_000.0;

/// Memory in bytes for an iteration, its record and its row.
const ITERATION: f64 = 360.0;

/// See [`Pattern::Job`](crate::model::Pattern::Job).
pub(super) struct Messages<'a> {
    pub(super) job: &'a Job,
}

impl Messages<'_> {
    fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.job.connections().map(|pair| &self.job.graph.pairs[pair as usize])
    }

    fn hosts(&self, pair: &Pair) -> (u32, u32) {
        (self.job.hosts[pair.from as usize], self.job.hosts[pair.to as usize])
    }
}

impl TrafficPattern for Messages<'_> {
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        flows.extend(self.pairs().map(|pair| {
            let (from, to) = self.hosts(pair);
            table.flow(0, from, to, Demand::Messages)
        }));
    }

    fn flows(&self, _: &Table<'_>) -> f64 {
        self.pairs().count() as f64
    }

    fn largest_bytes(&self) -> u64 {
        self.pairs().map(|pair| pair.bytes).max().unwrap_or(0)
    }

    fn list_bytes(&self) -> f64 {
        let Job { graph, iterations, .. } = self.job;
        let measures = self.job.measures();
        let requests = measures.iter().filter(|measure| measure.request.is_some()).count();
        let measures: f64 = measures.iter().map(|measure| MEASURE + LANE * f64::from(measure.lanes)).sum();
        graph.bytes()
            + graph.operations.len() as f64 * OPERATION
            + graph.streams.len() as f64 * (RANK + measures)
            + (graph.channels.len() + graph.pairs.len()) as f64 * CHANNEL
            + f64::from(*iterations) * ITERATION
            + requests as f64 * REQUESTS
    }

    fn blame(&self) -> (&'static str, &'static str) {
        ("transport", "use fewer ranks, chunks or iterations")
    }

    fn members(&self, _: &Table<'_>) -> f64 {
        1.0
    }

    fn some_pairs(&self, most: usize) -> Vec<(u32, u32)> {
        self.pairs().take(most).map(|pair| self.hosts(pair)).collect()
    }

    /// A job ends with its last iteration.
    fn endless(&self) -> Option<&'static str> {
        None
    }
}
