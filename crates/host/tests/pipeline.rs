//! An arbiter's pipeline: grants are the same on two threads as on one, whatever becomes of paths meanwhile.

use std::sync::Arc;
use std::thread;

use clearway_host::arbiter::pipeline::Pipeline;
use clearway_proto::fastpass::allocator::{AllocatorParams, Order};
use clearway_proto::fastpass::arbiter::{
    Arbiter, ArbiterOutput, ArbiterParams, Batch, Batches, PathParams, Selector, BLOCKED, MOST_IN_FLIGHT,
};
use clearway_proto::fastpass::fcp::{Demand, Grant, PathReport, Request};
use clearway_proto::fastpass::isolator::IsolatorParams;
use clearway_proto::fastpass::paths::{DeadLinks, FatTreeShape, Link, PathSet, Racks};
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

use crate::threads::ThreadedArbiter;

const NODES: u16 = 64;

fn leaf_spine() -> PathParams {
    PathParams::LeafSpine { racks: Racks::uniform(8, 8).expect("racks"), paths: 8 }
}

fn fat_tree() -> PathParams {
    let shape = FatTreeShape { racks_per_pod: 4, aggregation: 4, cores: 4 };
    PathParams::FatTree { racks: Racks::uniform(16, 4).expect("racks"), shape }
}

fn params(paths: PathParams, order: Order) -> ArbiterParams {
    ArbiterParams {
        allocator: AllocatorParams { nodes: NODES.into(), slots: 16, limit: 300, order, capacities: None },
        paths,
        isolator: IsolatorParams {
            window: Span::from_ms(1),
            interval: Span::from_us(100),
            probation: Span::from_ms(2),
            ..IsolatorParams::default()
        },
        ..ArbiterParams::default()
    }
}

/// The network of these parameters, in which one rack cannot send to each of these switches.
fn dead(params: &ArbiterParams, switches: PathSet) -> Arc<DeadLinks> {
    let (mut dead, racks) = match &params.paths {
        PathParams::Single => unreachable!("one path"),
        PathParams::LeafSpine { racks, paths } => (DeadLinks::leaf_spine(racks, *paths), racks),
        PathParams::FatTree { racks, shape } => (DeadLinks::fat_tree(racks, *shape), racks),
    };
    let dead = dead.as_mut().expect("a network");
    for switch in switches.iter() {
        dead.set(Link::FromRack { rack: 3 * switch % racks.racks(), switch }, true).expect("a link");
    }
    Arc::new(dead.clone())
}

/// A generator of pseudo-random numbers (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What happens to batches, between one and the next.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Request(u16, u16, u32),
    Forget(u16),
    ForgetAll,
    Avoid(PathSet),
}

/// Returns what happens before each batch: mostly requests, and from time to time other paths than before.
fn happenings(seed: u64, batches: usize) -> Vec<Vec<Happening>> {
    let mut random = Random(seed);
    let mut one = || match random.below(400) {
        0 => Happening::ForgetAll,
        1..4 => Happening::Forget(random.below(NODES.into()) as u16),
        4..9 => {
            let failed =
                (0..random.below(4)).fold(PathSet::EMPTY, |set, _| set.with(random.below(4) as usize));
            Happening::Avoid(if failed.len() == 4 { PathSet::EMPTY } else { failed })
        }
        _ => {
            let source = random.below(NODES.into());
            let destination = (source + 1 + random.below(u64::from(NODES) - 1)) % u64::from(NODES);
            Happening::Request(source as u16, destination as u16, 1 + random.below(30) as u32)
        }
    };
    let mut batches: Vec<Vec<_>> = (0..batches).map(|_| (0..40).map(|_| one()).collect()).collect();
    // At last what is blocked gets its slots.
    batches.push(vec![Happening::Avoid(PathSet::EMPTY)]);
    batches.extend(vec![Vec::new(); 40]);
    batches
}

fn happen(params: &ArbiterParams, batches: &mut Batches, happening: Happening) {
    match happening {
        Happening::Request(source, destination, slots) => {
            // A pair that waits for too much is refused.
            let _ = batches.request(0, source, destination, slots);
        }
        Happening::Forget(source) => drop(batches.forget(source)),
        Happening::ForgetAll => drop(batches.forget_all()),
        Happening::Avoid(switches) => batches.avoid(dead(params, switches)),
    }
}

/// Takes their paths from some packets, as where a link is dead: which ones depends on nothing but packet and slot.
fn block(batch: &mut Batch) {
    if batch.avoided.is_none() {
        return;
    }
    for slot in &mut batch.slots {
        for (pair, path) in slot.pairs.iter().zip(&mut slot.paths) {
            if (u64::from(pair.0) * 31 + u64::from(pair.1) * 17 + slot.number) % 5 == 0 {
                *path = BLOCKED;
            }
        }
    }
}

/// Grants, each with its source, in the order in which they are given.
type Grants = Vec<(u16, Grant)>;

fn take(batches: &mut Batches, mut batch: Batch, grants: &mut Grants) -> u64 {
    block(&mut batch);
    batches.handle_selected(batch, |source, grant| grants.push((source, grant))).granted
}

/// The grants of batches whose paths are selected at once.
fn in_line(params: &ArbiterParams, happenings: &[Vec<Happening>]) -> Grants {
    let mut batches = Batches::new(params).expect("parameters that go together");
    let mut selector = Selector::new(params).expect("parameters that go together");
    let mut grants = Vec::new();
    for some in happenings {
        for &happening in some {
            happen(params, &mut batches, happening);
        }
        let mut batch = batches.allocate();
        selector.select(batch.avoided.as_ref(), &mut batch.slots);
        take(&mut batches, batch, &mut grants);
    }
    grants
}

/// The grants of batches whose paths are selected on two threads, and which are taken sooner or later. (Those that are void are
/// not seen here if the batch comes back late, and so not there: nothing is forgotten.)
fn on_two_threads(params: &ArbiterParams, happenings: &[Vec<Happening>], seed: u64) -> Grants {
    let mut random = Random(seed);
    let mut batches = Batches::new(params).expect("parameters that go together");
    let mut pipeline = Pipeline::new(Selector::new(params).expect("parameters that go together"));
    let mut grants = Vec::new();
    let mut order = |batches: &mut Batches, pipeline: &mut Pipeline, wanted: bool| loop {
        let ready = if random.below(3) == 0 || wanted { pipeline.poll_selected() } else { None };
        match ready {
            Some(batch) => drop(take(batches, batch, &mut grants)),
            None if !wanted || pipeline.is_empty() => return,
            None if batches.has_room() => return,
            None => {
                pipeline.relieve();
                thread::yield_now();
            }
        }
    };
    for some in happenings {
        for &happening in some {
            happen(params, &mut batches, happening);
        }
        while !batches.has_room() {
            order(&mut batches, &mut pipeline, true);
        }
        let batch = batches.allocate();
        pipeline.select(batch);
        order(&mut batches, &mut pipeline, false);
    }
    while !pipeline.is_empty() {
        order(&mut batches, &mut pipeline, true);
    }
    let counters = pipeline.counters();
    assert_eq!(counters.slots_here + counters.slots_there, 16 * happenings.len() as u64);
    assert!(counters.slots_there > 0, "both select paths");
    grants
}

#[test]
#[ignore = "takes 8 s: make test-slow runs it"]
fn two_threads_grant_what_one_does() {
    for paths in [leaf_spine(), fat_tree()] {
        for order in [Order::MaxMin, Order::MinFct] {
            let params = params(paths.clone(), order);
            for seed in 1..=4 {
                let mut happenings = happenings(seed, 150);
                // What is forgotten is void only in batches that are not back, and these are others here and there.
                for some in &mut happenings {
                    some.retain(|one| !matches!(one, Happening::Forget(_) | Happening::ForgetAll));
                }
                let expected = in_line(&params, &happenings);
                assert!(expected.len() > 50_000, "{}", expected.len());
                for run in 1..=2 {
                    let found = on_two_threads(&params, &happenings, seed << 8 | run);
                    assert!(found == expected, "seed {seed}, {paths:?}, {order:?}");
                }
            }
        }
    }
}

/// Where endpoints are forgotten: the grants of batches that were back before are those of one thread, and what is not granted is
/// void.
#[test]
fn what_is_forgotten_joins_no_more_whenever_batches_come_back() {
    let params = params(leaf_spine(), Order::MaxMin);
    let mut void = 0;
    for seed in 1..=8 {
        let happenings = happenings(seed, 150);
        let expected = in_line(&params, &happenings);
        let found = on_two_threads(&params, &happenings, seed);
        // What is found is what is expected, in this order, without some.
        let mut rest = expected.iter();
        for grant in &found {
            assert!(rest.any(|other| other == grant), "seed {seed}: {grant:?}");
        }
        void += expected.len() - found.len();
    }
    assert!(void > 0, "some batches were not back");
}

#[test]
fn what_is_blocked_is_granted_later_and_once() {
    let params = params(leaf_spine(), Order::MaxMin);
    let mut batches = Batches::new(&params).expect("parameters that go together");
    let mut selector = Selector::new(&params).expect("parameters that go together");
    batches.avoid(dead(&params, PathSet::EMPTY.with(1)));
    let mut grants = Vec::new();
    for source in 0..32_u16 {
        batches.request(0, source, source + 32, 20).expect("room");
    }
    for _ in 0..60 {
        let mut batch = batches.allocate();
        selector.select(batch.avoided.as_ref(), &mut batch.slots);
        take(&mut batches, batch, &mut grants);
    }
    for source in 0..32 {
        let slots: Vec<u64> =
            grants.iter().filter(|grant| grant.0 == source).map(|grant| grant.1.slot).collect();
        assert_eq!(slots.len(), 20, "source {source}");
        assert!(slots.windows(2).all(|two| two[0] < two[1]), "source {source}: {slots:?}");
    }
}

#[test]
fn an_arbiter_that_has_enough_batches_in_flight_allocates_none() {
    let params = params(leaf_spine(), Order::MaxMin);
    let mut batches = Batches::new(&params).expect("parameters that go together");
    let mut selector = Selector::new(&params).expect("parameters that go together");
    let mut in_flight: Vec<Batch> = (0..MOST_IN_FLIGHT).map(|_| batches.allocate()).collect();
    assert!(!batches.has_room());
    let mut first = in_flight.remove(0);
    selector.select(first.avoided.as_ref(), &mut first.slots);
    batches.handle_selected(first, |_, _| ());
    assert!(batches.has_room());
}

#[test]
fn a_pipeline_that_is_dropped_ends_its_threads_whatever_they_wait_for() {
    for number in [0, 3, MOST_IN_FLIGHT] {
        let params = params(leaf_spine(), Order::MaxMin);
        let mut batches = Batches::new(&params).expect("parameters that go together");
        let mut pipeline = Pipeline::new(Selector::new(&params).expect("parameters that go together"));
        for _ in 0..number {
            pipeline.select(batches.allocate());
        }
        drop(pipeline);
    }
}

/// What an arbiter's driver does between packets.
trait Driver {
    fn machine(&mut self) -> &mut Arbiter;
    fn handle_timeout(&mut self, now: Time);
    /// Lets what is under way end, or only some of it.
    fn advance(&mut self);
}

impl Driver for Arbiter {
    fn machine(&mut self) -> &mut Arbiter {
        self
    }

    fn handle_timeout(&mut self, now: Time) {
        Arbiter::handle_timeout(self, now);
    }

    fn advance(&mut self) {}
}

impl Driver for ThreadedArbiter {
    fn machine(&mut self) -> &mut Arbiter {
        &mut self.machine
    }

    fn handle_timeout(&mut self, now: Time) {
        ThreadedArbiter::handle_timeout(self, now);
    }

    fn advance(&mut self) {
        self.finish();
    }
}

/// All that an arbiter sends in a run in which endpoints ask for slots, start again, and report a spine switch that drops
/// packets and then does so no more.
fn outputs(driver: &mut impl Driver, seed: u64) -> Vec<ArbiterOutput> {
    let mut random = Random(seed);
    let mut now = Time::ZERO;
    let mut outputs = Vec::new();
    let mut demanded = vec![vec![0_u32; NODES.into()]; NODES.into()];
    let mut seq = vec![0_u32; NODES.into()];
    let mut incarnation = vec![1_u32; NODES.into()];
    for step in 0..6000_u64 {
        now = now + Span::from_ns(500 + random.below(1500));
        let at = usize::from(random.below(NODES.into()) as u16);
        if random.below(500) == 0 {
            incarnation[at] += 1;
            seq[at] = 0;
            demanded[at].fill(0);
        }
        seq[at] += 1;
        let demands = (0..=random.below(4)).filter_map(|_| {
            let destination = random.below(NODES.into()) as usize;
            demanded[at][destination] += 1 + random.below(12) as u32;
            (destination != at)
                .then(|| Demand { destination: destination as u16, demanded: demanded[at][destination] })
        });
        let demands = demands.collect();
        let bad = (1000..3000).contains(&step);
        let reports = (0..2).map(|path| {
            let destination = ((at + 8 + random.below(48) as usize) % usize::from(NODES)) as u16;
            PathReport { destination, path, sent: 100, lost: if bad && path == 1 { 60 } else { 0 } }
        });
        let request = Request {
            source: at as u16,
            term: 1,
            incarnation: incarnation[at],
            seq: seq[at],
            slot: driver.machine().slot(now),
            demands,
            reports: reports.collect(),
            ..Request::default()
        };
        driver.machine().handle_request(now, &request);
        driver.handle_timeout(now);
        driver.advance();
        while driver.machine().readiness(now) == Readiness::Ready {
            outputs.push(driver.machine().transmit(now));
        }
    }
    outputs
}

#[test]
#[ignore = "takes 5 s: make test-slow runs it"]
fn an_arbiter_on_two_threads_sends_what_one_on_a_single_thread_does() {
    for paths in [leaf_spine(), fat_tree()] {
        for seed in 1..=3 {
            let params = params(paths.clone(), Order::MaxMin);
            let mut alone = Arbiter::new(&params, Time::ZERO).expect("parameters that go together");
            let expected = outputs(&mut alone, seed);
            let machine = Arbiter::new(&params, Time::ZERO).expect("parameters that go together");
            let mut threaded = ThreadedArbiter::new(machine).expect("a selector");
            let found = outputs(&mut threaded, seed);
            assert!(found == expected, "seed {seed}, {paths:?}");
            assert_eq!(threaded.machine.counters(), alone.counters());
            let counters = alone.counters();
            assert!(counters.granted > 10_000, "{counters:?}");
            assert!(counters.paths_changed >= 2, "avoided and readmitted: {counters:?}");
            assert_eq!(counters.late_batches, 0);
        }
    }
}
