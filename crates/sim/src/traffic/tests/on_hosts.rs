//! The flows that agents on real hosts send.

use clearway_proto::units::{Bytes, Span, Time};

use super::super::on_hosts::{on_hosts, Beyond, HostFlow};
use super::fixture::{scenario, table};
use crate::model::{Arrivals, Offered, OperationKind, Operations, Pattern, PerSecond, Traffic};

fn operations(kind: OperationKind) -> Operations {
    let (from, to) = (vec![0, 1], vec![1, 2]);
    Operations { from, to, remote: false, flows_per_pair: 2, kind, bytes: Bytes::new(64), deadline: None }
}

fn closed_loop(kind: OperationKind) -> Traffic {
    table(Pattern::ClosedLoop { operations: operations(kind), outstanding: 3 })
}

fn open_loop(offered: Offered) -> Traffic {
    let (operations, arrivals) = (operations(OperationKind::Write), Arrivals::Constant);
    table(Pattern::OpenLoop { operations, arrivals, offered, backlog: 10 })
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn incast(bytes: Option<u64>) -> Traffic {
    let bytes = bytes.map(Bytes::new);
    let pattern = Pattern::Incast { from: vec![0, 2], to: 1, flows_per_pair: 1, bytes };
    Traffic { stop: Some(us(9)), ..table(pattern) }
}

#[test]
fn only_a_flow_without_a_size_stops() {
    let flows = on_hosts(&scenario(3, vec![incast(None), incast(Some(9))]), 4).expect("four flows");
    let seen: Vec<_> = flows.iter().map(|flow| (flow.table, flow.from, flow.bytes, flow.stop)).collect();
    let stops = (None, Some(us(9)));
    let sized = (Some(Bytes::new(9)), None);
    assert_eq!(
        seen,
        [
            (0, 0, stops.0, stops.1),
            (0, 2, stops.0, stops.1),
            (1, 0, sized.0, sized.1),
            (1, 2, sized.0, sized.1)
        ]
    );
    assert!(flows.iter().all(|flow| !flow.again && !flow.is_operation));
}

#[test]
fn a_closed_loop_is_flows_that_start_again() {
    let traffic = vec![incast(None), closed_loop(OperationKind::Write)];
    let flows = on_hosts(&scenario(3, traffic), 100).expect("few flows");
    // Two of the incast; three pairs with two channels each, and three operations open in each.
    assert_eq!(flows.len(), 2 + 3 * 2 * 3);
    let numbers: Vec<_> = flows[2..].iter().map(|flow| flow.flow).collect();
    assert_eq!(numbers, (2..8).flat_map(|number| [number; 3]).collect::<Vec<_>>());
    assert!(flows[2..]
        .iter()
        .all(|flow| flow.again && flow.is_operation && flow.bytes == Some(Bytes::new(64))));
}

#[test]
fn an_open_loop_takes_channels_in_turn() {
    let rate = PerSecond(100);
    let traffic = vec![closed_loop(OperationKind::Write), open_loop(Offered::Rate(rate))];
    let all = on_hosts(&scenario(3, traffic), 1000).expect("few flows");
    let (open, all): (Vec<HostFlow>, _) = (all.iter().copied().filter(|flow| flow.table == 1).collect(), all);
    assert_eq!(all.len(), 18 + open.len());
    // Two initiators for a second.
    assert_eq!(open.len(), 200);
    assert!(open.iter().all(|flow| !flow.again && flow.stop.is_none() && flow.bytes == Some(Bytes::new(64))));
    let of_first: Vec<_> = open.iter().filter(|flow| flow.from == 0).collect();
    assert_eq!((of_first[0].start, of_first[1].start), (us(0), us(10_000)));
    for target in [1, 2] {
        let numbers: Vec<_> = of_first.iter().filter(|flow| flow.to == target).map(|f| f.flow).collect();
        assert!(numbers.windows(2).all(|two| two[0] != two[1]), "{numbers:?}");
        let first = 6 + (target - 1) * 2;
        assert!(numbers.iter().all(|number| [first, first + 1].contains(number)));
    }
}

#[test]
fn reads_and_too_many_are_refused() {
    let read = closed_loop(OperationKind::Read(Bytes::new(64)));
    assert_eq!(on_hosts(&scenario(3, vec![incast(None), read]), 100), Err(Beyond::Reads(1)));
    assert_eq!(on_hosts(&scenario(3, vec![incast(None), incast(None)]), 3), Err(Beyond::TooMany(1)));
    let many = open_loop(Offered::Rate(PerSecond(1_000_000_000)));
    assert_eq!(on_hosts(&scenario(3, vec![many]), 1000), Err(Beyond::TooMany(0)));
}
