//! Swift against timed scripts, each number computed by hand from the paper.

mod script;

use clearway_proto::swift::control::Swift;
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Span;
use script::{run, Probe};

impl Probe for Swift {}

/// Fabric target 25 us without scaling, endpoint target 100 us, ai 1, β 0.8, at most half.
fn params(initial_cwnd: f64) -> SwiftParams {
    SwiftParams {
        initial_cwnd,
        flow_scaling: false,
        topology_scaling: false,
        rto_backoff: 0,
        beta: 0.8,
        fs_range: Span::from_us(75),
        fs_min_cwnd: 0.015,
        ..SwiftParams::default()
    }
}

#[test]
fn below_target_the_window_grows_by_one_packet_a_round_trip() {
    run(
        &params(4.0),
        "at 0us endless; send 4; expect idle
         at 20us ack 0; expect fcwnd 4.25; expect ecwnd 4.25; expect inflight 3
         expect ready; send 1; expect idle
         # Two packets in one acknowledgement count twice: 4.25 + 2/4.25.
         at 21us arrive 1; drop; ack 2; expect fcwnd 4.720588235294118; expect inflight 2",
    );
}

#[test]
fn below_one_packet_each_acknowledged_packet_adds_ai() {
    run(
        &SwiftParams { ai: 0.25, ..params(0.5) },
        "at 0us endless; send 1; expect idle
         at 20us ack 0; expect fcwnd 0.75",
    );
}

#[test]
fn below_one_packet_sending_is_spaced_by_the_round_trip_over_the_window() {
    run(
        &params(0.8),
        "at 1us endless; send 1; expect idle
         # rtt 100 us, target 25 us: 0.8 * (1 - 0.8 * 0.75) is less than half, so half. Gap 100/0.4 = 250 us, counted
         # from the sending at 1 us, not from the acknowledgement.
         at 101us ack 0; expect fcwnd 0.4; expect srtt-us 100
         expect paced 251us
         at 250us expect paced 251us
         at 251us expect ready; send 1; expect idle",
    );
}

#[test]
fn one_packet_is_not_paced() {
    run(
        &params(1.0),
        "at 0us endless; expect ready; send 1; expect idle
         at 20us ack 0; expect fcwnd 2; expect ready; send 2; expect idle",
    );
}

#[test]
fn above_target_the_window_falls_with_the_excess() {
    run(
        &params(10.0),
        "at 0us endless; send 10
         # 1 - 0.8 * (50 - 25)/50 = 0.6.
         at 50us ack 0; expect fcwnd 6; expect ecwnd 10.1",
    );
}

#[test]
fn the_window_falls_by_half_at_most() {
    run(&params(10.0), "at 0us endless; send 10; at 250us ack 0; expect fcwnd 5");
}

#[test]
fn the_target_itself_is_not_below_target() {
    run(&params(10.0), "at 0us endless; send 10; at 25us ack 0; expect fcwnd 10; expect ecwnd 10.1");
}

#[test]
fn one_decrease_a_round_trip() {
    run(
        &params(10.0),
        "at 0us endless; send 10
         at 50us ack 0; expect fcwnd 6
         # rtt 60 us, 10 us after the decrease.
         at 60us ack 1; expect fcwnd 6",
    );
}

#[test]
fn an_acknowledgement_that_does_not_decrease_does_not_put_the_next_decrease_off() {
    run(
        &params(10.0),
        "at 0us endless; send 9
         at 49us send 1
         at 50us ack 0; expect fcwnd 6
         # Over target, but 49 us after a decrease with an rtt of 99 us. Line 28 with <= would take this one for a
         # decrease, and the last one here would find it 1 us ago.
         at 99us ack 1; expect fcwnd 6
         # rtt 51 us, 50 us after the decrease: not yet.
         at 100us ack 9; expect fcwnd 6",
    );
    run(
        &params(10.0),
        "at 0us endless; send 9
         at 50us send 1; ack 0; expect fcwnd 6
         at 99us ack 1; expect fcwnd 6
         # rtt 50 us, 50 us after the decrease: again 0.6.
         at 100us ack 2 ; expect fcwnd 6
         at 100us ack 9; expect fcwnd 3.6",
    );
}

#[test]
fn the_smaller_window_rules() {
    run(
        &params(10.0),
        "at 0us endless; send 10
         # The remote host took 200 us of 220: fabric 20 us, under its target; endpoint 1 - 0.8 * 100/200 = 0.6.
         at 220us ack 0 remote 200us; expect fcwnd 10.1; expect ecwnd 6; expect window 6",
    );
}

#[test]
fn the_wait_in_the_local_receive_queue_is_endpoint_delay() {
    run(
        &params(10.0),
        "at 0us endless; send 10
         at 220us ack 0 local 200us; expect fcwnd 10.1; expect ecwnd 6",
    );
    run(
        &params(10.0),
        "at 0us endless; send 10
         at 220us ack 0 remote 150us local 50us; expect fcwnd 10.1; expect ecwnd 6",
    );
}

#[test]
fn remote_queuing_is_told_in_whole_microseconds() {
    // 199.9 us counts as 199 us: fabric 220 - 199 = 21 us; endpoint 1 - 0.8 * 99/199.
    run(
        &params(10.0),
        "at 0us endless; send 10
         at 220us ack 0 remote 199900ns; expect fcwnd 10.1; expect ecwnd 6.020100502512562",
    );
}

#[test]
fn the_endpoint_delay_is_averaged() {
    run(
        &params(10.0),
        "at 0us endless; send 10
         at 220us ack 0 remote 200us; expect ecwnd 6
         # 200 and 0 average to the target, 100 us, with a gain of one half: no increase, and too early to decrease.
         at 221us ack 1; expect ecwnd 6
         # 100 and 20 average to 60 us: an increase.
         at 222us ack 2 remote 20us; expect ecwnd 6.166666666666667",
    );
}

#[test]
fn a_sample_after_several_round_trips_weighs_as_much_as_one_in_each() {
    run(
        &params(10.0),
        "at 0us endless; send 1
         at 800us ack 0 remote 800us; expect ecwnd 5
         # Two smoothed round trips of 800 us and more: 0.25 * 800 us kept, 200 us, over target: 1 - 0.8 * 100/200.
         # (srtt falls to 602.5 us by the sample of 10 us, of which 1250 us are two.)
         at 2040us send 1
         at 2050us ack 1; expect srtt-us 602.5; expect ecwnd 3",
    );
}

#[test]
fn the_average_does_not_depend_on_when_the_flow_began() {
    for start in [0, 1, 1_000_000] {
        let (acked, script) = (start + 220, "remote 200us; expect ecwnd 6");
        run(&params(10.0), &format!("at {start}us endless; send 10; at {acked}us ack 0 {script}"));
    }
}

#[test]
fn hops_raise_the_fabric_target() {
    let scaled = || SwiftParams { topology_scaling: true, ..params(10.0) };
    run(&scaled(), "at 0us endless; send 10; at 29us ack 0 hops 5; expect fcwnd 10.1");
    // Target 26 us: 1 - 0.8 * 26/52.
    run(&scaled(), "at 0us endless; send 10; at 52us ack 0 hops 1; expect fcwnd 6");
}

#[test]
fn a_small_window_raises_the_fabric_target() {
    // fs_max 1, fs_min 0.01, range 90 us: α 10 us, β -10 us; at a window of 0.25 the target is 25 + 10 us.
    let scaled = || SwiftParams {
        flow_scaling: true,
        fs_range: Span::from_us(90),
        fs_min_cwnd: 0.01,
        fs_max_cwnd: 1.0,
        ..params(0.25)
    };
    run(&scaled(), "at 0us endless; send 1; at 34us ack 0; expect fcwnd 1.25");
    run(&scaled(), "at 0us endless; send 1; at 70us ack 0; expect fcwnd 0.15");
}

#[test]
fn a_hole_is_no_loss_before_so_many_packets_have_overtaken_it() {
    run(
        &SwiftParams { dup_threshold: 3, ..params(8.0) },
        "at 0us endless; send 8
         at 20us ack 1; ack 2; expect inflight 6; expect retransmissions 0
         # The third packet above packet 0.
         at 20us ack 3; expect inflight 4; ack 4; send 1; expect sent-seq 0; expect retransmissions 1",
    );
}

#[test]
fn a_hole_is_sent_again_and_costs_half() {
    run(
        &params(8.0),
        "at 0us endless; send 8
         # Packet 1 overtook packet 0: both windows grow by 1/8 for it and fall by half for the hole.
         at 20us ack 1; expect fcwnd 4.0625; expect ecwnd 4.0625; expect inflight 6; expect idle
         # A second hole within the round trip costs nothing more: 4.0625 + 1/4.0625.
         at 21us ack 3; expect fcwnd 4.308653846153846; expect inflight 4
         at 21us ack 4; expect inflight 3
         at 22us expect ready; send 1; expect retransmissions 1
         at 23us ack 5; send 1; expect retransmissions 2
         # Both arrive: everything before 6 has.
         at 42us ack 0; at 43us ack 2; expect cumulative 6; expect inflight 2
         expect timeouts 0",
    );
}

#[test]
fn timeouts_halve_the_window_and_the_third_in_a_row_leaves_the_least() {
    run(
        &SwiftParams { min_rto: Span::from_ms(1), ..params(16.0) },
        "at 0us endless; send 16; expect timeout-us 1000
         at 999us timeout; expect timeouts 0; expect inflight 16
         at 1000us timeout; expect timeouts 1; expect window 8; expect inflight 0; expect timeout-us -1
         send 8; expect idle; expect retransmissions 8; expect timeout-us 2000
         at 2000us timeout; expect window 4; send 4
         at 3000us timeout; expect window 0.001; expect timeouts 3",
    );
}

#[test]
fn a_flow_at_the_floor_sends_soon_after_its_peer_returns() {
    run(
        &SwiftParams { min_rto: Span::from_ms(1), floor_gap: Span::from_ms(16), ..params(16.0) },
        "at 0us endless; send 16
         at 1000us timeout; send 8
         at 2000us timeout; send 4
         # Before a sample the round trip is taken for the target, 25 us: the gap of 25 ms is cut to 16 ms.
         at 3000us timeout; expect window 0.001; expect paced 18ms
         # The initial timeout of 1 ms and the gap.
         at 18ms send 1; expect sent-seq 0; expect idle; expect timeout-us 35000
         at 35ms timeout; send 1; expect sent-seq 0; expect timeout-us 52000
         # The peer was stopped until now. A round trip of 25 ms over 0.001 packets would be 25 s.
         at 60ms ack 0; expect window 0.001; expect srtt-us 25000; expect ready
         at 60ms send 1; expect sent-seq 1
         # A probe under target ends it: 0.001 + 1.
         at 60020us ack 1; expect window 1.001; expect ready",
    );
}

#[test]
fn a_window_that_delay_has_brought_to_the_floor_keeps_to_its_round_trip() {
    let params = SwiftParams { min_cwnd: 0.4, floor_gap: Span::from_ms(16), ..params(0.8) };
    // Half of 0.8 packets in a round trip of 10 ms are one in 25 ms.
    run(&params, "at 1ms endless; send 1; at 11ms ack 0; expect fcwnd 0.4; expect paced 26ms");
}

#[test]
fn an_acknowledgement_under_target_ends_the_probing() {
    let floor_gap = Span::from_us(10);
    run(
        &SwiftParams { retx_reset_threshold: 1, min_cwnd: 0.4, ai: 0.4, floor_gap, ..params(0.8) },
        "at 0us endless; send 1
         # The gap of 25/0.4 us is cut to 10 us.
         at 2ms timeout; expect window 0.4; send 1; expect timeout-us 3010
         # Off the floor the gap is what it would have been, 20/0.8 us.
         at 2020us ack 0; expect fcwnd 0.8; expect paced 2025us",
    );
}

#[test]
fn an_acknowledgement_starts_the_count_of_timeouts_anew() {
    run(
        &SwiftParams { min_rto: Span::from_ms(1), ..params(16.0) },
        "at 0us endless; send 16
         at 1000us timeout; expect window 8; send 1
         at 2000us timeout; expect window 4; send 4
         at 2020us ack 0; expect fcwnd 4.25; expect timeout-us 3020
         at 3020us timeout; expect timeouts 3; expect fcwnd 2.125; send 1
         at 4020us timeout; expect fcwnd 1.0625",
    );
}

#[test]
fn a_timeout_waits_for_the_pacing_gap_too() {
    // Before a sample the round trip is taken for the target, 25 us: gap 50 us beside the initial 1 ms.
    run(&params(0.5), "at 0us endless; send 1; expect timeout-us 1050");
    // After it: 2 * 100 us + 100/0.4 us.
    run(
        &params(0.8),
        "at 0us endless; send 1
         at 100us ack 0; expect fcwnd 0.4; expect timeout-us -1
         at 250us send 1; expect timeout-us 700",
    );
}

#[test]
fn timeouts_in_a_row_double_the_next_up_to_a_bound_until_an_acknowledgement() {
    run(
        &SwiftParams { rto_backoff: 2, retx_reset_threshold: 10, min_cwnd: 2.0, ..params(2.0) },
        "at 0us endless; send 2
         at 20us ack 0; expect timeout-us 270
         at 270us timeout; send 2; expect timeout-us 770
         at 770us timeout; send 2; expect timeout-us 1770
         at 1770us timeout; send 2; expect timeout-us 2770
         at 1790us ack 1; expect timeout-us 2040",
    );
}

#[test]
fn a_timeout_is_never_shorter_than_the_least() {
    run(&params(4.0), "at 0us endless; send 2; at 20us ack 0; expect timeout-us 270");
}

#[test]
fn the_timer_rests_while_nothing_is_under_way() {
    run(
        &params(2.0),
        "at 0us endless; send 2
         # Packet 0 is lost and nothing is under way; the window of 1.25 leaves room to send it again at any time.
         at 20us ack 1; expect inflight 0; expect fcwnd 1.25; expect timeout-us -1
         at 10ms timeout; expect timeouts 0; expect ready
         at 10ms send 1; expect timeout-us 10250",
    );
}

#[test]
fn messages_are_completed_in_order_and_once() {
    run(
        &params(16.0),
        "at 0us offer 2500; offer 1; offer 1000; send 5; expect idle
         at 20us ack 0; ack 2; expect completed 0; expect delivered 0
         at 21us ack 3; expect completed 0
         at 22us send 1; expect retransmissions 1
         at 40us ack 1; expect completed 2; expect delivered 2; expect payload 2501
         at 41us ack 4; expect completed 3; expect delivered 3; expect payload 3501
         at 42us ack 4; ack 1; expect completed 3; expect delivered 3; expect payload 3501
         expect inflight 0; expect idle; expect timeout-us -1",
    );
}

#[test]
fn the_only_ack_to_survive_tells_of_the_hole() {
    run(
        &params(8.0),
        "at 0us endless; send 5
         at 20us arrive 0; drop; arrive 4; drop
         # Packet 1 comes in order, and its ack reports 4 beyond the hole.
         at 20us ack 1; expect cumulative 2; expect inflight 0; expect retransmissions 0
         at 21us send 2; expect retransmissions 2",
    );
}

#[test]
fn stopped_data_without_end_ends() {
    run(
        &params(4.0),
        "at 0us endless; send 3; stop; expect idle
         at 20us ack 0; ack 1; ack 2; expect idle; expect timeout-us -1; expect payload 3000
         at 30us offer 10; send 1; at 50us ack 3; expect completed 1; expect payload 3010",
    );
}
