//! IRN's recovery (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3.1): a bitmap of what has
//! arrived, filled by NACKs that name the packet which caused them.
//!
//! A packet is lost when one above it has arrived, once a transmission. After a timeout the lowest missing packet is sent
//! again, and with it only what is below another that has arrived: of a tail that is lost whole, a timeout thus brings back
//! one packet. The other rule is to give up everything that is not known to have arrived.

use super::contract::{Change, Recovery};
use super::SelectiveRepeat;
use crate::transport::Ack;
use crate::units::Time;

/// A bitmap of the packets that have arrived.
#[derive(Clone, Debug)]
pub struct NackBitmap {
    board: SelectiveRepeat,
    all_at_timeout: bool,
}

impl NackBitmap {
    /// All packets are under way. The sender is at most `reach` packets ahead of the lowest unacknowledged one. A timeout
    /// gives up everything, or else only the lowest missing packet and those below one that has arrived.
    pub fn new(reach: u32, all_at_timeout: bool) -> NackBitmap {
        NackBitmap { board: SelectiveRepeat::new(reach, 1), all_at_timeout }
    }
}

impl Recovery for NackBitmap {
    /// Only the cumulative number and the packet that caused the acknowledgement count, as IRN's say no more.
    fn handle_ack(&mut self, una: u32, next: u32, ack: &Ack) -> Change {
        self.board.handle_ack(una, next, &Ack { sack: 0, ..*ack })
    }

    fn give_up(&mut self, _now: Time, una: u32, next: u32) {
        if self.all_at_timeout {
            self.board.give_up_all(una, next);
        } else {
            self.board.give_up_first(una, next);
        }
    }

    fn take_lost(&mut self, una: u32, next: u32) -> Option<u32> {
        self.board.take_lost(una, next)
    }

    fn lost(&self, next: u32) -> u32 {
        self.board.lost(next)
    }

    fn under_way(&self, una: u32, next: u32) -> u32 {
        self.board.under_way(una, next)
    }

    fn is_over(&self) -> bool {
        self.board.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn nack(seq: u32, cumulative: u32) -> Ack {
        let (echo, congestion_experienced) = (Time::ZERO, false);
        Ack { seq, cumulative, sack: 0, echo, congestion_experienced, hops: 1, remote_queuing_us: 0 }
    }

    fn drain(recovery: &mut NackBitmap, una: u32, next: u32) -> Vec<u32> {
        std::iter::from_fn(|| recovery.take_lost(una, next)).collect()
    }

    #[test]
    fn only_the_packet_that_caused_a_nack_is_known_from_it() {
        let mut recovery = NackBitmap::new(64, false);
        let told = Ack { sack: u64::MAX, ..nack(3, 1) };
        assert_eq!(recovery.handle_ack(0, 8, &told), Change { acked: 2, lost: 2, nack: false });
        assert_eq!(drain(&mut recovery, 1, 8), [1, 2]);
        assert_eq!(recovery.under_way(1, 8), 6);
    }

    #[test]
    fn a_timeout_gives_up_the_first_packet_of_a_lost_tail_or_all_of_it() {
        for (all, expected) in [(false, vec![2]), (true, vec![2, 3, 4, 5])] {
            let mut recovery = NackBitmap::new(64, all);
            recovery.give_up(Time::ZERO, 2, 6);
            assert_eq!(recovery.under_way(2, 6), 4 - expected.len() as u32);
            assert_eq!(drain(&mut recovery, 2, 6), expected);
            assert_eq!(recovery.under_way(2, 6), 4);
        }
    }

    #[test]
    fn a_timeout_gives_up_every_hole_below_what_has_arrived_again() {
        let mut recovery = NackBitmap::new(64, false);
        recovery.handle_ack(0, 8, &nack(5, 0));
        assert_eq!(drain(&mut recovery, 0, 8), [0, 1, 2, 3, 4]);
        // Packets 1 and 3 come, the others were lost again; of 6 and 7 nothing is known.
        recovery.handle_ack(0, 8, &nack(1, 0));
        recovery.handle_ack(0, 8, &nack(3, 0));
        recovery.give_up(Time::ZERO, 0, 8);
        assert_eq!(drain(&mut recovery, 0, 8), [0, 2, 4]);
        // Of what was given up, none is judged by what comes below the highest that has arrived; above it, 6 is.
        assert_eq!(recovery.handle_ack(0, 8, &nack(7, 0)), Change { acked: 1, lost: 1, nack: false });
        assert_eq!(drain(&mut recovery, 0, 8), [6]);
    }

    #[test]
    fn it_works_up_to_the_last_packet_that_a_flow_can_have() {
        let (una, next) = (u32::MAX - 3, u32::MAX);
        let mut recovery = NackBitmap::new(64, false);
        recovery.give_up(Time::ZERO, una, next);
        assert_eq!(drain(&mut recovery, una, next), [una]);
        recovery.handle_ack(una, next, &nack(next - 1, una));
        recovery.give_up(Time::ZERO, una, next);
        assert_eq!(drain(&mut recovery, una, next), [una, una + 1]);
    }
}
