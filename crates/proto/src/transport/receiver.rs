//! The receiving machine: takes packets in any order, counts each byte once, and says what has arrived.

use super::scoreboard::SequenceSet;
use super::{Ack, Data, SACK_BITS};
use crate::machine::Readiness;
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
    },
}

/// What a data packet was to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Seen for the first time.
    New,
    /// Seen before.
    Duplicate,
    /// So far ahead that there is no room to note it: ignored, not acknowledged.
    BeyondReach,
}

/// A receiver of one flow.
#[derive(Debug)]
pub struct Receiver {
    /// Every packet before this one has arrived.
    expected: u32,
    /// Messages of which every packet has arrived since last asked.
    completed: u32,
    payload: u64,
    /// The newest packet, which the next acknowledgement speaks of.
    newest: Newest,
    /// Packets since the last acknowledgement.
    pending: u32,
    /// The next acknowledgement goes out at once.
    due: bool,
    reach: u32,
    /// An acknowledgement of what came before a change of the congestion mark, to go out first.
    before_change: Option<Box<Ack>>,
    delayed: Option<Box<Delayed>>,
    /// Made when the first packet out of order comes, and kept.
    early: Option<Box<Early>>,
}

/// Where acknowledgements may wait for more packets.
#[derive(Debug)]
struct Delayed {
    every: u32,
    delay: Span,
    marked_at_once: bool,
    deadline: Time,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    seq: u32,
    hops: u8,
    congestion_experienced: bool,
    sent: Time,
    /// Arrival at the NIC (t2): kept with the packet, never on the wire.
    received: Time,
}

/// Packets above a hole, and those of them that end messages.
#[derive(Debug)]
struct Early {
    arrived: SequenceSet,
    ends: SequenceSet,
}

impl Receiver {
    /// A receiver that takes packets up to `reach` (a power of two, at least 64) beyond the first missing one.
    pub fn new(policy: AckPolicy, reach: u32) -> Receiver {
        let delayed = match policy {
            AckPolicy::EveryPacket => None,
            AckPolicy::Delayed { every, delay, marked_at_once } => {
                Some(Box::new(Delayed { every, delay, marked_at_once, deadline: Time::NEVER }))
            }
        };
        Receiver {
            expected: 0,
            completed: 0,
            payload: 0,
            newest: Newest {
                seq: 0,
                hops: 0,
                congestion_experienced: false,
                sent: Time::ZERO,
                received: Time::ZERO,
            },
            pending: 0,
            due: false,
            reach,
            before_change: None,
            delayed,
            early: None,
        }
    }

    /// Bytes of payload taken, each counted once.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// A data packet arrived at the NIC at `received` (t2) and is processed `now` (t3), after `hops` switches,
    /// with or without a congestion mark.
    #[inline]
    pub fn handle_data(
        &mut self,
        now: Time,
        received: Time,
        data: &Data,
        congestion_experienced: bool,
        hops: u8,
    ) -> Arrival {
        if self.pending > 0 && congestion_experienced != self.newest.congestion_experienced {
            self.before_change = Some(Box::new(self.acknowledgement(now)));
            self.pending = 0;
        }
        let in_order = data.seq == self.expected && self.early.as_ref().is_none_or(|e| e.arrived.len() == 0);
        let arrival = if in_order {
            self.expected += 1;
            self.completed += u32::from(data.last);
            Arrival::New
        } else {
            self.place(data)
        };
        if arrival == Arrival::BeyondReach {
            return arrival;
        }
        if arrival == Arrival::New {
            self.payload += u64::from(data.payload);
        }
        self.newest = Newest { seq: data.seq, hops, congestion_experienced, sent: data.sent, received };
        self.pending += 1;
        match &mut self.delayed {
            None => self.due = true,
            Some(delayed) => {
                self.due |= self.pending >= delayed.every || !in_order;
                self.due |= delayed.marked_at_once && congestion_experienced;
                if self.pending == 1 {
                    delayed.deadline = now + delayed.delay;
                }
            }
        }
        arrival
    }

    #[cold]
    fn place(&mut self, data: &Data) -> Arrival {
        if data.seq < self.expected {
            return Arrival::Duplicate;
        }
        if data.seq - self.expected >= self.reach {
            return Arrival::BeyondReach;
        }
        let reach = self.reach;
        let early = self.early.get_or_insert_with(|| {
            Box::new(Early { arrived: SequenceSet::new(reach), ends: SequenceSet::new(reach) })
        });
        if !early.arrived.insert(data.seq) {
            return Arrival::Duplicate;
        }
        if data.last {
            early.ends.insert(data.seq);
        }
        while early.arrived.remove(self.expected) {
            self.completed += u32::from(early.ends.remove(self.expected));
            self.expected += 1;
        }
        Arrival::New
    }

    /// The wait of a delayed acknowledgement may be over.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.poll_timeout().is_some_and(|deadline| now >= deadline) {
            self.due = true;
        }
    }

    /// When [`Self::handle_timeout`] is wanted.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        let delayed = self.delayed.as_ref()?;
        (self.pending > 0 && !self.due).then_some(delayed.deadline)
    }

    /// Messages wholly arrived since this was last asked.
    #[inline]
    pub fn poll_completed(&mut self) -> u32 {
        std::mem::take(&mut self.completed)
    }

    /// Whether an acknowledgement is to be sent.
    #[inline]
    pub fn readiness(&self) -> Readiness {
        if self.due || self.before_change.is_some() {
            Readiness::Ready
        } else {
            Readiness::Idle
        }
    }

    /// The acknowledgement that is due, sent `now` (t4).
    #[inline]
    pub fn transmit(&mut self, now: Time) -> Ack {
        if let Some(ack) = self.before_change.take() {
            return *ack;
        }
        self.due = false;
        self.pending = 0;
        self.acknowledgement(now)
    }

    #[inline]
    fn acknowledgement(&self, now: Time) -> Ack {
        let waited_us = now.since(self.newest.received).as_ps() / Span::from_us(1).as_ps();
        Ack {
            seq: self.newest.seq,
            cumulative: self.expected,
            sack: self.early.as_ref().map_or(0, |early| self.sack(early)),
            echo: self.newest.sent,
            congestion_experienced: self.newest.congestion_experienced,
            hops: self.newest.hops,
            remote_queuing_us: u32::try_from(waited_us).unwrap_or(u32::MAX),
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
