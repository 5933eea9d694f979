//! HPCC against numbers worked out by hand: one link, two links, additive steps, and one reference window a round trip.
//!
//! A packet of 1250 bytes takes 1 us at 10 Gb/s, so with T = 10 us the first window is of ten packets and a 10 Gb/s link
//! holds 12500 bytes. `W_AI` is a tenth of a packet.

use clearway_proto::baseline::rdma::hpcc::{Hpcc, HpccParams, HpccShared};
use clearway_proto::machine::Readiness;
use clearway_proto::transport::{
    Ack, CongestionControl, Data, HopRecords, Path, PortState, Receiver, Scheme, Telemetry,
};
use clearway_proto::units::{Bytes, Rate, Span, Time};

fn path() -> Path {
    Path::new(Bytes::new(1250), Rate::from_gbps(10)).with_base_rtt(Span::from_us(10))
}

fn params() -> HpccParams {
    HpccParams { wai: Bytes::new(125), ..HpccParams::default() }
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A port's record: its link and the rate of that in Gb/s, then at `time` what waits there and what it has sent.
fn record(link: u32, gbps: u64, (time, queued, sent): (u64, u64, u64)) -> PortState {
    PortState {
        link,
        rate: Rate::from_gbps(gbps),
        queued: Bytes::new(queued),
        sent: Bytes::new(sent),
        time: us(time),
    }
}

fn told(records: &[PortState]) -> HopRecords {
    let mut telemetry = HopRecords::default();
    for port in records {
        telemetry.write(port);
    }
    telemetry
}

/// What one link of 10 Gb/s tells.
fn one_link(time: u64, queued: u64, sent: u64) -> HopRecords {
    told(&[record(1, 10, (time, queued, sent))])
}

/// A control that has been told the first state of its path, when packets up to the tenth had been sent.
fn begun(shared: &HpccShared, first: &HopRecords) -> Hpcc {
    let mut control = Hpcc::new(shared);
    assert_eq!(control.windows(shared).cwnd, 10.0);
    control.on_telemetry(shared, Time::ZERO, first, 1, 10);
    assert_eq!((control.windows(shared).cwnd, control.utilization()), (10.0, 1.0));
    control
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

#[test]
fn one_link_is_brought_to_eta() {
    let shared = params().shared(path());
    let mut control = begun(&shared, &one_link(0, 2500, 0));
    // The lesser of the two queues, 2500 of 12500 bytes, and all of the rate: 1.2.
    control.on_telemetry(&shared, Time::ZERO, &one_link(10, 5000, 12_500), 11, 20);
    near(control.utilization(), 1.2);
    let reference = 10.0 / (1.2 / 0.95) + 0.1;
    near(control.reference(), reference);
    near(control.windows(&shared).cwnd, reference);
    // No queue and half of the rate over half of a base round trip: U = (1.2 + 0.5) / 2.
    control.on_telemetry(&shared, Time::ZERO, &one_link(15, 0, 15_625), 12, 21);
    near(control.utilization(), 0.85);
    near(control.windows(&shared).cwnd, reference + 0.1);
    near(control.reference(), reference);
    // Packets leave at W/T, and W of a flow in full packets is rounded up.
    let gap = control.pacing_gap(&shared).expect("the rate is below the NIC's");
    assert_eq!(gap, Span::from_us(10).scaled(1.0 / (reference + 0.1)));
    assert_eq!(control.window(&shared), 9.0);
    near(control.windows(&shared).rate, (reference + 0.1) * 1e9);
}

#[test]
fn the_fullest_of_two_links_counts_and_the_time_over_which_it_was_measured() {
    let shared = HpccParams { eta: 0.9, ..params() }.shared(path());
    let first = told(&[record(1, 10, (0, 0, 0)), record(2, 40, (1, 9000, 0))]);
    let mut control = begun(&shared, &first);
    // The first link carries half of what it can in 10 us. The second, which holds 50000 bytes, has 5000 queued and carries
    // 20000 of 25000 bytes in 5 us: 0.9, which counts for half of U.
    let then = told(&[record(1, 10, (10, 0, 6250)), record(2, 40, (6, 5000, 20_000))]);
    control.on_telemetry(&shared, Time::ZERO, &then, 11, 20);
    near(control.utilization(), 0.95);
    near(control.reference(), 10.0 / (0.95 / 0.9) + 0.1);
}

#[test]
fn no_window_is_larger_than_the_first_which_needs_no_spacing() {
    let shared = params().shared(path());
    let mut control = begun(&shared, &one_link(0, 0, 0));
    control.on_telemetry(&shared, Time::ZERO, &one_link(10, 0, 1250), 11, 20);
    assert_eq!((control.windows(&shared).cwnd, control.stage()), (10.0, 1));
    assert_eq!(control.pacing_gap(&shared), Some(Span::ZERO));
}

#[test]
fn after_max_stage_additive_steps_comes_a_multiplicative_one() {
    let shared = HpccParams { max_stage: 2, ..params() }.shared(path());
    let mut control = begun(&shared, &one_link(0, 12_500, 0));
    control.on_telemetry(&shared, Time::ZERO, &one_link(10, 12_500, 12_500), 11, 20);
    near(control.reference(), 10.0 / (2.0 / 0.95) + 0.1);
    // The link is half used from here on.
    let mut tell = |time: u64, cumulative, next| {
        let sent = 12_500 + (time - 10) * 625;
        control.on_telemetry(&shared, Time::ZERO, &one_link(time, 0, sent), cumulative, next);
        (control.reference(), control.stage())
    };
    let near = |(found, stage): (f64, u32), expected: (f64, u32)| {
        near(found, expected.0);
        assert_eq!(stage, expected.1);
    };
    near(tell(20, 21, 25), (4.95, 1));
    // Within the round trip the reference stays, and no step is counted.
    near(tell(30, 24, 28), (4.95, 1));
    near(tell(40, 25, 29), (4.95, 1));
    near(tell(50, 26, 30), (5.05, 2));
    near(tell(60, 31, 35), (5.05 / (0.5 / 0.95) + 0.1, 0));
    near(tell(70, 36, 45), (5.05 / (0.5 / 0.95) + 0.2, 1));
}

#[test]
fn a_new_path_begins_anew_and_what_was_overtaken_is_passed_over() {
    let shared = params().shared(path());
    let mut control = begun(&shared, &one_link(0, 0, 0));
    control.on_telemetry(&shared, Time::ZERO, &one_link(10, 12_500, 12_500), 11, 20);
    let before = (control.utilization(), control.reference(), control.windows(&shared).cwnd);
    let now = |control: &Hpcc| (control.utilization(), control.reference(), control.windows(&shared).cwnd);
    // Written before what the last acknowledgement gave back.
    control.on_telemetry(&shared, Time::ZERO, &one_link(9, 0, 12_000), 21, 30);
    assert_eq!(now(&control), before);
    // Over another link: only how it stands is noted.
    let other = |time, sent| told(&[record(2, 10, (time, 12_500, sent))]);
    control.on_telemetry(&shared, Time::ZERO, &other(20, 0), 21, 30);
    assert_eq!(now(&control), before);
    control.on_telemetry(&shared, Time::ZERO, &other(30, 12_500), 22, 31);
    near(control.utilization(), 2.0);
    near(control.reference(), before.1 / (2.0 / 0.95) + 0.1);
}

#[test]
fn the_base_round_trip_is_the_paths_unless_one_is_given() {
    let window = |params: HpccParams, path: Path| {
        let shared = params.shared(path);
        Hpcc::new(&shared).windows(&shared)
    };
    assert_eq!(window(params(), path()).cwnd, 10.0);
    let given = HpccParams { base_rtt: Some(Span::from_us(20)), ..params() };
    assert_eq!(window(given, path()).cwnd, 20.0);
    // Nobody knows the path: the paper's 13 us.
    let unknown = window(params(), Path::new(Bytes::new(1250), Rate::from_gbps(10)));
    assert_eq!(unknown.cwnd, 13.0);
    near(unknown.rate, 10e9);
}

#[test]
fn a_sender_passes_on_what_its_acknowledgements_give_back() {
    let mut sender = params().sender(1250, path());
    let mut receiver = params().receiver();
    sender.handle_endless();
    let mut packets: Vec<Data> = Vec::new();
    while sender.readiness(Time::ZERO) == Readiness::Ready {
        packets.push(sender.transmit(Time::ZERO));
    }
    assert_eq!(packets.len(), 10);
    let mut answer = |data: &Data| -> Ack {
        receiver.handle_data(us(5), us(5), data, false, 1);
        receiver.transmit(us(5))
    };
    for (seq, telemetry) in [one_link(0, 12_500, 0), one_link(10, 12_500, 12_500)].iter().enumerate() {
        let ack = answer(&packets[seq]);
        sender.handle_telemetry(us(10), &ack, telemetry);
        sender.handle_ack(us(10), us(10), &ack);
    }
    near(sender.control().utilization(), 2.0);
    // Acknowledgements that cannot be are not believed.
    let false_ack = Ack { seq: 90, cumulative: 91, ..answer(&packets[2]) };
    sender.handle_telemetry(us(10), &false_ack, &one_link(20, 0, 12_501));
    near(sender.control().utilization(), 2.0);
    // Half of the window is given up: nothing is sent before enough is acknowledged, and then at half of the rate.
    assert_eq!(sender.readiness(us(10)), Readiness::Idle);
    for data in &packets[3..=5] {
        let ack = answer(data);
        sender.handle_ack(us(10), us(10), &ack);
    }
    assert_eq!(sender.flight().inflight, 4);
    assert_eq!(sender.readiness(us(10)), Readiness::Ready);
    sender.transmit(us(10));
    let window = 10.0 / (2.0 / 0.95) + 0.1;
    assert_eq!(sender.readiness(us(10)), Readiness::Idle, "five packets of a window of 4.85");
    near(sender.windows().cwnd, window);
}
