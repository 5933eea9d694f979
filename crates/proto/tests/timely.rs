//! TIMELY against numbers worked out by hand from algorithm 1, at 10 Gb/s: δ is 10 Mb/s, and a packet of 1250 bytes takes 1 us.

use clearway_proto::baseline::rdma::timely::{Timely, TimelyParams, TimelyShared};
use clearway_proto::parameter::Parameters;
use clearway_proto::transport::{AckSample, CongestionControl, Path, Scheme};
use clearway_proto::units::{Bytes, Rate, Span, Time};

const MBPS: f64 = 1e6;

fn shared(params: &TimelyParams) -> TimelyShared {
    params.shared(Path::new(Bytes::new(1250), Rate::from_gbps(10)))
}

/// The acknowledgement of a packet that was under way for `rtt` microseconds, and the start of another round trip.
fn sample(round: u32, rtt: f64) -> AckSample {
    AckSample {
        rtt: Span::from_ps_f64(rtt * 1e6),
        endpoint_delay: Span::ZERO,
        hops: 1,
        newly_acked: 1,
        congestion_experienced: false,
        cumulative: 10 * round + 1,
        next: 10 * round + 10,
    }
}

/// The rates after round trips of these microseconds, in Mb/s, from the NIC's rate on.
fn rates(params: &TimelyParams, trips: &[f64]) -> Vec<f64> {
    let shared = shared(params);
    let mut control = Timely::new(&shared);
    let told = trips.iter().enumerate().map(|(round, rtt)| {
        control.on_ack(&shared, Time::ZERO, &sample(round as u32 + 1, *rtt));
        control.rate() / MBPS
    });
    told.collect()
}

fn near(found: &[f64], expected: &[f64]) {
    let is_near = |(found, expected): (&f64, &f64)| (found / expected - 1.0).abs() < 1e-9;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(is_near),
        "{found:?}, expected {expected:?}"
    );
}

#[test]
fn a_round_trip_that_is_too_long_lowers_the_rate_whatever_its_gradient() {
    // 1 - .8 (1 - 500/1000) = .6, falling or not; the first round trip only says where the next begins.
    near(&rates(&TimelyParams::default(), &[1000.0, 1000.0, 1000.0]), &[10_000.0, 6_000.0, 3_600.0]);
    near(&rates(&TimelyParams::default(), &[2000.0, 1000.0]), &[10_000.0, 6_000.0]);
}

#[test]
fn between_the_thresholds_the_gradient_decides() {
    // Growth of 4 us: .875 × 4 / 20 = .175, so the rate times 1 - .8 × .175. Then none: .125 × 3.5 / 20.
    let first = 10_000.0 * (1.0 - 0.8 * 0.175);
    let second = first * (1.0 - 0.8 * 0.125 * 3.5 / 20.0);
    near(&rates(&TimelyParams::default(), &[100.0, 104.0, 104.0]), &[10_000.0, first, second]);
    // No growth of more than minRTT / .8 leaves anything: the least rate.
    near(&rates(&TimelyParams::default(), &[100.0, 400.0]), &[10_000.0, 10.0]);
}

#[test]
fn a_rate_rises_by_delta_and_from_the_fifth_step_on_by_five() {
    let mut trips = vec![1000.0, 1000.0, 200.0];
    trips.extend([200.0; 6]);
    // A fall of 800 us: the smoothed difference stays below zero for some eight round trips.
    let found = rates(&TimelyParams::default(), &trips);
    near(&found[2..], &[6_010.0, 6_020.0, 6_030.0, 6_040.0, 6_090.0, 6_140.0, 6_190.0]);
    // Below T_low by δ alone, and the count begins anew.
    trips.extend([40.0, 200.0]);
    let found = rates(&TimelyParams::default(), &trips);
    assert!((found[9] - 6_200.0).abs() < 1e-6, "{found:?}");
    assert!(found[10] < found[9], "it grew by 160 us");
    // Never above the NIC's rate, where packets need no spacing.
    let shared = shared(&TimelyParams::default());
    let mut control = Timely::new(&shared);
    (1..4).for_each(|round| control.on_ack(&shared, Time::ZERO, &sample(round, 10.0)));
    assert_eq!((control.rate(), control.pacing_gap(&shared)), (10_000.0 * MBPS, Some(Span::ZERO)));
}

#[test]
fn the_rate_spaces_packets_and_changes_once_a_round_trip() {
    let shared = shared(&TimelyParams::default());
    let mut control = Timely::new(&shared);
    (1..3).for_each(|round| control.on_ack(&shared, Time::ZERO, &sample(round, 1000.0)));
    // 6 Gb/s: a packet of 1 us each 1.67 us.
    let gap = control.pacing_gap(&shared).map_or(0.0, Span::as_us_f64);
    assert!((gap - 10.0 / 6.0).abs() < 1e-5, "{gap}");
    // The round trip ends with the first packet that was sent after the last change, the 30th.
    let again = AckSample { cumulative: 30, next: 60, ..sample(2, 5000.0) };
    control.on_ack(&shared, Time::ZERO, &again);
    assert_eq!(control.rate(), 6_000.0 * MBPS);
    control.on_ack(&shared, Time::ZERO, &AckSample { cumulative: 31, ..again });
    assert!(control.rate() < 6_000.0 * MBPS);
}

#[test]
fn time_in_hosts_is_no_part_of_a_round_trip() {
    let shared = shared(&TimelyParams::default());
    let mut control = Timely::new(&shared);
    for round in 1..4 {
        let late = AckSample { endpoint_delay: Span::from_us(970), ..sample(round, 1000.0) };
        control.on_ack(&shared, Time::ZERO, &late);
    }
    assert_eq!(control.rate(), 10_000.0 * MBPS);
}

#[test]
fn thresholds_that_cross_and_windows_that_nothing_notes_are_refused() {
    let (low, high) = (Span::from_us(60), Span::from_us(50));
    let crossed = TimelyParams { t_low: low, t_high: high, ..TimelyParams::default() };
    assert_eq!(crossed.conflicts().len(), 1);
    assert!(TimelyParams::default().conflicts().is_empty());
    let increase = Some(Rate::from_bps(40_000_000));
    near(
        &rates(&TimelyParams { increase, ..TimelyParams::default() }, &[1000.0, 1000.0, 40.0]),
        &[10_000.0, 6_000.0, 6_040.0],
    );
}
