//! Go-back-N: a sender that learns of a gap, or whose timer runs out, sends everything from the lowest unacknowledged
//! packet on again, as the reliable connections of RDMA network adapters do (InfiniBand Architecture Specification,
//! volume 1, chapter 9; RoCE takes its transport from there).
//!
//! Only the cumulative number of an acknowledgement counts. An acknowledgement that was caused by a packet above that
//! number [tells of a gap](Ack::tells_of_gap): it is the NACK of a receiver that takes packets in order only.

use super::contract::{Change, Recovery};
use crate::transport::Ack;
use crate::units::Time;

/// Go-back-N: how far the sender has come in sending again.
#[derive(Clone, Debug, Default)]
pub struct GoBackN {
    /// The packet to be sent again next: those below it are under way, those from it on are given up. None where no
    /// packet is to be sent again.
    cursor: Option<u32>,
}

impl Recovery for GoBackN {
    fn handle_ack(&mut self, before: u32, next: u32, ack: &Ack) -> Change {
        let una = before.max(ack.cumulative);
        let mut cursor = self.cursor.map_or(next, |cursor| cursor.max(una));
        // A NACK that was overtaken by later news tells of a gap that is filled.
        let nack = ack.tells_of_gap() && ack.cumulative == una;
        let mut lost = 0;
        if nack {
            lost = cursor - una;
            cursor = una;
        }
        self.set_cursor(cursor, next);
        Change { acked: una - before, lost, nack }
    }

    fn give_up(&mut self, _now: Time, una: u32, next: u32) {
        self.set_cursor(una, next);
    }

    fn take_lost(&mut self, _una: u32, next: u32) -> Option<u32> {
        let seq = self.cursor?;
        self.set_cursor(seq + 1, next);
        Some(seq)
    }

    fn lost(&self, next: u32) -> u32 {
        self.cursor.map_or(0, |cursor| next - cursor)
    }

    fn under_way(&self, una: u32, next: u32) -> u32 {
        self.cursor.unwrap_or(next) - una
    }

    fn is_over(&self) -> bool {
        self.cursor.is_none()
    }
}

impl GoBackN {
    fn set_cursor(&mut self, cursor: u32, next: u32) {
        self.cursor = (cursor < next).then_some(cursor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    /// An acknowledgement, or above its cumulative number a NACK.
    fn ack(seq: u32, cumulative: u32) -> Ack {
        Ack {
            seq,
            cumulative,
            // That some have arrived above a gap does not count.
            sack: u64::MAX,
            echo: Time::ZERO,
            congestion_experienced: false,
            hops: 1,
            remote_queuing_us: 0,
        }
    }

    fn change(acked: u32, lost: u32) -> Change {
        Change { acked, lost, nack: false }
    }

    fn nack(acked: u32, lost: u32) -> Change {
        Change { acked, lost, nack: true }
    }

    /// All packets that are to be sent again.
    fn drain(recovery: &mut GoBackN, una: u32, next: u32) -> Vec<u32> {
        std::iter::from_fn(|| recovery.take_lost(una, next)).collect()
    }

    #[test]
    fn a_nack_gives_up_everything_from_the_gap_on() {
        let mut recovery = GoBackN::default();
        assert_eq!(recovery.handle_ack(2, 8, &ack(5, 4)), nack(2, 4));
        assert_eq!((recovery.under_way(4, 8), recovery.lost(8)), (0, 4));
        assert_eq!(drain(&mut recovery, 4, 8), [4, 5, 6, 7]);
        assert_eq!((recovery.under_way(4, 8), recovery.lost(8), recovery.is_over()), (4, 0, true));
    }

    #[test]
    fn what_arrives_after_all_is_not_sent_again() {
        let mut recovery = GoBackN::default();
        recovery.give_up(Time::ZERO, 0, 6);
        assert_eq!(recovery.take_lost(0, 6), Some(0));
        assert_eq!(recovery.handle_ack(0, 6, &ack(2, 3)), change(3, 0));
        assert_eq!((recovery.under_way(3, 6), recovery.lost(6)), (0, 3));
        assert_eq!(drain(&mut recovery, 3, 6), [3, 4, 5]);
    }

    #[test]
    fn a_nack_goes_back_again_from_where_it_has_come_to() {
        let mut recovery = GoBackN::default();
        recovery.give_up(Time::ZERO, 0, 6);
        assert_eq!([0, 1, 2].map(|_| recovery.take_lost(0, 6)), [Some(0), Some(1), Some(2)]);
        // Packet 1 is lost anew: of 1 and 2, which were under way, both are given up.
        assert_eq!(recovery.handle_ack(0, 6, &ack(2, 1)), nack(1, 2));
        assert_eq!(drain(&mut recovery, 1, 6), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_nack_of_a_gap_that_is_filled_changes_nothing() {
        let mut recovery = GoBackN::default();
        assert_eq!(recovery.handle_ack(5, 8, &ack(6, 3)), change(0, 0));
        assert!(recovery.is_over());
    }

    #[test]
    fn it_works_up_to_the_last_packet_that_a_flow_can_have() {
        let (una, next) = (u32::MAX - 3, u32::MAX);
        let mut recovery = GoBackN::default();
        assert_eq!(recovery.handle_ack(una, next, &ack(next - 1, una + 1)), nack(1, 2));
        assert_eq!(drain(&mut recovery, una + 1, next), [next - 2, next - 1]);
        recovery.give_up(Time::ZERO, una + 1, next);
        assert_eq!(recovery.handle_ack(una + 1, next, &ack(next - 1, next)), change(2, 0));
        assert!(recovery.is_over());
    }

    mod against_an_oracle {
        use proptest::collection::vec;
        use proptest::prelude::*;

        use super::*;

        const NEXT: u32 = 40;

        proptest! {
            /// Packets that are under way and given up as two sets, in the plainest way.
            #[test]
            fn go_back_n_knows_what_two_sets_know(
                steps in vec((0..8_u32, 0..NEXT, 0..NEXT), 1..120),
            ) {
                let mut recovery = GoBackN::default();
                let (mut under_way, mut lost) = ((0..NEXT).collect::<Vec<_>>(), Vec::new());
                let mut una = 0;
                for (kind, seq, cumulative) in steps {
                    match kind {
                        0 => {
                            recovery.give_up(Time::ZERO, una, NEXT);
                            (under_way, lost) = (Vec::new(), (una..NEXT).collect());
                        }
                        1..=5 => {
                            let expected = (!lost.is_empty()).then(|| lost.remove(0));
                            under_way.extend(expected);
                            prop_assert_eq!(recovery.take_lost(una, NEXT), expected);
                        }
                        _ if seq == cumulative => continue,
                        _ => {
                            let up = una.max(cumulative);
                            let before = una;
                            under_way.retain(|&seq| seq >= up);
                            lost.retain(|&seq| seq >= up);
                            let mut expected = change(up - before, 0);
                            if seq > cumulative && cumulative == up {
                                expected = nack(up - before, under_way.len() as u32);
                                (under_way, lost) = (Vec::new(), (up..NEXT).collect());
                            }
                            una = up;
                            prop_assert_eq!(recovery.handle_ack(before, NEXT, &ack(seq, cumulative)), expected);
                        }
                    }
                    prop_assert_eq!(recovery.under_way(una, NEXT) as usize, under_way.len());
                    prop_assert_eq!(recovery.lost(NEXT) as usize, lost.len());
                    prop_assert_eq!(recovery.is_over(), lost.is_empty());
                }
            }
        }
    }
}
