//! What two threads make of an arbiter's work: batches of experiment F's requests in 16 racks of 16 endpoints with four paths,
//! on one thread and on two, by turns. Once allocation and path selection alone, and once the whole machine, with requests and
//! allocations as packets.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. The bar is 1.8 times one thread's for allocation and path selection.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use clearway_host::arbiter::pipeline::{Pipeline, PipelineCounters};
use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::arbiter::{
    Arbiter, ArbiterOutput, ArbiterParams, Batches, PathParams, Selector,
};
use clearway_proto::fastpass::fcp::message::MOST_DEMANDS;
use clearway_proto::fastpass::fcp::{Demand, Heard, Request};
use clearway_proto::fastpass::paths::Racks;
use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;

#[path = "../tests/threads.rs"]
#[allow(dead_code, reason = "the tests call more of it")]
mod threads;

use threads::ThreadedArbiter;

const NODES: u64 = 256;
const BATCHES: usize = 300;
const REPEATS: usize = 9;
/// The number of slots in a batch.
const WIDTH: u32 = 64;
/// The share of all slots that is asked for.
const LOAD: f64 = 0.857;
/// The number of slots in a request.
const REQUESTED: u32 = 10;

fn params() -> ArbiterParams {
    let racks = Racks::uniform(16, 16).expect("racks");
    ArbiterParams {
        allocator: AllocatorParams { nodes: NODES as usize, slots: WIDTH, ..AllocatorParams::default() },
        paths: PathParams::LeafSpine { racks, paths: 4 },
        ahead: 2 * WIDTH,
        ..ArbiterParams::default()
    }
}

fn parts() -> (Batches, Selector) {
    (Batches::new(&params()).expect("an allocator"), Selector::new(&params()).expect("a network"))
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
    let a_batch = (LOAD * NODES as f64 * f64::from(WIDTH) / f64::from(REQUESTED)) as usize;
    let mut one = || {
        let source = below(NODES);
        (source as u16, ((source + 1 + below(NODES - 1)) % NODES) as u16)
    };
    (0..BATCHES).map(|_| (0..a_batch).map(|_| one()).collect()).collect()
}

/// The time of allocation alone.
fn allocation(demand: &[Vec<(u16, u16)>]) -> f64 {
    let mut allocator = Allocator::new(&params().allocator).expect("an allocator");
    let begin = Instant::now();
    for batch in demand {
        for &(source, destination) in batch {
            black_box(allocator.request(source.into(), destination.into(), REQUESTED)).ok();
        }
        black_box(allocator.allocate());
    }
    begin.elapsed().as_secs_f64()
}

fn request(batches: &mut Batches, batch: &[(u16, u16)]) {
    for &(source, destination) in batch {
        black_box(batches.request(0, source, destination, REQUESTED)).ok();
    }
}

fn alone(demand: &[Vec<(u16, u16)>]) -> (f64, u64) {
    let (mut batches, mut selector) = parts();
    let mut packets = 0;
    let begin = Instant::now();
    for requests in demand {
        request(&mut batches, requests);
        let mut batch = batches.allocate();
        selector.select(batch.avoided.as_ref(), &mut batch.slots);
        packets += batches.handle_selected(batch, |_, _| ()).granted;
    }
    (begin.elapsed().as_secs_f64(), packets)
}

fn together(demand: &[Vec<(u16, u16)>]) -> (f64, u64, PipelineCounters) {
    let (mut batches, selector) = parts();
    let mut pipeline = Pipeline::new(selector);
    let mut packets = 0;
    let begin = Instant::now();
    let mut take = |pipeline: &mut Pipeline, batches: &mut Batches| {
        while let Some(batch) = pipeline.poll_selected() {
            packets += batches.handle_selected(batch, |_, _| ()).granted;
        }
    };
    for requests in demand {
        request(&mut batches, requests);
        while !batches.has_room() {
            pipeline.relieve();
            take(&mut pipeline, &mut batches);
            std::thread::yield_now();
        }
        pipeline.select(batches.allocate());
        take(&mut pipeline, &mut batches);
    }
    while !pipeline.is_empty() {
        take(&mut pipeline, &mut batches);
        std::thread::yield_now();
    }
    (begin.elapsed().as_secs_f64(), packets, pipeline.counters())
}

/// The requests of each batch as packets: what each endpoint has demanded of each destination, and which packet was its last one.
fn packets(demand: &[Vec<(u16, u16)>]) -> Vec<Vec<Request>> {
    let mut demanded = vec![0_u32; (NODES * NODES) as usize];
    let mut sent = vec![0_u32; NODES as usize];
    let of_batch = |batch: &Vec<(u16, u16)>| {
        let mut requests: Vec<Request> = Vec::new();
        for source in 0..NODES as u16 {
            let destinations: Vec<u16> =
                batch.iter().filter(|pair| pair.0 == source).map(|pair| pair.1).collect();
            for some in destinations.chunks(MOST_DEMANDS) {
                let mut one = |&destination: &u16| {
                    let demanded =
                        &mut demanded[usize::from(source) * NODES as usize + usize::from(destination)];
                    *demanded += REQUESTED;
                    Demand { destination, demanded: *demanded }
                };
                let demands = some.iter().map(&mut one).collect();
                sent[usize::from(source)] += 1;
                let seq = sent[usize::from(source)];
                requests.push(Request {
                    source,
                    term: 1,
                    incarnation: 1,
                    seq,
                    demands,
                    ..Request::default()
                });
            }
        }
        requests
    };
    demand.iter().map(of_batch).collect()
}

/// Either way of driving an arbiter.
enum Driven {
    Alone(Box<Arbiter>),
    Threaded(Box<ThreadedArbiter>),
}

impl Driven {
    fn machine(&mut self) -> &mut Arbiter {
        match self {
            Driven::Alone(machine) => machine,
            Driven::Threaded(both) => &mut both.machine,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self {
            Driven::Alone(machine) => machine.handle_timeout(now),
            Driven::Threaded(both) => both.handle_timeout(now),
        }
    }

    fn advance(&mut self) {
        if let Driven::Threaded(both) = self {
            both.advance();
        }
    }
}

/// The whole machine: seconds and packets granted.
fn whole(packets: &mut [Vec<Request>], mut arbiter: Driven) -> (f64, u64) {
    let slots = params().timeslots;
    let mut heard = vec![0_u32; NODES as usize];
    let mut granted = 0;
    let begin = Instant::now();
    let mut now = Time::ZERO;
    for (number, requests) in (1..).zip(packets) {
        now = slots.start(number * u64::from(WIDTH));
        for request in requests {
            request.heard = Heard { latest: heard[usize::from(request.source)], before: u32::MAX };
            request.slot = slots.of(now);
            arbiter.machine().handle_request(now, request);
        }
        arbiter.handle_timeout(now);
        // Packets leave 24 slots apart, as the pacer has it, and the first when the batch before is ready.
        for third in 0..3 {
            let at = slots.start(number * u64::from(WIDTH) + 20 * third);
            arbiter.advance();
            while arbiter.machine().readiness(at) == Readiness::Ready {
                if let ArbiterOutput::Allocation(allocation, _) = black_box(arbiter.machine().transmit(at)) {
                    heard[usize::from(allocation.to)] = allocation.seq;
                    granted += allocation.grants.len() as u64;
                }
            }
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    black_box(now);
    (seconds, granted)
}

fn machine() -> Arbiter {
    Arbiter::new(&params(), Time::ZERO).expect("an arbiter")
}

fn ns(seconds: f64, packets: u64) -> f64 {
    seconds * 1e9 / packets as f64
}

fn median(ratios: &mut [f64]) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn print_parts(demand: &[Vec<(u16, u16)>]) {
    let mut ratios = Vec::new();
    let [mut first, mut one, mut two] = [f64::INFINITY; 3];
    let (mut packets, mut shares) = (0, PipelineCounters::default());
    for _ in 0..REPEATS {
        first = first.min(allocation(demand));
        let (seconds, granted) = alone(demand);
        let (seconds_of_two, again, counters) = together(demand);
        assert_eq!(granted, again, "two threads grant what one does");
        ratios.push(seconds / seconds_of_two);
        (one, two) = (one.min(seconds), two.min(seconds_of_two));
        (packets, shares) = (granted, counters);
    }
    let tbps = |seconds: f64| 12.0 / ns(seconds, packets);
    println!("allocation and path selection, 256 endpoints in 16 racks, load {LOAD}, least of {REPEATS}:");
    println!("  allocation alone {:.1} ns a packet", ns(first, packets));
    println!("  one thread       {:.1} ns a packet, {:.2} Tbit/s", ns(one, packets), tbps(one));
    println!(
        "  two threads      {:.1} ns a packet, {:.2} Tbit/s, {:.2} times one; median of pairs {:.2} (must: 1.8, on two idle cores)",
        ns(two, packets),
        tbps(two),
        one / two,
        median(&mut ratios)
    );
    let (here, there) = (shares.slots_here, shares.slots_there);
    println!("  paths of {here} slots selected by the allocating thread, of {there} by the other");
}

fn print_whole(demand: &[Vec<(u16, u16)>]) {
    let mut requests = packets(demand);
    let mut ratios = Vec::new();
    let [mut one, mut two] = [f64::INFINITY; 2];
    let mut packets = 0;
    for _ in 0..REPEATS {
        let (seconds, granted) = whole(&mut requests, Driven::Alone(Box::new(machine())));
        let threaded = ThreadedArbiter::new(machine()).expect("a selector");
        let (seconds_of_two, again) = whole(&mut requests, Driven::Threaded(Box::new(threaded)));
        ratios.push(seconds / seconds_of_two);
        (one, two) = (one.min(seconds), two.min(seconds_of_two));
        packets = granted.min(again);
    }
    println!("the whole machine, with requests and allocations:");
    println!("  one thread       {:.1} ns a packet", ns(one, packets));
    println!(
        "  two threads      {:.1} ns a packet, {:.2} times one; median of pairs {:.2}",
        ns(two, packets),
        one / two,
        median(&mut ratios)
    );
}

fn main() {
    let demand = demand();
    print_parts(&demand);
    print_whole(&demand);
}
