//! The flows of Poisson sources.

use clearway_proto::units::{Bytes, Span, Time};

use super::super::flow::{Demand, FlowSpec};
use super::super::generate::{expected_flows, generate};
use super::super::sizes::tests::{distribution, POINTS};
use super::fixture::{scenario, table};
use crate::model::{Pattern, Scenario, Sizes, Traffic};

const HOSTS: u32 = 20;
const LOAD: f64 = 0.4;

fn poisson(sizes: Sizes) -> Traffic {
    let hosts: Vec<u32> = (0..HOSTS).collect();
    table(Pattern::Poisson { from: hosts.clone(), to: hosts, load: LOAD, sizes })
}

fn lasting(duration: Span, traffic: Traffic) -> Scenario {
    Scenario { duration, ..scenario(HOSTS, vec![traffic]) }
}

fn run(duration: Span, traffic: Traffic) -> Vec<FlowSpec> {
    generate(&lasting(duration, traffic))
}

fn bytes(flow: &FlowSpec) -> f64 {
    match flow.demand {
        Demand::Sized(bytes) => bytes.get() as f64,
        _ => panic!("{flow:?}"),
    }
}

/// Offered bytes against the load, given E(S^2) of the sizes: the variance of a sum over Poisson arrivals
/// is their expected number times E(S^2).
fn assert_load(sizes: Sizes, duration: Span, mean_square: f64) {
    let expected = LOAD * 100e9 / 8.0 * f64::from(HOSTS) * duration.as_secs_f64();
    let arrivals = expected / sizes.mean();
    let flows = run(duration, poisson(sizes));
    let offered: f64 = flows.iter().map(bytes).sum();
    let standard_error = (arrivals * mean_square).sqrt();
    let off = (offered - expected) / standard_error;
    assert!(off.abs() < 3.0, "{off} standard errors from {expected}");
    let off = (flows.len() as f64 - arrivals) / arrivals.sqrt();
    assert!(off.abs() < 3.0, "{off} standard errors from {arrivals} arrivals");
    assert!(standard_error / expected < 0.02, "the check is sharp enough to mean something");
}

#[test]
fn fixed_sizes_offer_the_load() {
    assert_load(Sizes::Fixed(Bytes::new(50_000)), Span::from_ms(50), 50_000f64 * 50_000.0);
}

#[test]
fn exponential_sizes_offer_the_load() {
    assert_load(Sizes::Exponential(Bytes::new(50_000)), Span::from_ms(50), 2.0 * 50_000f64 * 50_000.0);
}

#[test]
fn a_distribution_offers_the_load() {
    let square = |(low, from): (f64, f64), (high, to): (f64, f64)| {
        (to - from) * (low * low + low * high + high * high) / 3.0
    };
    let mass = POINTS[0].0 * POINTS[0].0 * POINTS[0].1;
    let mean_square = mass + POINTS.windows(2).map(|ends| square(ends[0], ends[1])).sum::<f64>();
    assert_load(distribution(), Span::from_ms(100), mean_square);
}

#[test]
fn gaps_are_exponential_and_sources_independent() {
    let sizes = Sizes::Fixed(Bytes::new(50_000));
    let flows = run(Span::from_ms(50), poisson(sizes));
    let mut gaps: Vec<f64> = flows
        .windows(2)
        .filter(|pair| pair[0].from == pair[1].from)
        .map(|pair| pair[1].start.since(pair[0].start).as_us_f64())
        .collect();
    gaps.sort_by(f64::total_cmp);
    let (n, mean) = (gaps.len() as f64, 10.0);
    // As in the sizes' test: P(sqrt(n) D > 1.818) = 0.0027.
    let distance = (1..)
        .zip(&gaps)
        .map(|(rank, gap)| (f64::from(rank) / n - (1.0 - libm::exp(-gap / mean))).abs())
        .fold(0.0, f64::max);
    assert!(distance * n.sqrt() < 1.818, "{distance} of {n}");
    assert!(n > 90_000.0);
    let firsts: Vec<Time> = (0..HOSTS)
        .map(|host| flows.iter().find(|flow| flow.from == host).expect("each source sends").start)
        .collect();
    assert!((1..firsts.len()).all(|i| !firsts[..i].contains(&firsts[i])), "{firsts:?}");
}

#[test]
fn flows_come_by_source_then_time_within_start_and_stop() {
    let at = |us| Time::ZERO + Span::from_us(us);
    let traffic =
        Traffic { start: (at(100), at(100)), stop: Some(at(900)), ..poisson(Sizes::Fixed(Bytes::new(5000))) };
    let flows = run(Span::from_ms(1), traffic.clone());
    assert!(flows.windows(2).all(|pair| (pair[0].from, pair[0].start) <= (pair[1].from, pair[1].start)));
    assert!(flows.iter().all(|flow| flow.start >= at(100) && flow.start < at(900) && flow.stop.is_none()));
    assert!(flows.iter().any(|flow| flow.start > at(890)));
    let cut = run(Span::from_us(500), traffic);
    assert!(cut.iter().all(|flow| flow.start < at(500)));
}

#[test]
fn receivers_are_uniform_over_the_others() {
    let flows = run(Span::from_ms(50), poisson(Sizes::Fixed(Bytes::new(50_000))));
    let mut counts = [0u32; HOSTS as usize];
    for flow in flows.iter().filter(|flow| flow.from == 7) {
        counts[flow.to as usize] += 1;
    }
    assert_eq!(counts[7], 0);
    let n = f64::from(counts.iter().sum::<u32>());
    let expected = n / f64::from(HOSTS - 1);
    let chi_square: f64 = (0..HOSTS as usize)
        .filter(|&to| to != 7)
        .map(|to| (f64::from(counts[to]) - expected).powi(2) / expected)
        .sum();
    // 18 degrees of freedom: 39.4 is passed with probability 0.0027.
    assert!(chi_square < 39.4, "{chi_square}");
}

#[test]
fn a_source_disturbs_no_other() {
    let with = |from: Vec<u32>| {
        let sizes = Sizes::Fixed(Bytes::new(50_000));
        let pattern = Pattern::Poisson { from, to: vec![10, 11, 12], load: LOAD, sizes };
        run(Span::from_ms(1), table(pattern))
    };
    let of_five = |flows: Vec<FlowSpec>| flows.into_iter().filter(|flow| flow.from == 5).collect::<Vec<_>>();
    assert_eq!(of_five(with(vec![5])), of_five(with(vec![1, 5, 6])));
}

#[test]
fn arrivals_are_counted_before_they_are_made() {
    // 20 sources, one arrival each 10 us on average, for 40 ms.
    let start = Time::ZERO + Span::from_ms(10);
    let traffic = Traffic { start: (start, start), ..poisson(Sizes::Fixed(Bytes::new(50_000))) };
    let expected = expected_flows(&lasting(Span::from_ms(50), traffic));
    assert!((expected - 80_000.0).abs() < 1e-6, "{expected}");
}

#[test]
fn a_source_without_a_receiver_is_silent() {
    let pattern =
        Pattern::Poisson { from: vec![0], to: vec![0], load: LOAD, sizes: Sizes::Fixed(Bytes::new(1)) };
    assert_eq!(run(Span::from_ms(1), table(pattern)), []);
}
