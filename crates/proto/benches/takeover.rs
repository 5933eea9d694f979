//! What an arbiter does at the instant of a failure: it takes over, or avoids a spine switch. Racks of 32 endpoints, each of which waits for
//! slots to four others.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. For instructions: `valgrind --tool=callgrind
//! --toggle-collect='*measured*'` of this program with a number of endpoints and `takeover` or `path`.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::env;
use std::time::Instant;

use clearway_proto::fastpass::allocator::AllocatorParams;
use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterParams, PathParams, Role};
use clearway_proto::fastpass::fcp::{Demand, PathReport, Request, Watchdog};
use clearway_proto::fastpass::paths::Racks;
use clearway_proto::units::{Span, Time};

const START: Time = Time::from_ps(10_000_000_000);
const SIZES: [u16; 3] = [256, 1024, 4096];
const REPEATS: usize = 5;

fn after(us: u64) -> Time {
    START + Span::from_us(us)
}

fn params(nodes: u16, arbiters: u8) -> ArbiterParams {
    let racks = Racks::uniform(usize::from(nodes) / 32, 32).expect("racks");
    ArbiterParams {
        allocator: AllocatorParams { nodes: nodes.into(), slots: 16, ..AllocatorParams::default() },
        paths: PathParams::LeafSpine { racks, paths: 4 },
        arbiters,
        ..ArbiterParams::default()
    }
}

/// Each endpoint asks for slots to four others, and says what a spine switch loses to it.
fn ask(arbiter: &mut Arbiter, nodes: u16, now: Time, seq: u32, lost: u16) {
    let slot = ArbiterParams::default().timeslots.of(now);
    for source in 0..nodes {
        let other = |by: u16| (source + 32 * by + 1) % nodes;
        let demands = (1..5).map(|by| Demand { destination: other(by), demanded: 100 * seq });
        let reports = (1..5).map(|by| PathReport { destination: other(by), path: 1, sent: 40, lost });
        let request = Request {
            source,
            term: 1,
            incarnation: 1,
            seq,
            slot,
            demands: demands.collect(),
            reports: reports.collect(),
            ..Request::default()
        };
        arbiter.handle_request(now, &request);
    }
}

/// An arbiter that is about to take over what it once was the primary of, or to learn of a failure.
fn prepared(nodes: u16, arbiters: u8) -> Arbiter {
    let mut arbiter = Arbiter::new(&params(nodes, arbiters), START).expect("parameters that go together");
    ask(&mut arbiter, nodes, START, 1, 0);
    arbiter.handle_timeout(START);
    arbiter
}

#[inline(never)]
fn takeover_measured(arbiter: &mut Arbiter) {
    arbiter.handle_watchdog(after(150), &Watchdog { term: 2, rank: 1, horizon: 8200 });
    arbiter.handle_timeout(after(400));
}

#[inline(never)]
fn path_measured(arbiter: &mut Arbiter, now: Time) {
    arbiter.handle_timeout(now);
}

fn takeover(nodes: u16) -> f64 {
    let mut arbiter = prepared(nodes, 2);
    let begin = Instant::now();
    takeover_measured(&mut arbiter);
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!((arbiter.role(), arbiter.counters().takeovers), (Role::Primary, 2));
    seconds
}

fn path(nodes: u16) -> f64 {
    let mut arbiter = prepared(nodes, 1);
    for us in 1..5 {
        ask(&mut arbiter, nodes, after(10 * us), 1 + us as u32, 20);
    }
    // What is due before the reports are weighed, which is a millisecond after the first of them.
    let weighed = after(1000);
    arbiter.handle_timeout(after(999));
    assert_eq!(arbiter.counters().paths_changed, 0);
    let begin = Instant::now();
    path_measured(&mut arbiter, weighed);
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!(arbiter.counters().paths_changed, 1, "{:?}", arbiter.counters());
    seconds
}

fn main() {
    let args: Vec<String> = env::args().collect();
    if let [_, nodes, what] = &args[..] {
        if let Ok(nodes) = nodes.parse() {
            if what == "takeover" {
                takeover(nodes)
            } else {
                path(nodes)
            };
            return;
        }
    }
    println!("at the instant of a failure, least of {REPEATS}:");
    for nodes in SIZES {
        let least =
            |what: fn(u16) -> f64| (0..REPEATS).map(|_| what(nodes)).fold(f64::INFINITY, f64::min) * 1e6;
        println!("  {nodes} endpoints: takeover {:.0} us, path {:.0} us", least(takeover), least(path));
    }
}
