//! Jobs: ranks on hosts, and the operations that they go through.

use std::sync::Arc;

use clearway_proto::units::Rate;

use super::collective::Collective;
use super::job_labels::{Mark, Measure};
use super::operation_graph::OperationGraph;

/// A job: what its ranks do, where they are, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What a person calls it.
    pub name: String,
    /// The host of each rank, by rank; several may be on one.
    pub hosts: Vec<u32>,
    /// The operations of an iteration.
    pub graph: Arc<OperationGraph>,
    /// How often each rank goes through its operations, at least once.
    pub iterations: u32,
    /// How fast each rank's messages to ranks on its own host are copied, one after the other; `None` where they take no time.
    pub local_rate: Option<Rate>,
    /// The collective that it consists of, if it does.
    pub collective: Option<Collective>,
}

impl Job {
    /// The measures that are taken of it: what its operations' labels say, and of a collective each iteration.
    pub fn measures(&self) -> Vec<Measure> {
        let mut measures = self.graph.labels.measures.clone();
        measures.extend(self.collective.map(|collective| Measure {
            name: "iteration",
            collective: Some(collective.kind),
            request: None,
            ranks: collective.ranks,
            steps: collective.steps,
            lanes: 1,
        }));
        measures
    }

    /// The mark with which a whole iteration begins or ends at a rank, where that is measured.
    pub fn whole(&self, is_end: bool) -> Option<Mark> {
        let bytes = self.collective?.bytes.get();
        let measure = self.graph.labels.measures.len() as u16;
        Some(Mark { measure, lane: 0, is_end, bytes: if is_end { bytes } else { 0 } })
    }

    /// Returns whether the two ranks of a pair are on one host, so that their messages cross no link.
    pub fn is_local(&self, pair: u32) -> bool {
        let pair = &self.graph.pairs[pair as usize];
        self.hosts[pair.from as usize] == self.hosts[pair.to as usize]
    }

    /// The pairs of ranks that have a connection, as their ranks are on different hosts, in the order of their flows.
    pub fn connections(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.graph.pairs.len() as u32).filter(|&pair| !self.is_local(pair))
    }
}
