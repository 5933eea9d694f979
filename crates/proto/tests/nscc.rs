//! NSCC against timed scripts, each number computed by hand from `uec.cpp` of ultraethernet/uet-htsim.

use clearway_proto::baseline::uec::nscc::Nscc;
use clearway_proto::baseline::uec::NsccParams;
use clearway_proto::units::Span;

use crate::script::{run, Probe};

impl Probe for Nscc {
    fn probe(&self, name: &str) -> Option<f64> {
        (name == "delay-us").then(|| self.delay().as_us_f64())
    }
}

/// At the script's 10 Gb/s a base round trip of 120 us makes the reference bandwidth-delay product, of 150 packets, and a target
/// of 90 us. The largest window is 15 packets; delays are not smoothed, and nothing grows by itself.
fn params() -> NsccParams {
    NsccParams {
        base_rtt: Some(Span::from_us(120)),
        max_window: 0.1,
        gain: 1.0,
        eta: 0.0,
        quick_adapt: false,
        ..NsccParams::default()
    }
}

#[test]
fn it_begins_with_the_largest_window() {
    run(&params(), "at 0us endless; expect cwnd 15; send 15; expect idle; at 120us ack 0; expect cwnd 15");
    let wide = NsccParams { max_window: 1.5, ..params() };
    run(&wide, "expect cwnd 225");
}

#[test]
fn mark_and_delay_shrink_it_once_a_round_trip() {
    run(
        &params(),
        "at 0us endless; send 15
         # 210 us of delay are 120 us too many: 15 (1 - 0.8 120 / 210).
         at 330us ack 0 ce; expect delay-us 210; expect cwnd 8.142857142857143
         at 331us ack 1 ce; expect cwnd 8.142857142857143
         # 121 us after the last time; by 241 of 331 us, which would leave less than half.
         at 451us ack 2 ce; expect cwnd 4.071428571428571",
    );
}

#[test]
fn a_mark_alone_changes_nothing() {
    run(
        &params(),
        "at 0us endless; send 15; at 200us ack 0 ce; ack 1 ce; expect delay-us 80; expect cwnd 15",
    );
}

#[test]
fn delay_alone_lets_it_grow_a_little() {
    run(
        &params(),
        "at 0us endless; send 15; at 330us ack 0 ce; expect cwnd 8.142857142857143
         # Delay without a mark counts as a quarter of a round trip. What is gathered in 120 us is taken then: 5 a packet, over
         # the window. A packet that is sent late is 210 us under way.
         at 331us ack 1; expect delay-us 30; expect cwnd 8.142857142857143
         at 451us ack 2; expect cwnd 9.370927318295739",
    );
}

#[test]
fn little_delay_lets_it_grow_by_what_is_left_of_the_target() {
    run(
        &params(),
        "at 0us endless; send 3; at 330us ack 0 ce; expect cwnd 8.142857142857143
         # 60 us are left: 60 times 4 / 12, over the window, as more than a round trip has passed.
         at 340us send 1; at 490us ack 3; expect cwnd 10.598997493734336",
    );
}

#[test]
fn a_trimmed_packet_is_a_packet_less_and_sent_again() {
    run(
        &params(),
        "at 0us endless; send 15
         at 130us trim 2; expect cwnd 14; expect inflight 14; expect delay-us 120
         # What came later is no loss: no number of packets above a hole makes it one.
         ack 3; ack 4; ack 5; ack 6; expect inflight 10
         send 1; expect sent-seq 2; expect retransmissions 1; expect inflight 11
         # Told again of the same transmission it is sent once more; of one that has arrived it is not.
         at 250us trim 2; send 1; expect sent-seq 2; at 370us ack 2; trim 2; take; expect inflight 10",
    );
}

#[test]
fn a_header_of_what_has_arrived_is_acknowledged_again() {
    run(
        &params(),
        "at 0us endless; send 2; at 130us ack 0; trim 0; expect acks 1; take; expect cumulative 1; expect cwnd 15",
    );
}

#[test]
fn much_loss_makes_the_window_what_has_arrived() {
    let adapts = NsccParams { quick_adapt: true, quick_adapt_below: 0.5, ..params() };
    run(
        &adapts,
        "at 0us endless; send 15
         # The first acknowledgement begins the time of 210 us in which packets are counted.
         at 120us ack 0
         at 130us ack 1; ack 2; trim 3; expect cwnd 14
         # Too early by 1 us, and then the two that came since are all there were; packet 0 came before.
         at 330us trim 4; expect cwnd 13
         at 331us trim 5; expect cwnd 2
         # What was under way then says nothing new.
         at 340us trim 6; expect cwnd 2; ack 7 ce; expect cwnd 2",
    );
}

#[test]
fn a_timeout_is_a_packet_less() {
    run(
        &params(),
        "at 0us endless; send 15; expect timeout-us 735; at 735us timeout; expect timeouts 1; expect cwnd 14
         send 1; expect sent-seq 0",
    );
}
