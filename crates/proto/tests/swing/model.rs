//! The closed forms against fluids moved in small steps, over the grids of figures 5 and 12.

use std::collections::VecDeque;

use clearway_proto::swing::model::{LongLink, ShortOfHeadroom};
use clearway_proto::units::{Bytes, Rate, Span};
use proptest::prelude::*;

use super::laws::{longest_delay, Laws};

const MB: u64 = 1_000_000;
/// Section 4.1: 11 MB at 100 Gb/s.
const BUFFER: Bytes = Bytes::new(11 * MB);

fn link(delay_us: u64) -> LongLink {
    LongLink { rate: Rate::from_gbps(100), delay: Span::from_us(delay_us) }
}

/// What a fluid did, in bytes and seconds.
struct Fluid {
    throughput: f64,
    lowest: f64,
    highest: f64,
    period: f64,
    active: f64,
}

/// PFC on a link of `delay` steps one way: bytes a step, threshold, share drained. One step is the unit of time.
fn pfc(delay: usize, rate: f64, threshold: f64, drain: f64) -> Fluid {
    // Permissions under way to the source, then data under way from it.
    let mut under_way: VecDeque<bool> = vec![false; 2 * delay].into();
    let (mut queue, mut allowed) = (0.0_f64, true);
    let (mut carried, mut lowest, mut highest) = (0.0, f64::MAX, 0.0_f64);
    // Steps at which a cycle begins: permission after none.
    let mut begins = Vec::new();
    let steps = 2 * delay * 4000;
    let mut carried_at = Vec::new();
    for step in 0..steps {
        under_way.push_back(allowed);
        let input = if under_way.pop_front() == Some(true) { rate } else { 0.0 };
        queue = (queue + input - drain * rate).max(0.0);
        let allow = queue <= threshold;
        if allow && !allowed {
            begins.push(step);
            carried_at.push(carried);
        }
        allowed = allow;
        carried += input;
        if step > steps / 2 {
            (lowest, highest) = (lowest.min(queue), highest.max(queue));
        }
    }
    // Whole cycles of the second half.
    let first = begins.len() / 2;
    let cycles = (begins.len() - 1 - first) as f64;
    let period = (begins[begins.len() - 1] - begins[first]) as f64 / cycles;
    let carried = (carried_at[begins.len() - 1] - carried_at[first]) / cycles;
    Fluid { throughput: carried / period / rate, lowest, highest, period, active: carried / rate }
}

/// Returns the fluid of a link with PFC in steps of a part of its delay, and the length of a step in seconds.
fn pfc_of(link: LongLink, threshold: Bytes, drain: f64, steps_per_delay: usize) -> (Fluid, f64) {
    let step_s = link.delay.as_secs_f64() / steps_per_delay as f64;
    let rate = link.rate.as_bps() as f64 / 8.0 * step_s;
    (pfc(steps_per_delay, rate, threshold.get() as f64, drain), step_s)
}

fn close(is: f64, should: f64, within: f64, what: &str) {
    assert!((is - should).abs() <= within, "{what}: {is} against {should}");
}

#[test]
fn equation_4_is_what_a_fluid_does_over_the_grid_of_figure_5() {
    let mut below = 0;
    for delay in [50, 100, 150, 200, 220, 250, 300, 367, 400, 430] {
        for drain in [0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95] {
            let link = link(delay);
            let closed = link.pfc_utilisation(BUFFER, drain, ShortOfHeadroom::Zero);
            let (fluid, _) = pfc_of(link, link.paper_threshold(BUFFER), drain, 500);
            close(fluid.throughput, closed, 0.006, &format!("{delay} us, {drain}"));
            assert!(closed <= drain);
            below += u32::from(closed < drain);
        }
    }
    // Both branches were taken.
    assert!((20..60).contains(&below), "{below}");
}

#[test]
fn equation_4_at_400_us() {
    for (drain, phi) in [(0.2, 0.184), (0.5, 0.375), (0.8, 0.545), (0.95, 0.740)] {
        let is = link(400).pfc_utilisation(BUFFER, drain, ShortOfHeadroom::Zero);
        close(is, phi, 0.0005, "utilisation");
    }
}

#[test]
fn a_cycle_is_as_long_and_as_high_as_a_fluids() {
    for delay in [100, 300, 400] {
        for drain in [0.2, 0.5, 0.8] {
            let link = link(delay);
            let threshold = link.paper_threshold(BUFFER);
            let cycle = link.cycle(threshold, drain);
            let (fluid, step) = pfc_of(link, threshold, drain, 1000);
            let what = format!("{delay} us, {drain}");
            close(fluid.period * step, cycle.period.as_secs_f64(), 0.01 * cycle.period.as_secs_f64(), &what);
            close(fluid.active * step, cycle.active.as_secs_f64(), 0.01 * cycle.active.as_secs_f64(), &what);
            close(fluid.highest, cycle.highest.get() as f64, 0.002 * link.bdp().get() as f64, &what);
            close(fluid.lowest, cycle.lowest.get() as f64, 0.002 * link.bdp().get() as f64, &what);
            // The parts make the whole.
            let round_trip = Span::from_us(2 * delay);
            close((cycle.t1 + round_trip).as_us_f64(), cycle.active.as_us_f64(), 1e-5, &what);
            close((cycle.t1 + cycle.t2 + round_trip * 2).as_us_f64(), cycle.period.as_us_f64(), 1e-5, &what);
            let phi = link.pfc_utilisation(BUFFER, drain, ShortOfHeadroom::Zero);
            close(cycle.active.as_secs_f64() / cycle.period.as_secs_f64(), phi, 1e-6, &what);
        }
    }
}

#[test]
fn the_phases_by_hand() {
    // 300 us, 3.5 MB: a BDP is 7.5 MB. At half the rate 3.5 MB last 560 us, less than 600: the buffer runs empty.
    let short = link(300).cycle(Bytes::new(3_500_000), 0.5);
    assert_eq!((short.t1, short.t2, short.t3), (Span::from_us(560), Span::from_us(600), Span::from_us(560)));
    assert_eq!((short.active, short.period), (Span::from_us(1160), Span::from_us(2360)));
    assert_eq!((short.lowest, short.highest), (Bytes::new(0), Bytes::new(7_250_000)));
    // With 5 MB it does not: they last 800 us.
    let long = link(300).cycle(Bytes::new(5 * MB), 0.5);
    assert_eq!((long.t1, long.t3), (Span::from_us(600), Span::from_us(800)));
    assert_eq!((long.lowest, long.highest), (Bytes::new(1_250_000), Bytes::new(8_750_000)));
}

#[test]
fn each_law_holds_at_its_threshold_and_not_beyond() {
    for delay in [100, 400] {
        for drain in [0.2, 0.5, 0.8] {
            let link = link(delay);
            let hair = link.bdp().get() / 50;
            let enough = link.lowest_threshold(drain).get();
            let with = |x: u64| pfc_of(link, Bytes::new(x), drain, 1000).0;
            close(with(enough + hair).throughput, drain, 0.001, "enough");
            assert!(
                with(enough - hair).throughput < drain - 0.002,
                "less is too little: {delay} us, {drain}"
            );
            // A buffer of two BDP, filled to the last byte and no further.
            let buffer = Bytes::new(2 * link.bdp().get());
            let highest = link.highest_threshold(buffer, drain).expect("two BDP").get();
            close(with(highest).highest, buffer.get() as f64, 0.002 * buffer.get() as f64, "the brim");
            assert!(with(highest + hair).highest > buffer.get() as f64);
        }
    }
    assert_eq!(link(400).highest_threshold(Bytes::new(10 * MB), 0.0), Some(Bytes::new(0)));
    assert_eq!(link(400).highest_threshold(Bytes::new(10 * MB - 1), 0.0), None);
    assert_eq!(link(400).buffer(0.0, 1.0), Bytes::new(20 * MB));
    assert_eq!(link(400).buffer(0.5, 0.5), Bytes::new(10 * MB));
}

#[test]
fn the_knees_of_figure_5() {
    let us = |bdps| longest_delay(BUFFER, Rate::from_gbps(100), bdps).as_us_f64();
    // No drop to 440 us; no throughput lost to 220 us, which the paper reads as 200.
    assert_eq!((us(1.0), us(2.0)), (440.0, 220.0));
    // And with the share known: B = 2DR(1 + share).
    for (drain, knee) in [(0.2, 367), (0.5, 293), (0.8, 244)] {
        close(us(1.0 + drain), f64::from(knee), 0.5, "knee");
        let phi = |delay| link(delay).pfc_utilisation(BUFFER, drain, ShortOfHeadroom::Zero);
        assert_eq!(phi(knee as u64 - 1), drain);
        assert!(phi(knee as u64 + 1) < drain);
    }
    for delay in [439, 441] {
        for drain in [0.2, 0.5, 0.8] {
            let phi = link(delay).pfc_utilisation(BUFFER, drain, ShortOfHeadroom::Zero);
            assert_eq!(phi == 0.0, delay == 441);
        }
    }
}

#[test]
fn beyond_a_bdp_of_buffer_a_constant_drain_still_works_until_it_drops() {
    for (delay, drain) in [(500, 0.5), (600, 0.5), (600, 0.8), (500, 0.2)] {
        let link = link(delay);
        let closed = link.pfc_utilisation(BUFFER, drain, ShortOfHeadroom::ConstantDrain);
        let (fluid, _) = pfc_of(link, Bytes::new(0), drain, 1000);
        close(fluid.throughput, closed, 0.005, &format!("{delay} us, {drain}"));
        close(closed, drain / (1.0 + drain), 1e-12, "with a threshold of zero");
        assert!(fluid.highest <= BUFFER.get() as f64);
    }
    // At 600 us a fifth drained leaves 12 MB of 15 to wait: more than 11.
    assert_eq!(link(600).pfc_utilisation(BUFFER, 0.2, ShortOfHeadroom::ConstantDrain), 0.0);
    assert!(pfc_of(link(600), Bytes::new(0), 0.2, 1000).0.highest > BUFFER.get() as f64);
    // Without a PAUSE nothing is lost.
    assert_eq!(link(600).pfc_utilisation(BUFFER, 1.0, ShortOfHeadroom::ConstantDrain), 1.0);
    assert_eq!(link(400).pfc_utilisation(BUFFER, 1.0, ShortOfHeadroom::Zero), 1.0);
}

/// The relay on a link of `delay` steps one way: the share drained in each step in, the count at port R out. What port L may
/// send in a step, the far relay sends a delay later, and that comes another delay later.
fn relay(delay: usize, rate: f64, drains: impl Iterator<Item = f64>) -> (Vec<f64>, f64) {
    let mut under_way: VecDeque<f64> = vec![1.0; 2 * delay].into();
    let (mut queue, mut sent) = (0.0_f64, 0.0);
    let counts = drains
        .map(|drain| {
            under_way.push_back(drain);
            let input = under_way.pop_front().unwrap_or(0.0) * rate;
            let output = (drain * rate).min(queue + input);
            sent += output;
            queue += input - output;
            queue
        })
        .collect();
    (counts, sent)
}

#[test]
fn the_relay_carries_what_drains_over_the_grid_of_figure_12() {
    for delay in [50, 200, 400, 439, 441, 600] {
        for drain in [0.1, 0.35, 0.5, 0.8, 0.95] {
            let link = link(delay);
            let steps = 800;
            let rate = link.bdp().get() as f64 / (2 * steps) as f64;
            let (counts, sent) = relay(steps, rate, (0..40 * steps).map(|_| drain));
            close(sent / rate / (40 * steps) as f64, drain, 1e-9, "throughput");
            close(
                counts[counts.len() - 1],
                link.standing_queue(drain).get() as f64,
                2.0 * rate,
                "standing queue",
            );
            let waits = link.standing_queue(drain).get() as f64 / (drain * link.rate.as_bps() as f64 / 8.0);
            close(link.standing_delay(drain).as_secs_f64(), waits, 1e-9, "standing delay");
            let phi = link.relay_utilisation(BUFFER, drain, ShortOfHeadroom::Zero);
            assert_eq!(phi, if delay > 440 { 0.0 } else { drain });
        }
    }
    assert_eq!(link(400).standing_delay(0.5), Span::from_us(800));
    assert_eq!(link(400).standing_delay(0.25), Span::from_us(2400));
}

#[test]
fn a_drain_that_stops_fills_one_bdp_and_an_adversary_no_more() {
    let link = link(400);
    let peak = link.relay_peak(&[(Span::from_ms(2), 1.0), (Span::from_ms(2), 0.0)]);
    assert_eq!(peak, link.bdp());
    // A step to half fills half; a burst of nothing shorter than the round trip fills its own length.
    assert_eq!(link.relay_peak(&[(Span::from_ms(3), 0.5)]), Bytes::new(5 * MB));
    assert_eq!(link.relay_peak(&[(Span::from_us(80), 0.0), (Span::from_ms(3), 1.0)]), Bytes::new(MB));
}

#[test]
fn the_numbers_in_the_papers_text() {
    // 4.1: 125 KB a kilometre at 100 Gb/s. 5.1: 10 MB for 400 us, three such links on 32 MB.
    assert_eq!(link(5).bdp(), Bytes::new(125_000));
    assert_eq!(link(400).bdp(), Bytes::new(10 * MB));
    assert_eq!(32 * MB / link(400).bdp().get(), 3);
    // 4.2: a bitmap of 125 bytes for each kilometre and queue pair, which is a byte for each packet of 1 KB; 30 MB for two
    // thousand queue pairs over 120 km.
    assert_eq!(link(5).packets_in_flight(Bytes::new(1000)), 125);
    assert_eq!(link(600).packets_in_flight(Bytes::new(1000)) * 2000, 30 * MB);
    // 5.3: twice the length with the same buffer.
    let buffer = Bytes::new(11 * MB);
    let (relay, pfc) = (longest_delay(buffer, link(1).rate, 1.0), longest_delay(buffer, link(1).rate, 2.0));
    assert_eq!(relay, pfc * 2);
    for delay in [relay, pfc] {
        let at = LongLink { delay, ..link(1) };
        assert_eq!(at.relay_utilisation(buffer, 0.9, ShortOfHeadroom::Zero), 0.9);
        let pfc_keeps = at.pfc_utilisation(buffer, 0.9, ShortOfHeadroom::Zero) == 0.9;
        assert_eq!(pfc_keeps, delay == pfc);
    }
}

proptest! {
    #[test]
    fn the_relay_never_holds_more_than_one_bdp(
        pattern in prop::collection::vec((1_usize..400, prop::sample::select(vec![0.0, 0.3, 1.0])), 1..40),
    ) {
        let (steps, link) = (100, link(400));
        let rate = link.bdp().get() as f64 / (2 * steps) as f64;
        let drains = pattern.iter().flat_map(|&(length, share)| std::iter::repeat_n(share, length));
        let (counts, _) = relay(steps, rate, drains);
        let peak = counts.iter().fold(0.0, |a: f64, &b| a.max(b));
        prop_assert!(peak <= link.bdp().get() as f64 + 1.0);
        // The same without steps.
        let step = link.delay / steps as u64;
        let spans: Vec<_> = pattern.iter().map(|&(length, share)| (step * length as u64, share)).collect();
        prop_assert!((link.relay_peak(&spans).get() as f64 - peak).abs() <= 2.0);
    }

    #[test]
    fn equation_4_is_the_cycle_whatever_the_buffer(
        delay_us in 10_u64..1000,
        drain in 0.01..0.99,
        bdps in 1.0..3.0,
    ) {
        let link = link(delay_us);
        let buffer = Bytes::new((link.bdp().get() as f64 * bdps) as u64);
        let cycle = link.cycle(link.paper_threshold(buffer), drain);
        let phi = link.pfc_utilisation(buffer, drain, ShortOfHeadroom::Zero);
        prop_assert!((cycle.active.as_secs_f64() / cycle.period.as_secs_f64() - phi).abs() < 1e-5);
    }
}
