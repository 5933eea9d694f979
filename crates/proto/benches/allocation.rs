//! What a grant costs the arbiter of Fastpass (experiment F, §7.3): requests for 10 slots arrive as a Poisson process
//! between endpoints drawn uniformly, and one core allocates timeslots in batches of 64.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. The paper says 10 slots a request; the authors' release draws
//! them exponentially, with a mean of 10, so that is measured too. All requests are drawn beforehand; what is timed is making
//! them and allocating the batches. Beside each figure stands what it must be.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams, Capacities, Node, Order, Rack};

/// Slots that a request asks for, on average.
const REQUESTED: u32 = 10;
/// The load of experiment F: eight cores served 221 of 256 endpoints.
const LOAD: f64 = 0.86;
/// Bits that a slot carries, for throughput.
const SLOT_BITS: f64 = 12_000.0;
/// Grants that are timed together, about.
const GRANTS: f64 = 500_000.0;
/// Repeats of the measurement.
const REPEATS: usize = 101;
/// Slots before the first measurement, until the queue is as long as it stays.
const WARM_UP: usize = 8000;

/// How the slots that requests ask for are spread.
#[derive(Clone, Copy, PartialEq)]
enum Sizes {
    Fixed,
    Exponential,
}

fn main() {
    println!(
        "a grant, and what one core allocates; requests for {REQUESTED} slots, least of {REPEATS} (median):"
    );
    for (nodes, must) in [(256, 3.4), (1024, 4.0), (4096, 5.2)] {
        let params = AllocatorParams { nodes, ..AllocatorParams::default() };
        show("max-min", &params, LOAD, Sizes::Fixed, Some(must));
        show("max-min", &params, 0.95, Sizes::Fixed, None);
    }
    let all = AllocatorParams::default();
    show("exponential requests", &all, LOAD, Sizes::Exponential, Some(3.4));
    show("batches of 16", &AllocatorParams { slots: 16, ..all.clone() }, LOAD, Sizes::Fixed, None);
    show(
        "least completion time",
        &AllocatorParams { order: Order::MinFct, ..all.clone() },
        LOAD,
        Sizes::Fixed,
        None,
    );
    show("racks 2:1", &AllocatorParams { capacities: Some(racks(256)), ..all }, 0.4, Sizes::Fixed, None);
}

/// Racks of 32 endpoints with links for half of what they send.
fn racks(nodes: usize) -> Capacities {
    Capacities {
        nodes: (0..nodes).map(|node| Node::endpoint(node / 32)).collect(),
        racks: vec![Rack::whole(16, 16); nodes / 32],
    }
}

fn show(what: &str, params: &AllocatorParams, load: f64, sizes: Sizes, must: Option<f64>) {
    let ns = measure(params, load, sizes);
    let (least, median) = (ns[0], ns[REPEATS / 2]);
    let name = format!("{what}, {} nodes, load {load}", params.nodes);
    let must = must.map_or(String::new(), |ns| format!("; must: {ns:.1} ns, {:.1} Tbit/s", terabits(ns)));
    println!("  {name:<42} {least:.2} ns ({median:.2}), {:.1} Tbit/s a core{must}", terabits(least));
}

/// Returns the throughput, in Tbit/s, of one grant every `ns` nanoseconds.
fn terabits(ns: f64) -> f64 {
    SLOT_BITS / ns / 1e3
}

/// Nanoseconds for one grant, sorted.
fn measure(params: &AllocatorParams, load: f64, sizes: Sizes) -> Vec<f64> {
    let mut random = Random(1);
    let slots = params.slots as usize;
    let batches = (GRANTS / (params.nodes as f64 * load * slots as f64)).ceil() as usize;
    let mut allocator = Allocator::new(params).expect("parameters that go together");
    for _ in 0..WARM_UP.div_ceil(slots * batches) {
        run(&mut allocator, &draw(params, load, sizes, batches, &mut random));
    }
    let mut ns: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let demand = draw(params, load, sizes, batches, &mut random);
            let started = Instant::now();
            let granted = run(&mut allocator, &demand);
            started.elapsed().as_nanos() as f64 / granted as f64
        })
        .collect();
    ns.sort_by(f64::total_cmp);
    ns
}

/// Makes the requests of each batch and allocates it; the packets granted.
fn run(allocator: &mut Allocator, demand: &[Vec<Request>]) -> usize {
    let mut granted = 0;
    for requests in demand {
        for &Request { source, destination, slots } in requests {
            let asked = allocator.request(usize::from(source), usize::from(destination), slots);
            assert_eq!(asked, Ok(()));
        }
        granted += black_box(allocator.allocate()).packets();
    }
    granted
}

/// A request drawn beforehand.
struct Request {
    source: u16,
    destination: u16,
    slots: u32,
}

/// The requests before each of some batches.
fn draw(
    params: &AllocatorParams,
    load: f64,
    sizes: Sizes,
    batches: usize,
    random: &mut Random,
) -> Vec<Vec<Request>> {
    let mean = params.nodes as f64 * load * f64::from(params.slots) / f64::from(REQUESTED);
    let one = |random: &mut Random| {
        let (source, destination) = random.pair(params.nodes as u64);
        let slots = if sizes == Sizes::Fixed { REQUESTED } else { random.geometric(f64::from(REQUESTED)) };
        Request { source, destination, slots }
    };
    (0..batches).map(|_| (0..random.poisson(mean)).map(|_| one(random)).collect()).collect()
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

    /// Returns a number from 0 to 1, without 0.
    fn share(&mut self) -> f64 {
        (self.next() + 1) as f64 / (1_u64 << 32) as f64
    }

    /// Whole and at least 1, otherwise exponential, with this mean.
    fn geometric(&mut self, mean: f64) -> u32 {
        1 + (self.share().ln() / (1.0 - 1.0 / mean).ln()) as u32
    }

    /// Returns how many of a Poisson process's arrivals fall into a time in which `mean` do on average.
    fn poisson(&mut self, mean: f64) -> usize {
        let mut time = 0.0;
        let mut arrivals = 0;
        loop {
            time -= self.share().ln();
            if time > mean {
                return arrivals;
            }
            arrivals += 1;
        }
    }
}
