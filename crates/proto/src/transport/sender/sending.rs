//! What a sender sends next: whether it may, which packet, and how much that carries.

use super::{Boundary, CongestionControl, Data, Offered, Readiness, Recovery, Sender, Time};
use crate::transport::{Ask, Backlog};

/// How many packets there are of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packets {
    pub(super) under_way: u32,
    /// Given up, waiting to be sent again.
    pub(super) lost: u32,
    /// See [`Recovery::asks`].
    pub(super) asks: bool,
}

impl Packets {
    /// Returns whether the retransmission timer has something to wait for: packets are under way, and the one that asks whether
    /// they are lost has left.
    pub(super) fn is_waited_for(&self) -> bool {
        self.under_way > 0 && !self.asks
    }
}

impl<C: CongestionControl, R: Recovery> Sender<C, R> {
    /// Returns whether a packet may be sent.
    #[inline]
    pub fn readiness(&self, now: Time) -> Readiness {
        let packets = self.packets();
        let fresh = self.next < self.end && self.next - self.una < self.common.reach;
        if !fresh && !self.sends_again(&packets) {
            return Readiness::Idle;
        }
        let shared = &self.common.control;
        // At least one packet may always be under way; the spacing makes up for a window below one.
        if f64::from(packets.under_way + 1) > self.control.window(shared).max(1.0) && !packets.asks {
            return Readiness::Idle;
        }
        if !self.control.may_send(shared) && !packets.asks {
            return Readiness::Idle;
        }
        match self.control.pacing_gap(shared) {
            Some(gap) if self.next > 0 && now < self.last_send + gap => Readiness::At(self.last_send + gap),
            _ => Readiness::Ready,
        }
    }

    /// Returns whether the next packet is one sent again.
    #[inline]
    fn sends_again(&self, packets: &Packets) -> bool {
        packets.lost > 0 && (packets.asks || self.control.may_send_again(&self.common.control))
    }

    /// What the packet that has just left asks the receiver for; `senders` flows of this host are ready to send, this one among
    /// them. See [`CongestionControl::ask`].
    pub fn ask(&self, senders: u32) -> Ask {
        self.control.ask(&self.common.control, &self.backlog(), senders)
    }

    /// What there is to send, and what is under way. Of messages that wait behind the one begun last, every packet counts as full.
    fn backlog(&self) -> Backlog {
        let Packets { under_way, lost, .. } = self.packets();
        let offered = self.rare.as_ref().and_then(|rare| rare.messages.offered()).unwrap_or(self.end);
        let (fresh, mtu) = (u64::from(offered - self.next), u64::from(self.common.mtu));
        let short = if self.tail > 0 && self.next < self.end { mtu - u64::from(self.tail) } else { 0 };
        Backlog { fresh, payload: fresh * mtu - short, lost, under_way }
    }

    /// Packets that window and application let be sent one after the other from now on, however they are spaced.
    pub fn sendable(&self) -> u32 {
        let packets = self.packets();
        let offered = self.rare.as_ref().and_then(|rare| rare.messages.offered()).unwrap_or(self.end);
        let reachable = self.una.saturating_add(self.common.reach);
        let fresh = offered.min(reachable).saturating_sub(self.next);
        let window = self.control.window(&self.common.control).max(1.0);
        let room = (window as u32).saturating_sub(packets.under_way);
        room.max(u32::from(packets.asks)).min(packets.lost + fresh)
    }

    /// Which packets those are.
    pub fn offered(&self) -> Offered {
        let sendable = self.sendable();
        let lost = sendable.min(self.packets().lost);
        Offered { lost, next: self.next, until: self.next + (sendable - lost) }
    }

    /// Payload of packet `seq`, which has not been sent, and how many packets from it on are offered in a row that have as much.
    ///
    /// Panics if the application has not offered it.
    pub fn payload_from(&self, seq: u32) -> (u32, u32) {
        let current = Boundary { end: self.end, tail: self.tail };
        let message = if seq < self.end { Some(current) } else { self.waiting_message(seq) };
        let Boundary { end, tail } = message.expect("a packet that is offered");
        match end - seq {
            1 if tail > 0 => (tail, 1),
            packets => (self.common.mtu, packets - u32::from(tail > 0)),
        }
    }

    #[cold]
    pub(super) fn waiting_message(&self, seq: u32) -> Option<Boundary> {
        self.rare.as_ref()?.messages.waiting_at(seq)
    }

    /// The most payload that the next packet can have, in bytes: what it has, unless it is one sent again.
    pub fn next_payload(&self) -> u32 {
        let fresh = self.is_calm() || self.packets().lost == 0;
        if fresh && self.tail > 0 && self.next + 1 == self.end {
            self.tail
        } else {
            self.common.mtu
        }
    }

    /// The next packet: a lost one, the lowest first, or else a new one. To be called when [`Self::readiness`] is
    /// `Ready`; panics when there is nothing to send.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time) -> Data {
        let retransmit = !self.is_calm() && self.sends_again(&self.packets());
        let (seq, (payload, last)) = if retransmit { self.retransmit() } else { self.transmit_new() };
        let data = Data { seq, payload, last, sent: now };
        self.last_send = now;
        self.control.on_sent(&self.common.control, now, &data);
        if self.timeout == Time::NEVER {
            self.arm(now);
        }
        data
    }

    /// Sets the timer for the first packet under way.
    pub(super) fn arm(&mut self, now: Time) {
        let timeouts = self.repair().map_or(0, |repair| repair.timeouts_in_a_row);
        self.timeout = now + self.control.retransmission_timeout(&self.common.control, timeouts);
    }

    #[inline]
    pub(super) fn transmit_new(&mut self) -> (u32, (u32, bool)) {
        assert!(self.next < self.end, "nothing to send");
        let seq = self.next;
        self.next += 1;
        let whole = if self.next == self.end { self.finish_message() } else { (self.common.mtu, false) };
        (seq, whole)
    }

    /// The packet just sent ends what was begun last. Returns its payload and whether it ends a message.
    #[cold]
    pub(super) fn finish_message(&mut self) -> (u32, bool) {
        let tail = self.tail;
        let following = self.rare.as_mut().and_then(|rare| rare.messages.pop_waiting());
        if let Some(message) = following {
            self.begin(message);
        }
        if tail > 0 {
            (tail, true)
        } else {
            (self.common.mtu, false)
        }
    }

    #[cold]
    pub(super) fn retransmit(&mut self) -> (u32, (u32, bool)) {
        let (una, next) = (self.una, self.next);
        let repair = self.repair_mut();
        let seq = repair.recovery.take_lost(una, next).expect("packets are lost");
        repair.retransmissions += 1;
        let newest = Some(self.tail).filter(|&tail| tail > 0 && seq + 1 == self.end);
        let tail = newest.or_else(|| self.rare().messages.tail_at(seq + 1));
        (seq, tail.map_or((self.common.mtu, false), |tail| (tail, true)))
    }

    /// Packets under way and given up.
    #[inline]
    pub(super) fn packets(&self) -> Packets {
        if self.is_calm() {
            Packets { under_way: self.next - self.una, lost: 0, asks: false }
        } else {
            self.packets_in_trouble()
        }
    }

    #[cold]
    pub(super) fn packets_in_trouble(&self) -> Packets {
        let recovery = &self.repair().expect("who is not calm has something to repair").recovery;
        Packets {
            under_way: recovery.under_way(self.una, self.next),
            lost: recovery.lost(self.next),
            asks: recovery.asks(),
        }
    }
}
