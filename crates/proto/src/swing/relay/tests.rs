use super::*;
use crate::pfc::quanta::LONGEST;
use crate::units::Rate;

const FRAME: Bytes = Bytes::new(1_500);

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Returns what is to be sent out of a port, as (priority, quanta).
fn polled(relay: &mut Relay, port: Port) -> Vec<(usize, u16)> {
    std::iter::from_fn(|| relay.poll_pfc(port)).map(|pfc| (pfc.priority, pfc.quanta)).collect()
}

fn arrive(relay: &mut Relay, port: Port, frames: usize, now: Time) {
    for _ in 0..frames {
        assert_eq!(relay.frame_arrived(port, 0, FRAME, now), Admission::Accepted);
    }
}

#[test]
fn what_comes_in_on_l_goes_out_of_r_and_l_obeys() {
    let mut relay = Relay::new(&RelayParams::default());
    for (us, quanta) in [(10, 65_535), (40, 65_535), (45, 0), (46, 7), (47, 0), (48, 0)] {
        relay.pause_received(Port::Local, 0, quanta, at(us));
        // Repetitions, too, and a RESUME after a RESUME.
        assert_eq!(polled(&mut relay, Port::Remote), [(0, quanta)]);
        assert_eq!(polled(&mut relay, Port::Local), []);
        assert_eq!(relay.may_begin(Port::Local, 0, at(us)), quanta == 0);
        assert!(relay.may_begin(Port::Remote, 0, at(us)));
    }
}

#[test]
fn a_pause_on_r_stops_r_and_stays_here() {
    let mut relay = Relay::new(&RelayParams::default());
    relay.pause_received(Port::Remote, 0, 1_000, at(0));
    assert!(!relay.may_begin(Port::Remote, 0, at(0)));
    assert!(relay.may_begin(Port::Local, 0, at(0)));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    assert_eq!(polled(&mut relay, Port::Local), []);
}

#[test]
fn a_pause_runs_out_by_itself() {
    let mut relay = Relay::new(&RelayParams::default());
    // 1000 quanta at 400 Gb/s: 1.28 us.
    relay.pause_received(Port::Local, 0, 1_000, at(5));
    let end = at(5) + Span::from_ns(1_280);
    assert_eq!(relay.poll_timeout(), end);
    assert!(!relay.may_begin(Port::Local, 0, Time::from_ps(end.as_ps() - 1)));
    relay.handle_timeout(end);
    assert!(relay.may_begin(Port::Local, 0, end));
    assert_eq!(relay.poll_timeout(), Time::NEVER);
    // The copy runs out at the far relay by itself, too.
    assert_eq!(polled(&mut relay, Port::Remote), [(0, 1_000)]);
}

#[test]
fn a_paused_r_pushes_back_into_the_switch_at_its_threshold() {
    let mut relay = Relay::new(&RelayParams::default());
    relay.pause_received(Port::Remote, 0, LONGEST, at(0));
    // 198 kB are 132 frames: the threshold is reached, not exceeded.
    arrive(&mut relay, Port::Local, 132, at(1));
    assert_eq!(polled(&mut relay, Port::Local), []);
    arrive(&mut relay, Port::Local, 1, at(2));
    assert_eq!(polled(&mut relay, Port::Local), [(0, LONGEST)]);
    arrive(&mut relay, Port::Local, 5, at(3));
    assert_eq!(polled(&mut relay, Port::Local), [], "it has been told");
    // Told again when half of it has passed.
    let again = at(2) + lasting(LONGEST, Rate::from_gbps(400)) / 2;
    assert_eq!(relay.poll_timeout(), again);
    relay.handle_timeout(again);
    assert_eq!(polled(&mut relay, Port::Local), [(0, LONGEST)]);
    // 138 wait; 195 kB are 130.
    for left in 1..=8 {
        relay.frame_left(Port::Remote, 0, FRAME, at(90));
        assert_eq!(polled(&mut relay, Port::Local), if left == 8 { vec![(0, 0)] } else { vec![] });
    }
    relay.handle_timeout(at(500));
    assert_eq!(relay.poll_timeout(), Time::NEVER);
    assert_eq!(polled(&mut relay, Port::Remote), [], "no PFC of its own to the fibre");
}

#[test]
fn what_came_in_on_r_has_no_threshold_and_room_for_its_buffer() {
    let mut relay =
        Relay::new(&RelayParams { remote_buffer: Bytes::new(15_000_000), ..RelayParams::default() });
    arrive(&mut relay, Port::Remote, 10_000, at(1));
    assert_eq!(relay.frame_arrived(Port::Remote, 0, Bytes::new(1), at(2)), Admission::Dropped);
    assert_eq!(relay.waiting(Port::Remote, 0), Bytes::new(15_000_000));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    assert_eq!(polled(&mut relay, Port::Local), []);
    // L has room of its own.
    assert_eq!(relay.frame_arrived(Port::Local, 0, Bytes::new(318_000), at(2)), Admission::Accepted);
    assert_eq!(relay.frame_arrived(Port::Local, 0, Bytes::new(1), at(2)), Admission::Dropped);
    relay.frame_left(Port::Local, 0, FRAME, at(3));
    assert_eq!(relay.frame_arrived(Port::Remote, 0, FRAME, at(3)), Admission::Accepted);
}

#[test]
fn priorities_know_nothing_of_each_other() {
    let mut relay = Relay::new(&RelayParams { priorities: 3, ..RelayParams::default() });
    relay.pause_received(Port::Local, 1, 500, at(0));
    assert_eq!(relay.frame_arrived(Port::Local, 2, Bytes::new(300_000), at(0)), Admission::Accepted);
    assert_eq!(polled(&mut relay, Port::Remote), [(1, 500)]);
    assert_eq!(polled(&mut relay, Port::Local), [(2, LONGEST)]);
    let begin = |priority| relay.may_begin(Port::Local, priority, at(0));
    assert_eq!([begin(0), begin(1), begin(2)], [true, false, true]);
    assert_eq!(relay.waiting(Port::Local, 0), Bytes::new(0));
}

/// A relay of 10 us there and back at 400 Gb/s, 500 kB, that holds the far one above 600 kB.
fn careful() -> Relay {
    Relay::new(&RelayParams {
        round_trip: Span::from_us(10),
        safety: Some(Bytes::new(600_000)),
        ..RelayParams::default()
    })
}

#[test]
fn the_far_relay_is_held_while_what_may_come_has_no_room() {
    let mut relay = careful();
    // Granted all along: a round trip, 500 kB and a part in 256; and 3 kB may come beyond that.
    arrive(&mut relay, Port::Remote, 62, at(20));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    // 97.5 kB wait.
    arrive(&mut relay, Port::Remote, 3, at(20));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST)]);
    assert!(relay.holds(0));
    // All that was granted comes, and more: 600 kB. The far relay is told again, and hears nothing of the switch.
    arrive(&mut relay, Port::Remote, 335, at(20));
    let again = at(20) + lasting(LONGEST, Rate::from_gbps(400)) / 2;
    relay.pause_received(Port::Local, 0, 20_000, at(21));
    assert!(!relay.may_begin(Port::Local, 0, at(21)));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    relay.handle_timeout(again);
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST)]);
    relay.pause_received(Port::Local, 0, 0, at(62));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    // The hold ends where the 3 kB that a grant brings beyond its length have room, and 6 kB besides.
    for left in 1..=6 {
        relay.frame_left(Port::Local, 0, FRAME, at(62));
        assert_eq!(polled(&mut relay, Port::Remote), if left == 6 { vec![(0, 0)] } else { vec![] });
    }
    // When those are granted, and nothing has come and nothing has left, the far relay is held again: 120 ns later.
    let again = at(62) + Span::from_ns(120);
    relay.handle_timeout(again);
    assert_eq!(polled(&mut relay, Port::Remote), [], "6 kB have room");
    assert_eq!(relay.poll_timeout(), again + Span::from_ps(1));
    relay.handle_timeout(again + Span::from_ps(1));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST)]);
}

#[test]
fn what_was_sent_before_the_relay_said_anything_may_yet_come() {
    // Nobody has paused the far end, which has sent since before the start.
    let mut relay = careful();
    arrive(&mut relay, Port::Remote, 64, at(0));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    arrive(&mut relay, Port::Remote, 2, Time::ZERO + Span::from_ns(20));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST)]);
}

#[test]
fn when_a_hold_ends_the_far_relay_hears_what_is_left_of_the_switchs_pause() {
    let mut relay = careful();
    arrive(&mut relay, Port::Remote, 300, at(20));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST)]);
    relay.pause_received(Port::Local, 0, 20_000, at(25));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    // Something leaves at 35 us: the grants are over, and 15.6 us of 25.6 are left.
    relay.frame_left(Port::Local, 0, FRAME, at(35));
    assert_eq!(
        polled(&mut relay, Port::Remote),
        [(0, covering(Span::from_ns(15_600), Rate::from_gbps(400)))]
    );
}

#[test]
fn each_signal_is_kept_until_it_is_polled() {
    let mut relay = Relay::new(&RelayParams::default());
    // A driver that polls late, or to which both come between two polls.
    for quanta in [65_535, 0, 700, 0] {
        relay.pause_received(Port::Local, 0, quanta, at(1));
    }
    assert_eq!(polled(&mut relay, Port::Remote), [(0, 65_535), (0, 0), (0, 700), (0, 0)]);
    arrive(&mut relay, Port::Local, 133, at(2));
    for _ in 0..3 {
        relay.frame_left(Port::Remote, 0, FRAME, at(3));
    }
    assert_eq!(polled(&mut relay, Port::Local), [(0, LONGEST), (0, 0)]);
}

#[test]
fn a_far_end_that_is_held_with_nothing_left_here_is_let_go() {
    // Two lots come at once and leave at once, and nothing more comes: nobody but the timer ends the hold.
    let mut relay = careful();
    arrive(&mut relay, Port::Remote, 70, at(20));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST)]);
    (0..70).for_each(|_| relay.frame_left(Port::Local, 0, FRAME, at(20)));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, 0)], "as much as a round trip has room");
    // Grants that were short, and each brought 3 kB beyond its length, do not.
    let mut now = at(40);
    for _ in 0..60 {
        relay.pause_received(Port::Local, 0, LONGEST, now);
        relay.pause_received(Port::Local, 0, 0, now);
        now = now + Span::from_ns(1);
    }
    assert!(relay.holds(0), "180 kB may come beyond the round trip");
    while relay.holds(0) {
        let due = relay.poll_timeout();
        assert!(due > now && due < at(52), "{due:?}");
        now = due;
        relay.handle_timeout(now);
    }
    // 9 kB must be forgotten, in parts of 1.96 kB and 39 ns.
    assert!(now > at(40) + Span::from_ns(150) && now < at(40) + Span::from_ns(300), "{now:?}");
}

#[test]
fn a_virtual_queue_holds_the_far_relay_only_above_its_floor() {
    let virtual_queue = Some(VirtualQueue { target: Bytes::new(20_000), above: Bytes::new(15_000) });
    let mut relay =
        Relay::new(&RelayParams { round_trip: Span::from_us(10), virtual_queue, ..RelayParams::default() });
    arrive(&mut relay, Port::Remote, 10, at(20));
    assert_eq!(polled(&mut relay, Port::Remote), []);
    // Granted 500 kB, sent nothing: one frame more is above the floor.
    arrive(&mut relay, Port::Remote, 1, at(20));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST)]);
    // At the floor the reason is gone.
    relay.frame_left(Port::Local, 0, FRAME, at(20));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, 0)]);
}

#[test]
fn parameters_that_conflict_are_named() {
    let said = |params: RelayParams| -> Vec<String> {
        params.conflicts().iter().map(|conflict| conflict.message(str::to_string)).collect()
    };
    assert_eq!(said(RelayParams::default()), [""; 0]);
    assert_eq!(
        said(RelayParams { xon: Bytes::new(200_000), ..RelayParams::default() }),
        ["xon, 200kB, is above xoff, 198kB"]
    );
    assert_eq!(
        said(RelayParams { local_buffer: Bytes::new(1_000), priorities: 9, ..RelayParams::default() }),
        ["xoff, 198kB, is above local_buffer, 1kB", "priorities, 9, is not from 1 to 8"]
    );
    let low = said(RelayParams { safety: Some(Bytes::new(40_000_000)), ..RelayParams::default() });
    assert_eq!(low.len(), 1);
    assert!(low[0].starts_with("safety, 40MB, is less than what may be granted in a round trip, 40165263B: "));
    let least = RelayParams::default().least_safety();
    assert_eq!(said(RelayParams { safety: Some(least), ..RelayParams::default() }), [""; 0]);
    assert_eq!(
        said(RelayParams { quanta: 1, ..RelayParams::default() }),
        ["quanta, 1, is less than 2: no PAUSE could be repeated in time"]
    );
}

/// A PAUSE of the switch lasts as long over the fibre as on its link, whatever quanta are there.
#[test]
fn a_pause_lasts_as_long_over_a_link_of_another_rate() {
    let slower = |local, rate| {
        Relay::new(&RelayParams {
            rate: Rate::from_gbps(rate),
            local_rate: Some(Rate::from_gbps(local)),
            safety: Some(Bytes::new(50_000_000)),
            ..RelayParams::default()
        })
    };
    let mut relay = slower(100, 25);
    relay.pause_received(Port::Local, 0, 1_000, at(0));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, 250)], "5.12 us");
    relay.pause_received(Port::Local, 0, 0, at(1));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, 0)]);
    // The other way round the quanta of the fibre do not last that long: 335.5 us, and 83.9 us of 400 Gb/s.
    let mut relay = slower(100, 400);
    relay.pause_received(Port::Local, 0, LONGEST, at(0));
    let (ends, longest) = (lasting(LONGEST, Rate::from_gbps(100)), lasting(LONGEST, Rate::from_gbps(400)));
    let (mut covered, mut said) = (Time::ZERO, 0);
    let mut now = at(0);
    loop {
        for (_, quanta) in polled(&mut relay, Port::Remote) {
            (covered, said) = (now + lasting(quanta, Rate::from_gbps(400)), said + 1);
        }
        now = relay.poll_timeout();
        if now >= Time::ZERO + ends {
            break;
        }
        assert!(now < covered, "repeated in time");
        relay.handle_timeout(now);
    }
    assert!(covered.since(Time::ZERO + ends) < Span::from_ns(2) && said == 7, "{covered:?} {ends:?} {said}");
    assert!(longest * 4 <= ends + Span::from_ns(4));
    // A RESUME ends that.
    relay.pause_received(Port::Local, 0, LONGEST, at(400));
    relay.pause_received(Port::Local, 0, 0, at(410));
    assert_eq!(polled(&mut relay, Port::Remote), [(0, LONGEST), (0, 0)]);
    relay.handle_timeout(at(500));
    assert_eq!(polled(&mut relay, Port::Remote), []);
}

#[test]
fn a_port_repeats_and_obeys_by_its_own_rate_and_a_slower_l_needs_safety() {
    let gbps = Rate::from_gbps;
    let unequal = RelayParams { rate: gbps(40), local_rate: Some(gbps(400)), ..RelayParams::default() };
    let mut relay = Relay::new(&unequal);
    relay.pause_received(Port::Remote, 0, 1_000, at(0));
    assert_eq!(relay.poll_timeout(), at(0) + lasting(1_000, gbps(40)));
    arrive(&mut relay, Port::Local, 140, at(1));
    assert_eq!(polled(&mut relay, Port::Local), [(0, LONGEST)]);
    relay.pause_received(Port::Remote, 0, LONGEST, at(1));
    assert_eq!(relay.poll_timeout(), at(1) + lasting(LONGEST, gbps(400)) / 2);
    assert_eq!(unequal.conflicts(), []);
    let slow = RelayParams { local_rate: Some(gbps(10)), ..unequal };
    let told = slow.conflicts()[0].message(str::to_string);
    assert!(told.contains("local_rate") && told.contains("without safety"), "{told}");
}

/// What the driver sends past the machine counts as sent: a link that runs freely keeps no virtual queue.
#[test]
fn what_passed_counts_for_the_virtual_queue() {
    let with = |passed: u64| {
        let virtual_queue = Some(VirtualQueue { target: Bytes::new(50_000), above: Bytes::new(0) });
        let round_trip = Span::from_us(10);
        let mut relay = Relay::new(&RelayParams { round_trip, virtual_queue, ..RelayParams::default() });
        relay.pause_received(Port::Local, 0, 0, at(0));
        // 500 kB are granted in 10 us.
        relay.passed(0, Bytes::new(passed), at(15));
        arrive(&mut relay, Port::Remote, 1, at(20));
        relay.holds(0)
    };
    assert!(!with(500_000));
    assert!(with(400_000));
}

#[test]
fn what_waits_beside_a_round_trip_that_was_granted_is_drift() {
    let mut relay = careful();
    assert_eq!(relay.drift(0, at(0)), Some(Bytes::new(0)));
    // All along the far relay might send, and 30 frames wait: one round trip may come besides.
    arrive(&mut relay, Port::Remote, 30, at(20));
    let drift = relay.drift(0, at(20)).unwrap().get();
    assert!((41_000..=45_000).contains(&drift), "{drift}");
    // Half a round trip without a grant makes room for 250 kB.
    relay.pause_received(Port::Local, 0, LONGEST, at(20));
    assert_eq!(relay.drift(0, at(25)), Some(Bytes::new(0)));
    arrive(&mut relay, Port::Remote, 180, at(25));
    let drift = relay.drift(0, at(25)).unwrap().get();
    assert!(
        (59_000..=65_000).contains(&drift),
        "315 kB wait, 250 may come, and a round trip is 500: {drift}"
    );
    assert_eq!(Relay::new(&RelayParams::default()).drift(0, at(5)), None, "it does not count what it grants");
}
