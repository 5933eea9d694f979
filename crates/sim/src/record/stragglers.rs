//! Which rank of a group is the last to begin what the group does together.

use crate::model::{Measure, Operation, OperationGraph};
use crate::simulation::RankRecord;

/// The rank that others wait for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Straggler {
    pub rank: u32,
    /// How much later it begins than the mean of the others of its group, on average.
    pub late_us: f64,
}

/// The rank that begins a measured collective, the one of this index, later than the others of its group by the most. `None` where no
/// group's ranks have ended it equally often.
///
/// Ranks are a group that exchange messages of the collective. As all have ended it equally often, the mean of the instants at which a
/// rank began is as much later than that of the others as the rank was on average.
pub(super) fn straggler(
    graph: &OperationGraph,
    measure: &Measure,
    index: usize,
    ranks: &[RankRecord],
) -> Option<Straggler> {
    let groups = groups(graph, measure);
    let mut last: Option<Straggler> = None;
    for group in groups.iter().filter(|group| group.len() > 1) {
        let counts: Vec<u64> = group.iter().map(|&rank| ranks[rank as usize].taken[index].count).collect();
        if counts[0] == 0 || counts.iter().any(|count| *count != counts[0]) {
            continue;
        }
        let began = |rank: u32| ranks[rank as usize].taken[index].began_ps;
        let sum: u128 = group.iter().map(|&rank| began(rank)).sum();
        for &rank in group {
            let others = (sum - began(rank)) as f64 / (group.len() - 1) as f64;
            let late_us = (began(rank) as f64 - others) / counts[0] as f64 / 1e6;
            if last.is_none_or(|last| late_us > last.late_us) {
                last = Some(Straggler { rank, late_us });
            }
        }
    }
    last
}

/// The groups of ranks that exchange messages of a measured collective; of a job without labels, of any message.
fn groups(graph: &OperationGraph, measure: &Measure) -> Vec<Vec<u32>> {
    let mut above: Vec<u32> = (0..graph.ranks()).collect();
    for operation in 0..graph.operations.len() as u32 {
        let Operation::Send { channel, .. } = graph.operations[operation as usize] else { continue };
        if graph.labels.of(operation).is_none_or(|label| label.name == measure.name) {
            let channel = &graph.channels[channel as usize];
            let (from, to) = (root(&mut above, channel.from), root(&mut above, channel.to));
            above[from.max(to) as usize] = from.min(to);
        }
    }
    let mut groups = vec![Vec::new(); above.len()];
    for rank in 0..graph.ranks() {
        groups[root(&mut above, rank) as usize].push(rank);
    }
    groups
}

/// The first rank of a group, by which it is known.
fn root(above: &mut [u32], mut rank: u32) -> u32 {
    while above[rank as usize] != rank {
        above[rank as usize] = above[above[rank as usize] as usize];
        rank = above[rank as usize];
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::collective::{add, Algorithm, Plan};
    use crate::job::GraphBuilder;
    use crate::model::CollectiveKind;
    use crate::simulation::{Taken, TimeUse};

    #[test]
    fn the_last_rank_of_a_group_is_found_and_ranks_of_other_groups_do_not_matter() {
        let kind = CollectiveKind::AllReduce;
        let mut builder = GraphBuilder::new(6);
        let plan = Plan { kind, algorithm: Algorithm::Ring, bytes: 3000, chunks: 1 };
        add(&mut builder, &[0, 2, 4], &plan);
        add(&mut builder, &[1, 3, 5], &plan);
        let graph = builder.build().expect("a graph");
        let measure =
            Measure { name: "all", collective: Some(kind), request: None, ranks: 3, steps: 4, lanes: 1 };
        // Two collectives each. Those of the second group begin much later, and rank 2 is 6 us behind the others of the first.
        let began_us = [10, 100, 16, 100, 10, 101];
        let mut taken = began_us.map(|began| {
            [Taken { count: 2, began_ps: u128::from(2 * began * 1_000_000_u64), ..Taken::default() }]
        });
        let find = |taken: &[[Taken; 1]; 6]| {
            let ranks: Vec<RankRecord> = taken
                .iter()
                .map(|taken| RankRecord { iterations: 2, spent: TimeUse::default(), taken })
                .collect();
            straggler(&graph, &measure, 0, &ranks)
        };
        assert_eq!(find(&taken), Some(Straggler { rank: 2, late_us: 6.0 }));
        // A run that was cut off has nothing to say of ranks that have not ended what others have.
        taken[2][0].count = 1;
        assert_eq!(find(&taken), Some(Straggler { rank: 5, late_us: 1.0 }));
        taken[5][0].count = 1;
        assert_eq!(find(&taken), None);
    }
}
