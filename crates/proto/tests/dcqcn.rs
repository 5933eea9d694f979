//! DCQCN against its own arithmetic: the rate after a number of notifications, alpha in quiet, and the way back to the target.

use clearway_proto::baseline::rdma::control::{Congestion, CongestionParams};
use clearway_proto::baseline::rdma::dcqcn::{DcqcnParams, DcqcnSet};
use clearway_proto::baseline::rdma::reaction_point::{DcqcnConfig, ReactionPoint};
use clearway_proto::baseline::rdma::roce::{RecoveryKind, RoceParams};
use clearway_proto::machine::Readiness;
use clearway_proto::transport::{Ack, Arrival, Data, Path, Receiver, Scheme};
use clearway_proto::units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const LINE: f64 = 10e9;
const FRAME: Bytes = Bytes::new(1250);
/// Gain of the paper (g).
const G: f64 = 1.0 / 256.0;

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn config(params: &DcqcnParams) -> DcqcnConfig {
    DcqcnConfig::new(params, Path::new(FRAME, Rate::from_gbps(10)))
}

fn paper() -> DcqcnParams {
    DcqcnSet::Paper.params()
}

/// Returns a reaction point that was told of congestion `times` times, every 50 us from the start on.
fn told(config: &DcqcnConfig, times: u64) -> ReactionPoint {
    let mut point = ReactionPoint::new(config, Time::ZERO);
    for number in 0..times {
        point.on_notification(config, us(50 * number));
    }
    point
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

#[test]
fn n_notifications_halve_the_rate_n_times_while_alpha_is_one() {
    let config = config(&paper());
    for n in 1..=9 {
        let point = told(&config, n);
        near(point.rate(), LINE / 2_f64.powi(n as i32));
        near(point.target(), LINE / 2_f64.powi(n as i32 - 1));
        // A frame of 1250 bytes takes 1 us at line rate.
        assert_eq!(point.gap(), Span::from_us(1 << n));
    }
    near(told(&config, 30).rate(), 10e6);
}

#[test]
fn alpha_nears_one_by_its_gain_and_each_cut_is_half_of_it() {
    let start = 0.1;
    let config = config(&DcqcnParams { initial_alpha: start, ..paper() });
    let mut expected = LINE;
    for n in 1..=20 {
        let before = 1.0 - (1.0 - start) * (1.0 - G).powi(n - 1);
        expected *= 1.0 - before / 2.0;
        let point = told(&config, n as u64);
        near(point.rate(), expected);
        near(point.alpha(), 1.0 - (1.0 - start) * (1.0 - G).powi(n));
    }
}

#[test]
fn alpha_falls_by_its_gain_for_every_55_us_of_quiet() {
    for (quiet_us, periods) in [(54, 0), (55, 1), (109, 1), (110, 2), (5500, 100), (55_000_000, 1_000_000)] {
        // No way back up, so that only alpha shows.
        let still =
            DcqcnParams { increase_timer: Span::from_secs(1000), byte_counter: Bytes::new(0), ..paper() };
        let config = config(&still);
        let mut point = told(&config, 1);
        point.on_notification(&config, us(quiet_us));
        let alpha = (1.0 - G).powi(periods);
        assert!((point.rate() / (LINE / 2.0 * (1.0 - alpha / 2.0)) - 1.0).abs() < 1e-9, "{quiet_us}");
        assert!((point.alpha() - (alpha * (1.0 - G) + G)).abs() < 1e-9, "{quiet_us}");
    }
}

#[test]
fn fast_recovery_halves_the_way_to_the_target_five_times() {
    let config = config(&DcqcnParams { byte_counter: Bytes::new(0), ..paper() });
    // From the second notification on, at 50 us: a quarter of the line's rate, and half of it for the target.
    for steps in 0..=5_u64 {
        let mut point = told(&config, 2);
        assert_eq!(point.poll_timer(), Some(us(105)));
        point.advance(&config, us(50 + 55 * steps));
        near(point.target(), LINE / 2.0);
        near(point.rate(), LINE / 2.0 * (1.0 - 2_f64.powi(-1 - steps as i32)));
        assert_eq!(point.poll_timer(), Some(us(105 + 55 * steps)));
    }
}

#[test]
fn additive_increase_takes_the_target_back_to_the_line_in_the_time_that_arithmetic_says() {
    // The byte counter never turns, so hyper increase never begins, which needs both.
    let config = config(&paper());
    let steps = 5 + (LINE / 2.0 / 40e6) as u64;
    let mut point = told(&config, 2);
    point.advance(&config, us(50 + 55 * (steps - 1)));
    near(point.target(), LINE - 40e6);
    // What the rate lacks of the target nears R_AI: half of it is made up each time, and R_AI added.
    assert!((LINE - 80e6 - point.rate()).abs() < 1e-3, "{}", point.rate());
    point.advance(&config, us(50 + 55 * steps));
    near(point.target(), LINE);
    assert!((LINE - 40e6 - point.rate()).abs() < 1e-3, "{}", point.rate());
    // Halved from there on, until a clock of picoseconds sees no difference: 40 Mb/s are 4e-3 of the line, and one picosecond
    // in a frame's microsecond is 1e-6.
    point.advance(&config, us(50 + 55 * (steps + 11)));
    assert!(point.rate() < LINE && point.poll_timer().is_some());
    point.advance(&config, us(50 + 55 * (steps + 12)));
    assert_eq!((point.rate(), point.gap(), point.poll_timer()), (LINE, Span::from_us(1), None));
}

#[test]
fn without_a_byte_counter_hyper_increase_follows_one_additive_step() {
    let config = config(&DcqcnParams { byte_counter: Bytes::new(0), ..paper() });
    let mut point = told(&config, 4);
    near(point.target(), LINE / 8.0);
    for (steps, raised) in [(5, 0.0), (6, 40e6), (7, 440e6), (10, 1640e6)] {
        point.advance(&config, us(150 + 55 * steps));
        near(point.target(), LINE / 8.0 + raised);
    }
}

#[test]
fn bytes_count_as_time_does_and_hyper_increase_needs_both() {
    let each = 100_000;
    let slow = Span::from_ms(1);
    let params = DcqcnParams { byte_counter: Bytes::new(u64::from(each)), increase_timer: slow, ..paper() };
    let config = config(&params);
    let mut point = told(&config, 2);
    let now = us(50);
    for steps in 1..=5 {
        (0..each / 1000).for_each(|_| point.on_sent(&config, 1000));
        near(point.rate(), LINE / 2.0 * (1.0 - 2_f64.powi(-1 - steps)));
    }
    for steps in 1..=3 {
        point.on_sent(&config, each);
        near(point.target(), LINE / 2.0 + 40e6 * f64::from(steps));
    }
    // Six ticks of the timer, and the steps of both exceed five.
    point.advance(&config, now + slow * 6);
    near(point.target(), LINE / 2.0 + 40e6 * 9.0);
    point.on_sent(&config, each);
    near(point.target(), LINE / 2.0 + 40e6 * 9.0 + 400e6);
    // A cut begins anew.
    point.on_notification(&config, now + slow * 6);
    let after = point.target();
    point.on_sent(&config, each);
    near(point.target(), after);
}

#[test]
fn mellanox_cuts_every_4_us_from_the_first_notification_on_and_keeps_the_target_of_cuts_in_a_row() {
    let config = config(&DcqcnSet::Mellanox.params());
    let g: f64 = 5.0 / 1024.0;
    let mut point = ReactionPoint::new(&config, us(10));
    point.on_notification(&config, us(10));
    point.on_notification(&config, us(11));
    point.on_notification(&config, us(13));
    near(point.rate(), LINE);
    assert_eq!(point.poll_timer(), Some(us(14)));
    point.advance(&config, us(14));
    // Of the four microseconds, all but the third had a notification.
    let up = |alpha: f64| (1.0 - g) * alpha + g;
    let alpha = up((1.0 - g) * up(up(1023.0 / 1024.0)));
    let first = LINE * (1.0 - alpha / 2.0);
    near(point.rate(), first);
    // One that comes in an instant of the grid counts for the next.
    point.on_notification(&config, us(18));
    assert_eq!(point.poll_timer(), Some(us(22)));
    point.advance(&config, us(22));
    assert!(point.rate() < 0.52 * first, "{}", point.rate());
    near(point.target(), LINE);
    // One step of the timer, and the next cut takes the rate before it for its target.
    point.advance(&config, us(322));
    let before = point.rate();
    point.on_notification(&config, us(323));
    near(point.rate(), before);
    assert_eq!(point.poll_timer(), Some(us(326)));
    point.advance(&config, us(326));
    near(point.target(), before);
}

#[test]
fn mellanox_moves_alpha_once_a_microsecond_up_if_it_was_told() {
    let g: f64 = 5.0 / 1024.0;
    let still = DcqcnParams { decrease_interval: Span::from_secs(1), ..DcqcnSet::Mellanox.params() };
    let config = config(&still);
    let mut point = ReactionPoint::new(&config, Time::ZERO);
    let mut alpha = 1023.0 / 1024.0;
    // Told at the start of every fourth microsecond: one period up, three down.
    for round in 0..200 {
        point.on_notification(&config, us(4 * round));
        if round > 0 {
            alpha = ((1.0 - g) * alpha + g) * (1.0 - g).powi(3);
        }
        near(point.alpha(), alpha);
    }
}

proptest! {
    /// When it is asked makes no difference.
    #[test]
    fn a_rate_is_the_same_however_often_it_is_asked(
        notified_us in proptest::collection::vec(0_u64..3000, 1..40),
        asked_us in proptest::collection::vec(0_u64..4000, 0..40),
        mellanox: bool,
    ) {
        let set = if mellanox { DcqcnSet::Mellanox } else { DcqcnSet::Paper };
        let config = config(&set.params());
        let mut calls: Vec<(u64, bool)> = notified_us.iter().map(|&at| (at, true)).collect();
        calls.extend(asked_us.iter().map(|&at| (at, false)));
        calls.sort_unstable();
        let (mut often, mut seldom) =
            (ReactionPoint::new(&config, Time::ZERO), ReactionPoint::new(&config, Time::ZERO));
        for (at, notified) in calls {
            if notified {
                often.on_notification(&config, us(at));
                seldom.on_notification(&config, us(at));
            } else {
                often.advance(&config, us(at));
            }
        }
        often.advance(&config, us(4000));
        seldom.advance(&config, us(4000));
        prop_assert_eq!(often.rate(), seldom.rate());
        prop_assert_eq!(often.target(), seldom.target());
        prop_assert!(often.rate() <= often.target() && often.target() <= LINE && often.rate() >= 1e6);
    }
}

fn roce(recovery: RecoveryKind) -> RoceParams {
    let congestion = CongestionParams { congestion: Congestion::Dcqcn, ..CongestionParams::default() };
    RoceParams { recovery, congestion, ..RoceParams::default() }
}

/// Returns what the receiver says to a packet that comes at this time.
fn arrive(receiver: &mut impl Receiver, at_us: u64, seq: u32, marked: bool) -> (Arrival, Vec<Ack>) {
    let data = Data { seq, payload: 1000, last: false, sent: Time::ZERO };
    let arrival = receiver.handle_data(us(at_us), us(at_us), &data, marked, 3);
    let mut said = Vec::new();
    while receiver.readiness() == Readiness::Ready {
        said.push(receiver.transmit(us(at_us)));
    }
    (arrival, said)
}

#[test]
fn a_receiver_notifies_at_once_and_then_at_most_every_50_us() {
    for recovery in [RecoveryKind::GoBackN, RecoveryKind::SelectiveRepeat] {
        let mut receiver = roce(recovery).receiver();
        let marks = [(0, false), (1, true), (2, true), (50, true), (51, true), (90, false), (200, true)];
        let mut notified = Vec::new();
        for (seq, (at_us, marked)) in (0..).zip(marks) {
            let (_, said) = arrive(&mut receiver, at_us, seq, marked);
            assert!(!said.last().expect("an acknowledgement").is_notification());
            if said[0].is_notification() {
                notified.push((at_us, said.len()));
            }
        }
        assert_eq!(notified, [(1, 2), (51, 2), (200, 2)]);
    }
}

#[test]
fn a_packet_that_is_thrown_away_tells_of_congestion_all_the_same() {
    let mut receiver = roce(RecoveryKind::GoBackN).receiver();
    let (arrival, said) = arrive(&mut receiver, 0, 1, false);
    assert_eq!((arrival, said.len()), (Arrival::OutOfOrder, 1));
    let (arrival, said) = arrive(&mut receiver, 1, 2, true);
    assert_eq!((arrival, said.len()), (Arrival::OutOfOrder, 1));
    assert!(said[0].is_notification());
}

#[test]
fn only_who_has_dcqcn_is_marked_and_notified() {
    assert!(roce(RecoveryKind::GoBackN).ecn_capable());
    let deaf = RoceParams::default();
    assert!(!deaf.ecn_capable());
    let (_, said) = arrive(&mut deaf.receiver(), 0, 0, true);
    assert!(said.iter().all(|ack| !ack.is_notification()));
}
