//! The flows of loops of operations.

use clearway_proto::units::{Bytes, Span, Time};

use super::super::flow::{Demand, FlowSpec, Part};
use super::super::generate::{expected_flows, generate};
use super::fixture::{scenario, table};
use crate::model::{Arrivals, Offered, OperationKind, Operations, Pattern, Scenario, Traffic};
use crate::topology::tests::dumbbell;

fn operations(from: &[u32], to: &[u32], kind: OperationKind) -> Operations {
    let (from, to) = (from.to_vec(), to.to_vec());
    Operations { from, to, remote: false, flows_per_pair: 1, kind, bytes: Bytes::new(64_000), deadline: None }
}

fn open_loop(operations: Operations) -> Pattern {
    let (arrivals, offered) = (Arrivals::Poisson, Offered::Load(0.5));
    Pattern::OpenLoop { operations, arrivals, offered, backlog: 10 }
}

fn pairs(flows: &[FlowSpec]) -> Vec<(u32, u32)> {
    flows.iter().map(|flow| (flow.from, flow.to)).collect()
}

#[test]
fn a_closed_loop_joins_each_initiator_to_each_target() {
    let operations = operations(&[0, 1], &[1, 2], OperationKind::Write);
    let flows = generate(&scenario(3, vec![table(Pattern::ClosedLoop { operations, outstanding: 8 })]));
    assert_eq!(pairs(&flows), [(0, 1), (0, 2), (1, 2)]);
    assert!(flows.iter().all(|flow| flow.demand == Demand::ClosedLoop(Part::Writes)));
}

#[test]
fn answers_follow_their_requests_and_start_with_them() {
    let reads =
        Operations { flows_per_pair: 2, ..operations(&[0], &[1, 2], OperationKind::Read(Bytes::new(64))) };
    let stagger = Span::from_us(10);
    let traffic = Traffic {
        stagger,
        start: (Time::ZERO, Time::ZERO + stagger),
        ..table(Pattern::ClosedLoop { operations: reads, outstanding: 1 })
    };
    let scenario = scenario(3, vec![traffic]);
    let flows = generate(&scenario);
    assert_eq!(pairs(&flows), [(0, 1), (1, 0), (0, 1), (1, 0), (0, 2), (2, 0), (0, 2), (2, 0)]);
    assert_eq!(expected_flows(&scenario), 8.0);
    for (two, index) in flows.chunks(2).zip(0..) {
        let parts = [Part::Requests, Part::Answers].map(Demand::ClosedLoop);
        assert_eq!([two[0].demand, two[1].demand], parts);
        assert_eq!(two[0].start, two[1].start);
        assert!(
            two[0].start >= Time::ZERO + stagger * index && two[0].start < Time::ZERO + stagger * (index + 1)
        );
    }
}

#[test]
fn an_initiator_starts_with_all_its_flows() {
    let operations = operations(&[0, 1], &[2, 3], OperationKind::Write);
    let stagger = Span::from_us(10);
    let flows = generate(&scenario(4, vec![Traffic { stagger, ..table(open_loop(operations)) }]));
    let starts: Vec<u64> = flows.iter().map(|flow| flow.start.as_ps() / 1_000_000).collect();
    assert_eq!((pairs(&flows), starts), (vec![(0, 2), (0, 3), (1, 2), (1, 3)], vec![0, 0, 10, 10]));
}

#[test]
fn what_is_remote_is_under_another_switch() {
    let operations = Operations { remote: true, ..operations(&[0, 2], &[0, 1, 2, 3], OperationKind::Write) };
    let scenario = Scenario { network: dumbbell(2, 2), ..scenario(4, vec![table(open_loop(operations))]) };
    assert_eq!(pairs(&generate(&scenario)), [(0, 2), (0, 3), (2, 0), (2, 1)]);
}
