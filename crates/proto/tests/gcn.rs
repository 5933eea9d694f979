//! GCN against timed scripts, each number computed by hand from what the Swift paper says of it (§4).

use clearway_proto::baseline::gcn::{Gcn, GcnParams};
use clearway_proto::baseline::tcp::TcpParams;
use clearway_proto::units::Span;

use crate::script::{run, Probe};

impl Probe for Gcn {}

fn params(initial_cwnd: f64) -> GcnParams {
    GcnParams {
        tcp: TcpParams { initial_cwnd, min_rto: Span::from_us(100), ..TcpParams::default() },
        ..GcnParams::default()
    }
}

#[test]
fn a_window_with_marks_is_cut_when_it_ends_by_half_their_fraction() {
    run(
        &params(4.0),
        "at 0us endless; send 4
         # The first packet is a window of its own; the next one ends with packet 4, sent below.
         at 100us ack 0; expect cwnd 5; send 1; ack 1; expect cwnd 6
         # The first mark ends slow start.
         at 100us ack 2 ce; ack 3 ce; expect cwnd 6
         # 2 of 4 marked: (6 + 1/6) * 3/4.
         at 200us ack 4; expect cwnd 4.625",
    );
}

#[test]
fn the_fraction_is_this_windows_and_no_average() {
    run(
        &params(4.0),
        "at 0us endless; send 4
         at 100us ack 0; send 1; ack 1; ack 2; ack 3
         # Four of four without a mark. The next window: packet 5, 6 and 7.
         at 200us ack 4; expect cwnd 9; send 3
         at 300us ack 5 ce; ack 6 ce; send 1
         # All three and packet 8 marked: half, though no window before had a mark.
         at 300us ack 7 ce; expect cwnd 4.5",
    );
}

#[test]
fn one_cut_for_what_was_sent_before_it() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         at 100us ack 0 ce; expect cwnd 4
         at 100us ack 1 ce; ack 2 ce; ack 3 ce; ack 4 ce; send 1; ack 5 ce; send 1; ack 6 ce; send 1
         # With packet 7 all that was sent before the cut has come; packet 11 ends the window after it.
         at 100us ack 7 ce; send 1; expect cwnd 4
         at 200us ack 8 ce; ack 9 ce; ack 10 ce; expect cwnd 4
         at 200us ack 11 ce; expect cwnd 2",
    );
}

#[test]
fn a_window_of_one_packet_is_cut_for_every_one() {
    // Nothing is under way at the cut, so the next packet was sent after it.
    run(
        &GcnParams { tcp: TcpParams { min_cwnd: 0.2, ..params(1.0).tcp }, ..params(1.0) },
        "at 0us endless; send 1; at 100us ack 0 ce; expect cwnd 0.5
         at 100us send 1; at 200us ack 1 ce; expect cwnd 0.25
         at 200us send 1; at 300us ack 2 ce; expect cwnd 0.2",
    );
}

#[test]
fn the_additive_increase_is_a_parameter() {
    run(
        &GcnParams { ai: 3.0, ..params(2.0) },
        "at 0us endless; send 2; at 100us ack 0 ce; expect cwnd 1; ack 1; expect cwnd 4",
    );
}

#[test]
fn marked_packets_are_acknowledged_at_once() {
    run(&GcnParams::default(), "at 0us endless; send 1; arrive 0; expect acks 1");
    run(
        &GcnParams { tcp: TcpParams { ack_every: 2, ..params(10.0).tcp }, ..params(10.0) },
        "at 0us endless; send 10
         at 100us arrive 0; expect acks 0
         # What waited comes first and without a mark.
         at 101us arrive 1 ce; expect acks 2; take; expect cumulative 1; expect echoed-ce 0
         at 101us take; expect cumulative 2; expect echoed-ce 1; expect ack-timeout-us -1
         at 102us arrive 2 ce; expect acks 1; take; expect cumulative 3
         at 103us arrive 3; expect acks 0; arrive 4; expect acks 1; take; expect cumulative 5; expect echoed-ce 0",
    );
}

#[test]
fn a_loss_halves_once_and_answers_the_marks_of_its_window() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         # Slow start to 11, then half for packet 0.
         at 100us ack 1; ack 2; ack 3; expect cwnd 5.5
         at 100us ack 4 ce; ack 5 ce; ack 6 ce; ack 7 ce; expect cwnd 5.5; expect retransmissions 0
         at 100us send 1; at 200us ack 0 ce; expect cumulative 8; expect cwnd 5.5",
    );
}

#[test]
fn a_timeout_leaves_one_packet_and_slow_start_to_half_of_what_was_under_way() {
    run(
        &params(8.0),
        "at 0us endless; send 8; expect timeout-us 10000
         at 10ms timeout; expect cwnd 1; send 1; expect timeout-us 30000
         # Marks of what was sent before are answered.
         at 10100us ack 0 ce; expect cwnd 1
         at 10100us send 1; at 10200us ack 1; expect cwnd 2; send 2; at 10300us ack 2; expect cwnd 2.5",
    );
}
