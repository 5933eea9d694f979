//! The queues of a host whose packets leave in timeslots (Fastpass §6): for each destination its own, from which a slot
//! is filled.
//!
//! A sender is pulled here too: what waits is a place in the round of those that want to send to that destination. Only
//! acknowledgements wait as frames. Several frames leave in one slot as far as they fit.

use std::collections::{BTreeMap, VecDeque};

use clearway_proto::fastpass::endpoint::Mode;

use clearway_proto::units::Span;

use crate::engine::event::Frame;

/// Slots for which data goes before acknowledgements that fill none: so these take one slot in so many at most while there is
/// data.
const SLOTS_HELD: u64 = 32;

/// Slots whose packets are remembered until they are acknowledged.
const REMEMBERED: usize = 4096;

/// What waits at a host for timeslots.
#[derive(Debug)]
pub struct Slots {
    /// The seat of the endpoint.
    pub seat: u32,
    /// The sending ends whose packets leave in timeslots, in rising order.
    pub ends: Vec<u32>,
    /// How the endpoint lets its flows send.
    pub mode: Mode,
    /// Bytes on the wire that fit into a slot.
    pub room: u32,
    /// How long data goes before acknowledgements that fill no slot, in picoseconds.
    longest_hold: u64,
    /// What waits for each destination, by host.
    queues: BTreeMap<u32, Queue>,
    /// When packets left in slots, in picoseconds, and the slot's number; oldest first.
    sent: VecDeque<(u64, u64)>,
    /// Slots in which something left.
    pub used: u64,
    /// Slots in which nothing left, as nothing waited any more.
    pub unused: u64,
}

/// What waits for one destination.
#[derive(Debug, Default)]
struct Queue {
    /// Acknowledgements, oldest first, with the time in picoseconds at which each began to wait.
    acks: VecDeque<(u64, Frame)>,
    ack_bytes: u64,
    /// Flows that have packets to send, each once; the first is next.
    flows: VecDeque<u32>,
    /// Packets that these flows could send now, one after the other.
    packets: u64,
}

impl Slots {
    /// Nothing waits. `room` are the bytes on the wire of a slot, `slot` is its length.
    pub fn new(seat: u32, room: u32, slot: Span) -> Slots {
        Slots {
            seat,
            ends: Vec::new(),
            mode: Mode::Scheduled,
            room,
            longest_hold: slot.as_ps() * SLOTS_HELD,
            queues: BTreeMap::new(),
            sent: VecDeque::new(),
            used: 0,
            unused: 0,
        }
    }

    /// Slots that what waits for a destination fills.
    pub fn backlog(&self, destination: u32) -> u32 {
        let Some(queue) = self.queues.get(&destination) else { return 0 };
        let slots = queue.packets + queue.ack_bytes.div_ceil(self.room.into());
        u32::try_from(slots).unwrap_or(u32::MAX)
    }

    /// An acknowledgement waits for a slot from `now` on.
    pub fn push_ack(&mut self, now: u64, destination: u32, ack: Frame) {
        let queue = self.queues.entry(destination).or_default();
        queue.ack_bytes += u64::from(ack.meta.size());
        queue.acks.push_back((now, ack));
    }

    /// The oldest acknowledgement for a destination, if it has room in so many bytes.
    pub fn pop_ack(&mut self, destination: u32, room: u32) -> Option<Frame> {
        let queue = self.queues.get_mut(&destination)?;
        queue.acks.front().filter(|(_, ack)| ack.meta.size() <= room)?;
        let (_, ack) = queue.acks.pop_front()?;
        queue.ack_bytes -= u64::from(ack.meta.size());
        Some(ack)
    }

    /// Whether a slot that begins `now` is for acknowledgements rather than for data: they fill it, or the oldest has waited
    /// for so long, or there is no data.
    ///
    /// A full packet leaves no room for an acknowledgement. So if each left as soon as it could, two hosts that send to each
    /// other would spend every other slot on one of them.
    pub fn are_acks_due(&self, now: u64, destination: u32) -> bool {
        let Some(queue) = self.queues.get(&destination) else { return false };
        let Some((since, _)) = queue.acks.front() else { return false };
        queue.flows.is_empty() || queue.ack_bytes >= self.room.into() || now - since >= self.longest_hold
    }

    /// A flow has packets to send, and joins those that wait.
    pub fn push_flow(&mut self, destination: u32, end: u32) {
        self.queues.entry(destination).or_default().flows.push_back(end);
    }

    /// The flow whose turn it is.
    pub fn first_flow(&self, destination: u32) -> Option<u32> {
        self.queues.get(&destination)?.flows.front().copied()
    }

    /// Takes out the flow whose turn it is.
    pub fn pop_flow(&mut self, destination: u32) -> Option<u32> {
        self.queues.get_mut(&destination)?.flows.pop_front()
    }

    /// A flow that could send `before` packets now can send `now`.
    pub fn count_packets(&mut self, destination: u32, before: u32, now: u32) {
        let queue = self.queues.entry(destination).or_default();
        queue.packets = queue.packets + u64::from(now) - u64::from(before);
    }

    /// Destinations for which anything waits or has waited.
    pub fn destinations(&self) -> Vec<u32> {
        self.queues.keys().copied().collect()
    }

    /// Forgets that any flow waits, and gives back all acknowledgements that wait, by destination.
    pub fn take_all(&mut self) -> Vec<Frame> {
        let queues = self.queues.values_mut().map(std::mem::take);
        queues.flat_map(|queue| queue.acks).map(|(_, ack)| ack).collect()
    }

    /// A packet left in a slot at `at`.
    pub fn remember(&mut self, at: u64, slot: u64) {
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((at, slot));
    }

    /// The slot in which the packet left that was sent at `at`, if it is remembered.
    pub fn slot_of(&self, at: u64) -> Option<u64> {
        let place = self.sent.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(self.sent[place].1)
    }

    /// The acknowledgements that wait.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.queues.values().flat_map(|queue| &queue.acks).map(|(_, ack)| ack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::Meta;

    fn ack(bytes: u32) -> Frame {
        Frame { stamp: 0, route_seq: 0, meta: Meta::new(bytes, Meta::ACK) }
    }

    fn slots() -> Slots {
        Slots::new(0, 1000, Span::from_us(1))
    }

    #[test]
    fn acknowledgements_wait_for_others_while_there_is_data() {
        let mut slots = slots();
        slots.push_ack(5, 7, ack(100));
        assert!(slots.are_acks_due(6, 7), "there is no data");
        slots.push_flow(7, 1);
        assert!(!slots.are_acks_due(6, 7));
        assert!(slots.are_acks_due(5 + 32_000_000, 7), "it has waited for 32 slots");
        (0..9).for_each(|_| slots.push_ack(6, 7, ack(100)));
        assert!(slots.are_acks_due(6, 7), "they fill a slot");
        assert!(!slots.are_acks_due(6, 8), "nothing waits");
    }

    #[test]
    fn a_backlog_is_packets_and_what_acknowledgements_fill() {
        let mut slots = slots();
        slots.push_flow(7, 1);
        slots.count_packets(7, 0, 5);
        assert_eq!((slots.backlog(7), slots.backlog(8)), (5, 0));
        for _ in 0..11 {
            slots.push_ack(0, 7, ack(100));
        }
        assert_eq!(slots.backlog(7), 7);
        slots.count_packets(7, 5, 0);
        let mut room = slots.room;
        let mut left = 0;
        while let Some(ack) = slots.pop_ack(7, room) {
            room -= ack.meta.size();
            left += 1;
        }
        assert_eq!((left, slots.backlog(7)), (10, 1));
    }

    #[test]
    fn flows_take_turns() {
        let mut slots = slots();
        slots.push_flow(7, 1);
        slots.push_flow(7, 2);
        slots.push_flow(8, 3);
        assert_eq!(slots.pop_flow(7), Some(1));
        slots.push_flow(7, 1);
        assert_eq!((slots.pop_flow(7), slots.pop_flow(7), slots.pop_flow(7)), (Some(2), Some(1), None));
    }

    #[test]
    fn only_the_last_slots_are_remembered() {
        let mut slots = slots();
        for slot in 0..5000_u64 {
            slots.remember(slot * 10, slot);
        }
        assert_eq!(slots.slot_of(49_990), Some(4999));
        assert_eq!(slots.slot_of(49_991), None);
        assert_eq!(slots.slot_of(10), None);
    }
}
