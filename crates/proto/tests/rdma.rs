//! RoCE and IRN against timed scripts: what is lost, what goes out again, how long timers wait, and how fast DCQCN lets
//! packets leave.

use clearway_proto::baseline::rdma::control::{Congestion, CongestionParams, RdmaControl};
use clearway_proto::baseline::rdma::irn::{IrnParams, TimeoutLoss};
use clearway_proto::baseline::rdma::roce::{RecoveryKind, RoceParams};
use clearway_proto::units::Span;

use crate::script::{run, Probe};

impl Probe for RdmaControl {
    fn probe(&self, name: &str) -> Option<f64> {
        let point = self.reaction()?;
        Some(match name {
            "rate-mbps" => point.rate() / 1e6,
            "target-mbps" => point.target() / 1e6,
            _ => return None,
        })
    }
}

fn dcqcn() -> CongestionParams {
    CongestionParams { congestion: Congestion::Dcqcn, ..CongestionParams::default() }
}

fn roce(recovery: RecoveryKind) -> RoceParams {
    RoceParams { recovery, rto: Span::from_us(500), ..RoceParams::default() }
}

fn irn(bitmap: u32) -> IrnParams {
    IrnParams { bitmap, ..IrnParams::default() }
}

#[test]
fn roce_sends_without_a_window_until_it_is_given_one() {
    run(&roce(RecoveryKind::GoBackN), "at 0us endless; send 5000; expect ready; expect window 8388608");
    let windowed = RoceParams { window: Some(3), ..roce(RecoveryKind::GoBackN) };
    run(
        &windowed,
        "at 0us endless; send 3; expect idle; at 10us ack 0; send 1; expect idle; expect window 3",
    );
    run(&roce(RecoveryKind::SelectiveRepeat), "at 0us endless; send 5000; expect ready; expect window 65536");
}

#[test]
fn roce_goes_back_to_a_gap_or_repeats_what_is_missing() {
    let gap = "at 0us offer 5000; send 5; at 10us ack 0; arrive 2; take; arrive 3; expect acks";
    let back = format!("{gap} 0; expect inflight 0; send 4; expect idle; expect retransmissions 4");
    run(&roce(RecoveryKind::GoBackN), &back);
    let selective = format!(
        "{gap} 1; take; arrive 4; take; expect inflight 0; send 1; expect sent-seq 1; expect idle
         at 20us ack 1; expect completed 1; expect retransmissions 1"
    );
    run(&roce(RecoveryKind::SelectiveRepeat), &selective);
}

#[test]
fn the_timer_of_roce_waits_as_long_each_time() {
    for recovery in [RecoveryKind::GoBackN, RecoveryKind::SelectiveRepeat] {
        run(
            &roce(recovery),
            "at 0us offer 2000; send 2; expect timeout-us 500
             at 500us timeout; send 2; expect timeout-us 1000; at 1000us timeout; send 2; expect timeout-us 1500
             expect timeouts 2; expect retransmissions 4",
        );
    }
    // InfiniBand's: 4.096 us times a power of two.
    run(&RoceParams::default(), "at 0us offer 1000; send 1; expect timeout-us 67108.864");
}

#[test]
fn irn_has_no_more_packets_out_than_its_bitmap_is_long() {
    run(
        &irn(5),
        "at 0us endless; send 5; expect idle
         # Packet 0 is missing. What has arrived behind it makes no room.
         at 10us ack 1; send 1; expect sent-seq 0; expect idle; ack 2; ack 3; ack 4; expect idle; expect inflight 1
         # All five at once.
         at 20us ack 0; expect cumulative 5; send 5; expect sent-seq 9; expect idle; expect retransmissions 1",
    );
}

#[test]
fn irn_sends_the_lost_before_the_new_and_each_once() {
    run(
        &irn(16),
        "at 0us endless; send 8
         at 10us ack 3; send 3; expect sent-seq 2; send 1; expect sent-seq 8
         # Packet 3 was the highest; 5 tells of 4 alone.
         at 11us ack 5; send 1; expect sent-seq 4; send 1; expect sent-seq 9; expect retransmissions 4
         # The second transmission of 0 is lost: only the timer finds that.
         at 20us ack 1; ack 2; ack 4; ack 6; ack 7; ack 8; send 6; expect sent-seq 15; expect idle; expect retransmissions 4",
    );
}

#[test]
fn irn_waits_shortly_for_few_packets_and_longer_for_more() {
    run(
        &irn(16),
        "at 0us offer 3000; send 3; expect timeout-us 100
         at 100us timeout; expect timeouts 1; send 1; expect sent-seq 0; expect idle",
    );
    run(
        &irn(16),
        "at 0us offer 4000; send 4; expect timeout-us 100
         at 100us timeout; expect timeouts 0; expect idle; expect timeout-us 320
         at 320us timeout; expect timeouts 1; send 1; expect sent-seq 0
         # The next one is judged anew.
         expect timeout-us 420; at 420us timeout; expect timeouts 1; expect timeout-us 640",
    );
    // An acknowledgement after the first 100 us begins the wait anew, now for three.
    run(
        &irn(16),
        "at 0us offer 4000; send 4; at 100us timeout; expect timeout-us 320
         at 150us ack 0; expect timeout-us 250; at 250us timeout; expect timeouts 1; send 1; expect sent-seq 1",
    );
}

#[test]
fn irn_brings_a_lost_tail_back_a_packet_a_timeout_or_at_once() {
    // Three packets, all lost. The first comes back after 100 us, and 10 us later its acknowledgement.
    run(
        &irn(16),
        "at 0us offer 3000; send 3
         at 100us timeout; send 1; expect sent-seq 0; expect idle; expect inflight 3; at 110us ack 0
         at 210us timeout; send 1; expect sent-seq 1; expect idle; at 220us ack 1
         at 320us timeout; send 1; expect sent-seq 2; at 330us ack 2; expect completed 1; expect retransmissions 3",
    );
    run(
        &IrnParams { timeout_loss: TimeoutLoss::All, ..irn(16) },
        "at 0us offer 3000; send 3; at 100us timeout; expect inflight 0; send 3; expect sent-seq 2
         at 110us ack 0; ack 1; ack 2; expect completed 1; expect timeouts 1; expect retransmissions 3",
    );
}

#[test]
fn irns_timer_runs_though_the_window_lets_nothing_out_again() {
    // Eight under way when the rate falls to a quarter, and the window with it to two.
    let params = IrnParams { congestion: CongestionParams { scale_window: true, ..dcqcn() }, ..irn(8) };
    run(
        &params,
        "at 0us endless; send 8; at 10us notice; notice; expect window 2; expect idle
         at 100us timeout; at 320us timeout; expect timeouts 1; expect inflight 7; expect idle
         at 420us timeout; expect timeouts 1; at 640us timeout; expect timeouts 2; expect inflight 7",
    );
}

#[test]
fn dcqcn_spaces_packets_by_its_rate() {
    // 1000 bytes at 10 Gb/s are 0.8 us.
    let params = RoceParams { congestion: dcqcn(), ..roce(RecoveryKind::GoBackN) };
    run(
        &params,
        "at 0us endless; send 100; expect ready
         at 10us arrive 0 ce; expect acks 2; take; expect rate-mbps 5000; take; expect cumulative 1
         at 10us send 1; expect paced 11600ns; at 11600ns send 1; expect paced 13200ns
         # Within 50 us of it, marks are not told of.
         at 59us arrive 1 ce; expect acks 1; take
         at 60us arrive 2 ce; expect acks 2; take; take; expect rate-mbps 2500; expect target-mbps 5000
         at 60us send 1; expect paced 63200ns
         # Its timer is wanted 55 us after the cut, long before the one for retransmission.
         expect timeout-us 115; at 115us timeout; expect rate-mbps 3750; expect timeout-us 170",
    );
}

#[test]
fn a_window_follows_the_rate_if_it_is_told_to() {
    for (scale_window, window) in [(false, 64), (true, 16)] {
        let congestion = CongestionParams { scale_window, ..dcqcn() };
        let params =
            RoceParams { window: Some(64), congestion: congestion.clone(), ..roce(RecoveryKind::GoBackN) };
        let script = format!("at 0us notice; at 50us notice; expect rate-mbps 2500; expect window {window}");
        run(&params, &script);
        run(&IrnParams { congestion, ..irn(64) }, &script);
    }
}

#[test]
fn without_dcqcn_nobody_listens_to_notices() {
    run(&roce(RecoveryKind::GoBackN), "at 0us endless; send 2; at 1us notice; send 2; expect ready");
}
