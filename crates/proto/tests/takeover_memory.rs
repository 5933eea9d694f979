//! An arbiter that takes over, and one that avoids a failed switch, allocates no memory for pairs of endpoints: the allocator of
//! memory counts.

use clearway_proto::fastpass::allocator::AllocatorParams;
use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterParams, PathParams, Role};
use clearway_proto::fastpass::fcp::{Demand, PathReport, Request, Watchdog};
use clearway_proto::fastpass::paths::Racks;
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

use crate::allocations::allocated_bytes;

const NODES: u16 = 64;
const START: Time = Time::from_ps(10_000_000_000);

fn after(us: u64) -> Time {
    START + Span::from_us(us)
}

fn params(rank: u8) -> ArbiterParams {
    ArbiterParams {
        allocator: AllocatorParams { nodes: NODES.into(), slots: 16, ..AllocatorParams::default() },
        paths: PathParams::LeafSpine { racks: Racks::uniform(8, 8).expect("racks"), paths: 4 },
        arbiters: 2,
        rank,
        ..ArbiterParams::default()
    }
}

/// Each endpoint asks for `slots` in all to each of a few others in the arbiter's term, and says what a path loses to it.
fn ask(arbiter: &mut Arbiter, now: Time, seq: u32, slots: u32, lost: u16) {
    for source in 0..NODES {
        let others = (1..9).map(|by| (source + 7 * by) % NODES);
        let demands = others.map(|destination| Demand { destination, demanded: slots });
        let reports =
            (1..4).map(|by| PathReport { destination: (source + 8 * by) % NODES, path: 1, sent: 40, lost });
        let request = Request {
            source,
            term: arbiter.term(),
            incarnation: 1,
            seq,
            slot: arbiter.slot(now),
            demands: demands.collect(),
            reports: reports.collect(),
            ..Request::default()
        };
        arbiter.handle_request(now, &request);
    }
    arbiter.handle_timeout(now);
}

fn send(arbiter: &mut Arbiter, now: Time) {
    while arbiter.readiness(now) == Readiness::Ready {
        arbiter.transmit(now);
    }
}

#[test]
fn a_takeover_allocates_nothing() {
    let mut arbiter = Arbiter::new(&params(0), START).expect("parameters that go together");
    send(&mut arbiter, START);
    for round in 1..8 {
        let now = after(u64::from(round) * 20);
        ask(&mut arbiter, now, round, round * 40, 0);
        send(&mut arbiter, now);
    }
    assert!(arbiter.counters().granted > 0 && arbiter.counters().demanded > arbiter.counters().granted);
    // It hears of a newer term and steps down, and then takes over again.
    let before = allocated_bytes();
    let horizon = arbiter.slot(after(150)) + 40;
    arbiter.handle_watchdog(after(150), &Watchdog { term: 2, rank: 1, horizon });
    assert_eq!(arbiter.role(), Role::Standby);
    assert_eq!(allocated_bytes() - before, 0);
    arbiter.handle_timeout(after(400));
    assert_eq!((arbiter.role(), arbiter.counters().takeovers), (Role::Primary, 2));
    assert_eq!(allocated_bytes() - before, 0);
    // And serves as well as before.
    let granted = arbiter.counters().granted;
    send(&mut arbiter, after(400));
    for round in 1..8 {
        let now = after(400 + u64::from(round) * 20);
        ask(&mut arbiter, now, round, round * 4, 0);
        send(&mut arbiter, now);
    }
    assert!(arbiter.counters().granted > granted);
}

#[test]
fn a_path_is_avoided_without_memory_for_each_pair() {
    let mut arbiter = Arbiter::new(&params(0), START).expect("parameters that go together");
    send(&mut arbiter, START);
    let mut most = 0;
    for round in 1..200 {
        let now = after(u64::from(round) * 20);
        let changed = arbiter.counters().paths_changed;
        let before = allocated_bytes();
        ask(&mut arbiter, now, round, round * 40, if round > 50 { 20 } else { 0 });
        if arbiter.counters().paths_changed > changed {
            most = most.max(allocated_bytes() - before);
        }
        send(&mut arbiter, now);
    }
    assert!(arbiter.counters().paths_changed > 0, "{:?}", arbiter.counters());
    // A new set of what to avoid, by rack and path, what mends paths around it, and what the lists of endpoints grow by.
    assert!(most < 16 * 1024, "{most} bytes");
}
