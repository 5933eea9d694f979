//! Lanes driven by hand: a link of 1 Gb/s, on which a full frame takes some 12 us.

use super::*;
use crate::relay::figures::Refused;
use clearway_proto::pfc::frame::PfcFrame;
use clearway_proto::units::Rate;

mod late;

const R: u64 = 1_000_000_000;
const SOURCES: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn params(priorities: usize) -> RelayParams {
    RelayParams {
        rate: Rate::from_bps(R),
        priorities,
        xoff: Bytes::new(6_000),
        xon: Bytes::new(3_000),
        local_buffer: Bytes::new(12_000),
        remote_buffer: Bytes::new(30_000),
        ..RelayParams::default()
    }
}

fn lanes(priorities: &[u8]) -> Lanes {
    Lanes::new(&params(priorities.len()), priorities, Span::from_ms(100), Span::from_ms(2), SOURCES)
}

/// A frame of traffic with a number in it, of 1476 bytes: 1500 on the wire.
fn numbered(number: u8) -> Vec<u8> {
    let mut frame = vec![0; 1476];
    (frame[12], frame[14], frame[15], frame[20]) = (0x08, 0x45, 3 << 5, number);
    frame
}

/// All that leaves on a port now: numbers of frames, and PFC frames.
fn sent(lanes: &mut Lanes, port: Port, now: Time) -> (Vec<u8>, Vec<PfcFrame>) {
    let (mut frames, mut said) = (Vec::new(), Vec::new());
    while lanes.transmit(port, now, |frame| {
        match PfcFrame::parse(frame) {
            Ok(pfc) => said.push(pfc),
            Err(_) => frames.push(frame[20]),
        }
        true
    }) {}
    (frames, said)
}

/// A PFC frame that came some time before it is read.
fn pause_late(lanes: &mut Lanes, port: Port, priority: usize, quanta: u16, arrived: Time, now: Time) {
    lanes.obey(port, &PfcFrame::of(priority, quanta).to_bytes([9; 6]), arrived, now);
}

fn pause(lanes: &mut Lanes, port: Port, priority: usize, quanta: u16, now: Time) {
    pause_late(lanes, port, priority, quanta, now, now);
}

#[test]
fn what_waits_leaves_in_order_at_the_rate_of_the_link() {
    let mut lanes = lanes(&[3]);
    pause(&mut lanes, Port::Remote, 3, LONGEST, us(0));
    (0..4).for_each(|number| lanes.store(Port::Local, 3, &numbered(number), us(1)));
    assert_eq!(sent(&mut lanes, Port::Remote, us(100)).0, [0_u8; 0]);
    assert_eq!(lanes.lanes(Port::Local, us(100)).next().unwrap().1.waiting, 6000);
    pause(&mut lanes, Port::Remote, 3, 0, us(10_000));
    // A link that may not be sent on is not idle: nothing is made up for.
    let at = us(10_000);
    assert_eq!(sent(&mut lanes, Port::Remote, at).0, [0]);
    assert_eq!(lanes.poll_timeout(at), at + Span::from_us(12));
    assert_eq!(sent(&mut lanes, Port::Remote, at + Span::from_us(36)).0, [1, 2, 3]);
    // What comes when nothing waits finds a link that was idle for 200 us: 16.7 frames, and the 17th begins in that time.
    let at = us(20_000);
    let mut left = 0;
    for _ in 0..3 {
        (0..8).for_each(|number| lanes.store(Port::Local, 3, &numbered(number), at));
        left += sent(&mut lanes, Port::Remote, at).0.len();
    }
    assert_eq!(left, 17);
    assert_eq!(lanes.poll_timeout(at), at + Span::from_us(4));
}

#[test]
fn a_pause_of_the_switch_is_obeyed_and_goes_on_to_the_far_relay() {
    let mut lanes = lanes(&[3, 4]);
    pause(&mut lanes, Port::Local, 4, 700, us(5));
    let (_, said) = sent(&mut lanes, Port::Remote, us(5));
    assert_eq!(said, [PfcFrame::of(4, 700)]);
    lanes.store(Port::Remote, 4, &numbered(4), us(6));
    lanes.store(Port::Remote, 3, &numbered(3), us(6));
    assert_eq!(sent(&mut lanes, Port::Local, us(6)), (vec![3], vec![]), "the other priority is not paused");
    // 700 quanta last 358.4 us.
    assert_eq!(sent(&mut lanes, Port::Local, us(300)).0, [0_u8; 0]);
    assert_eq!(sent(&mut lanes, Port::Local, us(364)).0, [4]);
    let of = lanes.port(Port::Local);
    assert_eq!((of.pauses_received, of.resumes_received), (1, 0));
    assert_eq!(lanes.port(Port::Remote).pauses_sent, 1);
}

#[test]
fn the_switch_is_told_to_pause_and_to_resume_and_what_finds_no_room_is_counted() {
    let mut lanes = lanes(&[3]);
    pause(&mut lanes, Port::Remote, 3, LONGEST, us(0));
    for number in 0..9 {
        lanes.store(Port::Local, 3, &numbered(number), us(1));
        let (_, said) = sent(&mut lanes, Port::Local, us(1));
        let expected = if number == 4 { vec![PfcFrame::of(3, LONGEST)] } else { vec![] };
        assert_eq!(said, expected, "frame {number}: the fifth is the first above 6000 bytes");
    }
    assert_eq!(lanes.port(Port::Local).refused.overflow, 1, "eight fit 12000 bytes");
    pause(&mut lanes, Port::Remote, 3, 0, us(2000));
    let mut at = us(2000);
    let mut said = Vec::new();
    for _ in 0..40 {
        sent(&mut lanes, Port::Remote, at);
        said.extend(sent(&mut lanes, Port::Local, at).1);
        at = at + Span::from_us(6);
    }
    assert_eq!(said, [PfcFrame::of(3, 0)]);
}

#[test]
fn a_lane_is_opened_when_nothing_of_it_has_waited_for_a_while() {
    let mut lanes = lanes(&[3]);
    assert!(lanes.openable(us(0)).is_empty());
    pause(&mut lanes, Port::Remote, 3, LONGEST, us(0));
    lanes.store(Port::Local, 3, &numbered(0), us(1));
    assert!(lanes.openable(us(10)).is_empty(), "its port is paused");
    pause(&mut lanes, Port::Remote, 3, 0, us(100));
    assert!(lanes.openable(us(100)).is_empty(), "a frame waits");
    assert_eq!(sent(&mut lanes, Port::Remote, us(100)).0, [0]);
    assert_eq!(lanes.openable(us(101)), [(Port::Local, 3, Want::Note)]);
    assert!(lanes.openable(us(102)).is_empty());
    assert_eq!(lanes.poll_timeout(us(102)), us(101) + LINGERS);
    assert_eq!(lanes.openable(us(1102)), [(Port::Local, 3, Want::Open)]);
    // The kernel says that something has come since: all begins anew.
    lanes.opened(Port::Local, 3, false);
    assert_eq!(lanes.openable(us(1103)), [(Port::Local, 3, Want::Note)]);
    lanes.store(Port::Local, 3, &numbered(1), us(1104));
    assert_eq!(sent(&mut lanes, Port::Remote, us(1104)).0, [1]);
    assert_eq!(lanes.openable(us(2200)), [(Port::Local, 3, Want::Note)]);
    // A PAUSE in between, too.
    pause(&mut lanes, Port::Remote, 3, 1, us(2300));
    assert_eq!(lanes.openable(us(3300)), [(Port::Local, 3, Want::Note)]);
    assert_eq!(lanes.openable(us(4400)), [(Port::Local, 3, Want::Open)]);
    lanes.opened(Port::Local, 3, true);
    assert!(lanes.openable(us(9999)).is_empty());
}

#[test]
fn one_that_leaves_pauses_both_neighbours_and_lets_them_go_on_at_the_end() {
    let mut lanes = lanes(&[0, 7]);
    pause(&mut lanes, Port::Remote, 7, LONGEST, us(0));
    lanes.store(Port::Local, 7, &numbered(1), us(1));
    lanes.leave(us(2));
    let mut all = PfcFrame::of(0, LONGEST);
    all.quanta[7] = Some(LONGEST);
    for port in PORTS {
        assert_eq!(sent(&mut lanes, port, us(2)).1, [all]);
        assert_eq!(sent(&mut lanes, port, us(3)).1, []);
    }
    // A PAUSE of the switch would be shorter: it does not go on.
    pause(&mut lanes, Port::Local, 0, 9, us(3));
    assert_eq!(sent(&mut lanes, Port::Remote, us(3)).1, []);
    pause(&mut lanes, Port::Local, 0, 0, us(3));
    // Repeated within the 33.5 ms that it lasts.
    let repeated = lanes.poll_timeout(us(3));
    assert!(repeated <= us(2) + lasting(LONGEST, Rate::from_bps(R)) / 2);
    lanes.handle_timeout(us(17_000));
    assert_eq!(sent(&mut lanes, Port::Local, us(17_000)).1, [all]);
    sent(&mut lanes, Port::Remote, us(17_000));
    // The far end still pauses priority 7: so the switch is not let go in that.
    lanes.left(us(17_001));
    assert_eq!(sent(&mut lanes, Port::Local, us(17_001)).1, [PfcFrame::of(0, 0)]);
    let mut all = PfcFrame::of(0, 0);
    all.quanta[7] = Some(0);
    assert_eq!(sent(&mut lanes, Port::Remote, us(17_001)).1, [all]);
}

#[test]
fn what_is_no_pfc_frame_of_a_lane_is_counted() {
    let mut lanes = lanes(&[3]);
    let good = PfcFrame::of(5, 9).to_bytes([9; 6]);
    lanes.obey(Port::Local, &good, us(0), us(0));
    lanes.obey(Port::Local, &good[..20], us(0), us(0));
    let mut other = good;
    other[14] = 0;
    lanes.obey(Port::Local, &other, us(0), us(0));
    let found = lanes.port(Port::Local).refused;
    assert_eq!(found, Refused { malformed: 1, not_pfc: 1, not_lossless: 1, ..Refused::default() });
    assert!(lanes.are_open());
}

#[test]
fn a_port_that_is_paused_without_an_end_is_given_up_until_it_lets_go() {
    let mut lanes = lanes(&[3, 4]);
    let mut at = us(0);
    // 33.5 ms each, repeated in time, for 100 ms.
    while at < us(100_000) {
        pause(&mut lanes, Port::Remote, 3, LONGEST, at);
        lanes.handle_timeout(at);
        at = at + Span::from_ms(20);
    }
    (0..2).for_each(|number| lanes.store(Port::Local, 3, &numbered(number), us(99_999)));
    lanes.store(Port::Local, 4, &numbered(9), us(99_999));
    assert_eq!(sent(&mut lanes, Port::Remote, us(99_999)).0, [9]);
    assert!(lanes.poll_timeout(us(99_999)) <= us(100_000));
    lanes.handle_timeout(us(100_000));
    lanes.store(Port::Local, 3, &numbered(2), us(100_001));
    assert_eq!(lanes.port(Port::Local).refused.given_up, 3, "two that waited and one that came");
    let of = |lanes: &Lanes, at| lanes.lanes(Port::Local, at).next().unwrap().1;
    assert!(of(&lanes, us(100_001)).is_given_up && of(&lanes, us(100_001)).waiting == 0);
    // It lets go, and 100 ms later its frames count again; a PAUSE in between begins that anew.
    pause(&mut lanes, Port::Remote, 3, 0, us(110_000));
    lanes.handle_timeout(us(209_000));
    assert!(of(&lanes, us(209_000)).is_given_up);
    pause(&mut lanes, Port::Remote, 3, 1, us(209_500));
    lanes.handle_timeout(us(210_001));
    assert!(of(&lanes, us(210_001)).is_given_up);
    lanes.handle_timeout(us(310_002));
    assert!(!of(&lanes, us(310_002)).is_given_up);
    lanes.store(Port::Local, 3, &numbered(5), us(310_003));
    assert_eq!(sent(&mut lanes, Port::Remote, us(310_003)).0, [5]);
    assert_eq!(lanes.port(Port::Local).refused.given_up, 3);
}

/// What the kernel passes takes the link's time from what waits, up to seven parts in eight.
#[test]
fn what_the_kernel_passes_is_charged_to_what_waits() {
    let left = |passed: u64| {
        let mut lanes = lanes(&[3]);
        pause(&mut lanes, Port::Remote, 3, LONGEST, us(0));
        assert!(!lanes.waits_for(Port::Remote));
        (0..8).for_each(|number| lanes.store(Port::Local, 3, &numbered(number), us(1)));
        assert!(lanes.waits_for(Port::Remote) && !lanes.waits_for(Port::Local));
        pause(&mut lanes, Port::Remote, 3, 0, us(10_000));
        lanes.passed(Port::Remote, Bytes::new(0), us(10_000));
        assert_eq!(sent(&mut lanes, Port::Remote, us(10_000)).0.len(), 1);
        let mut count = 0;
        for ms in 11..=14 {
            lanes.passed(Port::Remote, Bytes::new(passed), us(ms * 1_000));
            // As many as the link takes wait.
            while sent(&mut lanes, Port::Remote, us(ms * 1_000)).0.len() == 1 || count == 0 {
                count += 1;
                lanes.store(Port::Local, 3, &numbered(0), us(ms * 1_000));
            }
        }
        count
    };
    // 1 ms are 83 frames of 1500 bytes, of which it makes up for 17 at most when it comes late; 8.3 are an eighth.
    let (idle, full) = (left(0), left(125_000));
    assert!(idle > 60, "{idle}");
    assert!((28..=48).contains(&full), "{full}");
    assert_eq!(left(1_000_000), full, "never less than an eighth");
}

#[test]
fn frames_that_come_faster_than_they_leave_are_stored_from_the_first_on() {
    let of = |local: u64, rate: u64| RelayParams {
        rate: Rate::from_bps(rate),
        local_rate: Some(Rate::from_bps(local)),
        round_trip: Span::from_us(50),
        safety: Some(Bytes::new(100_000)),
        ..params(1)
    };
    for (local, remote, closed) in [(R, R / 4, Port::Local), (R / 4, R, Port::Remote)] {
        let mut lanes = Lanes::new(&of(local, remote), &[3], Span::from_ms(100), Span::from_ms(2), SOURCES);
        assert_eq!(
            PORTS.map(|port| stays_closed(&of(local, remote), port)),
            PORTS.map(|port| port == closed)
        );
        lanes.store(closed, 3, &numbered(1), us(0));
        assert_eq!(sent(&mut lanes, across(closed), us(0)).0, [1]);
        assert_eq!(lanes.openable(us(10)), []);
        // The other way it is opened again.
        lanes.store(across(closed), 3, &numbered(2), us(10));
        assert_eq!(sent(&mut lanes, closed, us(10)).0, [2]);
        assert_eq!(lanes.openable(us(5_000)), [(across(closed), 3, Want::Note)]);
        // Both send at the lower rate: 48 us a frame. R sends at its own.
        let mut count = |port: Port| {
            let at = us(100_000);
            (0..6).for_each(|number| lanes.store(across(port), 3, &numbered(number), at));
            sent(&mut lanes, port, at).0.len()
        };
        let [to_local, to_remote] = PORTS.map(&mut count);
        assert_eq!((to_local, to_remote), (5, if remote == R { 6 } else { 5 }));
    }
}

#[test]
fn what_is_handed_over_leaves_in_order_when_the_port_may_send() {
    let mut old = lanes(&[3, 4]);
    let half = lasting(LONGEST, Rate::from_bps(R)) / 2;
    pause(&mut old, Port::Remote, 3, LONGEST, us(0));
    (0..5).for_each(|number| old.store(Port::Local, 3, &numbered(number), us(1)));
    old.freeze(true);
    // It goes on to store, and to say what it must.
    assert_eq!(sent(&mut old, Port::Local, us(2)).1, [PfcFrame::of(3, LONGEST)]);
    old.store(Port::Remote, 4, &numbered(9), us(2));
    assert_eq!(sent(&mut old, Port::Local, us(50)), (vec![], vec![]));
    assert_eq!((old.openable(us(5000)), old.poll_timeout(us(2)) > us(50)), (vec![], true));
    let at = Time::ZERO + half;
    let handover = old.hand_over(at);
    assert!(old.lanes(Port::Local, at).all(|(_, lane)| lane.frames == 0));

    let mut new = lanes(&[3, 4]);
    assert_eq!(new.adopt(handover.clone(), &params(2), at), []);
    // 7.5 kB wait, above XOFF.
    assert_eq!(sent(&mut new, Port::Local, at), (vec![9], vec![PfcFrame::of(3, LONGEST)]));
    assert_eq!(
        sent(&mut new, Port::Remote, at).0,
        [0_u8; 0],
        "the new one is owed nothing of before its time"
    );
    assert!(!new.are_open());
    new.store(Port::Local, 3, &numbered(5), at + Span::from_us(1));
    assert_eq!(sent(&mut new, Port::Remote, at + half / 2).0, [0_u8; 0], "paused still");
    new.handle_timeout(at + half + Span::from_us(20));
    let later = |turn: u64| at + half + Span::from_us(20 + 20 * turn);
    let left: Vec<u8> = (0..6).flat_map(|turn| sent(&mut new, Port::Remote, later(turn)).0).collect();
    assert_eq!(left, [0, 1, 2, 3, 4, 5]);

    // A file without a priority of the former one has no lane for its frames: they leave as they are.
    let mut other = lanes(&[4]);
    let frames = other.adopt(handover, &params(1), at);
    assert_eq!(
        frames.iter().map(|(port, frame)| (*port, frame[20])).collect::<Vec<_>>(),
        (0..5).map(|number| (Port::Remote, number)).collect::<Vec<_>>()
    );
}

#[test]
fn one_that_is_to_go_on_does() {
    let mut lanes = lanes(&[3]);
    lanes.store(Port::Local, 3, &numbered(1), us(0));
    lanes.freeze(true);
    assert_eq!(sent(&mut lanes, Port::Remote, us(5)).0, [0_u8; 0]);
    lanes.freeze(false);
    assert_eq!(sent(&mut lanes, Port::Remote, us(6)).0, [1]);
    assert_eq!(lanes.openable(us(7)).first(), Some(&(Port::Local, 3, Want::Note)));
}
