//! Go-back-N against timed scripts: what is lost, which packets go out again, and how long the timer waits.

use clearway_proto::baseline::go_back_n::GoBackNParams;
use clearway_proto::baseline::none::NoControl;
use clearway_proto::units::Span;

use crate::script::{run, Probe};

impl Probe for NoControl {}

fn params(window: u32) -> GoBackNParams {
    GoBackNParams { window, rto: Span::from_us(500) }
}

#[test]
fn without_a_loss_the_window_slides() {
    run(
        &params(2),
        "at 0us offer 4000; send 2; expect idle
         at 10us ack 0; expect ready; send 1; expect idle; expect sent-seq 2
         at 20us ack 1; send 1; expect idle; ack 2; ack 3
         expect completed 1; expect delivered 1; expect retransmissions 0; expect timeout-us -1",
    );
}

#[test]
fn the_first_packet_is_lost() {
    run(
        &params(4),
        "at 0us offer 4000; send 4
         # One NACK, and nothing for what follows it.
         at 10us arrive 1; expect acks 1; arrive 2; arrive 3; expect acks 1; expect payload 0
         at 20us take; expect acked-seq 1; expect cumulative 0; expect inflight 0
         at 20us send 1; expect sent-seq 0; send 3; expect sent-seq 3; expect idle; expect retransmissions 4
         at 30us ack 0; ack 1; ack 2; ack 3; expect payload 4000; expect completed 1; expect timeouts 0",
    );
}

#[test]
fn a_packet_in_the_middle_is_lost() {
    run(
        &params(4),
        "at 0us offer 6000; send 4
         at 10us ack 0; ack 1; send 2; expect sent-seq 5
         # Packet 2 is missing. 3, 4 and 5 are thrown away and sent again after it.
         at 11us arrive 3; arrive 4; take; expect acked-seq 3; expect cumulative 2; expect inflight 0
         at 12us send 4; expect sent-seq 5; expect idle; expect retransmissions 4
         at 13us arrive 5; expect acks 0
         at 20us ack 2; ack 3; ack 4; ack 5; expect payload 6000; expect completed 1; expect sent 10",
    );
}

#[test]
fn the_last_packet_is_lost_and_the_timer_finds_it() {
    run(
        &params(4),
        "at 0us offer 3000; send 3
         at 10us ack 0; at 20us ack 1; expect timeout-us 520; expect idle
         at 519us timeout; expect timeouts 0; expect idle
         at 520us timeout; expect timeouts 1; expect inflight 0
         at 520us send 1; expect sent-seq 2; expect idle; expect timeout-us 1020
         at 530us ack 2; expect completed 1; expect retransmissions 1; expect timeout-us -1",
    );
}

#[test]
fn the_nack_is_lost_and_the_timer_finds_the_gap() {
    run(
        &params(4),
        "at 0us offer 4000; send 4
         at 10us ack 0; arrive 2; drop
         # The receiver has said it once.
         at 11us arrive 3; expect acks 0; expect timeout-us 510
         at 510us timeout; expect timeouts 1; send 3; expect sent-seq 3; expect idle
         at 520us ack 1; ack 2; ack 3; expect completed 1; expect retransmissions 3",
    );
}

#[test]
fn a_packet_that_is_lost_again_waits_for_the_timer() {
    run(
        &params(3),
        "at 0us offer 3000; send 3
         at 10us arrive 1; take; send 3
         # Packet 0 is missing still, which the receiver has said.
         at 20us arrive 1; arrive 2; expect acks 0; expect timeout-us 510
         at 510us timeout; send 3; expect retransmissions 6
         at 520us ack 0; ack 1; ack 2; expect completed 1",
    );
}

#[test]
fn each_gap_has_a_nack_of_its_own() {
    run(
        &params(4),
        "at 0us offer 4000; send 4
         at 10us arrive 1; take; send 4
         # Packet 0 comes, 1 is lost again: another gap.
         at 20us ack 0; arrive 2; expect acks 1; take; expect cumulative 1; expect inflight 0
         at 20us send 3; expect sent-seq 3; expect retransmissions 7; expect timeouts 0",
    );
}

#[test]
fn a_duplicate_is_acknowledged_and_counted_once() {
    run(
        &params(4),
        "at 0us offer 2000; send 2
         at 10us ack 0; arrive 0; expect acks 1; take; expect acked-seq 0; expect cumulative 1
         expect inflight 1; expect payload 1000; expect retransmissions 0
         at 20us ack 1; expect completed 1; expect delivered 1; expect payload 2000",
    );
}

#[test]
fn nothing_new_is_sent_before_what_is_sent_again() {
    run(
        &params(4),
        "at 0us endless; send 4
         at 10us arrive 1; take; send 2; expect sent-seq 1
         # The acknowledgement of 0 makes room in the window, but 2 and 3 go first.
         at 20us ack 0; expect inflight 1; send 3; expect sent-seq 4; expect idle; expect retransmissions 4",
    );
}

#[test]
fn what_had_arrived_when_the_timer_ran_out_is_not_sent_again() {
    run(
        &params(4),
        "at 0us offer 4000; send 4; arrive 0; arrive 1; arrive 2
         at 500us timeout; send 1; expect sent-seq 0
         # The acknowledgements were only late.
         at 501us take; take; take; expect cumulative 3; send 1; expect sent-seq 3; expect idle
         at 510us ack 3; expect completed 1; expect retransmissions 2",
    );
}

#[test]
fn the_timer_waits_as_long_each_time() {
    run(
        &params(2),
        "at 0us endless; send 2; expect timeout-us 500
         at 500us timeout; send 2; expect timeout-us 1000
         at 1000us timeout; send 2; expect timeout-us 1500; expect timeouts 2",
    );
}

#[test]
fn messages_end_where_they_did_when_they_are_sent_again() {
    run(
        &params(8),
        "at 0us offer 1500; offer 700; offer 2000; send 5
         at 10us arrive 1; take; expect delivered 0; send 5
         at 20us ack 0; expect delivered 0; ack 1; expect delivered 1; expect payload 1500
         at 20us ack 2; expect delivered 2; expect payload 2200; ack 3; ack 4; expect completed 3; expect payload 4200",
    );
}
