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

/// Packets that are remembered until they are acknowledged.
const REMEMBERED: usize = 1 << 16;

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
    /// The slot in which a packet left that is not acknowledged, by sending end and sequence number.
    sent: BTreeMap<(u32, u32), u64>,
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
    /// Whose turn the last slot was.
    last: Turn,
}

/// What goes first in a slot; what room it leaves is for the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// Packets of flows.
    #[default]
    Data,
    /// Acknowledgements.
    Acknowledgements,
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
            sent: BTreeMap::new(),
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

    /// Whose turn it is in a slot that begins `now`. Acknowledgements go first if they fill the slot, or the oldest has waited for
    /// so long, or there is no data; but never twice in a row while there is data.
    ///
    /// A full packet leaves no room for an acknowledgement. So if each left as soon as it could, two hosts that send to each
    /// other would spend every other slot on one of them. And where a host acknowledges a stream, a slotful of
    /// acknowledgements waits at any time: if they always went first, its own packets never would.
    pub fn take_turn(&mut self, now: u64, destination: u32) -> Turn {
        let Some(queue) = self.queues.get_mut(&destination) else { return Turn::Data };
        let turn = match queue.acks.front() {
            None => Turn::Data,
            Some(_) if queue.flows.is_empty() => Turn::Acknowledgements,
            Some((since, _)) => {
                let due = queue.ack_bytes >= self.room.into() || now - since >= self.longest_hold;
                if due && queue.last == Turn::Data {
                    Turn::Acknowledgements
                } else {
                    Turn::Data
                }
            }
        };
        queue.last = turn;
        turn
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

    /// A packet left in a slot. Whether that is remembered: not if too many others are.
    pub fn remember(&mut self, end: u32, seq: u32, slot: u64) -> bool {
        let room = self.sent.len() < REMEMBERED;
        if room {
            self.sent.insert((end, seq), slot);
        }
        room
    }

    /// The slot of a packet that is acknowledged, if it is remembered: that of packet `seq`, or of any before `cumulative`. To
    /// be asked until there is none.
    pub fn acknowledged(&mut self, end: u32, seq: u32, cumulative: u32) -> Option<u64> {
        if let Some(slot) = self.sent.remove(&(end, seq)) {
            return Some(slot);
        }
        let (&first, _) = self.sent.range((end, 0)..(end, cumulative)).next()?;
        self.sent.remove(&first)
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
        assert_eq!(slots.take_turn(6, 7), Turn::Acknowledgements, "there is no data");
        slots.push_flow(7, 1);
        assert_eq!(slots.take_turn(6, 7), Turn::Data);
        assert_eq!(slots.take_turn(5 + 32_000_000, 7), Turn::Acknowledgements, "it has waited for 32 slots");
        assert_eq!(slots.take_turn(6, 8), Turn::Data, "nothing waits");
    }

    #[test]
    fn a_slotful_of_acknowledgements_has_every_other_slot_while_there_is_data() {
        let mut slots = slots();
        slots.push_flow(7, 1);
        (0..20).for_each(|_| slots.push_ack(6, 7, ack(100)));
        let turns: Vec<_> = (0..4).map(|_| slots.take_turn(6, 7)).collect();
        let alternating = [Turn::Acknowledgements, Turn::Data, Turn::Acknowledgements, Turn::Data];
        assert_eq!(turns, alternating);
        slots.pop_flow(7);
        assert_eq!([slots.take_turn(6, 7), slots.take_turn(6, 7)], [Turn::Acknowledgements; 2], "no data");
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
    fn what_is_acknowledged_is_forgotten() {
        let mut slots = slots();
        for seq in 0..5 {
            assert!(slots.remember(7, seq, 100 + u64::from(seq)));
        }
        assert!(slots.remember(8, 0, 200));
        let all = |slots: &mut Slots, seq, cumulative| {
            std::iter::from_fn(|| slots.acknowledged(7, seq, cumulative)).collect::<Vec<_>>()
        };
        assert_eq!(all(&mut slots, 3, 0), [103]);
        assert_eq!(all(&mut slots, 1, 2), [101, 100]);
        assert_eq!(all(&mut slots, 9, 9), [102, 104]);
        assert_eq!(slots.acknowledged(8, 0, 1), Some(200));
    }
}
