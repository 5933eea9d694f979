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
#[derive(Clone, Debug)]
pub(super) struct Messages {
    mtu: u32,
    /// First packet that no message offers; `u32::MAX` for a flow without end.
    offered: u32,
    /// The message that the next new packet belongs to, kept apart because every packet asks for it; one that
    /// has been sent when the next new packet belongs to none.
    current: Boundary,
    /// End of the oldest message not wholly acknowledged; `u32::MAX` when there is none.
    oldest_end: u32,
    /// Boxed to keep a sender small: one of a thousand packets comes here.
    #[allow(clippy::box_collection)]
    boundaries: Box<VecDeque<Boundary>>,
}

impl Messages {
    pub(super) fn new(mtu: u32) -> Messages {
        assert!(mtu > 0, "an MTU of zero");
        let current = Boundary { end: 0, tail: mtu };
        Messages { mtu, offered: 0, current, oldest_end: u32::MAX, boundaries: Box::default() }
    }

    /// Adds a message, while packet `next` is the first that has not been sent. Panics when the flow would need more
    /// than 2^32 - 2 packets, or has no end already.
    pub(super) fn offer(&mut self, bytes: Bytes, next: u32) {
        assert!(bytes.get() > 0, "an empty message");
        let packets = u32::try_from(bytes.get().div_ceil(u64::from(self.mtu))).expect("a message too long");
        let end = self.offered.checked_add(packets).filter(|&end| end < u32::MAX).expect("a flow too long");
        let tail = (bytes.get() - u64::from(packets - 1) * u64::from(self.mtu)) as u32;
        let boundary = Boundary { end, tail };
        if self.boundaries.is_empty() {
            self.oldest_end = end;
        }
        if self.current.end <= next {
            self.current = boundary;
        }
        self.boundaries.push_back(boundary);
        self.offered = end;
    }

    /// Offers data without end.
    pub(super) fn offer_endless(&mut self) {
        self.offered = u32::MAX;
    }

    /// Takes back what an endless flow has not sent, from packet `next` on; messages of a size stay.
    pub(super) fn stop_endless(&mut self, next: u32) {
        if self.offered == u32::MAX {
            self.offered = self.boundaries.back().map_or(next, |last| last.end.max(next));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends packets `from..to` for the first time.
    fn send(messages: &mut Messages, from: u32, to: u32) -> Vec<(u32, bool)> {
        (from..to).map(|seq| messages.first_transmission(seq)).collect()
    }

    #[test]
    fn a_messages_last_packet_is_what_remains() {
        let mut messages = Messages::new(100);
        messages.offer(Bytes::new(250), 0);
        assert_eq!(send(&mut messages, 0, 3), [(100, false), (100, false), (50, true)]);
    }

    #[test]
    fn messages_that_wait_together_end_each_where_it_should() {
        let mut messages = Messages::new(100);
        for bytes in [150, 1, 100] {
            messages.offer(Bytes::new(bytes), 0);
        }
        assert_eq!(send(&mut messages, 0, 4), [(100, false), (50, true), (1, true), (100, true)]);
        messages.offer(Bytes::new(30), 4);
        assert_eq!(send(&mut messages, 4, 5), [(30, true)]);
    }

    #[test]
    fn a_packet_sent_again_is_the_same_packet() {
        let mut messages = Messages::new(100);
        messages.offer(Bytes::new(150), 0);
        messages.offer(Bytes::new(250), 0);
        let first = send(&mut messages, 0, 5);
        let again: Vec<_> = (0..5).map(|seq| messages.retransmission(seq)).collect();
        assert_eq!(first, again);
    }

    #[test]
    fn a_message_is_done_once_wholly_acknowledged() {
        let mut messages = Messages::new(100);
        messages.offer(Bytes::new(200), 0);
        messages.offer(Bytes::new(100), 0);
        let done: Vec<_> = [1, 2, 2, 3].map(|cumulative| messages.acknowledge(cumulative)).into();
        assert_eq!(done, [0, 1, 0, 1]);
    }

    #[test]
    fn data_without_end_follows_the_messages_before_it_and_stops_behind_them() {
        let mut messages = Messages::new(100);
        messages.offer(Bytes::new(250), 0);
        messages.offer_endless();
        assert_eq!(send(&mut messages, 0, 2), [(100, false), (100, false)]);
        messages.stop_endless(2);
        assert_eq!(messages.offered(), 3);
        assert_eq!(send(&mut messages, 2, 3), [(50, true)]);
        messages.offer_endless();
        assert_eq!(send(&mut messages, 3, 5), [(100, false), (100, false)]);
        messages.stop_endless(5);
        messages.offer(Bytes::new(70), 5);
        assert_eq!(send(&mut messages, 5, 6), [(70, true)]);
    }
}
