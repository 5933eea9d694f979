//! Jobs: ranks on hosts, and the operations that they go through.

use std::sync::Arc;

use clearway_proto::units::{Bytes, Rate};

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

/// What a collective is measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    /// The kind of the collective.
    pub kind: CollectiveKind,
    /// The size of the whole array, as nccl-tests has it.
    pub bytes: Bytes,
    /// Ranks of each group that does it.
    pub ranks: u32,
}

/// What a collective does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveKind {
    /// All ranks get the sum of what each has.
    AllReduce,
    /// Each rank gets a part of the sum.
    ReduceScatter,
    /// All ranks get what each has.
    AllGather,
    /// Each rank has something for each other one.
    AllToAll,
    /// All ranks get what the first has.
    Broadcast,
    /// The first rank gets the sum.
    Reduce,
    /// No rank goes on before all have come.
    Barrier,
}

impl Collective {
    /// Returns by what the algorithm's bandwidth is multiplied to get that of the bus, so that it can be held against the rate of
    /// a link whatever the number of ranks: 2(n-1)/n for an all-reduce, (n-1)/n for a reduce-scatter, an all-gather and an
    /// all-to-all, 1 for a broadcast and a reduce (nccl-tests, "Performance reported by NCCL tests"). `None` for a barrier, which
    /// moves nothing.
    pub fn bus_factor(&self) -> Option<f64> {
        let ranks = f64::from(self.ranks);
        let others = (ranks - 1.0) / ranks;
        match self.kind {
            CollectiveKind::AllReduce => Some(2.0 * others),
            CollectiveKind::ReduceScatter | CollectiveKind::AllGather | CollectiveKind::AllToAll => {
                Some(others)
            }
            CollectiveKind::Broadcast | CollectiveKind::Reduce => Some(1.0),
            CollectiveKind::Barrier => None,
        }
    }
}

impl Job {
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
