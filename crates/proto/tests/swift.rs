//! Swift against timed scripts, each number computed by hand from the paper.

use clearway_proto::swift::control::Swift;
use clearway_proto::swift::{RtoRule, SwiftParams};
use clearway_proto::units::Span;

use crate::script::{run, Probe};

impl Probe for Swift {}

/// Fabric target 25 us without scaling, endpoint target 100 us, ai 1, β 0.8, at most half.
fn params(initial_cwnd: f64) -> SwiftParams {
    SwiftParams {
        initial_cwnd: Some(initial_cwnd),
        initial_rto: Some(Span::from_ms(1)),
        flow_scaling: false,
        topology_scaling: false,
        rto_backoff: 0,
        beta: 0.8,
        fs_range: Span::from_us(75),
        fs_min_cwnd: 0.015,
        min_cwnd: 0.001,
        endpoint_min_cwnd: 0.001,
        gap_limit: Span::from_secs(1000),
        gap_limit_max: Span::from_secs(1000),
        min_rto: Span::from_us(250),
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
         at 1000us timeout; expect timeouts 1; expect window 8; expect inflight 15; expect timeout-us -1
         # One packet asks, though 15 are under way; its acknowledgement would tell whether they are lost.
         send 1; expect idle; expect retransmissions 1; expect timeout-us 2000
         at 2000us timeout; expect window 4; send 1
         at 3000us timeout; expect window 0.001; expect timeouts 3",
    );
}

/// Parameters with a limit of 12 ms to the gap, which evidence raises to 400 ms at most.
fn limited(initial_cwnd: f64) -> SwiftParams {
    SwiftParams {
        gap_limit: Span::from_ms(12),
        gap_limit_max: Span::from_ms(400),
        min_rto: Span::from_secs(1),
        ..params(initial_cwnd)
    }
}

#[test]
fn a_flow_at_the_floor_sends_soon_after_its_peer_returns() {
    run(
        &SwiftParams { min_rto: Span::from_ms(1), ..limited(16.0) },
        "at 0us endless; send 16
         at 1000us timeout; send 1
         at 2000us timeout; send 1
         # Before a sample the round trip is taken for the target: 25 us over 0.001 packets is 25 ms, and the limit is
         # half of 12 ms at least.
         at 3000us timeout; expect window 0.001; expect paced 8ms
         # The timeout is that of a packet under way: the gap is no part of it.
         at 8ms send 1; expect sent-seq 0; expect idle; expect timeout-us 9000
         at 9ms timeout; expect paced 14ms
         at 14ms send 1; expect sent-seq 0
         # The peer was stopped until now. A round trip of 50 ms over 0.001 packets would be 50 s.
         at 64ms ack 0; expect window 0.001; expect srtt-us 50000; expect ready; send 1; expect sent-seq 1
         # A probe under target ends it: 0.001 + 1.
         at 64020us ack 1; expect window 1.001; expect ready",
    );
}

#[test]
fn no_timer_runs_while_a_spaced_probe_has_not_left() {
    run(
        &SwiftParams { min_rto: Span::from_ms(1), ..limited(16.0) },
        "at 0us endless; send 16
         at 1000us timeout; send 1
         at 2000us timeout; send 1
         at 3000us timeout; expect window 0.001; expect paced 8ms; expect timeout-us -1
         # An acknowledgement of what was sent first says nothing of the probe, and the timer is the probe's.
         at 4ms ack 1; expect inflight 14; expect timeout-us -1
         at 14ms timeout; expect timeouts 3; send 1; expect sent-seq 0; expect inflight 15; expect timeout-us 22000",
    );
}

#[test]
fn a_gap_is_drawn_between_half_of_its_limit_and_all() {
    let spaced = |at: &str, expected: &str| {
        run(&limited(0.2), &format!("at 1ms endless; send 1; at {at} ack 0; expect {expected}"));
    };
    // 50 us over 0.2 * (1 - 0.8 * 0.5) packets: no limit holds.
    spaced("1050us", "fcwnd 0.12; expect paced 1416666666ps");
    // 5 ms over 0.1 packets are 50 ms: between 6 and 12 ms, each round trip for another, from the sending at 1 ms.
    spaced("6ms", "fcwnd 0.1; expect paced 11496845444ps");
    spaced("6001us", "fcwnd 0.1; expect paced 11429344813ps");
    run(&params(0.2), "at 1ms endless; send 1; at 6ms ack 0; expect fcwnd 0.1; expect paced 51ms");
}

#[test]
fn a_packet_spaced_at_the_limit_that_meets_four_targets_of_delay_raises_it() {
    let raised = |rtt: &str, expected: &str| {
        // The first acknowledgement makes the limit hold; it was not spaced itself, and raises nothing.
        let first = "at 1ms endless; send 1; at 6ms ack 0; expect paced 11496845444ps; at 20ms send 1";
        run(&limited(0.2), &format!("{first}; at {rtt} ack 1; expect paced {expected}ps"));
    };
    // 101 us are above four targets of 25 us: 12 ms become 15. 100 us are not.
    raised("20101us", "33978045347");
    raised("20100us", "31249936908");
}

#[test]
fn a_round_trip_below_the_target_takes_the_limit_back() {
    run(
        &limited(0.2),
        "at 1ms endless; send 1; at 6ms ack 0; at 20ms send 1; at 20101us ack 1; expect paced 33978045347ps
         # Two more packets raise it to 18.75 and 23.4375 ms.
         at 60ms send 1; at 60102us ack 2; expect paced 77367086948ps
         # 24 us: the window is 1.0025 and a limit of 15 ms waits for it to fall.
         at 100ms send 1; at 100024us ack 3; expect ready",
    );
}

#[test]
fn an_acknowledgement_starts_the_count_of_timeouts_anew() {
    run(
        &SwiftParams { min_rto: Span::from_ms(1), ..params(16.0) },
        "at 0us endless; send 16
         at 1000us timeout; expect window 8; send 1
         at 2000us timeout; expect window 4; send 1
         # All others are lost, as they were sent before packet 0 was sent again.
         at 2020us ack 0; expect fcwnd 4.25; expect timeout-us -1; send 4; expect timeout-us 3020
         at 3020us timeout; expect timeouts 3; expect fcwnd 2.125; send 1
         at 4020us timeout; expect fcwnd 1.0625",
    );
}

#[test]
fn a_timeout_is_that_of_a_packet_under_way_without_the_pacing_gap() {
    run(&params(0.5), "at 0us endless; send 1; expect timeout-us 1000");
    // 2 * 200 us from the next sending; the gap is 200/0.4 us.
    run(
        &params(0.8),
        "at 0us endless; send 1
         at 200us ack 0; expect fcwnd 0.4; expect timeout-us -1; expect paced 500us
         at 500us send 1; expect timeout-us 900
         # A lost packet is sent again when the spacing lets it.
         at 900us timeout; expect timeouts 1; expect fcwnd 0.2; expect paced 1500us",
    );
}

#[test]
fn the_timeout_of_rfc_6298_knows_how_much_round_trips_vary() {
    let params = SwiftParams { rto_rule: RtoRule::Rfc6298, min_rto: Span::from_us(1), ..params(4.0) };
    run(
        &params,
        "at 0us endless; send 4; expect timeout-us 1000
         # The first sample is 20 us, its deviation half of that: 20 + 4 * 10.
         at 20us ack 0; expect srtt-us 20; expect timeout-us 80
         # The deviation takes a quarter of |20 - 40| and keeps three of 10: 12.5; the round trip a quarter of 40: 25.
         at 40us ack 1; expect srtt-us 25; expect timeout-us 115",
    );
    let twice = SwiftParams { rto_rule: RtoRule::TwiceSrtt, ..params };
    // The last round trip of 40 us is longer than the smoothed one of 25, and one of 20 us is shorter than that of 50.
    run(&twice, "at 0us endless; send 4; at 20us ack 0; at 40us ack 1; expect timeout-us 120");
    run(
        &twice,
        "at 0us endless; send 1; at 60us ack 0; send 1; at 80us ack 1; expect srtt-us 50; send 1; expect timeout-us 180",
    );
}

#[test]
fn a_timer_that_was_early_costs_one_packet_and_no_second_one() {
    run(
        &SwiftParams { min_rto: Span::from_us(50), ..params(16.0) },
        "at 0us endless; send 4; stop
         at 1000us timeout; send 1; expect idle; expect sent-seq 0
         # What was sent first comes after all, and then the copy of packet 0.
         at 1100us ack 1; ack 2; ack 3; expect idle; expect inflight 1; expect retransmissions 1
         at 1120us ack 0; expect inflight 0; expect retransmissions 1; expect timeout-us -1",
    );
}

#[test]
fn the_endpoint_window_has_a_floor_of_its_own() {
    let expect = |endpoint_min_cwnd, expected: &str| {
        let params = SwiftParams { min_cwnd: 0.1, endpoint_min_cwnd, ..params(0.8) };
        // Of 220 us all but 20 are the hosts', twice the endpoint's target: 0.8 * (1 - 0.8 * 0.5).
        run(&params, &format!("at 0us endless; send 1; at 220us ack 0 remote 200us; {expected}"));
    };
    expect(0.6, "expect ecwnd 0.6");
    expect(0.001, "expect ecwnd 0.48");
}

#[test]
fn timeouts_in_a_row_double_the_next_up_to_a_bound_until_an_acknowledgement() {
    run(
        &SwiftParams { rto_backoff: 2, retx_reset_threshold: 10, min_cwnd: 2.0, ..params(2.0) },
        "at 0us endless; send 2
         at 20us ack 0; expect timeout-us 270
         at 270us timeout; send 2; expect timeout-us 770
         at 770us timeout; send 1; expect timeout-us 1770
         at 1770us timeout; send 1; expect timeout-us 2770
         at 1790us ack 1; expect timeout-us -1; send 1; expect timeout-us 2040",
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
