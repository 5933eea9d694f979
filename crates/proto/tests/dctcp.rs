//! DCTCP against timed scripts, each number computed by hand from RFC 8257 and the RFCs that it stands on.

use clearway_proto::baseline::dctcp::{Dctcp, DctcpParams};
use clearway_proto::baseline::tcp::TcpParams;
use clearway_proto::units::Span;

use crate::script::{run, Probe};

impl Probe for Dctcp {
    fn probe(&self, name: &str) -> Option<f64> {
        (name == "alpha").then(|| self.alpha())
    }
}

/// Gain 1/4, so that hand computation stays exact.
fn params(initial_cwnd: f64) -> DctcpParams {
    DctcpParams {
        gain: 0.25,
        tcp: TcpParams { initial_cwnd, min_rto: Span::from_us(100), ..TcpParams::default() },
        ..DctcpParams::default()
    }
}

#[test]
fn one_packet_an_acknowledgement_needs_no_waiting() {
    run(&DctcpParams::default(), "at 0us endless; send 1; arrive 0; expect acks 1");
    let delayed =
        DctcpParams { tcp: TcpParams { ack_every: 2, ..TcpParams::default() }, ..DctcpParams::default() };
    run(
        &delayed,
        "at 0us endless; send 2; arrive 0; expect acks 0; expect ack-timeout-us 1000; arrive 1; expect acks 1",
    );
}

#[test]
fn alpha_moves_once_a_window_of_data() {
    run(
        &params(4.0),
        "at 0us endless; send 4
         # The first window ends with the first packet: alpha 3/4; the next one with packet 4, sent below.
         at 100us ack 0; expect alpha 0.75; send 1
         # Marked, the first one of a window that has seen no cut: 5 * (1 - 0.75/2) = 3.125.
         at 100us ack 1 ce; expect alpha 0.75; expect cwnd 3.125
         at 100us ack 2; ack 3 ce; expect alpha 0.75
         # 2 of 4 marked: 3/4 * 0.75 + 1/4 * 0.5.
         at 100us ack 4; expect alpha 0.6875",
    );
}

#[test]
fn one_cut_a_window_of_data() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         # All marked: alpha stays 1, and the window is halved once.
         at 100us ack 0 ce; expect alpha 1; expect cwnd 4
         at 100us ack 1 ce; ack 2 ce; ack 3 ce; expect cwnd 4
         # Two packets sent after the cut: 8 and 9.
         at 100us ack 4 ce; send 1; ack 5 ce; send 1; ack 6 ce; ack 7 ce; expect cwnd 4
         at 200us ack 8 ce; expect cwnd 2
         at 200us ack 9 ce; expect cwnd 2",
    );
}

#[test]
fn a_cut_is_in_proportion_to_alpha() {
    run(
        &DctcpParams { initial_alpha: 0.0, ..params(8.0) },
        // The first window is one packet, marked: alpha 1/4, so 8 * (1 - 1/8).
        "at 0us endless; send 8; at 100us ack 0 ce; expect alpha 0.25; expect cwnd 7",
    );
}

#[test]
fn the_window_never_falls_below_one_packet() {
    run(&params(1.0), "at 0us endless; send 1; at 100us ack 0 ce; expect cwnd 1; expect ready");
}

#[test]
fn slow_start_ends_with_the_first_mark() {
    run(
        &params(2.0),
        "at 0us endless; send 2
         at 100us ack 0; expect cwnd 3; ack 1; expect cwnd 4; send 4
         # alpha 0.75 * 0.75 = 0.5625 at the end of the window, then a cut: 4 * (1 - 0.5625/2), which ends slow start.
         at 200us ack 2; expect cwnd 5; expect alpha 0.5625
         at 200us ack 3 ce; expect cwnd 3.59375
         # From here 1/cwnd an acknowledged packet.
         at 200us ack 4; expect cwnd 3.872010869565217",
    );
}

#[test]
fn a_delayed_acknowledgement_counts_for_all_its_packets() {
    run(
        &DctcpParams { tcp: TcpParams { ack_every: 2, ..params(4.0).tcp }, ..params(4.0) },
        "at 0us endless; send 4
         at 100us arrive 0; expect acks 0; ack 1; expect cumulative 2; expect cwnd 6; expect inflight 2",
    );
}

#[test]
fn a_change_of_the_mark_acknowledges_what_came_before_it() {
    run(
        &DctcpParams { tcp: TcpParams { ack_every: 2, ..params(10.0).tcp }, ..params(10.0) },
        "at 0us endless; send 10
         at 100us arrive 0; expect acks 0
         # Marked: packet 0 is acknowledged at once and without a mark, packet 1 waits for packet 2.
         at 101us arrive 1 ce; expect acks 1
         at 101us take; expect cumulative 1; expect acked-seq 0; expect echoed-ce 0
         at 102us arrive 2 ce; expect acks 1; take; expect cumulative 3; expect echoed-ce 1
         # Nothing is pending at the change back, so nothing is acknowledged early.
         at 103us arrive 3; expect acks 0; arrive 4; expect acks 1; take; expect cumulative 5; expect echoed-ce 0",
    );
}

#[test]
fn a_delayed_acknowledgement_waits_no_longer_than_its_delay() {
    run(
        &DctcpParams {
            tcp: TcpParams { ack_every: 2, ack_delay: Span::from_us(40), ..params(10.0).tcp },
            ..params(10.0)
        },
        "at 0us endless; send 4
         at 100us arrive 0; expect acks 0; expect ack-timeout-us 140
         at 139us timeout; expect acks 0
         at 140us timeout; expect acks 1; expect ack-timeout-us -1; take; expect cumulative 1
         # Out of order: at once, and so is what fills the hole.
         at 141us arrive 2; expect acks 1; take; expect cumulative 1
         at 142us arrive 1; expect acks 1; take; expect cumulative 3",
    );
}

#[test]
fn a_loss_halves_once_a_window_and_the_window_stands_until_it_is_repaired() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         # Three packets above packet 0: the third makes it lost. Slow start until then: 8 + 3.
         at 100us ack 1; ack 2; expect cwnd 10; expect retransmissions 0
         at 100us ack 3; expect cwnd 5.5; expect inflight 4
         # Packet 4 is missing too, and belongs to the same window.
         at 100us ack 5; ack 6; ack 7; expect cwnd 5.5; expect inflight 0
         at 100us send 2; expect retransmissions 2; send 3; expect idle
         at 200us ack 0; expect cwnd 5.5; ack 4; expect cwnd 5.681818181818182; expect cumulative 8
         # A loss in the next window halves again.
         at 200us send 2; expect idle; ack 9; ack 10; ack 11; expect cwnd 3.097204058825272",
    );
}

#[test]
fn after_a_loss_a_mark_of_the_same_window_cuts_no_more() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         at 100us ack 1; ack 2; ack 3; expect cwnd 5.5
         at 100us ack 5 ce; ack 6 ce; expect cwnd 5.5",
    );
}

#[test]
fn a_loss_halves_although_a_mark_cut_the_same_window() {
    run(
        &DctcpParams { initial_alpha: 0.0, ..params(8.0) },
        "at 0us endless; send 8
         at 100us ack 0 ce; expect cwnd 7
         at 100us ack 2 ce; ack 3 ce; ack 4 ce; expect cwnd 3.5",
    );
}

#[test]
fn a_loss_leaves_the_least_window() {
    run(
        &DctcpParams { tcp: TcpParams { min_cwnd: 8.0, ..params(8.0).tcp }, ..params(8.0) },
        "at 0us endless; send 8
         at 100us ack 1; ack 2; ack 3; expect cwnd 8",
    );
}

#[test]
fn the_timeout_follows_the_round_trip_and_its_deviation() {
    run(
        &params(4.0),
        "at 0us endless; send 4; expect timeout-us 10000
         # srtt 100, rttvar 50: 300 us.
         at 100us ack 0; expect srtt-us 100; expect timeout-us 400
         # srtt 7/8 * 100 + 1/8 * 180 = 110, rttvar 3/4 * 50 + 1/4 * 80 = 57.5: 340 us.
         at 180us ack 1; expect srtt-us 110; expect timeout-us 520",
    );
}

#[test]
fn a_timeout_leaves_one_packet_and_slow_start_to_half_of_what_was_under_way() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         at 10ms timeout; expect cwnd 1; expect timeouts 1; send 1; expect idle
         at 10100us ack 0; expect cwnd 2; send 2
         at 10200us ack 1; ack 2; expect cwnd 4; send 1
         # The threshold of 8/2 is reached: 1/cwnd from here.
         at 10300us ack 3; expect cwnd 4.25",
    );
}

#[test]
fn timeouts_back_off_until_something_new_is_acknowledged() {
    run(
        &params(8.0),
        "at 0us endless; send 8; expect timeout-us 10000
         at 10ms timeout; send 1; expect timeout-us 30000
         at 30ms timeout; send 1; expect timeout-us 70000
         at 70ms timeout; expect timeouts 3; send 1; expect timeout-us 150000
         at 70100us ack 0; expect cwnd 2; expect timeout-us -1
         at 70100us send 1; expect timeout-us 70400
         # The threshold is the first timeout's, 4, not that of one packet under way.
         at 70200us ack 1; expect cwnd 3; send 2
         at 70300us ack 2; ack 3; expect cwnd 4.25",
    );
}

#[test]
fn backing_off_ends_at_a_minute() {
    run(
        &DctcpParams {
            tcp: TcpParams { initial_rto: Span::from_secs(40), ..params(1.0).tcp },
            ..params(1.0)
        },
        "at 0s endless; send 1; expect timeout-us 40000000
         at 40s timeout; send 1; expect timeout-us 100000000
         at 100s timeout; send 1; expect timeout-us 160000000",
    );
}
