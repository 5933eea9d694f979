//! The receiver that takes packets in any order, and acknowledges them selectively.

mod delayed;

use std::collections::VecDeque;
use std::num::NonZeroU8;

use self::delayed::{Delayed, Reasons};
use super::contract::{Arrival, Header, Receiver};
use crate::machine::Readiness;
use crate::transport::sequence_set::SequenceSet;
use crate::transport::{Ack, Data, Nack, SACK_BITS};
use crate::units::{Span, Time};

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every packet at once (Swift §3.6).
    EveryPacket,
    /// Every `every` packets in order, or after `delay`; at once what is out of order, and what was pending
    /// before when the congestion mark changes (RFC 8257 §3.2).
    Delayed {
        /// Packets an acknowledgement, at least 1.
        every: u32,
        /// Longest wait.
        delay: Span,
        /// Marked packets do not wait (GCN; Swift §4).
        marked_at_once: bool,
        /// Packets come on many paths: nothing is told at once of disorder or a mark that changes, but of the first packet, one
        /// that ends a message, and one that came before (ultraethernet/uet-htsim, `UecSink::processData`).
        any_order: bool,
    },
}

/// A receiver of one flow, of which a simulator holds as many as flows: what most packets do not need is boxed.
#[derive(Debug)]
pub struct SelectiveReceiver {
    /// Every packet before this one has arrived.
    expected: u32,
    state: State,
    /// Switches that the newest packet passed.
    hops: u8,
    /// The reach's binary logarithm. Never zero, so that an enum of receivers needs no room for its own tag.
    log_reach: NonZeroU8,
    payload: u64,
    /// [`Data::sent`] of the newest packet, which the next acknowledgement speaks of.
    sent: Time,
    /// Arrival of the newest packet at the NIC (t2): kept with it, never on the wire.
    received: Time,
    /// Made when the first packet out of order comes or acknowledgements may wait, and kept.
    special: Option<Box<Special>>,
}

/// A few facts, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State(u8);

impl State {
    /// The newest packet met congestion.
    const MARKED: State = State(1);
    /// A packet has come since the last acknowledgement.
    const PENDING: State = State(2);
    /// The next acknowledgement goes out at once.
    const DUE: State = State(4);
    /// A message is complete since last asked; more of them are counted in [`Special::completed`].
    const COMPLETED: State = State(8);

    #[inline]
    fn contains(self, fact: State) -> bool {
        self.0 & fact.0 != 0
    }

    #[inline]
    fn set(&mut self, fact: State, holds: bool) {
        self.0 = self.0 & !fact.0 | if holds { fact.0 } else { 0 };
    }
}

/// What only some flows need.
#[derive(Debug, Default)]
struct Special {
    /// The newest packet. Without a special case it is the one before the expected.
    newest: u32,
    /// Messages that are complete since last asked, beside the first.
    completed: u32,
    /// Packets that came again although they had arrived.
    duplicates: u64,
    /// Acknowledgements of what came before each change of the congestion mark, to go out first and in order; bounded,
    /// see [`SelectiveReceiver::note_change`].
    before_change: VecDeque<Ack>,
    delayed: Option<Delayed>,
    early: Option<Early>,
}

/// Packets above a hole, and those of them that end messages.
#[derive(Debug)]
struct Early {
    arrived: SequenceSet,
    ends: SequenceSet,
}

impl Special {
    /// No packet has come before one that is missing.
    fn is_in_order(&self) -> bool {
        self.early.as_ref().is_none_or(|early| early.arrived.len() == 0)
    }

    /// Takes a packet. Returns whether it is acknowledged at once.
    fn note(&mut self, now: Time, seq: u32, reasons: Reasons) -> bool {
        self.newest = seq;
        self.delayed.as_mut().is_none_or(|delayed| delayed.note(now, reasons))
    }

    /// An acknowledgement was made.
    fn forget_pending(&mut self) {
        if let Some(delayed) = &mut self.delayed {
            delayed.pending = 0;
        }
    }
}

impl SelectiveReceiver {
    /// A receiver that takes packets up to `reach`, or the next power of two from 64 on, beyond the first missing one.
    pub fn new(policy: AckPolicy, reach: u32) -> SelectiveReceiver {
        let reach = reach.next_power_of_two().max(u64::BITS);
        let special = match policy {
            AckPolicy::EveryPacket => None,
            AckPolicy::Delayed { every, delay, marked_at_once, any_order } => {
                let (deadline, pending) = (Time::NEVER, 0);
                let delayed = Some(Delayed { every, delay, marked_at_once, any_order, deadline, pending });
                Some(Box::new(Special { delayed, ..Special::default() }))
            }
        };
        SelectiveReceiver {
            expected: 0,
            state: State(0),
            hops: 0,
            log_reach: NonZeroU8::new(reach.ilog2() as u8).expect("a reach above one"),
            payload: 0,
            sent: Time::ZERO,
            received: Time::ZERO,
            special,
        }
    }
}

impl Receiver for SelectiveReceiver {
    #[inline]
    fn handle_data(
        &mut self,
        now: Time,
        received: Time,
        data: &Data,
        congestion_experienced: bool,
        hops: u8,
    ) -> Arrival {
        let mark_changes = self.state.contains(State::PENDING)
            && congestion_experienced != self.state.contains(State::MARKED);
        let mut arrival = Arrival::New;
        if self.special.is_none() && data.seq == self.expected && !mark_changes {
            self.expected += 1;
            self.state.set(State::DUE, true);
            if data.last {
                self.complete();
            }
        } else {
            arrival = self.handle_special(now, data, congestion_experienced, mark_changes);
            if arrival == Arrival::BeyondReach {
                return arrival;
            }
        }
        if arrival == Arrival::New {
            self.payload += u64::from(data.payload);
        }
        (self.sent, self.received, self.hops) = (data.sent, received, hops);
        self.state.set(State::PENDING, true);
        self.state.set(State::MARKED, congestion_experienced);
        arrival
    }

    /// A header of what has arrived is a duplicate that was trimmed.
    fn handle_header(&mut self, now: Time, received: Time, header: &Header) -> Option<Nack> {
        let Header { data, hops, last_hop } = header;
        if self.has(data.seq) {
            self.handle_data(now, received, data, false, *hops);
            return None;
        }
        let remote_queuing_us = whole_us(now.since(received));
        Some(Nack { seq: data.seq, echo: data.sent, remote_queuing_us, last_hop: *last_hop })
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.poll_timeout().is_some_and(|deadline| now >= deadline) {
            self.state.set(State::DUE, true);
        }
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        let delayed = self.special.as_ref()?.delayed.as_ref()?;
        let waits = self.state.contains(State::PENDING) && !self.state.contains(State::DUE);
        waits.then_some(delayed.deadline)
    }

    #[inline]
    fn poll_completed(&mut self) -> u32 {
        if !self.state.contains(State::COMPLETED) {
            return 0;
        }
        self.state.set(State::COMPLETED, false);
        1 + self.special.as_mut().map_or(0, |special| std::mem::take(&mut special.completed))
    }

    #[inline]
    fn readiness(&self) -> Readiness {
        let due = self.state.contains(State::DUE);
        if due || self.special.as_ref().is_some_and(|special| !special.before_change.is_empty()) {
            Readiness::Ready
        } else {
            Readiness::Idle
        }
    }

    #[inline]
    fn transmit(&mut self, now: Time) -> Ack {
        if let Some(special) = &mut self.special {
            if let Some(ack) = special.before_change.pop_front() {
                return ack;
            }
            special.forget_pending();
        }
        self.state.set(State::DUE, false);
        self.state.set(State::PENDING, false);
        self.acknowledgement(now)
    }

    fn payload(&self) -> u64 {
        self.payload
    }

    fn duplicates(&self) -> u64 {
        self.special.as_ref().map_or(0, |special| special.duplicates)
    }
}

impl SelectiveReceiver {
    /// A packet that is not the expected one, or of a flow that needs more than most.
    #[inline(never)]
    fn handle_special(
        &mut self,
        now: Time,
        data: &Data,
        congestion_experienced: bool,
        mark_changes: bool,
    ) -> Arrival {
        if mark_changes && (self.state.contains(State::DUE) || !self.takes_any_order()) {
            self.note_change(now);
        }
        let in_order = data.seq == self.expected && self.special.as_ref().is_none_or(|s| s.is_in_order());
        let mut arrival = Arrival::New;
        if in_order {
            self.expected += 1;
            if data.last {
                self.complete();
            }
        } else {
            arrival = self.place(data);
        }
        if arrival != Arrival::BeyondReach {
            let news = self.payload == 0 || data.last || arrival == Arrival::Duplicate;
            let reasons = Reasons { disorder: !in_order, news, mark: congestion_experienced };
            let due = self.special().note(now, data.seq, reasons);
            self.state.set(State::DUE, due || self.state.contains(State::DUE));
        }
        arrival
    }

    fn takes_any_order(&self) -> bool {
        let delayed = self.special.as_ref().and_then(|special| special.delayed.as_ref());
        delayed.is_some_and(|delayed| delayed.any_order)
    }

    fn special(&mut self) -> &mut Special {
        let newest = self.expected.saturating_sub(1);
        self.special.get_or_insert_with(|| Box::new(Special { newest, ..Special::default() }))
    }

    /// Returns whether a packet has arrived.
    fn has(&self, seq: u32) -> bool {
        let early = self.special.as_ref().and_then(|special| special.early.as_ref());
        let within = || seq - self.expected < 1 << self.log_reach.get();
        seq < self.expected || early.is_some_and(|early| within() && early.arrived.contains(seq))
    }

    /// Every packet of a message has arrived.
    #[inline]
    fn complete(&mut self) {
        if self.state.contains(State::COMPLETED) {
            self.complete_another();
        }
        self.state.set(State::COMPLETED, true);
    }

    #[cold]
    fn complete_another(&mut self) {
        self.special().completed += 1;
    }

    /// The mark changes: what was pending is acknowledged by itself, behind what waits already. As long as none of
    /// these has left, no sender has more than `reach` packets under way, so more changes than that come of
    /// repetitions only; the oldest then gives way, as the later ones acknowledge what it did.
    fn note_change(&mut self, now: Time) {
        let ack = self.acknowledgement(now);
        let reach = 1 << self.log_reach.get();
        let special = self.special();
        special.forget_pending();
        if special.before_change.len() == reach {
            special.before_change.pop_front();
        }
        special.before_change.push_back(ack);
        self.state.set(State::PENDING, false);
    }

    fn place(&mut self, data: &Data) -> Arrival {
        let (reach, expected) = (1 << self.log_reach.get(), self.expected);
        if data.seq >= expected && data.seq - expected >= reach {
            return Arrival::BeyondReach;
        }
        let special = self.special();
        if data.seq < expected {
            special.duplicates += 1;
            return Arrival::Duplicate;
        }
        let early = special
            .early
            .get_or_insert_with(|| Early { arrived: SequenceSet::new(reach), ends: SequenceSet::new(reach) });
        if !early.arrived.insert(data.seq) {
            special.duplicates += 1;
            return Arrival::Duplicate;
        }
        if data.last {
            early.ends.insert(data.seq);
        }
        let mut next = expected;
        let mut completed = 0;
        while early.arrived.remove(next) {
            completed += u32::from(early.ends.remove(next));
            next += 1;
        }
        self.expected = next;
        (0..completed).for_each(|_| self.complete());
        Arrival::New
    }

    #[inline]
    fn acknowledgement(&self, now: Time) -> Ack {
        let special = self.special.as_ref();
        Ack {
            seq: special.map_or(self.expected.saturating_sub(1), |special| special.newest),
            cumulative: self.expected,
            sack: special.and_then(|special| special.early.as_ref()).map_or(0, |early| self.sack(early)),
            echo: self.sent,
            congestion_experienced: self.state.contains(State::MARKED),
            hops: self.hops,
            remote_queuing_us: whole_us(now.since(self.received)),
        }
    }

    fn sack(&self, early: &Early) -> u64 {
        let (first, end) = (self.expected.saturating_add(1), self.expected.saturating_add(1 + SACK_BITS));
        let mut bits = 0;
        let mut from = first;
        while let Some(seq) = early.arrived.first(from, end) {
            bits |= 1 << (seq - first);
            from = seq + 1;
        }
        bits
    }
}

/// A time in whole microseconds, as the wire has it.
fn whole_us(time: Span) -> u32 {
    u32::try_from(time.as_ps() / Span::from_us(1).as_ps()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
