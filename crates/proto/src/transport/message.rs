//! A flow's messages: where each ends in the sequence of packets, and how long its last packet is.

use std::collections::VecDeque;

use crate::units::Bytes;

/// The end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Boundary {
    /// First packet after it.
    end: u32,
    /// Payload of its last packet, in bytes.
    tail: u32,
}

/// The messages that are not wholly acknowledged, oldest first.
#[derive(Debug)]
pub(super) struct Messages {
    mtu: u32,
    /// First packet that no message offers; `u32::MAX` for a flow without end.
    offered: u32,
    /// The message that the next new packet belongs to, kept apart because every packet asks for it.
    current: Boundary,
    /// End of the oldest message not wholly acknowledged; `u32::MAX` when there is none.
    oldest_end: u32,
    boundaries: VecDeque<Boundary>,
}

impl Messages {
    pub(super) fn new(mtu: u32) -> Messages {
        assert!(mtu > 0, "an MTU of zero");
        let current = Boundary { end: 0, tail: mtu };
        Messages { mtu, offered: 0, current, oldest_end: u32::MAX, boundaries: VecDeque::new() }
    }

    /// Adds a message. Panics when the flow would need more than 2^32 - 1 packets, or has no end already.
    pub(super) fn offer(&mut self, bytes: Bytes) {
        assert!(bytes.get() > 0, "an empty message");
        let packets = u32::try_from(bytes.get().div_ceil(u64::from(self.mtu))).expect("a message too long");
        let end = self.offered.checked_add(packets).filter(|&end| end < u32::MAX).expect("a flow too long");
        let tail = (bytes.get() - u64::from(packets - 1) * u64::from(self.mtu)) as u32;
        let boundary = Boundary { end, tail };
        if self.boundaries.is_empty() {
            self.oldest_end = end;
        }
        if self.current.end == self.offered {
            self.current = boundary;
        }
        self.boundaries.push_back(boundary);
        self.offered = end;
    }

    /// Offers data without end.
    pub(super) fn offer_endless(&mut self) {
        self.offered = u32::MAX;
        self.current = Boundary { end: u32::MAX, tail: self.mtu };
    }

    /// Takes back what an endless flow has not sent: packet `next` will never be.
    pub(super) fn stop_endless(&mut self, next: u32) {
        if self.offered == u32::MAX {
            self.offered = next;
            self.current = Boundary { end: next, tail: self.mtu };
        }
    }

    pub(super) fn offered(&self) -> u32 {
        self.offered
    }

    /// Payload of a packet sent for the first time, and whether it ends a message.
    #[inline]
    pub(super) fn first_transmission(&mut self, seq: u32) -> (u32, bool) {
        if seq + 1 != self.current.end {
            return (self.mtu, false);
        }
        let tail = self.current.tail;
        let following = self.boundaries.partition_point(|b| b.end <= seq + 1);
        if let Some(&next) = self.boundaries.get(following) {
            self.current = next;
        }
        (tail, true)
    }

    /// Payload of a packet sent before, and whether it ends a message.
    pub(super) fn retransmission(&self, seq: u32) -> (u32, bool) {
        let at = self.boundaries.partition_point(|b| b.end <= seq);
        match self.boundaries.get(at) {
            Some(b) if b.end == seq + 1 => (b.tail, true),
            _ => (self.mtu, false),
        }
    }

    /// Forgets the messages that end at or before `cumulative`; how many they are.
    #[inline]
    pub(super) fn acknowledge(&mut self, cumulative: u32) -> u32 {
        if cumulative < self.oldest_end {
            return 0;
        }
        let done = self.boundaries.partition_point(|b| b.end <= cumulative);
        self.boundaries.drain(..done);
        self.oldest_end = self.boundaries.front().map_or(u32::MAX, |b| b.end);
        done as u32
    }
}
