//! Reno against timed scripts, each number computed by hand from RFC 5681, 6298 and 6675.

use clearway_proto::baseline::reno::{Reno, RenoParams};
use clearway_proto::baseline::tcp::TcpParams;
use clearway_proto::units::Span;

use crate::script::{run, Probe};

impl Probe for Reno {}

fn params(initial_cwnd: f64) -> RenoParams {
    RenoParams { tcp: TcpParams { initial_cwnd, min_rto: Span::from_us(100), ..TcpParams::default() } }
}

#[test]
fn slow_start_adds_a_packet_for_each_acknowledged_one() {
    run(
        &params(2.0),
        "at 0us endless; send 2; expect idle
         at 100us ack 0; expect cwnd 3; send 2; ack 1; expect cwnd 4; send 2; expect idle",
    );
}

#[test]
fn acknowledgements_taken_in_a_row_all_count() {
    // No packet leaves between them, but the window was full before.
    run(&params(4.0), "at 0us endless; send 4; at 100us ack 0; ack 1; ack 2; ack 3; expect cwnd 8");
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    run(
        &params(4.0),
        "at 0us offer 3000; send 3; at 100us ack 0; ack 1; ack 2; expect cwnd 4
         # Full: all four count. Not for longer than these.
         at 200us offer 4000; send 4; at 300us ack 3; ack 4; ack 5; ack 6; expect cwnd 8
         at 400us offer 7000; send 7; at 500us ack 7; ack 8; expect cwnd 8",
    );
}

#[test]
fn the_largest_window_is_a_parameter() {
    run(
        &RenoParams { tcp: TcpParams { max_cwnd: 5.0, ..params(4.0).tcp } },
        "at 0us endless; send 4; at 100us ack 0; ack 1; expect cwnd 5",
    );
}

#[test]
fn a_loss_halves_once_and_the_window_stands_until_it_is_repaired() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         # The third packet above packet 0 makes it lost. Eight were out, of a window that had grown to 11.
         at 100us ack 1; ack 2; expect cwnd 10
         at 100us ack 3; expect cwnd 4; expect inflight 4; expect retransmissions 0
         # Packet 4 is lost in the same window.
         at 100us ack 5; ack 6; ack 7; expect cwnd 4; expect inflight 0
         at 100us send 2; expect retransmissions 2; send 2; expect idle
         # The first packets after the repair add 1/4 of a packet each.
         at 200us ack 0; expect cwnd 4; ack 4; expect cumulative 8; expect cwnd 4.25
         # A loss in the next window halves again: 8 and 9 are out, and 10 and 11.
         at 200us send 2; expect idle; ack 9; expect cwnd 4.485294117647059
         at 200us ack 10; ack 11; expect cwnd 2",
    );
}

#[test]
fn a_sender_with_little_to_send_loses_half_of_what_was_out() {
    run(
        &params(20.0),
        "at 0us offer 6000; send 6
         at 100us ack 1; ack 2; ack 3; expect cwnd 3",
    );
}

#[test]
fn the_threshold_is_two_packets_at_least() {
    let alert = RenoParams { tcp: TcpParams { dup_threshold: 1, ..params(2.0).tcp } };
    run(&alert, "at 0us endless; send 2; at 100us ack 1; expect cwnd 2");
}

#[test]
fn a_timeout_leaves_one_packet_and_slow_start_to_half_of_what_was_under_way() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         at 10ms timeout; expect cwnd 1; expect timeouts 1; send 1; expect idle
         at 10100us ack 0; expect cwnd 2; send 2
         at 10200us ack 1; ack 2; expect cwnd 4; send 4
         # The threshold of 8/2 is reached: 1/cwnd from here.
         at 10300us ack 3; expect cwnd 4.25",
    );
}

#[test]
fn the_timeout_follows_the_round_trip_and_backs_off() {
    run(
        &params(4.0),
        "at 0us endless; send 4; expect timeout-us 10000
         # srtt 100, rttvar 50: 300 us.
         at 100us ack 0; expect srtt-us 100; expect timeout-us 400
         at 400us timeout; send 1; expect timeout-us 1000
         at 1000us timeout; send 1; expect timeout-us 2200
         # A sample of a retransmission counts, as the echo tells which one it was: srtt stays 100, rttvar 37.5.
         at 1100us ack 1; expect timeout-us -1; send 1; expect timeout-us 1350",
    );
    run(
        &RenoParams { tcp: TcpParams { min_rto: Span::from_ms(200), ..params(4.0).tcp } },
        "at 0us endless; send 4; at 100us ack 0; expect timeout-us 200100",
    );
}

#[test]
fn acknowledgements_may_be_delayed() {
    run(&RenoParams::default(), "at 0us endless; send 1; arrive 0; expect acks 1");
    run(
        &RenoParams { tcp: TcpParams { ack_every: 2, ack_delay: Span::from_us(40), ..params(4.0).tcp } },
        "at 0us endless; send 4
         at 100us arrive 0; expect acks 0; expect ack-timeout-us 140; ack 1; expect cumulative 2; expect cwnd 6
         at 101us arrive 2; expect acks 0; at 141us timeout; expect acks 1; take; expect cumulative 3; expect cwnd 7",
    );
}
