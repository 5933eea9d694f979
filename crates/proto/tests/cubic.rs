//! Cubic against timed scripts, each number computed by hand from RFC 9438.

use clearway_proto::baseline::cubic::{Cubic, CubicParams};
use clearway_proto::baseline::tcp::TcpParams;
use clearway_proto::transport::{AckSample, CongestionControl};
use clearway_proto::units::{Span, Time};

use crate::script::{run, Probe};

impl Probe for Cubic {
    fn probe(&self, name: &str) -> Option<f64> {
        (name == "w-max").then(|| self.w_max())
    }
}

fn params(initial_cwnd: f64) -> CubicParams {
    CubicParams {
        tcp: TcpParams { initial_cwnd, initial_rto: Span::from_secs(1), ..TcpParams::default() },
        ..CubicParams::default()
    }
}

/// Ten packets out, of which the first is lost; at 100 ms the window is 13, then 7, and at 200 ms all is repaired. K is
/// the cube root of (13 - 7)/0.4, 2.4662 s; Reno's window grows by 3 * 0.3/1.7 = 9/17 a round trip.
const LOSS: &str = "at 0us endless; send 10
    at 100ms ack 1; ack 2; expect cwnd 12; ack 3; expect cwnd 7; expect w-max 13
    at 100ms ack 4; ack 5; ack 6; ack 7; ack 8; ack 9; expect cwnd 7; send 1
    # t = 0: the cubic is at 7, Reno at 7 + 9/17/7.
    at 200ms ack 0; expect cumulative 10; expect cwnd 7.07563025210084; send 7; expect idle\n";

/// What follows [`LOSS`].
fn after_a_loss(params: &CubicParams, script: &str) {
    run(params, &format!("{LOSS}{script}"));
}

#[test]
fn a_loss_leaves_seven_tenths_and_the_window_follows_the_cubic() {
    after_a_loss(
        &params(10.0),
        // t = 0.1 s: the cubic is at 7.70067, Reno at 7.15045. The target, a round trip on, 13 - 0.4 * 2.26621^3 =
        // 8.34455, and a packet of 7.07563 takes the window as much of the way.
        "at 300ms ack 10; expect cwnd 7.2549669333656865",
    );
}

#[test]
fn where_reno_would_have_more_the_window_is_renos() {
    after_a_loss(
        &CubicParams { c: 0.001, ..params(10.0) },
        // K is 18.17 s and the cubic at 7.0986 after 0.1 s: 7.07563 + 9/17/7.07563.
        "at 300ms ack 10; expect cwnd 7.150452104832431",
    );
}

#[test]
fn the_window_grows_by_half_in_a_round_trip_at_most() {
    after_a_loss(
        &CubicParams { c: 1e6, ..params(10.0) },
        // The cubic is at 11 million after 0.2 s: half a packet for a packet.
        "at 300ms ack 10; expect cwnd 7.57563025210084",
    );
}

#[test]
fn a_loss_below_the_last_maximum_lowers_the_next() {
    let second = |w_max: &str| {
        format!(
            "at 300ms ack 11; ack 12; expect w-max 13; ack 13; expect w-max {w_max}
             # 7 packets were out: 4.9.
             at 300ms expect cwnd 4.9"
        )
    };
    // Three packets, each a part of the way to the cubic's 8.34455 at t = 0.2 s: 7.53201, and 0.85 times that.
    after_a_loss(&params(10.0), &second("6.402207556818274"));
    let without = CubicParams { fast_convergence: false, ..params(10.0) };
    after_a_loss(&without, &second("7.53200889037444"));
}

#[test]
fn time_stands_still_while_the_application_does() {
    // As above, though an hour has passed: what an acknowledgement tells of is one round trip.
    after_a_loss(
        &params(10.0),
        "at 300ms ack 10; expect cwnd 7.2549669333656865; ack 11; ack 12; ack 13; ack 14; ack 15; ack 16
         at 300ms expect inflight 0; expect cwnd 7.8795905046673695
         # t = 0.2 s, and the cubic is at 8.93 after another 0.1 s: a part of 1/7.88 of the way.
         at 3600s send 7; expect idle; at 3600100ms ack 17; expect cwnd 8.013411076826134",
    );
}

#[test]
fn time_stands_still_while_the_window_is_not_used() {
    after_a_loss(
        &params(10.0),
        "at 300ms stop; ack 10; ack 11; ack 12; ack 13; ack 14; ack 15; ack 16; expect cwnd 7.8795905046673695
         # Two packets of almost eight.
         at 400ms offer 2000; send 2; at 500ms ack 17; expect cwnd 7.8795905046673695
         # The window is full again for 50 ms, so t is 0.1 s and those. The round trip is smoothed to 106.25 ms, and the
         # cubic is at 8.68268 then.
         at 500ms offer 8000; send 6; expect idle; at 550ms ack 18; expect cwnd 7.981510442049585",
    );
}

#[test]
fn an_acknowledgement_of_more_than_a_window_goes_no_further_than_the_target() {
    let params = CubicParams { c: 1e6, ..params(10.0) };
    let mut control = Cubic::new(&params);
    let ms = |ms| Time::ZERO + Span::from_ms(ms);
    let sample = |newly_acked, cumulative, next| AckSample {
        rtt: Span::from_ms(100),
        endpoint_delay: Span::ZERO,
        hops: 1,
        newly_acked,
        congestion_experienced: false,
        cumulative,
        next,
    };
    // Flat at 10, 0.014 s after the loss was repaired.
    control.on_loss(&params, ms(0), 0, 10);
    control.on_ack(&params, ms(100), &sample(1, 10, 17));
    let before = control.window(&params);
    control.on_ack(&params, ms(200), &sample(80, 90, 100));
    assert_eq!(control.window(&params), 1.5 * before);
}

#[test]
fn what_is_not_used_does_not_grow() {
    run(
        &params(4.0),
        "at 0us offer 3000; send 3; at 100ms ack 0; ack 1; ack 2; expect cwnd 4
         at 200ms offer 4000; send 4; at 300ms ack 3; ack 4; ack 5; ack 6; expect cwnd 8",
    );
}

#[test]
fn after_a_timeout_the_cubic_begins_where_slow_start_ends() {
    run(
        &params(10.0),
        "at 0us endless; send 10; expect timeout-us 1000000
         at 1s timeout; expect cwnd 1; expect w-max 0; send 1
         # Slow start to 7/10 of the ten that were out.
         at 1100ms ack 0; expect cwnd 2; send 2; at 1200ms ack 1; ack 2; expect cwnd 4; send 4
         at 1300ms ack 3; ack 4; ack 5; expect cwnd 7; send 6
         # K = 0 and the maximum is 7: at the end of slow start the cubic is below Reno's 7 + 1/7.
         at 1300ms ack 6; expect w-max 7; expect cwnd 7.142857142857143",
    );
    // Not where a loss before it was.
    after_a_loss(&params(10.0), "at 10s timeout; expect cwnd 1; expect w-max 0");
}

#[test]
fn the_threshold_is_two_packets_at_least() {
    let alert = CubicParams { tcp: TcpParams { dup_threshold: 1, ..params(2.0).tcp }, ..params(2.0) };
    run(&alert, "at 0us endless; send 2; at 100ms ack 1; expect cwnd 2; expect w-max 3");
}
