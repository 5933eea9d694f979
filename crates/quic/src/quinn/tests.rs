//! The adapter as quinn calls it, held against proto's Swift.

#![allow(clippy::disallowed_methods, reason = "an instant of which only the differences count")]

use std::time::Duration;

use clearway_proto::swift::control::SwiftConfig;
use clearway_proto::transport::{AckSample, CongestionControl, Path};
use clearway_proto::units::{Bytes, Rate, Span};

use super::*;
use crate::defaults;

const PACKET: u64 = 1200;

fn controller(params: SwiftParams) -> (Controller, Instant) {
    let start = Instant::now();
    let built = Arc::new(Swift::new(params)).build(start, PACKET as u16);
    (*built.into_any().downcast().expect("this crate's controller"), start)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A frame comes at `now` that acknowledges these packets, each by when it was sent.
fn ack(controller: &mut Controller, now: Instant, sent: &[Instant], app_limited: bool) {
    for &sent in sent {
        controller.collect(sent, PACKET);
    }
    controller.on_end_acks(now, 0, app_limited, None);
}

#[test]
fn the_same_samples_give_the_same_window_in_bytes() {
    let params = SwiftParams { cwnd_below_one: false, min_cwnd: 1.0, ..defaults() };
    let config = SwiftConfig::new(params.clone(), &Path::new(Bytes::new(1500), Rate::from_gbps(1)));
    let mut swift = clearway_proto::swift::control::Swift::new(&config);
    let (mut controller, start) = controller(params);
    for step in 10..2000 {
        let (sent, rtt) = (start + ms(step), Duration::from_micros(100 + step * 37 % 4000));
        let now = sent + rtt;
        ack(&mut controller, now, &[sent, start], false);
        let sample = AckSample {
            rtt: Span::from_ns(rtt.as_nanos() as u64),
            endpoint_delay: Span::ZERO,
            hops: 0,
            newly_acked: 2,
            congestion_experienced: false,
            cumulative: 0,
            next: 0,
        };
        swift.on_ack(&config, time(ms(step) + rtt), &sample);
        if step % 97 == 0 {
            controller.on_congestion_event(now, sent, false, PACKET);
            swift.on_loss(&config, time(ms(step) + rtt), 0, 0);
        }
        assert_eq!(
            controller.window(),
            (swift.window(&config) * PACKET as f64) as u64 + 1,
            "after step {step}"
        );
    }
}

#[test]
fn a_window_is_one_packet_and_a_byte_at_least() {
    let (mut controller, start) = controller(defaults());
    for step in 1..100 {
        let sent = start + ms(step * 200);
        ack(&mut controller, sent + ms(100), &[sent], false);
    }
    assert_eq!(controller.window(), PACKET + 1);
    controller.on_congestion_event(start + ms(30_000), start, true, PACKET);
    assert_eq!(controller.window(), PACKET + 1);
}

#[test]
fn a_loss_counts_once_a_round_trip_and_a_mark_does_not() {
    let (mut controller, start) = controller(defaults());
    ack(&mut controller, start + ms(10), &[start], true);
    let window = controller.window() - 1;
    controller.on_congestion_event(start + ms(20), start, false, 0);
    assert_eq!(controller.window() - 1, window);
    controller.on_congestion_event(start + ms(20), start, false, PACKET);
    controller.on_congestion_event(start + ms(29), start, false, PACKET);
    assert_eq!(controller.window() - 1, window / 2);
}

#[test]
fn a_flow_without_data_to_send_does_not_grow() {
    let (mut controller, start) = controller(defaults());
    ack(&mut controller, start + ms(10), &[start + ms(10)], true);
    assert_eq!(controller.window(), controller.initial_window());
    ack(&mut controller, start + ms(20), &[start + ms(20)], false);
    assert!(controller.window() > controller.initial_window());
}
