//! What two threads make of allocation and path selection: batches of experiment F's requests in 16 racks of 16 endpoints
//! with four paths, on one thread and on two, by turns.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. The bar is 1.6 times one thread's.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::time::Instant;

use clearway_host::arbiter::pipeline::{Pipeline, Planned, Planner};
use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::paths::{LeafSpine, Racks};

const NODES: u64 = 256;
const BATCHES: usize = 300;
const REPEATS: usize = 9;
/// Slots of a batch.
const WIDTH: u32 = 64;
/// Share of the slots that are asked for.
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
        packets += planned.pairs.iter().map(Vec::len).sum::<usize>();
    }
    (begin.elapsed().as_secs_f64(), packets)
}

fn together(demand: &[Vec<(u16, u16)>]) -> (f64, usize) {
    let (allocator, network) = parts();
    let mut pipeline = Pipeline::new(allocator, network, 4096);
    let (mut packets, mut taken) = (0, 0);
    let begin = Instant::now();
    let mut take = |pipeline: &mut Pipeline| {
        if let Some(planned) = pipeline.poll_planned() {
            packets += planned.pairs.iter().map(Vec::len).sum::<usize>();
            pipeline.give_back(planned);
            taken += 1;
        }
        taken
    };
    for batch in demand {
        for &(source, destination) in batch {
            while pipeline.request(source, destination, 10).is_err() {
                take(&mut pipeline);
                std::thread::yield_now();
            }
        }
        while pipeline.order_batch().is_err() {
            take(&mut pipeline);
            std::thread::yield_now();
        }
    }
    while take(&mut pipeline) < demand.len() {
        std::thread::yield_now();
    }
    (begin.elapsed().as_secs_f64(), packets)
}

fn main() {
    let demand = demand();
    let mut rounds: Vec<(f64, f64, usize)> = (0..REPEATS)
        .map(|_| {
            let (one, packets) = alone(&demand);
            let (two, again) = together(&demand);
            assert_eq!(packets, again, "two threads grant what one does");
            (one, two, packets)
        })
        .collect();
    rounds.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let (one, two, packets) = rounds[REPEATS / 2];
    let tbps = |seconds: f64| packets as f64 * 12_000.0 / seconds / 1e12;
    println!(
        "allocation and path selection, 256 endpoints in 16 racks, load {LOAD}, median pair of {REPEATS}:"
    );
    println!("  one thread   {:.2} Tbit/s", tbps(one));
    println!(
        "  two threads  {:.2} Tbit/s, {:.2} times one (must: 1.6, on two idle cores)",
        tbps(two),
        one / two
    );
}
