//! The receiver of go-back-N: it takes the next packet in order and throws away every other, so it has nothing to keep of
//! what comes early.
//!
//! Each packet that it takes, and each that it had already, is acknowledged at once. A packet beyond a gap is answered
//! with a NACK: an acknowledgement that [tells of the gap](Ack::tells_of_gap). As long as the gap is not filled that is
//! the only answer, and what else comes beyond it has none (InfiniBand Architecture Specification, volume 1, chapter 9:
//! one NAK for a sequence error until the expected packet has come). If that NACK is lost, the sender's timer finds the
//! gap.

use std::cmp::Ordering;

use super::contract::{Arrival, Receiver};
use crate::machine::Readiness;
use crate::transport::{Ack, Data};
use crate::units::{Span, Time};

/// A receiver of one flow that takes packets in order only.
#[derive(Debug)]
pub struct InOrderReceiver {
    /// The only packet that is taken: every one before it has arrived.
    expected: u32,
    /// The packet of which the next acknowledgement speaks, or the last one spoke.
    answered: u32,
    payload: u64,
    /// [`Data::sent`] of that packet.
    sent: Time,
    /// Arrival of that packet at the NIC (t2).
    received: Time,
    /// Packets that came again although they had arrived.
    duplicates: u64,
    /// Messages that are complete since last asked.
    completed: u32,
    /// Switches that the packet passed.
    hops: u8,
    /// It met congestion, or one did whose acknowledgement has not left yet.
    marked: bool,
    /// An acknowledgement is to be sent.
    due: bool,
    /// The gap before the packets that come has had its NACK.
    nacked: bool,
}

impl InOrderReceiver {
    /// A receiver of a new flow.
    pub fn new() -> InOrderReceiver {
        InOrderReceiver {
            expected: 0,
            answered: 0,
            payload: 0,
            sent: Time::ZERO,
            received: Time::ZERO,
            duplicates: 0,
            completed: 0,
            hops: 0,
            marked: false,
            due: false,
            nacked: false,
        }
    }

    /// Returns what a packet is, and whether it is answered.
    fn judge(&mut self, data: &Data) -> (Arrival, bool) {
        match data.seq.cmp(&self.expected) {
            Ordering::Equal => {
                self.expected += 1;
                self.nacked = false;
                self.payload += u64::from(data.payload);
                self.completed += u32::from(data.last);
                (Arrival::New, true)
            }
            // A NACK that has not left yet says as much, and more.
            Ordering::Less => {
                self.duplicates += 1;
                (Arrival::Duplicate, !(self.due && self.nacked))
            }
            Ordering::Greater => (Arrival::OutOfOrder, !std::mem::replace(&mut self.nacked, true)),
        }
    }
}

impl Default for InOrderReceiver {
    fn default() -> InOrderReceiver {
        InOrderReceiver::new()
    }
}

impl Receiver for InOrderReceiver {
    fn handle_data(
        &mut self,
        _now: Time,
        received: Time,
        data: &Data,
        congestion_experienced: bool,
        hops: u8,
    ) -> Arrival {
        let (arrival, answered) = self.judge(data);
        if answered {
            // One acknowledgement speaks for those that could not leave before it: it says how far everything has come.
            self.marked = congestion_experienced || self.due && self.marked;
            self.due = true;
            (self.answered, self.sent, self.received, self.hops) = (data.seq, data.sent, received, hops);
        }
        arrival
    }

    /// Nothing waits.
    fn handle_timeout(&mut self, _now: Time) {}

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    #[inline]
    fn poll_completed(&mut self) -> u32 {
        std::mem::take(&mut self.completed)
    }

    #[inline]
    fn readiness(&self) -> Readiness {
        if self.due {
            Readiness::Ready
        } else {
            Readiness::Idle
        }
    }

    fn transmit(&mut self, now: Time) -> Ack {
        self.due = false;
        let waited_us = now.since(self.received).as_ps() / Span::from_us(1).as_ps();
        Ack {
            seq: self.answered,
            cumulative: self.expected,
            sack: 0,
            echo: self.sent,
            congestion_experienced: self.marked,
            hops: self.hops,
            remote_queuing_us: u32::try_from(waited_us).unwrap_or(u32::MAX),
        }
    }

    fn payload(&self) -> u64 {
        self.payload
    }

    fn duplicates(&self) -> u64 {
        self.duplicates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Arrival::{New, OutOfOrder};

    fn arrive(receiver: &mut InOrderReceiver, seq: u32, marked: bool) -> Arrival {
        let data = Data { seq, payload: 100, last: seq % 4 == 3, sent: Time::from_ps(u64::from(seq)) };
        receiver.handle_data(Time::ZERO, Time::ZERO, &data, marked, 1)
    }

    /// Returns what a packet is, and which packet is acknowledged up to which, if one is.
    fn answer(receiver: &mut InOrderReceiver, seq: u32) -> (Arrival, Option<(u32, u32)>) {
        let arrival = arrive(receiver, seq, false);
        let ready = receiver.readiness() == Readiness::Ready;
        let ack = ready.then(|| receiver.transmit(Time::ZERO)).map(|ack| (ack.seq, ack.cumulative));
        (arrival, ack)
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_receiver_is_small() {
        assert_eq!(size_of::<InOrderReceiver>(), 48);
    }

    #[test]
    fn a_gap_has_one_nack_until_it_is_filled() {
        let mut receiver = InOrderReceiver::new();
        let said: Vec<_> = [0, 2, 3, 1, 3, 4, 2, 3].map(|seq| answer(&mut receiver, seq)).into();
        let expected = [
            (New, Some((0, 1))),
            (OutOfOrder, Some((2, 1))),
            (OutOfOrder, None),
            (New, Some((1, 2))),
            // The next gap has a NACK of its own.
            (OutOfOrder, Some((3, 2))),
            (OutOfOrder, None),
            (New, Some((2, 3))),
            (New, Some((3, 4))),
        ];
        assert_eq!(said, expected);
        assert_eq!((receiver.payload(), receiver.poll_completed(), receiver.poll_completed()), (400, 1, 0));
    }

    #[test]
    fn what_it_has_is_acknowledged_again_and_counted_once() {
        let mut receiver = InOrderReceiver::new();
        let said = [0, 1, 0].map(|seq| answer(&mut receiver, seq));
        assert_eq!(said[2], (Arrival::Duplicate, Some((0, 2))));
        assert_eq!(receiver.payload(), 200);
    }

    #[test]
    fn acknowledgements_that_could_not_leave_become_one() {
        let mut receiver = InOrderReceiver::new();
        for (seq, marked) in [(0, false), (1, true), (2, false)] {
            arrive(&mut receiver, seq, marked);
        }
        let ack = receiver.transmit(Time::ZERO);
        assert_eq!((ack.seq, ack.cumulative, ack.echo), (2, 3, Time::from_ps(2)));
        assert!(ack.congestion_experienced, "the mark of packet 1 is told");
        assert_eq!(receiver.readiness(), Readiness::Idle);
        arrive(&mut receiver, 3, false);
        assert!(!receiver.transmit(Time::ZERO).congestion_experienced, "and told once");
    }

    #[test]
    fn a_nack_that_could_not_leave_is_not_forgotten_for_a_duplicate() {
        let mut receiver = InOrderReceiver::new();
        for seq in [0, 2, 0] {
            arrive(&mut receiver, seq, false);
        }
        let ack = receiver.transmit(Time::ZERO);
        assert!(ack.tells_of_gap());
        assert_eq!((ack.seq, ack.cumulative), (2, 1));
        // Nor told when the gap is filled before it leaves.
        for seq in [3, 1] {
            arrive(&mut receiver, seq, false);
        }
        let ack = receiver.transmit(Time::ZERO);
        assert_eq!((ack.seq, ack.cumulative), (1, 2));
    }
}
