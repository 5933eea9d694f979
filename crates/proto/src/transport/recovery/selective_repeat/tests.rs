use super::*;

/// An acknowledgement of `seq`, sent `sent`, while everything before `cumulative` has arrived.
fn ack(seq: u32, cumulative: u32, sent: u64) -> Ack {
    let echo = Time::from_ps(sent);
    let congestion_experienced = false;
    Ack { seq, cumulative, sack: 0, echo, congestion_experienced, hops: 1, remote_queuing_us: 0 }
}

/// The packets that are sent again, as long as there is a lost one.
fn drain(board: &mut SelectiveRepeat, una: u32, next: u32) -> Vec<u32> {
    std::iter::from_fn(|| (board.lost(next) > 0).then(|| board.take_lost(una, next))).flatten().collect()
}

/// Ten packets are sent at 0 ps, and the timer runs out at 1000 ps.
fn timed_out() -> SelectiveRepeat {
    let mut board = SelectiveRepeat::new(64, 1);
    board.give_up(Time::from_ps(1000), 0, 10);
    board
}

#[test]
fn after_a_timeout_one_packet_asks() {
    let mut board = timed_out();
    assert_eq!((board.asks(), board.lost(10), board.under_way(0, 10)), (true, 1, 9));
    assert_eq!(drain(&mut board, 0, 10), [0]);
    assert_eq!((board.asks(), board.lost(10), board.under_way(0, 10)), (false, 0, 10));
}

#[test]
fn the_probes_arrival_shows_what_was_sent_before_it_to_be_lost_and_nothing_sent_later() {
    let mut board = timed_out();
    drain(&mut board, 0, 10);
    // Packets 10 and 11 are new and were sent after the probe.
    assert_eq!(board.handle_ack(0, 12, &ack(0, 1, 1001)), Change { acked: 1, lost: 0, nack: false });
    assert_eq!(drain(&mut board, 1, 12), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(board.under_way(1, 12), 11);
}

#[test]
fn the_first_probe_tells_as_much_when_the_timer_has_run_out_again() {
    let mut board = timed_out();
    assert_eq!(drain(&mut board, 0, 10), [0]);
    // Packets 10 and 11 are new, and may be under way still when the first probe is answered.
    board.give_up(Time::from_ps(3000), 0, 12);
    assert_eq!(drain(&mut board, 0, 12), [0]);
    board.handle_ack(0, 12, &ack(0, 1, 1001));
    assert_eq!(drain(&mut board, 1, 12), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn the_second_probe_tells_of_what_was_sent_after_the_first_too() {
    let mut board = timed_out();
    drain(&mut board, 0, 10);
    board.give_up(Time::from_ps(3000), 0, 12);
    drain(&mut board, 0, 12);
    board.handle_ack(0, 12, &ack(0, 1, 3001));
    assert_eq!(drain(&mut board, 1, 12), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn a_timeout_of_another_packet_begins_a_new_doubt() {
    let mut board = timed_out();
    drain(&mut board, 0, 10);
    // The lowest missing packet arrives as it was sent first, before the timer ran out.
    board.handle_ack(0, 10, &ack(0, 1, 0));
    board.give_up(Time::from_ps(3000), 1, 10);
    drain(&mut board, 1, 10);
    board.handle_ack(1, 10, &ack(1, 2, 2000));
    assert_eq!((board.lost(10), board.under_way(2, 10)), (0, 8));
}

#[test]
fn a_timer_that_was_early_costs_one_packet() {
    let mut board = timed_out();
    assert_eq!(drain(&mut board, 0, 10), [0]);
    for seq in 0..10 {
        board.handle_ack(seq, 10, &ack(seq, seq + 1, 0));
        assert_eq!(drain(&mut board, seq + 1, 10), []);
    }
    assert!(board.is_over());
}

#[test]
fn what_is_acknowledged_before_the_probe_has_left_needs_none() {
    let mut board = timed_out();
    board.handle_ack(0, 10, &ack(0, 1, 0));
    assert!(board.is_over());
    assert_eq!((board.lost(10), board.under_way(1, 10)), (0, 9));
}

#[test]
fn a_doubt_does_not_outlive_what_could_end_it() {
    let mut board = timed_out();
    drain(&mut board, 0, 10);
    // All but packet 5 arrive as they were sent first; the probe is lost, and nothing else is under way.
    for seq in (0..5).chain(6..10) {
        let una = if seq < 5 { seq + 1 } else { 5 };
        board.handle_ack(seq.min(5), 10, &ack(seq, una, 0));
    }
    assert_eq!((board.under_way(5, 10), drain(&mut board, 5, 10)), (0, vec![5]));
}

#[test]
fn what_the_driver_knows_to_be_lost_is_sent_again_once() {
    let mut board = SelectiveRepeat::new(64, 3);
    // Packet 2 is lost, and so is its retransmission.
    board.mark_lost(0, 10, 2, false);
    assert_eq!((drain(&mut board, 0, 10), board.under_way(0, 10)), (vec![2], 10));
    board.mark_lost(0, 10, 2, false);
    assert_eq!(drain(&mut board, 0, 10), [], "the same loss, heard of twice");
    board.mark_lost(0, 10, 2, true);
    assert_eq!(drain(&mut board, 0, 10), [2]);
    // Acknowledgements that speak against the first transmission change nothing; those of its arrival do.
    for seq in 3..7 {
        board.handle_ack(0, 10, &ack(seq, 0, 0));
    }
    assert_eq!(drain(&mut board, 0, 10), [0, 1]);
    board.handle_ack(0, 10, &ack(2, 0, 0));
    board.mark_lost(0, 10, 2, true);
    board.mark_lost(0, 10, 10, true);
    assert_eq!(drain(&mut board, 0, 10), []);
}

#[test]
fn a_probe_that_is_known_to_be_lost_asks_again() {
    let mut board = timed_out();
    assert_eq!(drain(&mut board, 0, 10), [0]);
    board.mark_lost(0, 10, 0, true);
    assert_eq!((board.asks(), drain(&mut board, 0, 10)), (true, vec![0]));
}

#[test]
fn a_hole_is_judged_once() {
    let mut board = SelectiveRepeat::new(64, 1);
    let mut change = Change::default();
    board.arrived(1, &mut change);
    board.judge(0, &mut change);
    assert_eq!(change, Change { acked: 1, lost: 1, nack: false });
    assert_eq!(board.under_way(0, 5), 3);
    assert_eq!(board.take_lost(0, 5), Some(0));
    let mut change = Change::default();
    board.arrived(2, &mut change);
    board.judge(0, &mut change);
    assert_eq!(change, Change { acked: 1, lost: 0, nack: false });
    assert_eq!(board.under_way(0, 5), 3);
}

#[test]
fn a_threshold_of_three_waits_for_three_later_packets() {
    let mut board = SelectiveRepeat::new(64, 3);
    let mut change = Change::default();
    for seq in [1, 2] {
        board.arrived(seq, &mut change);
        board.judge(0, &mut change);
    }
    assert_eq!(change.lost, 0);
    board.arrived(3, &mut change);
    board.judge(0, &mut change);
    assert_eq!(change.lost, 1);
}

#[test]
fn a_threshold_counts_arrivals_not_positions() {
    // Packets 0, 1 and 2 are missing: one arrival above them is one, however high it is (RFC 6675).
    let mut board = SelectiveRepeat::new(64, 3);
    let mut lost = Vec::new();
    for seq in [3, 5, 9] {
        let mut change = Change::default();
        board.arrived(seq, &mut change);
        board.judge(0, &mut change);
        lost.push(change.lost);
    }
    assert_eq!(lost, [0, 0, 3]);
}

#[test]
fn what_arrives_after_it_was_given_up_leaves_the_flight_once() {
    let mut board = SelectiveRepeat::new(64, 1);
    let mut change = Change::default();
    board.arrived(1, &mut change);
    board.judge(0, &mut change);
    assert_eq!(board.under_way(0, 5), 3);
    let change = board.advance(0, 2);
    assert_eq!(change, Change { acked: 1, lost: 0, nack: false });
    assert_eq!(board.under_way(2, 5), 3);
    assert!(board.is_over());
}

mod against_an_oracle {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::*;
    use super::ack;

    const REACH: u32 = 128;

    /// What each packet from 0 on is known to be, in the plainest way.
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Is {
        UnderWay,
        Arrived,
        Lost,
    }

    /// A sender's knowledge as lists: of each packet what it is, whether it was judged, and when it was sent last.
    struct Oracle {
        packets: Vec<Is>,
        judged: Vec<bool>,
        sent: Vec<u64>,
        una: usize,
        threshold: usize,
        /// When the timer ran out first, the packet that asks, and whether it has left.
        doubt: Option<(u64, usize, bool)>,
    }

    impl Oracle {
        fn count(&self, what: Is) -> u32 {
            self.packets.iter().filter(|&&is| is == what).count() as u32
        }

        /// Gives up, once, what `threshold` packets above have overtaken.
        fn judge(&mut self) {
            for seq in self.una..self.packets.len() {
                let above = self.packets[seq + 1..].iter().filter(|&&is| is == Is::Arrived).count();
                if above >= self.threshold && !self.judged[seq] {
                    self.judged[seq] = true;
                    if self.packets[seq] == Is::UnderWay {
                        self.packets[seq] = Is::Lost;
                    }
                }
            }
        }

        /// What was sent before the timer ran out and has not come before something sent later is lost.
        fn settle(&mut self, sent: u64) {
            let Some((since, probe, left)) = self.doubt else { return };
            if sent >= since {
                for seq in self.una.max(probe + 1)..self.packets.len() {
                    self.judged[seq] = true;
                    if self.packets[seq] == Is::UnderWay && self.sent[seq] < since {
                        self.packets[seq] = Is::Lost;
                    }
                }
                self.doubt = None;
            } else if self.una > probe && (!left || self.count(Is::UnderWay) == 0) {
                self.doubt = None;
            }
        }

        fn lost(&self) -> u32 {
            self.doubt.map_or(self.count(Is::Lost), |(_, _, left)| u32::from(!left))
        }
    }

    proptest! {
        #[test]
        fn selective_repeat_knows_what_lists_know(
            threshold in 1..5_u32,
            steps in vec((0..12_u32, 0..REACH), 1..150),
        ) {
            let mut board = SelectiveRepeat::new(REACH, threshold);
            let mut oracle = Oracle {
                packets: vec![Is::UnderWay; REACH as usize],
                judged: vec![false; REACH as usize],
                sent: vec![0; REACH as usize],
                una: 0,
                threshold: threshold as usize,
                doubt: None,
            };
            for ((kind, at), now) in steps.into_iter().zip(1_u64..) {
                let una = oracle.una as u32;
                if kind >= 10 {
                    board.give_up(Time::from_ps(now), una, REACH);
                    oracle.judged[oracle.una] = true;
                    oracle.packets[oracle.una] = Is::Lost;
                    let again = oracle.doubt.filter(|(_, probe, _)| *probe == oracle.una);
                    oracle.doubt = Some((again.map_or(now, |(since, ..)| since), oracle.una, false));
                } else if kind >= 7 {
                    if oracle.lost() > 0 {
                        let seq = oracle.packets.iter().position(|&is| is == Is::Lost).expect("a lost one");
                        prop_assert_eq!(board.take_lost(una, REACH), Some(seq as u32));
                        oracle.packets[seq] = Is::UnderWay;
                        oracle.sent[seq] = now;
                        if let Some((_, _, left)) = &mut oracle.doubt {
                            *left = true;
                        }
                    }
                } else {
                    // The packet itself, or the lowest missing one: then all up to the next hole is acknowledged.
                    let seq = at.max(una);
                    let before = (oracle.count(Is::Arrived), oracle.packets.clone());
                    oracle.packets[seq as usize] = Is::Arrived;
                    let hole = oracle.packets.iter().position(|&is| is != Is::Arrived);
                    oracle.una = hole.unwrap_or(REACH as usize);
                    let change = board.handle_ack(una, REACH, &ack(seq, oracle.una as u32, oracle.sent[seq as usize]));
                    prop_assert_eq!(change.acked, oracle.count(Is::Arrived) - before.0);
                    oracle.judge();
                    let newly = (0..REACH as usize)
                        .filter(|&seq| oracle.packets[seq] == Is::Lost && before.1[seq] != Is::Lost);
                    prop_assert_eq!(change.lost as usize, newly.count());
                    oracle.settle(oracle.sent[seq as usize]);
                }
                let una = oracle.una as u32;
                prop_assert_eq!(board.lost(REACH), oracle.lost());
                prop_assert_eq!(board.under_way(una, REACH), oracle.count(Is::UnderWay));
                let known = oracle.packets[oracle.una..].iter().any(|&is| is != Is::UnderWay);
                prop_assert_eq!(board.is_over(), !known && oracle.doubt.is_none());
                if una == REACH {
                    break;
                }
            }
        }
    }
}

/// Found by fuzzing: an old cumulative acknowledgement beside the arrival of what newer ones call missing.
#[test]
fn what_contradicts_the_cumulative_acknowledgement_is_not_believed() {
    let mut board = timed_out();
    board.handle_ack(0, 10, &ack(1, 2, 0));
    board.give_up(Time::from_ps(2000), 2, 10);
    for contradiction in [ack(2, 1, 0), Ack { sack: 1, ..ack(5, 1, 0) }] {
        board.handle_ack(2, 10, &contradiction);
        assert_eq!((board.lost(10), board.asks()), (1, true));
    }
    assert_eq!(board.take_lost(2, 10), Some(2));
}
