//! The sending machine: gives out packets as window and pacing allow, learns from acknowledgements what has
//! arrived and what is lost, and sends lost packets again before new ones.

use super::message::Messages;
use super::scoreboard::{Change, Scoreboard};
use super::{Ack, AckSample, CongestionControl, Data, SACK_BITS};
use crate::machine::Readiness;
use crate::units::{Bytes, Time};

/// A sender of one flow under the congestion control `C`.
#[derive(Clone, Debug)]
pub struct Sender<C> {
    control: C,
    /// Next packet never sent before.
    next: u32,
    /// Lowest packet not cumulatively acknowledged.
    una: u32,
    /// Packets sent and neither acknowledged nor given up.
    inflight: u32,
    reach: u32,
    last_send: Time,
    /// When what is under way counts as lost; [`Time::NEVER`] while nothing is.
    timeout: Time,
    completed: u32,
    messages: Messages,
    /// Made when the first acknowledgement out of order or timeout comes, and kept.
    scoreboard: Option<Box<Scoreboard>>,
    retransmissions: u32,
    timeouts: u32,
}

/// A sender's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// Packets sent, retransmissions too.
    pub sent: u64,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Times the retransmission timer ran out.
    pub timeouts: u32,
    /// Packets under way.
    pub inflight: u32,
}

impl<C: CongestionControl> Sender<C> {
    /// A sender with nothing to send yet. `mtu` is the largest payload in bytes; `reach`, a power of two from 64
    /// on, is how many packets may be sent beyond the lowest unacknowledged one.
    pub fn new(control: C, mtu: u32, reach: u32) -> Sender<C> {
        assert!(reach.is_power_of_two() && reach >= u64::BITS, "a reach that no ring of bits has");
        Sender {
            control,
            next: 0,
            una: 0,
            inflight: 0,
            reach,
            last_send: Time::ZERO,
            timeout: Time::NEVER,
            completed: 0,
            messages: Messages::new(mtu),
            scoreboard: None,
            retransmissions: 0,
            timeouts: 0,
        }
    }

    /// The congestion control, to be looked at.
    pub fn control(&self) -> &C {
        &self.control
    }

    /// The counters.
    pub fn flight(&self) -> Flight {
        Flight {
            sent: u64::from(self.next) + u64::from(self.retransmissions),
            retransmissions: self.retransmissions,
            timeouts: self.timeouts,
            inflight: self.inflight,
        }
    }

    /// The application has a message of `bytes` to send. Panics on an empty one, and when the flow's packets
    /// would be more than 2^32 - 2.
    pub fn handle_message(&mut self, bytes: Bytes) {
        self.messages.offer(bytes, self.next);
    }

    /// The application has data without end.
    pub fn handle_endless(&mut self) {
        self.messages.offer_endless();
    }

    /// The application's data without end has ended. Messages of a size are not cut.
    pub fn handle_stop(&mut self) {
        self.messages.stop_endless(self.next);
    }

    /// Whether an acknowledgement can be: it speaks of no packet never sent, and of no arrival that it denies.
    #[inline]
    pub fn believes(&self, ack: &Ack) -> bool {
        ack.cumulative <= self.next && ack.seq < self.next && ack.seq != ack.cumulative
    }

    /// An acknowledgement arrived at the NIC at `received` (t5) and is processed `now` (t6). One that cannot be is
    /// ignored.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) {
        if !self.believes(ack) {
            return;
        }
        let plain = ack.seq < ack.cumulative
            && ack.sack == 0
            && ack.cumulative >= self.una
            && self.scoreboard.as_ref().is_none_or(|board| board.is_plain(self.una));
        let change = if plain {
            let acked = ack.cumulative - self.una;
            self.una = ack.cumulative;
            Change { acked, left_flight: acked, lost: 0 }
        } else {
            self.consult_scoreboard(ack)
        };
        self.inflight -= change.left_flight;
        self.completed += self.messages.acknowledge(self.una);
        let sample = AckSample {
            rtt: now.since(ack.echo),
            endpoint_delay: ack.remote_queuing() + now.since(received),
            hops: ack.hops,
            newly_acked: change.acked,
            congestion_experienced: ack.congestion_experienced,
            cumulative: self.una,
            next: self.next,
        };
        self.control.on_ack(now, &sample);
        if change.lost > 0 {
            self.control.on_loss(now, self.una, self.next);
        }
        if self.inflight == 0 {
            // Lost packets that wait to be sent again are not waited for: the first one sent arms it anew.
            self.timeout = Time::NEVER;
        } else if change.acked > 0 {
            self.timeout = now + self.control.retransmission_timeout();
        }
    }

    #[cold]
    fn consult_scoreboard(&mut self, ack: &Ack) -> Change {
        let reach = self.reach;
        let board = self.scoreboard.get_or_insert_with(|| Box::new(Scoreboard::new(reach)));
        let mut change = Change::default();
        if ack.cumulative > self.una {
            change = board.advance(self.una, ack.cumulative);
            self.una = ack.cumulative;
        }
        if ack.seq >= self.una {
            board.arrived(ack.seq, &mut change);
        }
        let mut bits = ack.sack;
        while bits != 0 {
            let seq = ack.cumulative.saturating_add(1 + bits.trailing_zeros() % SACK_BITS);
            bits &= bits - 1;
            if seq >= self.una && seq < self.next {
                board.arrived(seq, &mut change);
            }
        }
        board.judge(self.una, self.control.dup_threshold(), &mut change);
        change
    }

    /// The timer may have run out.
    pub fn handle_timeout(&mut self, now: Time) {
        if now < self.timeout {
            return;
        }
        let reach = self.reach;
        let board = self.scoreboard.get_or_insert_with(|| Box::new(Scoreboard::new(reach)));
        board.give_up(self.una, self.next);
        self.inflight = 0;
        self.timeouts += 1;
        self.control.on_timeout(now, self.next);
        // Armed anew by the transmission that follows.
        self.timeout = Time::NEVER;
    }

    /// When [`Self::handle_timeout`] is wanted.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        (self.timeout != Time::NEVER).then_some(self.timeout)
    }

    /// Messages wholly acknowledged since this was last asked.
    #[inline]
    pub fn poll_completed(&mut self) -> u32 {
        std::mem::take(&mut self.completed)
    }

    /// Whether a packet may be sent.
    #[inline]
    pub fn readiness(&self, now: Time) -> Readiness {
        let fresh = self.next < self.messages.offered() && self.next - self.una < self.reach;
        if !fresh && self.lost() == 0 {
            return Readiness::Idle;
        }
        // At least one packet may always be under way; the spacing makes up for a window below one.
        if f64::from(self.inflight + 1) > self.control.window().max(1.0) {
            return Readiness::Idle;
        }
        match self.control.pacing_gap() {
            Some(gap) if self.next > 0 && now < self.last_send + gap => Readiness::At(self.last_send + gap),
            _ => Readiness::Ready,
        }
    }

    /// The next packet: the lowest lost one, or else a new one. To be called when [`Self::readiness`] is
    /// `Ready`; panics when there is nothing to send.
    #[inline]
    pub fn transmit(&mut self, now: Time) -> Data {
        let (seq, (payload, last)) = if self.lost() > 0 { self.retransmit() } else { self.transmit_new() };
        self.inflight += 1;
        self.last_send = now;
        if self.timeout == Time::NEVER {
            self.timeout = now + self.control.retransmission_timeout();
        }
        Data { seq, payload, last, sent: now }
    }

    #[inline]
    fn transmit_new(&mut self) -> (u32, (u32, bool)) {
        assert!(self.next < self.messages.offered(), "nothing to send");
        let seq = self.next;
        self.next += 1;
        (seq, self.messages.first_transmission(seq))
    }

    #[cold]
    fn retransmit(&mut self) -> (u32, (u32, bool)) {
        let board = self.scoreboard.as_mut().expect("packets are lost, so there is a scoreboard");
        let seq = board.take_lost(self.una, self.next).expect("packets are lost");
        self.retransmissions += 1;
        (seq, self.messages.retransmission(seq))
    }

    #[inline]
    fn lost(&self) -> u32 {
        self.scoreboard.as_ref().map_or(0, |board| board.lost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::none::{NoControl, NoneParams};

    fn ack(seq: u32, cumulative: u32) -> Ack {
        Ack {
            seq,
            cumulative,
            sack: 0,
            echo: Time::ZERO,
            congestion_experienced: false,
            hops: 1,
            remote_queuing_us: 0,
        }
    }

    #[test]
    fn acknowledgements_that_cannot_be_are_ignored() {
        let mut sender = Sender::new(NoControl::new(&NoneParams::default(), Bytes::new(1500)), 1500, 64);
        sender.handle_endless();
        for _ in 0..2 {
            sender.transmit(Time::ZERO);
        }
        let timeout = sender.poll_timeout();
        // Of packets never sent, and of the arrival of the packet that it says is missing.
        for (seq, cumulative) in [(2, 2), (2, 0), (0, 3), (0, 0), (1, 1)] {
            assert!(!sender.believes(&ack(seq, cumulative)));
            sender.handle_ack(Time::ZERO, Time::ZERO, &ack(seq, cumulative));
            assert_eq!((sender.flight().inflight, sender.poll_timeout()), (2, timeout));
        }
        sender.handle_ack(Time::ZERO, Time::ZERO, &ack(1, 2));
        assert_eq!((sender.flight().inflight, sender.poll_timeout()), (0, None));
    }
}
