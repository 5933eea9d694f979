//! The arbiter's pipeline: the schedule is the same on two threads as on one, and overload is said.
#![cfg(target_os = "linux")]

use std::thread;

use clearway_host::arbiter::pipeline::{Overloaded, Pipeline, Planned, Planner, BATCHES};
use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::paths::{LeafSpine, Racks};

const NODES: u16 = 64;

fn parts() -> (Allocator, LeafSpine) {
    let params = AllocatorParams { nodes: NODES.into(), slots: 16, ..AllocatorParams::default() };
    let racks = Racks::uniform(8, 8).expect("racks");
    (Allocator::new(&params).expect("an allocator"), LeafSpine::new(racks, 8).expect("a network"))
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
    let mut pipeline = Pipeline::new(allocator, network);
    let demand = demand(400);
    let mut expected = Vec::new();
    let mut found = Vec::new();
    let mut packets = 0;
    for (number, batch) in demand.iter().enumerate() {
        for &(source, destination, slots) in batch {
            alone.request(source.into(), destination.into(), slots);
            pipeline.request(source.into(), destination.into(), slots);
        }
        let mut planned = Planned::default();
        alone.plan(&mut planned);
        packets += planned.slots.iter().map(|slot| slot.pairs.len()).sum::<usize>();
        expected.push(planned);
        pipeline.order_batch().expect("room");
        // What is planned is taken up to five batches later, more or fewer from time to time.
        for _ in 0..if number % 8 > 3 { 2 } else { 0 } {
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
    let counters = pipeline.counters();
    assert_eq!(counters.overloaded, 0);
    assert_eq!(counters.slots_here + counters.slots_there, 400 * 16);
    assert!(counters.slots_there > 0, "both select paths");
}

#[test]
fn who_does_not_take_what_is_planned_is_told_that_there_is_no_room() {
    let (allocator, network) = parts();
    let mut pipeline = Pipeline::new(allocator, network);
    for _ in 0..BATCHES {
        pipeline.order_batch().expect("room");
    }
    for refused in 1..4 {
        assert_eq!(pipeline.order_batch(), Err(Overloaded));
        assert_eq!(pipeline.counters().overloaded, refused);
    }
    // What was asked for meanwhile is not lost.
    pipeline.request(0, 9, 3);
    for batch in 0..BATCHES as u64 {
        let planned = next(&mut pipeline);
        assert_eq!(planned.batch, batch);
        pipeline.give_back(planned);
    }
    pipeline.order_batch().expect("room again");
    let planned = next(&mut pipeline);
    assert_eq!(planned.batch, BATCHES as u64);
    assert_eq!(planned.slots.iter().map(|slot| slot.pairs.len()).sum::<usize>(), 3);
}

#[test]
fn a_pipeline_that_is_dropped_ends_its_threads_whatever_they_wait_for() {
    for batches in [0, 3, BATCHES] {
        let (allocator, network) = parts();
        let mut pipeline = Pipeline::new(allocator, network);
        for _ in 0..batches {
            pipeline.order_batch().expect("room");
        }
        drop(pipeline);
    }
}
