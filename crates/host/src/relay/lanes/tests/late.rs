//! Lanes whose process is late: what is sent, and what is told of, is what was granted.

use super::*;

/// A process that is late sends as much as its port was allowed to: the rest after the PAUSE, and less in the next spell where it was too much.
#[test]
fn what_was_granted_is_sent_however_late_the_process_is() {
    let mut lanes = lanes(&[3]);
    // As many frames as the link takes wait at all times.
    let send = |lanes: &mut Lanes, at: Time| {
        let mut count = 0;
        loop {
            while lanes.lanes(Port::Local, at).next().unwrap().1.waiting < 4_500 {
                lanes.store(Port::Local, 3, &numbered(0), at);
            }
            if !lanes.transmit(Port::Remote, at, |_| true) {
                return count;
            }
            count += 1;
        }
    };
    pause(&mut lanes, Port::Remote, 3, LONGEST, us(0));
    assert_eq!(send(&mut lanes, us(10)), 0);
    // 600 us, 50 frames, of which it sleeps the first 60 us and stands still for the last 300.
    pause_late(&mut lanes, Port::Remote, 3, 0, us(1_000), us(1_060));
    assert_eq!(send(&mut lanes, us(1_060)), 6, "five that could have left, and one that leaves now");
    let mut left = 6 + send(&mut lanes, us(1_300));
    pause_late(&mut lanes, Port::Remote, 3, LONGEST, us(1_600), us(1_700));
    left += send(&mut lanes, us(1_700));
    assert_eq!(left, 50);
    assert_eq!(send(&mut lanes, us(1_900)), 0);
    // 120 us, ten frames; PAUSE is read 60 us late, and five more have left.
    pause_late(&mut lanes, Port::Remote, 3, 0, us(2_000), us(2_000));
    let left: usize = (0..15).map(|turn| send(&mut lanes, us(2_000 + 12 * turn))).sum();
    pause_late(&mut lanes, Port::Remote, 3, LONGEST, us(2_120), us(2_180));
    assert_eq!(left, 15);
    // They are taken off the next 120 us.
    pause_late(&mut lanes, Port::Remote, 3, 0, us(3_000), us(3_000));
    let left: usize = (0..10).map(|turn| send(&mut lanes, us(3_000 + 12 * turn))).sum();
    pause_late(&mut lanes, Port::Remote, 3, LONGEST, us(3_120), us(3_120));
    assert_eq!(left, 5);
    // What is not sent within the 2 ms that a PAUSE may take to work belongs to the next spell.
    pause_late(&mut lanes, Port::Remote, 3, 0, us(10_000), us(10_060));
    pause_late(&mut lanes, Port::Remote, 3, LONGEST, us(10_060), us(12_060));
    assert_eq!(send(&mut lanes, us(12_061)), 0);
    pause_late(&mut lanes, Port::Remote, 3, 0, us(13_000), us(13_000));
    assert_eq!(send(&mut lanes, us(13_000)), 6, "five of before, and one that leaves now");
}

/// The far relay is told of as much time as the switch allows.
#[test]
fn signals_that_are_read_late_keep_their_distance() {
    let mut lanes = lanes(&[3]);
    let told = |lanes: &mut Lanes, at: Time| {
        lanes.handle_timeout(at);
        sent(lanes, Port::Remote, at).1
    };
    let (stop, go) = (PfcFrame::of(3, LONGEST), PfcFrame::of(3, 0));
    pause(&mut lanes, Port::Local, 3, LONGEST, us(0));
    assert_eq!(told(&mut lanes, us(0)), [stop]);
    // Allowed for 500 us, told of 200 us late: PAUSE goes on 200 us later, when 500 us have been told.
    pause_late(&mut lanes, Port::Local, 3, 0, us(1_000), us(1_200));
    assert_eq!(told(&mut lanes, us(1_200)), [go]);
    pause(&mut lanes, Port::Local, 3, LONGEST, us(1_500));
    assert_eq!(told(&mut lanes, us(1_500)), []);
    assert_eq!(lanes.poll_timeout(us(1_500)), us(1_700));
    assert_eq!((told(&mut lanes, us(1_699)), told(&mut lanes, us(1_700))), (vec![], vec![stop]));
    // The switch is paused all the same, and the lane is not opened meanwhile.
    assert!(lanes.lanes(Port::Remote, us(1_600)).next().unwrap().1.is_paused);
    assert_eq!(lanes.openable(us(1_600)), []);
    // PAUSE is read 100 us late: RESUME goes on 100 us later, and a PAUSE that is said again at once.
    pause(&mut lanes, Port::Local, 3, 0, us(3_000));
    assert_eq!(told(&mut lanes, us(3_000)), [go]);
    pause_late(&mut lanes, Port::Local, 3, 700, us(3_300), us(3_400));
    assert_eq!(told(&mut lanes, us(3_400)), [PfcFrame::of(3, 700)]);
    pause(&mut lanes, Port::Local, 3, 800, us(3_500));
    assert_eq!(told(&mut lanes, us(3_500)), [PfcFrame::of(3, 800)]);
    pause(&mut lanes, Port::Local, 3, 0, us(3_600));
    assert_eq!(told(&mut lanes, us(3_600)), []);
    assert_eq!((told(&mut lanes, us(3_699)), told(&mut lanes, us(3_700))), (vec![], vec![go]));
    // A spell that is over before it could be told of is owed.
    pause(&mut lanes, Port::Local, 3, LONGEST, us(4_000));
    assert_eq!(told(&mut lanes, us(4_000)), [stop]);
    pause_late(&mut lanes, Port::Local, 3, 0, us(5_000), us(5_600));
    pause_late(&mut lanes, Port::Local, 3, LONGEST, us(5_500), us(5_600));
    assert_eq!(told(&mut lanes, us(5_600)), [go]);
    assert_eq!((told(&mut lanes, us(6_099)), told(&mut lanes, us(6_100))), (vec![], vec![stop]));
    // No PAUSE goes on later than it may take to work.
    pause_late(&mut lanes, Port::Local, 3, 0, us(10_000), us(19_000));
    assert_eq!(told(&mut lanes, us(19_000)), [go]);
    pause(&mut lanes, Port::Local, 3, LONGEST, us(19_001));
    assert_eq!(lanes.poll_timeout(us(19_001)), us(21_001));
    assert_eq!((told(&mut lanes, us(21_000)), told(&mut lanes, us(21_001))), (vec![], vec![stop]));
    // One that runs out is over for both.
    let over = us(19_001) + lasting(LONGEST, Rate::from_bps(R));
    assert_eq!(
        (told(&mut lanes, over), lanes.lanes(Port::Remote, over).next().unwrap().1.is_paused),
        (vec![], false)
    );
}

#[test]
fn a_port_that_had_nothing_to_send_is_owed_nothing() {
    let mut lanes = lanes(&[3, 4]);
    pause(&mut lanes, Port::Remote, 3, LONGEST, us(0));
    pause(&mut lanes, Port::Remote, 3, 0, us(1_000));
    pause(&mut lanes, Port::Remote, 3, LONGEST, us(2_000));
    lanes.store(Port::Local, 3, &numbered(1), us(2_001));
    assert_eq!(sent(&mut lanes, Port::Remote, us(2_002)).0, [0_u8; 0]);
    // Nor is one whose PAUSE has run out, for the time before.
    lanes.handle_timeout(us(40_000));
    assert_eq!(sent(&mut lanes, Port::Remote, us(40_000)).0, [1]);
    // What another priority has sent meanwhile was not the process's delay.
    pause(&mut lanes, Port::Remote, 4, LONGEST, us(50_000));
    (0..3).for_each(|_| lanes.store(Port::Local, 4, &numbered(4), us(50_000)));
    (0..3).for_each(|_| lanes.store(Port::Local, 3, &numbered(3), us(51_000)));
    pause(&mut lanes, Port::Remote, 4, 0, us(51_000));
    let (mut at, mut order) = (us(51_000), Vec::new());
    while at < us(51_100) {
        order.extend(sent(&mut lanes, Port::Remote, at).0);
        at = at + Span::from_us(12);
    }
    assert_eq!(order.len(), 6);
    assert!(order[..4].contains(&3) && order[..4].contains(&4), "{order:?}: both have their turns");
}
