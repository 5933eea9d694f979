//! What a grant costs the arbiter of Fastpass (experiment F, §7.3): requests for 10 slots arrive as a Poisson process
//! between endpoints drawn uniformly, and one core allocates timeslots in batches of 64.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. All requests are drawn beforehand; what is timed is
//! making them and allocating the batches.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams, Capacities, Node, Order, Rack};

/// Slots that a request asks for.
const REQUESTED: u32 = 10;
/// Bits that a slot carries, for throughput.
const SLOT_BITS: f64 = 12_000.0;
/// Grants that are timed together, about.
const GRANTS: f64 = 500_000.0;
/// Repeats of the measurement.
const REPEATS: usize = 101;
/// Slots before the first measurement, until the queue is as long as it stays.
const WARM_UP: usize = 8000;

fn main() {
    println!("a grant, Poisson requests for {REQUESTED} slots, least of {REPEATS} (median): the must");
    for (nodes, must) in [(256, 3.4), (1024, 4.0), (4096, 5.2)] {
        for load in [0.857, 0.95] {
            let params = AllocatorParams { nodes, ..AllocatorParams::default() };
            show("max-min", &params, load, (load < 0.9).then_some(must));
        }
    }
    let few = AllocatorParams { slots: 16, ..AllocatorParams::default() };
    show("max-min, batches of 16", &few, 0.857, None);
    let fct = AllocatorParams { order: Order::MinFct, ..AllocatorParams::default() };
    show("least completion time", &fct, 0.857, None);
    let capacities = Some(racks(256));
    show("max-min, racks 2:1", &AllocatorParams { capacities, ..AllocatorParams::default() }, 0.4, None);
}

/// Racks of 32 endpoints with links for half of what they send.
fn racks(nodes: usize) -> Capacities {
    Capacities {
        nodes: (0..nodes).map(|node| Node::endpoint(node / 32)).collect(),
        racks: vec![Rack { up: 16, down: 16 }; nodes / 32],
    }
}

fn show(what: &str, params: &AllocatorParams, load: f64, must: Option<f64>) {
    let ns = measure(params, load);
    let (least, median) = (ns[0], ns[REPEATS / 2]);
    let name = format!("{what}, {} nodes, load {load}", params.nodes);
    let must = must.map_or(String::new(), |ns| format!(": {ns:.1} ns, {:.1} Tbit/s", terabits(ns)));
    println!("  {name:<42} {least:.2} ns ({median:.2}), {:.1} Tbit/s{must}", terabits(least));
}

/// Throughput of one grant in so many nanoseconds, in Tbit/s.
fn terabits(ns: f64) -> f64 {
    SLOT_BITS / ns / 1e3
}

/// Nanoseconds for one grant, sorted.
fn measure(params: &AllocatorParams, load: f64) -> Vec<f64> {
    let mut random = Random(1);
    let slots = params.slots as usize;
    let batches = (GRANTS / (params.nodes as f64 * load * slots as f64)).ceil() as usize;
    let mut allocator = Allocator::new(params).expect("parameters that go together");
    for _ in 0..WARM_UP.div_ceil(slots * batches) {
        run(&mut allocator, &draw(params, load, batches, &mut random));
    }
    let mut ns: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let demand = draw(params, load, batches, &mut random);
            let started = Instant::now();
            let granted = run(&mut allocator, &demand);
            started.elapsed().as_nanos() as f64 / granted as f64
        })
        .collect();
    ns.sort_by(f64::total_cmp);
    ns
}

/// Makes the requests of each batch and allocates it; the packets granted.
fn run(allocator: &mut Allocator, demand: &[Vec<(u16, u16)>]) -> usize {
    let mut granted = 0;
    for requests in demand {
        for &(source, destination) in requests {
            let asked = allocator.request(usize::from(source), usize::from(destination), REQUESTED);
            assert_eq!(asked, Ok(()));
        }
        granted += black_box(allocator.allocate()).packets();
    }
    granted
}

/// The requests before each of some batches, as source and destination.
fn draw(params: &AllocatorParams, load: f64, batches: usize, random: &mut Random) -> Vec<Vec<(u16, u16)>> {
    let mean = params.nodes as f64 * load * f64::from(params.slots) / f64::from(REQUESTED);
    (0..batches)
        .map(|_| (0..random.poisson(mean)).map(|_| random.pair(params.nodes as u64)).collect())
        .collect()
}

/// A small generator: what it draws need not be of high quality.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }

    /// Two different endpoints.
    fn pair(&mut self, nodes: u64) -> (u16, u16) {
        let source = (self.next() * nodes) >> 32;
        let other = (self.next() * (nodes - 1)) >> 32;
        (source as u16, (other + u64::from(other >= source)) as u16)
    }

    /// How many of a Poisson process's arrivals fall into a time in which `mean` do on average.
    fn poisson(&mut self, mean: f64) -> usize {
        let mut time = 0.0;
        let mut arrivals = 0;
        loop {
            time -= ((self.next() + 1) as f64 / (1_u64 << 32) as f64).ln();
            if time > mean {
                return arrivals;
            }
            arrivals += 1;
        }
    }
}
