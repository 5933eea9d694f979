//! What an acknowledgement costs a sender's CPU (Swift §4.6): 5000 flows, each acknowledgement for another of them,
//! in random order, so that most find their flow's state outside the nearest caches.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. The bar is 40 ns for Swift's part.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use clearway_proto::baseline::none::NoneParams;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::SwiftParams;
use clearway_proto::transport::{Ack, CongestionControl, Path, Recovery, Scheme, Sender};
use clearway_proto::units::{Bytes, Rate, Span, Time};

const FLOWS: usize = 5000;
const MTU: u32 = 4096;
/// Acknowledgements of each flow that are measured.
const ROUNDS: u32 = 40;
/// Repeats of the measurement, of which the median is shown.
const REPEATS: usize = 101;

fn main() {
    println!("an acknowledgement, {FLOWS} flows in random order, median of {REPEATS} (least to most):");
    let none = measure(&NoneParams { window: Some(64), ..NoneParams::default() });
    let swift = measure(&SwiftParams { initial_cwnd: Some(0.5), ..SwiftParams::default() });
    show("without congestion control", &none);
    show("with Swift", &swift);
    println!("Swift's own part: {:.1} ns; the bar is 40 ns", swift[REPEATS / 2] - none[REPEATS / 2]);
}

fn show(what: &str, ns: &[f64]) {
    println!("  {what:<28} {:.1} ns ({:.1} to {:.1})", ns[REPEATS / 2], ns[0], ns[REPEATS - 1]);
}

/// Nanoseconds for one acknowledgement with all that its driver asks afterwards, sorted.
fn measure<P: Scheme>(params: &P) -> Vec<f64> {
    let mut random = Random(1);
    let fresh = params.sender(MTU, Path::new(Bytes::new(4200), Rate::from_gbps(100)));
    let mut flows: Vec<_> = (0..FLOWS).map(|_| fresh.clone()).collect();
    flows.iter_mut().for_each(Sender::handle_endless);
    let mut order: Vec<u32> = (0..FLOWS as u32).collect();
    let mut now = Time::ZERO + Span::from_ms(1);
    let mut ns: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let mut spent = 0;
            for _ in 0..ROUNDS {
                random.shuffle(&mut order);
                spent += round(&mut flows, &order, &mut now, &mut random);
            }
            spent as f64 / f64::from(ROUNDS) / FLOWS as f64
        })
        .collect();
    ns.sort_by(f64::total_cmp);
    ns
}

/// Every flow sends a packet, which is acknowledged after a round trip around the target; in nanoseconds, what the
/// acknowledgements took.
fn round<C: CongestionControl, R: Recovery>(
    flows: &mut [Sender<C, R>],
    order: &[u32],
    now: &mut Time,
    random: &mut Random,
) -> u128 {
    // Late enough for any pacing.
    *now = *now + Span::from_secs(1);
    let acks: Vec<Ack> = order.iter().map(|&flow| sent(&mut flows[flow as usize], *now, random)).collect();
    *now = *now + Span::from_us(250);
    let at = *now;
    let started = Instant::now();
    for (&flow, ack) in order.iter().zip(&acks) {
        let sender = &mut flows[flow as usize];
        sender.handle_ack(at, at, ack);
        black_box((sender.poll_completed(), sender.readiness(at), sender.poll_timeout()));
    }
    started.elapsed().as_nanos()
}

/// The acknowledgement of a flow's next packet, sent 30 to 230 us before it comes.
fn sent<C: CongestionControl, R: Recovery>(sender: &mut Sender<C, R>, now: Time, random: &mut Random) -> Ack {
    assert_eq!(sender.readiness(now), Readiness::Ready);
    let data = sender.transmit(now);
    Ack {
        seq: data.seq,
        cumulative: data.seq + 1,
        sack: 0,
        echo: now + Span::from_us(20 + random.below(200)),
        congestion_experienced: false,
        hops: 3,
        remote_queuing_us: random.below(5) as u32,
    }
}

/// A small generator: what it draws decides nothing but the order of memory accesses.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn shuffle(&mut self, items: &mut [u32]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
