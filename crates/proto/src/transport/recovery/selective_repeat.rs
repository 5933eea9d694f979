//! Selective acknowledgement, seen from the sender: which packets above the cumulative acknowledgement have
//! arrived, and which are given up for lost (Swift §3.6; the rule is RFC 6675's with a threshold of one).
//!
//! Every packet is judged once: when enough packets above it have arrived for the first time. A retransmission that is lost too is
//! found by the timer, or by a driver that knows which frames were lost ([`Recovery::mark_lost`]).
//!
//! A timer that runs out may be early: a long queue looks like a loss. So only the lowest missing packet is sent again, and
//! its acknowledgement tells the rest (F-RTO, RFC 5682, with the packet's time of sending in place of a count of
//! acknowledgements, as in RFC 8985): what was sent before it and is still missing then, is lost.

use super::contract::{Change, Recovery};
use crate::transport::sequence_set::SequenceSet;
use crate::transport::{Ack, Nack, SACK_BITS};
use crate::units::Time;

/// Selective repeat: the state of the packets from `una`, the lowest not cumulatively acknowledged, up to the highest
/// sent.
#[derive(Clone, Debug)]
pub struct SelectiveRepeat {
    sacked: SequenceSet,
    lost: SequenceSet,
    /// Packets that were judged by word from below.
    told: SequenceSet,
    /// Packets below this have been judged.
    judged: u32,
    /// One above the highest packet known to have arrived.
    top: u32,
    /// Packets that must have arrived above a hole before it counts as lost.
    dup_threshold: u32,
    /// The packets of which the last timeout left open whether they are lost.
    doubt: Option<Doubt>,
}

/// Packets that were under way when the timer ran out. Whether they are lost is known when a packet that was sent later is
/// acknowledged. While the same packet is the lowest missing one the timer may run out again: each probe sent since the
/// first time can tell what was lost before.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    /// The packet that is sent again to ask, and is the lowest that was missing.
    probe: u32,
    /// Whether the probe has not left yet.
    asks: bool,
    /// What was in doubt when the timer ran out first.
    first: Expiry,
    /// What was in doubt when it ran out last.
    last: Expiry,
}

/// The timer has run out.
#[derive(Clone, Copy, Debug)]
struct Expiry {
    at: Time,
    /// Packets after the probe and before this one were under way.
    until: u32,
}

impl SelectiveRepeat {
    /// All packets are under way. The sender is at most `reach` packets ahead of the lowest unacknowledged one, and
    /// `dup_threshold` is [`Scheme::dup_threshold`](crate::transport::Scheme::dup_threshold).
    pub fn new(reach: u32, dup_threshold: u32) -> SelectiveRepeat {
        let none = SequenceSet::new(reach);
        SelectiveRepeat {
            sacked: none.clone(),
            lost: none.clone(),
            told: none,
            judged: 0,
            top: 0,
            dup_threshold,
            doubt: None,
        }
    }

    /// Gives up everything that has not arrived, retransmissions too, for a scheme that does not ask first.
    pub fn give_up_all(&mut self, una: u32, next: u32) {
        for seq in una..next {
            if !self.sacked.contains(seq) {
                self.lost.insert(seq);
            }
        }
        self.judged = self.judged.max(next);
    }
}

impl Recovery for SelectiveRepeat {
    fn handle_ack(&mut self, before: u32, next: u32, ack: &Ack) -> Change {
        let una = before.max(ack.cumulative);
        let mut change = self.advance(before, una);
        // The lowest missing packet is missing, whatever an acknowledgement that contradicts others says of it.
        if ack.seq > una {
            self.arrived(ack.seq, &mut change);
        }
        let mut bits = ack.sack;
        while bits != 0 {
            let seq = ack.cumulative.saturating_add(1 + bits.trailing_zeros() % SACK_BITS);
            bits &= bits - 1;
            if seq > una && seq < next {
                self.arrived(seq, &mut change);
            }
        }
        self.judge(una, &mut change);
        self.settle(una, next, ack.echo);
        change
    }

    /// Gives up the lowest missing packet, and leaves the rest in doubt.
    fn give_up(&mut self, now: Time, una: u32, next: u32) {
        self.lost.insert(una);
        self.judged = self.judged.max(una + 1);
        let last = Expiry { at: now, until: next };
        let first = self.doubt.filter(|doubt| doubt.probe == una).map_or(last, |doubt| doubt.first);
        self.doubt = Some(Doubt { probe: una, asks: true, first, last });
    }

    /// A first transmission that acknowledgements have shown to be lost may have been made good by now: that is left alone.
    fn mark_lost(&mut self, una: u32, next: u32, seq: u32, again: bool) {
        let known = seq < self.judged || self.told.contains(seq);
        if seq < una || seq >= next || self.sacked.contains(seq) || known && !again {
            return;
        }
        self.lost.insert(seq);
        self.told.insert(seq);
        if let Some(doubt) = self.doubt.as_mut().filter(|doubt| doubt.probe == seq) {
            doubt.asks = true;
        }
    }

    /// Which of a packet's transmissions was cut, nobody knows: where two were under way, the other one may arrive yet, and the
    /// third is then a duplicate.
    fn handle_nack(&mut self, una: u32, next: u32, nack: &Nack) -> bool {
        if self.sacked.contains(nack.seq) || !self.lost.insert(nack.seq) {
            return false;
        }
        self.told.insert(nack.seq);
        if let Some(doubt) = self.doubt.as_mut().filter(|doubt| doubt.probe == nack.seq) {
            doubt.asks = true;
        }
        self.settle(una, next, nack.echo);
        true
    }

    /// The lowest lost packet.
    fn take_lost(&mut self, una: u32, next: u32) -> Option<u32> {
        let seq = self.lost.first(una, next)?;
        self.lost.remove(seq);
        if let Some(doubt) = &mut self.doubt {
            doubt.asks = false;
        }
        Some(seq)
    }

    /// As long as a doubt lasts, nothing but the probe is sent again.
    fn lost(&self, _next: u32) -> u32 {
        self.doubt.map_or(self.lost.len(), |doubt| u32::from(doubt.asks))
    }

    /// Packets in doubt are under way.
    fn under_way(&self, una: u32, next: u32) -> u32 {
        next - una - self.sacked.len() - self.lost.len()
    }

    fn asks(&self) -> bool {
        self.doubt.is_some_and(|doubt| doubt.asks)
    }

    fn is_over(&self) -> bool {
        self.sacked.len() == 0 && self.lost.len() == 0 && self.told.len() == 0 && self.doubt.is_none()
    }
}

impl SelectiveRepeat {
    /// Gives up the lowest unacknowledged packet, and what has not arrived below the highest that has. Whatever is above
    /// may be under way still.
    pub(super) fn give_up_first(&mut self, una: u32, next: u32) {
        let top = self.top.max(una + 1).min(next);
        for seq in una..top {
            if !self.sacked.contains(seq) {
                self.lost.insert(seq);
            }
        }
        self.judged = self.judged.max(top);
    }

    /// Ends a doubt when a packet has arrived that was sent, at `sent`, after the timer had run out: the packets in doubt that
    /// have not arrived are lost. The congestion control has heard of them at the timeout, so they count as no new loss. A
    /// doubt also ends when the lowest missing packet arrives before the probe has left, and when nothing is under way any more
    /// that could tell more.
    fn settle(&mut self, una: u32, next: u32, sent: Time) {
        let Some(doubt) = self.doubt else { return };
        if sent >= doubt.first.at {
            let until = if sent >= doubt.last.at { doubt.last.until } else { doubt.first.until };
            self.give_up_all((doubt.probe + 1).max(una), until);
            self.doubt = None;
        } else if una > doubt.probe && (doubt.asks || self.under_way(una, next) == 0) {
            self.doubt = None;
        }
    }

    /// Moves the cumulative acknowledgement from `una` to `cumulative`.
    fn advance(&mut self, una: u32, cumulative: u32) -> Change {
        let mut change = Change::default();
        for seq in una..cumulative {
            if !self.sacked.remove(seq) {
                change.acked += 1;
                self.lost.remove(seq);
                self.told.remove(seq);
            }
        }
        self.top = self.top.max(cumulative);
        change
    }

    /// Packet `seq`, above the cumulative acknowledgement, has arrived.
    fn arrived(&mut self, seq: u32, change: &mut Change) {
        if self.sacked.insert(seq) {
            change.acked += 1;
            self.lost.remove(seq);
            self.told.remove(seq);
            self.top = self.top.max(seq + 1);
        }
    }

    /// The packet below which `dup_threshold` that arrived have overtaken what is missing, or `una`.
    fn overtaken(&self, una: u32) -> u32 {
        if self.sacked.len() < self.dup_threshold {
            return una;
        }
        let mut edge = self.top;
        for _ in 0..self.dup_threshold {
            match self.sacked.last(una, edge) {
                Some(seq) => edge = seq,
                None => return una,
            }
        }
        edge
    }

    /// Gives up the packets from `una` on that `dup_threshold` or more later ones have overtaken.
    fn judge(&mut self, una: u32, change: &mut Change) {
        let edge = self.overtaken(una);
        for seq in self.judged.max(una)..edge {
            if !self.sacked.contains(seq) && !self.told.contains(seq) && self.lost.insert(seq) {
                change.lost += 1;
            }
        }
        self.judged = self.judged.max(edge);
    }
}

#[cfg(test)]
mod tests;
