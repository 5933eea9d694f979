use super::*;
use crate::job::{never_ends, Draft, GraphBuilder};
use crate::model::{CollectiveKind, OperationGraph};

fn graph(size: u32, kind: CollectiveKind, algorithm: Algorithm, bytes: u64, chunks: u32) -> OperationGraph {
    let mut builder = GraphBuilder::new(size);
    let members: Vec<u32> = (0..size).collect();
    add(&mut builder, &members, &Plan { kind, algorithm, bytes, chunks });
    builder.build().expect("messages have their receives")
}

/// The most bytes that any rank sends, and that any receives.
fn most(graph: &OperationGraph) -> (u64, u64) {
    let of = |rank_of: &dyn Fn(&crate::model::Pair) -> u32| {
        let mut sums = vec![0; graph.ranks() as usize];
        for pair in &graph.pairs {
            sums[rank_of(pair) as usize] += pair.bytes;
        }
        sums.into_iter().max().unwrap_or(0)
    };
    (of(&|pair| pair.from), of(&|pair| pair.to))
}

/// The bytes that a rank of a group of this size moves.
type Moved<'a> = &'a dyn Fn(u64) -> u64;

#[test]
fn every_collective_ends_and_moves_what_its_closed_form_says() {
    use Algorithm::{Binomial, Direct, DoubleTree, HalvingDoubling, Pairwise, RecursiveDoubling, Ring};
    use CollectiveKind::{AllGather, AllReduce, AllToAll, Broadcast, Reduce, ReduceScatter};
    let bytes = 64 * 9 * 5 * 7 * 1000;
    let others = |size: u64| bytes / size * (size - 1);
    let log = |size: u64| u64::from(size.ilog2());
    let rows: [(CollectiveKind, Algorithm, Moved, Moved); 12] = [
        (AllReduce, Ring, &|n| 2 * others(n), &|n| 2 * others(n)),
        (ReduceScatter, Ring, &others, &others),
        (AllGather, Ring, &others, &others),
        (AllReduce, HalvingDoubling, &|n| 2 * others(n), &|n| 2 * others(n)),
        (ReduceScatter, HalvingDoubling, &others, &others),
        (AllReduce, RecursiveDoubling, &|n| log(n) * bytes, &|n| log(n) * bytes),
        (Broadcast, Ring, &|_| bytes, &|_| bytes),
        (Reduce, Ring, &|_| bytes, &|_| bytes),
        (Broadcast, Binomial, &|n| n.next_power_of_two().ilog2() as u64 * bytes, &|_| bytes),
        (Reduce, Binomial, &|_| bytes, &|n| n.next_power_of_two().ilog2() as u64 * bytes),
        (AllToAll, Direct { window: 2 }, &others, &others),
        (AllToAll, Pairwise, &others, &others),
    ];
    for (kind, algorithm, sent, received) in rows {
        for size in [2_u64, 3, 4, 5, 7, 8, 9, 16, 32] {
            if needs_power_of_two(algorithm) && !size.is_power_of_two() {
                continue;
            }
            for chunks in [1, 3] {
                let graph = graph(size as u32, kind, algorithm, bytes, chunks);
                let about = format!("{kind:?} by {algorithm:?} of {size} ranks in {chunks} chunks");
                assert_eq!(never_ends(&graph), None, "{about}");
                assert_eq!(most(&graph), (sent(size), received(size)), "{about}");
            }
        }
    }
    for size in [2, 4, 8, 64] {
        let graph = graph(size, AllReduce, DoubleTree, bytes, 4);
        assert_eq!(never_ends(&graph), None);
        // No rank of an even number moves more than twice the array, and those inside a tree move nearly as much.
        let (sent, received) = most(&graph);
        assert!(sent <= 2 * bytes && received <= 2 * bytes, "{size} ranks: {sent} and {received} of {bytes}");
    }
}

#[test]
fn a_barrier_lets_no_rank_go_before_all_have_come() {
    for size in [2_u32, 3, 5, 8, 13] {
        let mut builder = GraphBuilder::new(size);
        let members: Vec<u32> = (0..size).collect();
        // One rank never comes.
        let time = clearway_proto::units::Span::from_ns(1);
        let late = builder.ranks[1].add(Draft::Calc { cpu: 0, time });
        let plan =
            Plan { kind: CollectiveKind::Barrier, algorithm: Algorithm::Dissemination, bytes: 0, chunks: 1 };
        add(&mut builder, &members, &plan);
        for own in 1..=size.next_power_of_two().ilog2() * 2 {
            builder.ranks[1].require(own, late);
        }
        let graph = builder.build().expect("a graph");
        let mut ranks: Vec<_> = (0..size).map(|rank| crate::job::Rank::new(&graph, rank)).collect();
        for rank in &mut ranks {
            rank.begin(&graph);
        }
        let mut awake: Vec<u32> = (0..size).collect();
        while let Some(number) = awake.pop() {
            while let Some(doing) = ranks[number as usize].next(&graph) {
                let crate::job::Doing::Send(operation) = doing else { continue };
                let crate::model::Operation::Send { channel, .. } = graph.operations[operation as usize]
                else {
                    unreachable!()
                };
                let to = graph.channels[channel as usize].to;
                ranks[to as usize].message_arrived(&graph, channel);
                ranks[number as usize].send_ended(&graph, operation);
                awake.push(to);
            }
        }
        assert!(ranks.iter().all(|rank| !rank.is_done()), "{size} ranks: one left without the late one");
    }
}

#[test]
fn a_group_is_named_by_its_own_ranks() {
    let mut builder = GraphBuilder::new(6);
    let plan = Plan { kind: CollectiveKind::AllReduce, algorithm: Algorithm::Ring, bytes: 1000, chunks: 1 };
    for group in [[0, 2, 4], [1, 3, 5]] {
        add(&mut builder, &group, &plan);
    }
    let graph = builder.build().expect("a graph");
    let pairs: Vec<_> = graph.pairs.iter().map(|pair| (pair.from, pair.to)).collect();
    assert_eq!(pairs, [(0, 2), (1, 3), (2, 4), (3, 5), (4, 0), (5, 1)]);
    assert_eq!(never_ends(&graph), None);
}
