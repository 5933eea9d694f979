//! Collectives: what ranks do together, and by what its bandwidth is measured.

use clearway_proto::units::Bytes;

/// What a collective is measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    /// The kind of the collective.
    pub kind: CollectiveKind,
    /// The size of the whole array, as nccl-tests has it.
    pub bytes: Bytes,
    /// Ranks of each group that does it.
    pub ranks: u32,
    /// Messages that follow each other in it.
    pub steps: u32,
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

impl CollectiveKind {
    /// The name by which a scenario has it.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveKind::AllReduce => "all_reduce",
            CollectiveKind::ReduceScatter => "reduce_scatter",
            CollectiveKind::AllGather => "all_gather",
            CollectiveKind::AllToAll => "all_to_all",
            CollectiveKind::Broadcast => "broadcast",
            CollectiveKind::Reduce => "reduce",
            CollectiveKind::Barrier => "barrier",
        }
    }

    /// Returns by what the algorithm's bandwidth is multiplied to get that of the bus, so that it can be held against the rate of
    /// a link whatever the number of ranks: 2(n-1)/n for an all-reduce, (n-1)/n for a reduce-scatter, an all-gather and an
    /// all-to-all, 1 for a broadcast and a reduce (nccl-tests, "Performance reported by NCCL tests"). `None` for a barrier, which
    /// moves nothing.
    pub fn bus_factor(self, ranks: u32) -> Option<f64> {
        let ranks = f64::from(ranks);
        let others = (ranks - 1.0) / ranks;
        match self {
            CollectiveKind::AllReduce => Some(2.0 * others),
            CollectiveKind::ReduceScatter | CollectiveKind::AllGather | CollectiveKind::AllToAll => {
                Some(others)
            }
            CollectiveKind::Broadcast | CollectiveKind::Reduce => Some(1.0),
            CollectiveKind::Barrier => None,
        }
    }
}
