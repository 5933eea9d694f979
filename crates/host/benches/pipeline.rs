//! What two threads make of allocation and path selection: batches of experiment F's requests in 16 racks of 16 endpoints
//! with four paths, on one thread and on two, by turns.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. The bar is 1.6 times one thread's.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use clearway_host::arbiter::pipeline::{Pipeline, PipelineCounters, Planned, Planner};
use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::paths::{LeafSpine, Racks};

const NODES: u64 = 256;
const BATCHES: usize = 300;
const REPEATS: usize = 9;
/// The number of slots in a batch.
const WIDTH: u32 = 64;
/// The share of all slots that is asked for.
const LOAD: f64 = 0.857;

fn parts() -> (Allocator, LeafSpine) {
    let params = AllocatorParams { nodes: NODES as usize, slots: WIDTH, ..AllocatorParams::default() };
    let racks = Racks::uniform(16, 16).expect("racks");
    (Allocator::new(&params).expect("an allocator"), LeafSpine::new(racks, 4).expect("a network"))
}

/// The requests of each batch, for ten slots each.
fn demand() -> Vec<Vec<(u16, u16)>> {
    let mut state = 0x5eed_u64;
    let mut below = |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let a_batch = (LOAD * NODES as f64 * f64::from(WIDTH) / 10.0) as usize;
    let mut one = || {
        let source = below(NODES);
        (source as u16, ((source + 1 + below(NODES - 1)) % NODES) as u16)
    };
    (0..BATCHES).map(|_| (0..a_batch).map(|_| one()).collect()).collect()
}

fn count(planned: &Planned) -> usize {
    planned.slots.iter().map(|slot| slot.pairs.len()).sum()
}

/// The time of allocation alone.
fn allocation(demand: &[Vec<(u16, u16)>]) -> f64 {
    let (mut allocator, _) = parts();
    let begin = Instant::now();
    for batch in demand {
        for &(source, destination) in batch {
            black_box(allocator.request(source.into(), destination.into(), 10)).ok();
        }
        black_box(allocator.allocate());
    }
    begin.elapsed().as_secs_f64()
}

fn alone(demand: &[Vec<(u16, u16)>]) -> (f64, usize) {
    let (allocator, network) = parts();
    let mut planner = Planner::new(allocator, network);
    let (mut planned, mut packets) = (Planned::default(), 0);
    let begin = Instant::now();
    for batch in demand {
        for &(source, destination) in batch {
            planner.request(source.into(), destination.into(), 10);
        }
        planner.plan(&mut planned);
        packets += count(&planned);
    }
    (begin.elapsed().as_secs_f64(), packets)
}

fn together(demand: &[Vec<(u16, u16)>]) -> (f64, usize, PipelineCounters) {
    let (allocator, network) = parts();
    let mut pipeline = Pipeline::new(allocator, network);
    let (mut packets, mut taken) = (0, 0);
    let begin = Instant::now();
    let mut take = |pipeline: &mut Pipeline| {
        while let Some(planned) = pipeline.poll_planned() {
            packets += count(&planned);
            pipeline.give_back(planned);
            taken += 1;
        }
        taken
    };
    for batch in demand {
        for &(source, destination) in batch {
            pipeline.request(source.into(), destination.into(), 10);
        }
        while pipeline.order_batch().is_err() {
            take(&mut pipeline);
            std::thread::yield_now();
        }
        take(&mut pipeline);
    }
    while take(&mut pipeline) < demand.len() {
        std::thread::yield_now();
    }
    (begin.elapsed().as_secs_f64(), packets, pipeline.counters())
}

fn main() {
    let demand = demand();
    let mut ratios = Vec::new();
    let [mut first, mut one, mut two] = [f64::INFINITY; 3];
    let (mut packets, mut shares) = (0, PipelineCounters::default());
    for _ in 0..REPEATS {
        first = first.min(allocation(&demand));
        let (seconds, granted) = alone(&demand);
        let (seconds_of_two, again, counters) = together(&demand);
        assert_eq!(granted, again, "two threads grant what one does");
        ratios.push(seconds / seconds_of_two);
        (one, two) = (one.min(seconds), two.min(seconds_of_two));
        (packets, shares) = (granted, counters);
    }
    ratios.sort_by(f64::total_cmp);
    let ns = |seconds: f64| seconds * 1e9 / packets as f64;
    let tbps = |seconds: f64| 12.0 / ns(seconds);
    println!("allocation and path selection, 256 endpoints in 16 racks, load {LOAD}, least of {REPEATS}:");
    println!("  allocation alone {:.1} ns a packet", ns(first));
    println!("  one thread       {:.1} ns a packet, {:.2} Tbit/s", ns(one), tbps(one));
    println!(
        "  two threads      {:.1} ns a packet, {:.2} Tbit/s, {:.2} times one; median of pairs {:.2} (must: 1.6, on two idle cores)",
        ns(two),
        tbps(two),
        one / two,
        ratios[REPEATS / 2]
    );
    let (here, there) = (shares.slots_here, shares.slots_there);
    println!("  paths of {here} slots selected by the allocating thread, of {there} by the other");
}
