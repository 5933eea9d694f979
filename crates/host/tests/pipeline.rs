//! The arbiter's pipeline: the schedule is the same on two threads as on one, and overload is said.
#![cfg(target_os = "linux")]

use std::thread;

use clearway_host::arbiter::pipeline::{Overloaded, Pipeline, Planned, Planner};
use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::paths::{LeafSpine, Racks};

const NODES: u16 = 64;

fn parts() -> (Allocator, LeafSpine) {
    let params = AllocatorParams { nodes: NODES.into(), slots: 16, ..AllocatorParams::default() };
    let racks = Racks::uniform(8, 8).expect("racks");
    (Allocator::new(&params).expect("an allocator"), LeafSpine::new(racks, 8).expect("a network"))
}

/// Pseudo-random numbers (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The requests of each batch.
fn demand(batches: usize) -> Vec<Vec<(u16, u16, u32)>> {
    let mut random = Random(0x5eed);
    let mut one = || {
        let (source, destination) = (random.below(NODES.into()), random.below(NODES.into()));
        (source as u16, destination as u16, 1 + random.below(30) as u32)
    };
    (0..batches).map(|_| (0..50).map(|_| one()).collect()).collect()
}

fn next(pipeline: &mut Pipeline) -> Planned {
    loop {
        if let Some(planned) = pipeline.poll_planned() {
            return planned;
        }
        thread::yield_now();
    }
}

#[test]
fn two_threads_plan_what_one_does() {
    let (allocator, network) = parts();
    let mut alone = Planner::new(allocator, network);
    let (allocator, network) = parts();
    let mut pipeline = Pipeline::new(allocator, network, 100_000);
    let demand = demand(400);
    let mut expected = Vec::new();
    let mut found = Vec::new();
    let mut packets = 0;
    for (number, batch) in demand.iter().enumerate() {
        for &(source, destination, slots) in batch {
            alone.request(source.into(), destination.into(), slots);
            pipeline.request(source, destination, slots).expect("room");
        }
        let mut planned = Planned::default();
        alone.plan(&mut planned);
        packets += planned.pairs.iter().map(Vec::len).sum::<usize>();
        expected.push(planned);
        pipeline.order_batch().expect("room");
        // The threads are up to seven batches behind, more or fewer from time to time.
        if number % 8 > 3 {
            let planned = next(&mut pipeline);
            found.push(planned.clone());
            pipeline.give_back(planned);
        }
    }
    while found.len() < expected.len() {
        let planned = next(&mut pipeline);
        found.push(planned.clone());
        pipeline.give_back(planned);
    }
    assert!(packets > 100_000, "{packets}");
    assert_eq!(found, expected);
    assert_eq!(pipeline.counters().refused, alone.refused());
    assert!(alone.refused() > 0, "some requests are of an endpoint for itself");
    assert_eq!(pipeline.counters().overloaded, 0);
}

#[test]
fn who_does_not_take_what_is_planned_is_told_that_there_is_no_room() {
    let (allocator, network) = parts();
    let mut pipeline = Pipeline::new(allocator, network, 32);
    let mut ordered = 0;
    while pipeline.order_batch().is_ok() {
        ordered += 1;
        assert!(ordered < 1000, "there is always room");
        thread::yield_now();
    }
    // Eight batches are planned, one waits for memory, and 32 for that one.
    assert!((32..=41).contains(&ordered), "{ordered}");
    assert_eq!(pipeline.request(0, 1, 1), Err(Overloaded));
    let counters = pipeline.counters();
    assert_eq!(counters.overloaded, 2);
    for batch in 0..ordered {
        let planned = next(&mut pipeline);
        assert_eq!(planned.batch, batch);
        pipeline.give_back(planned);
    }
    assert!(pipeline.counters().waited > 0);
    pipeline.request(0, 1, 1).expect("room again");
}

#[test]
fn a_pipeline_that_is_dropped_ends_its_threads_whatever_they_wait_for() {
    for batches in [0, 3, 20] {
        let (allocator, network) = parts();
        let mut pipeline = Pipeline::new(allocator, network, 32);
        for _ in 0..batches {
            pipeline.order_batch().expect("room");
        }
        drop(pipeline);
    }
}
