//! Machines whose drivers started at different times count the same slots, from an epoch that is agreed.

use clearway_proto::fastpass::arbiter::ArbiterParams;
use clearway_proto::units::{Span, Time};

use crate::fastpass::net::{us, Mischief, Net, Random, PLAIN};
use crate::fastpass::{arbiter, endpoint};

const NODES: u16 = 8;
/// The slot at the clocks' zero: a multiple of the slots of a batch, and of as many slots as take whole nanoseconds.
const FIRST: u64 = (1 << 50) / 400 * 400 + 400;
/// What that is in nanoseconds: 25 slots of 1251.28 ns are 31,282.
const AGREED: u64 = FIRST / 25 * 31_282;

/// Nanoseconds before real time at which each driver started: up to 90 days.
fn started(random: &mut Random, machines: usize) -> Vec<u64> {
    (0..machines).map(|_| random.below(90 * 86_400 * 1_000_000_000)).collect()
}

/// A lossy network under load, whose primary crashes and starts again.
fn run(mut net: Net, seed: u64) -> Net {
    net.mischief = Mischief { jitter: Span::from_us(2), lost: seed % 3, ..PLAIN };
    for source in 0..NODES {
        for destination in (0..NODES).filter(|&destination| destination != source) {
            net.offer(us(100 + seed), source, destination, 100);
        }
    }
    net.crash(us(700), 0);
    net.restart(us(1500), 0);
    net.offer(us(3000), 1, 2, 50);
    net.run(us(8000));
    net
}

#[test]
fn slots_are_the_same_whenever_drivers_started() {
    for seed in 1..=20 {
        let params = || ArbiterParams { arbiters: 2, ..arbiter(NODES) };
        let expected = run(Net::new(endpoint(NODES), params(), seed), seed);
        let started = started(&mut Random(seed), usize::from(NODES) + 2);
        let found = run(Net::with_epoch(endpoint(NODES), params(), seed, &started, AGREED), seed);
        assert_eq!((expected.waiting(), expected.slots_used_twice()), (0, 0), "seed {seed}");
        assert_eq!(found.sent.len(), expected.sent.len());
        for (found, expected) in found.sent.iter().zip(&expected.sent) {
            let mut grant = expected.grant;
            grant.slot += FIRST;
            assert_eq!(
                (found.at, found.source, found.grant),
                (expected.at, expected.source, grant),
                "seed {seed}"
            );
        }
        let counters = |net: &Net| *net.primary().expect("an arbiter").counters();
        assert_eq!(counters(&found), counters(&expected));
        for (found, expected) in found.endpoints.iter().zip(&expected.endpoints) {
            assert_eq!(found.counters(), expected.counters());
        }
    }
}

#[test]
fn after_hours_without_demand_slots_are_those_of_now() {
    let started = started(&mut Random(1), usize::from(NODES) + 1);
    let mut net = Net::with_epoch(endpoint(NODES), arbiter(NODES), 1, &started, AGREED);
    let hours = [0, 1, 7, 48_u64];
    for (number, hour) in (1..).zip(hours) {
        let begins = Time::ZERO + Span::from_secs(3600 * hour) + Span::from_us(100);
        net.offer(begins, 3, 4, 20);
        net.offer(begins, 5, 4, 20);
        net.run(begins + Span::from_ms(1));
        assert_eq!((net.waiting(), net.unused, net.slots_used_twice()), (0, 0, 0), "hour {hour}");
        assert_eq!(net.sent.len(), 40 * number);
    }
    for sent in &net.sent {
        // Clocks without offset show 10 ms when real time begins.
        let slot = u128::from((sent.at + Span::from_ms(10)).as_ps()) / 1_251_280;
        assert_eq!(u128::from(sent.grant.slot - FIRST), slot);
    }
    let counters = net.primary().expect("an arbiter").counters();
    assert_eq!((counters.late_batches, counters.clock_moved, counters.clock_translated), (0, 0, 0));
}
