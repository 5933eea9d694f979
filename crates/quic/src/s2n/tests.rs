//! The adapter as s2n-quic calls it, held against proto's Swift.

use std::time::Duration;

use clearway_proto::swift::control::SwiftConfig;
use clearway_proto::transport::{AckSample, CongestionControl, Path};
use clearway_proto::units::{Bytes, Rate, Span};
use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::time::{Clock, NoopClock};

use super::*;
use crate::defaults;

const PACKET: usize = 1200;

/// A publisher that tells nobody, and a generator that draws nothing.
struct Ignored;

impl Publisher for Ignored {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _window: u32) {}
    fn on_delivery_rate_sampled(&mut self, _sample: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _rate: Bandwidth, _burst: u32, _gain: Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

impl RandomGenerator for Ignored {
    fn public_random_fill(&mut self, _dest: &mut [u8]) {}
    fn private_random_fill(&mut self, _dest: &mut [u8]) {}
}

/// A controller, and the calls to it that a test needs.
struct Driven(Controller);

impl Driven {
    fn new(params: SwiftParams) -> Driven {
        let mut driven = Driven(Swift::new(params).controller(PACKET as u16));
        driven.0.time(at(0));
        driven
    }

    fn send(&mut self, now: u64, bytes: usize, app_limited: bool) -> Sent {
        self.0.on_packet_sent(at(now), bytes, Some(app_limited), &RttEstimator::default(), &mut Ignored)
    }

    fn ack(&mut self, sent: u64, now: u64, bytes: usize, info: Sent) {
        let estimator = RttEstimator::default();
        self.0.on_ack(at(sent), bytes, info, &estimator, &mut Ignored, at(now), &mut Ignored);
    }

    fn lose(&mut self, now: u64, persistent: bool, info: Sent) {
        self.0.on_packet_lost(PACKET as u32, info, persistent, true, &mut Ignored, at(now), &mut Ignored);
    }
}

/// `us` microseconds after the first instant.
fn at(us: u64) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(us)
}

#[test]
fn the_same_samples_give_the_same_window_in_bytes() {
    let config = SwiftConfig::new(defaults(), &Path::new(Bytes::new(1500), Rate::from_gbps(1)));
    let mut swift = clearway_proto::swift::control::Swift::new(&config);
    let mut driven = Driven::new(defaults());
    for step in 10..2000 {
        let (now, rtt) = (step * 1000, 100 + step * 37 % 4000);
        let sent = driven.send(now - rtt, 2 * PACKET, false);
        driven.ack(now - rtt, now, 2 * PACKET, sent);
        let now = time(Duration::from_micros(now));
        let sample = AckSample {
            rtt: Span::from_us(rtt),
            endpoint_delay: Span::ZERO,
            hops: 0,
            newly_acked: 2,
            congestion_experienced: false,
            cumulative: 0,
            next: 0,
        };
        swift.on_ack(&config, now, &sample);
        if step % 97 == 0 {
            driven.send(step * 1000, PACKET, false);
            driven.lose(step * 1000, false, sent);
            swift.on_loss(&config, now, 0, 0);
        }
        let window = (swift.window(&config) * PACKET as f64) as u32;
        assert_eq!(driven.0.congestion_window(), window, "after step {step}");
        assert_eq!(driven.0.bytes_in_flight(), 0);
    }
}

/// A flow with a quarter of a packet and a smoothed round trip of 10 ms: a gap of 40 ms.
fn below_one_packet() -> Driven {
    let params = SwiftParams {
        initial_cwnd: Some(0.5),
        gap_limit: Span::from_secs(1000),
        gap_limit_max: Span::from_secs(1000),
        ..defaults()
    };
    let mut driven = Driven::new(params);
    let sent = driven.send(0, PACKET, false);
    driven.ack(0, 10_000, PACKET, sent);
    assert_eq!(driven.0.congestion_window(), 300);
    driven
}

#[test]
fn below_one_packet_departures_are_a_gap_apart() {
    let mut driven = below_one_packet();
    assert!(!driven.0.is_congestion_limited(), "one packet may be under way");
    assert_eq!(driven.0.earliest_departure_time(), Some(at(40_000)));
    driven.send(40_000, PACKET, false);
    assert!(driven.0.is_congestion_limited());
    assert_eq!(driven.0.earliest_departure_time(), Some(at(80_000)));
}

#[test]
fn a_packet_that_leaves_early_does_not_bring_the_next_one_forward() {
    let mut driven = below_one_packet();
    driven.send(39_100, PACKET, false);
    assert_eq!(driven.0.earliest_departure_time(), Some(at(80_000)));
    driven.send(81_000, PACKET, false);
    assert_eq!(driven.0.earliest_departure_time(), Some(at(121_000)));
}

#[test]
fn acknowledgements_are_neither_counted_nor_spaced() {
    let mut driven = below_one_packet();
    driven.send(5000, 0, false);
    assert_eq!(driven.0.bytes_in_flight(), 0);
    assert_eq!(driven.0.earliest_departure_time(), Some(at(40_000)));
}

#[test]
fn from_one_packet_on_there_is_no_departure_time() {
    let mut driven = Driven::new(defaults());
    for _ in 0..10 {
        assert!(!driven.0.is_congestion_limited());
        driven.send(0, PACKET, false);
    }
    assert!(driven.0.is_congestion_limited());
    assert_eq!(driven.0.earliest_departure_time(), None);
}

#[test]
fn losses_cost_half_of_the_window_once_a_round_trip() {
    let mut driven = Driven::new(defaults());
    let sent: Vec<Sent> = (0..10).map(|_| driven.send(0, PACKET, false)).collect();
    driven.ack(0, 10_000, PACKET, sent[0]);
    let window = driven.0.congestion_window();
    for lost in &sent[1..5] {
        driven.lose(20_000, false, *lost);
    }
    driven.lose(29_000, false, sent[5]);
    assert_eq!(driven.0.congestion_window(), window / 2);
    assert_eq!(driven.0.bytes_in_flight(), 4 * PACKET as u32);
}

#[test]
fn persistent_congestion_takes_the_window_to_its_floor() {
    let mut driven = Driven::new(SwiftParams { min_cwnd: 0.25, ..defaults() });
    let sent = driven.send(0, PACKET, false);
    driven.ack(0, 500, PACKET, sent);
    driven.lose(600, true, sent);
    assert_eq!(driven.0.congestion_window(), 300);
}

#[test]
fn a_flow_without_data_to_send_does_not_grow() {
    let mut driven = Driven::new(defaults());
    let sent = driven.send(0, PACKET, true);
    driven.ack(0, 100, PACKET, sent);
    assert_eq!(driven.0.congestion_window(), 10 * PACKET as u32);
    // With room for less than three packets more, the window counts as used.
    let sent: Vec<Sent> = (0..8).map(|_| driven.send(1000, PACKET, true)).collect();
    driven.ack(1000, 1100, 8 * PACKET, sent[7]);
    assert!(driven.0.congestion_window() > 10 * PACKET as u32);
}

#[test]
fn discarded_packets_are_no_longer_under_way() {
    let mut driven = Driven::new(defaults());
    driven.send(0, PACKET, false);
    driven.0.on_packet_discarded(PACKET, &mut Ignored);
    assert_eq!(driven.0.bytes_in_flight(), 0);
}

#[test]
fn a_larger_packet_leaves_the_window_its_packets() {
    let mut driven = Driven::new(defaults());
    driven.0.on_mtu_update(1400, &mut Ignored);
    assert_eq!(driven.0.congestion_window(), 14_000);
}
