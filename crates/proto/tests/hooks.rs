//! What a congestion control may be told and may ask for beside acknowledgements, through the sender: every packet that
//! leaves, notices, and a timer of its own.

use crate::rate_control::{Back, RateControl, RateParams, Selective};
use crate::script::{run, Probe};

impl Probe for RateControl {
    fn probe(&self, name: &str) -> Option<f64> {
        Some(match name {
            "gap-us" => self.gap.as_us_f64(),
            "sent-bytes" => self.sent as f64,
            "congested" => f64::from(self.congested),
            "nack" => self.nack.map_or(-1.0, |(cumulative, _)| f64::from(cumulative)),
            "nack-outstanding" => self.nack.map_or(-1.0, |(_, outstanding)| f64::from(outstanding)),
            "ticks" => f64::from(self.ticks),
            "order" => f64::from(self.order),
            _ => return None,
        })
    }
}

fn back(script: &str) {
    run(&RateParams::<Back>::default(), script);
}

#[test]
fn every_packet_that_leaves_is_told() {
    back(
        "at 0us offer 2500; send 1; expect sent-bytes 1000; at 1us send 1; at 2us send 1; expect sent-bytes 2500
         # Sent again, they count again.
         at 202us timeout; at 204us send 1; expect sent-bytes 3500; at 206us send 1; at 208us send 1
         expect sent-bytes 5000; expect retransmissions 3",
    );
}

#[test]
fn a_nack_is_told_between_its_acknowledgement_and_the_loss() {
    back(
        "at 0us endless; send 1; at 1us send 1; at 2us send 1; at 3us send 1
         at 10us ack 0; expect order 1; expect nack -1
         # Of packets 1 to 3 the first is missing.
         at 11us arrive 2; take; expect order 123; expect nack 1; expect nack-outstanding 3; expect gap-us 2",
    );
    // Packets out of order are no NACK where they are not thrown away.
    run(
        &RateParams::<Selective>::default(),
        "at 0us endless; send 1; at 1us send 1; at 2us send 1
         at 10us ack 0; at 11us ack 2; expect order 113; expect nack -1; expect gap-us 1",
    );
}

#[test]
fn a_notice_slows_the_sender_down_and_its_timer_brings_it_back() {
    back(
        "at 0us endless; send 1; expect paced 1us; expect timeout-us 200
         at 1us notice; notice; expect congested 2; expect gap-us 4
         # The sender is asked anew: it may send later, and wants its timer earlier.
         expect paced 4us; expect timeout-us 51
         at 4us send 1; expect paced 8us; expect timeout-us 51
         # Too early is nothing.
         at 50us timeout; expect ticks 0; expect gap-us 4
         at 51us timeout; expect ticks 1; expect gap-us 2; expect timeout-us 101; expect timeouts 0
         # Late is as good.
         at 120us timeout; expect ticks 2; expect gap-us 1; expect timeout-us 200; expect inflight 2",
    );
}

#[test]
fn a_timer_makes_a_paced_sender_ready_earlier() {
    back(
        "at 0us endless; send 1
         at 0us notice; notice; notice; notice; notice; notice; expect gap-us 64; expect paced 64us; expect timeout-us 50
         at 50us timeout; expect gap-us 32; expect ready",
    );
}

#[test]
fn both_timers_may_run_out_at_once() {
    back(
        "at 0us endless; send 1; expect timeout-us 200
         at 150us notice; expect timeout-us 200
         # The control's is due as well: the gap of 2 us is halved, and then doubled for the loss.
         at 200us timeout; expect ticks 1; expect timeouts 1; expect inflight 0; expect gap-us 2; expect timeout-us 250",
    );
}

#[test]
fn a_control_has_its_timer_while_nothing_is_under_way() {
    back(
        "at 0us offer 1000; send 1; at 10us ack 0; expect timeout-us -1
         at 11us notice; expect timeout-us 61; at 61us timeout; expect ticks 1; expect timeout-us -1; expect timeouts 0",
    );
}
