use clearway_proto::units::Span;

use super::draw::Draw;
use super::*;
use crate::job::never_ends;
use crate::model::{Operation, OperationGraph, RequestSort};

fn storage(redundancy: Redundancy, write_path: WritePath) -> Storage {
    Storage {
        clients: 3,
        servers: 8,
        dead: Vec::new(),
        requests: 40,
        reads: 15,
        depth: 4,
        bytes: 1000,
        request_bytes: 64,
        read_time: Span::from_us(1),
        write_time: Span::from_us(2),
        decode_time: Span::from_us(3),
        think_time: Span::ZERO,
        redundancy,
        write_path,
        rebuild: None,
    }
}

fn erasure(reads_blocks: bool) -> Redundancy {
    Redundancy::Erasure(Erasure { data: 3, parity: 2, reads_blocks })
}

/// Every redundancy with each of its ways to write, a share of dead servers, and what is rebuilt.
fn variants() -> Vec<Storage> {
    let mut all = Vec::new();
    for (redundancy, paths) in [
        (Redundancy::Replicas(3), &[WritePath::Primary, WritePath::Chain, WritePath::Client][..]),
        (erasure(false), &[WritePath::Primary, WritePath::Client]),
        (erasure(true), &[WritePath::Client]),
    ] {
        for &path in paths {
            for dead in [vec![], vec![2], vec![0, 7]] {
                let rebuild = (!dead.is_empty()).then_some(Rebuild { bytes: 10_100, depth: 2 });
                all.push(Storage { dead, rebuild, ..storage(redundancy, path) });
            }
        }
    }
    all
}

fn graph_of(storage: &Storage, seed: u64) -> OperationGraph {
    program(storage, seed, 0).build().expect("a graph")
}

/// How often requests of each sort begin and end at a rank.
fn marks(graph: &OperationGraph, rank: u32, sort: RequestSort) -> (u32, u32) {
    let marks = graph.operations_of(rank).filter_map(|operation| graph.labels.mark_of(operation));
    let of_sort = marks.filter(|mark| mark.measure == sort as u16);
    of_sort.fold((0, 0), |(begun, ended), mark| {
        (begun + u32::from(!mark.is_end), ended + u32::from(mark.is_end))
    })
}

#[test]
fn every_job_can_end_and_is_as_large_as_was_said() {
    for storage in variants() {
        let graph = graph_of(&storage, 1);
        assert_eq!(never_ends(&graph), None, "{storage:?}");
        let most = most_operations(&storage);
        let operations = graph.operations.len() as u64;
        assert!(operations <= most, "{operations} of {most}: {storage:?}");
        // Something less where an end is the last message, where servers are dead, and where one block is read.
        assert!(operations * 2 > most, "{operations} of {most}: {storage:?}");
        for client in 0..storage.clients {
            let [read, degraded, write] = [RequestSort::Read, RequestSort::DegradedRead, RequestSort::Write]
                .map(|sort| marks(&graph, client, sort));
            assert_eq!((read.0 + degraded.0, read.1 + degraded.1), (15, 15), "{storage:?}");
            assert_eq!(write, (25, 25), "{storage:?}");
            assert!(degraded.0 == 0 || !storage.dead.is_empty());
        }
        for &dead in &storage.dead {
            assert!(graph.operations_of(storage.clients + dead).is_empty(), "{storage:?}");
        }
        let rebuilt: u32 =
            (0..storage.ranks() as u32).map(|rank| marks(&graph, rank, RequestSort::Rebuild).1).sum();
        assert_eq!(u64::from(rebuilt), storage.lost_blocks() * storage.dead.len() as u64, "{storage:?}");
    }
}

#[test]
fn each_lane_of_a_client_has_one_request_at_a_time() {
    let graph = graph_of(&storage(Redundancy::Replicas(3), WritePath::Primary), 5);
    for client in 0..3 {
        // A request begins when the one four before it has ended: begins and ends of a lane take turns in the list, and each
        // beginning waits for the end before it.
        let mut last: [Option<u32>; 4] = [None; 4];
        let mut chained = 0;
        for operation in graph.operations_of(client) {
            let Some(mark) = graph.labels.mark_of(operation) else { continue };
            let lane = &mut last[usize::from(mark.lane)];
            if mark.is_end {
                *lane = Some(operation);
            } else if let Some(before) = *lane {
                let waits = graph.followers_of(before).iter().any(|follower| follower.operation == operation);
                assert!(waits, "client {client}: {operation} does not wait for {before}");
                chained += 1;
            } else {
                assert_eq!(graph.requirements[operation as usize], 0);
            }
        }
        assert_eq!(chained, 40 - 4);
    }
}

#[test]
fn what_is_drawn_for_a_rank_is_its_own() {
    let of = |storage: &Storage, seed, job| program(storage, seed, job).build().expect("a graph");
    let base = storage(erasure(false), WritePath::Client);
    let graph = of(&base, 1, 0);
    assert_eq!(graph, of(&base, 1, 0));
    assert_ne!(graph, of(&base, 2, 0));
    assert_ne!(graph, of(&base, 1, 1), "another job of a scenario");
    let sends_of = |client: u32| {
        let bytes = |operation: u32| match graph.operations[operation as usize] {
            Operation::Send { channel, .. } => Some(graph.channels[channel as usize].to),
            _ => None,
        };
        graph.operations_of(client).filter_map(bytes).collect::<Vec<_>>()
    };
    assert_ne!(sends_of(0), sends_of(1), "another client");
    // Another client changes nothing of the first ones but the ranks of servers.
    let more = of(&Storage { clients: 4, ..base }, 1, 0);
    let sends = |graph: &OperationGraph, clients: u32| -> Vec<(u32, u64)> {
        let message = |operation: u32| match graph.operations[operation as usize] {
            Operation::Send { channel, bytes } => {
                Some((graph.channels[channel as usize].to - clients, bytes))
            }
            _ => None,
        };
        (0..3).flat_map(|rank| graph.operations_of(rank)).filter_map(message).collect()
    };
    assert_eq!(sends(&graph, 3), sends(&more, 4));
}

#[test]
fn stripes_are_distinct_servers_each_as_likely_as_any_other() {
    let mut servers: Vec<u32> = (0..7).collect();
    let mut draw = Draw::new(1, 0, 0, &mut servers);
    // For each place in a stripe and each server, how often it was drawn there.
    let mut counts = [[0_u32; 7]; 3];
    for _ in 0..21_000 {
        let stripe = draw.stripe(3);
        assert!(stripe[0] != stripe[1] && stripe[1] != stripe[2] && stripe[0] != stripe[2]);
        counts.iter_mut().zip(&stripe).for_each(|(counts, &server)| counts[server as usize] += 1);
    }
    // Standard deviation sqrt(21000 * 1/7 * 6/7) = 50.7.
    assert!(counts.iter().flatten().all(|count| count.abs_diff(3000) < 230), "{counts:?}");
    let mut with = [0_u32; 7];
    for _ in 0..6000 {
        draw.others(4, 3).into_iter().for_each(|server| with[server as usize] += 1);
    }
    assert_eq!(with[4], 0);
    // Standard deviation sqrt(6000 * 1/3 * 2/3) = 36.5.
    assert!(
        with.iter().enumerate().all(|(server, count)| server == 4 || count.abs_diff(2000) < 165),
        "{with:?}"
    );
    assert_eq!(servers, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_new_block_goes_to_a_living_server_without_one_of_its_stripe() {
    for (servers, dead) in [(6, vec![2]), (7, vec![0, 6])] {
        let rebuild = Some(Rebuild { bytes: 100_000, depth: 3 });
        let base = storage(erasure(false), WritePath::Client);
        let storage = Storage { servers, dead, rebuild, requests: 1, reads: 1, ..base };
        let graph = graph_of(&storage, 3);
        let mut keepers = 0;
        for rank in storage.clients..storage.ranks() as u32 {
            // The ranks that are asked for a block between a beginning and an end are as many as are needed, and not the keeper.
            let mut asked: Option<Vec<u32>> = None;
            for operation in graph.operations_of(rank) {
                match (graph.labels.mark_of(operation), graph.operations[operation as usize]) {
                    (Some(mark), _) if !mark.is_end => asked = Some(Vec::new()),
                    (Some(_), _) => {
                        let mut asked = asked.take().expect("it has begun");
                        asked.sort_unstable();
                        asked.dedup();
                        assert_eq!(asked.len(), 3);
                        assert!(!asked.contains(&rank));
                        keepers += 1;
                    }
                    (None, Operation::Send { channel, .. }) => {
                        if let Some(asked) = &mut asked {
                            asked.push(graph.channels[channel as usize].to);
                        }
                    }
                    _ => (),
                }
            }
        }
        assert_eq!(keepers, 300 * storage.dead.len(), "334-byte blocks of 100 kB: {storage:?}");
    }
}
