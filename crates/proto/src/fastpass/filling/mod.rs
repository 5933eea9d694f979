//! How a host fills the slots that it is granted (§6): a queue for each destination, and what fits shares a slot.
//!
//! [`Filling`] is the part of a host's stack between its transport and its [`Endpoint`](super::endpoint::Endpoint). Packets stay
//! with their flows, which offer them by size; acknowledgements wait here. The driver
//!
//! 1. tells of what begins to wait: [`Filling::offer`], [`Filling::withdraw`], [`Filling::push_ack`];
//! 2. hands [`Filling::backlog`], a number of slots, to [`Endpoint::handle_backlog`](super::endpoint::Endpoint::handle_backlog)
//!    after each of these and after each slot;
//! 3. when the endpoint gives a slot, [begins](Filling::begin) it, sends what [`Filling::next`] gives until that is nothing, and
//!    [ends](Filling::end) it.
//!
//! What a flow and an acknowledgement are is the driver's business: here they are an `F` and an `A`. A simulator has its own
//! numbers and frames, a host over UDP its sockets and datagrams.
//!
//! # Who goes first
//!
//! Flows wait in two lanes, by whether a packet that they offer takes more than half a slot. The lanes take turns, and so do the
//! flows of each. But beside large packets, small ones have a turn only once they fill a slot or have waited for 32, and so have
//! acknowledgements: a small write beside a bulk flow shares its slot or leaves within 34. Whatever room is left goes to
//! acknowledgements, then small packets, then others (for a turn of small packets, those first), so that a slot goes on with
//! room only if nothing that it looks at fits. Packets of a flow keep their order.
//!
//! # What is demanded
//!
//! The backlog is never less than what is needed, and exact for one flow, and for any number whose packets are small and alike:
//! `bins` counts a flow's packets as they are cut into slots in order, `queue` what small packets of several flows and
//! acknowledgements need together. Acknowledgements that have room beside large packets whose turn is next need no slot. The
//! backlog is a level: a small packet that fits into a slot already demanded does not raise it.

mod bins;
mod queue;
mod sizes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::fcp::Address;
use crate::units::{Span, Time};
use bins::Bins;
use queue::{Lane, Queue, Share, SlotUse};
use sizes::Sizes;

/// Slots for which other data goes before small packets that fill none, and all data before such acknowledgements: so these take
/// at most one slot in this many while there is other data. That is shorter than the wait for a slot of one's own.
const SLOTS_HELD: u64 = 32;

/// Flows with large packets that are asked whether their next packet fits into the rest of a slot.
const ASKED: usize = 8;

/// A flow, as [`Filling`] knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u32);

/// What leaves next in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<A, F> {
    /// The next packet of this flow, of this size as was said.
    Packet(F, u32),
    /// This acknowledgement.
    Ack(A),
}

/// What takes its part in a slot, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The next bin of the flow whose turn it is.
    First,
    Acks,
    Small,
    Large,
}

impl Part {
    /// The parts of a slot in their order.
    fn of(turn: SlotUse) -> &'static [Part] {
        match turn {
            SlotUse::Data(Lane::Large) => &[Part::First, Part::Acks, Part::Small, Part::Large],
            SlotUse::Data(Lane::Small) => &[Part::Small, Part::Acks, Part::Large],
            SlotUse::Acknowledgements => &[Part::Acks, Part::Small, Part::Large],
        }
    }
}

/// A slot that is being filled.
#[derive(Debug)]
pub struct Slot {
    queue: u32,
    turn: SlotUse,
    parts: &'static [Part],
    /// Bytes that fit into a slot, and bytes that have left in this one.
    whole: u32,
    filled: u32,
    /// Packets left of the first bin.
    left: u32,
    /// The flow whose turn it is.
    first: u32,
    /// Flows passed over in this part, as their packets do not fit.
    passed: usize,
    is_empty: bool,
}

impl Slot {
    /// Gives back room, as a packet was smaller than was said.
    pub fn give_back(&mut self, bytes: u32) {
        self.filled -= bytes;
    }

    /// Bytes that still fit.
    fn room(&self) -> u32 {
        self.whole.saturating_sub(self.filled)
    }
}

/// A flow and what it offers.
#[derive(Debug)]
struct Flow<F> {
    name: F,
    queue: u32,
    lane: Lane,
    /// Whether it stands in the round of the lane of small packets, and in the other.
    stands: [bool; 2],
    bins: Bins,
}

/// The queues of a host whose packets leave in slots.
#[derive(Debug)]
pub struct Filling<A, F> {
    sizes: Sizes,
    longest_hold: Span,
    flows: Vec<Flow<F>>,
    queues: Vec<Queue<A>>,
    /// The queue of each destination.
    places: BTreeMap<Address, u32>,
    /// The smallest size that has been said: a slot with less room than that is full.
    least: u32,
    used: u64,
    unused: u64,
}

impl<A, F: Copy> Filling<A, F> {
    /// Nothing waits. `room` are the bytes on the wire that fit into a slot, `slot` is its length, and `ack` the size of the
    /// largest acknowledgement.
    ///
    /// Panics if an acknowledgement or a slot has no size.
    pub fn new(room: u32, ack: u32, slot: Span) -> Filling<A, F> {
        let ack = ack.min(room);
        assert!(ack > 0, "acknowledgements or slots of no size");
        Filling {
            sizes: Sizes { room, ack, acks: u64::from(room / ack) },
            longest_hold: slot * SLOTS_HELD,
            flows: Vec::new(),
            queues: Vec::new(),
            places: BTreeMap::new(),
            least: u32::MAX,
            used: 0,
            unused: 0,
        }
    }

    /// Slots in which something left.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Slots in which nothing left, as nothing waited any more.
    pub fn unused(&self) -> u64 {
        self.unused
    }

    /// Slots that what waits for a destination needs: what has not been sent and will fit into no slot with what is before it.
    pub fn backlog(&self, destination: Address) -> u32 {
        let place = self.places.get(&destination);
        let slots = place.map_or(0, |&place| self.queues[place as usize].backlog(&self.sizes));
        u32::try_from(slots).unwrap_or(u32::MAX)
    }

    /// Returns the slots that what waits for all destinations together needs, each as [`Filling::backlog`] says.
    pub fn whole_backlog(&self) -> u64 {
        self.queues.iter().map(|queue| queue.backlog(&self.sizes)).sum()
    }

    /// Destinations for which anything waits or has waited.
    pub fn destinations(&self) -> impl Iterator<Item = Address> + '_ {
        self.places.keys().copied()
    }

    /// A flow to a destination, which offers nothing yet.
    pub fn open(&mut self, destination: Address, flow: F) -> Handle {
        let queue = self.place(destination);
        let flow = Flow { name: flow, queue, lane: Lane::Large, stands: [false; 2], bins: Bins::default() };
        self.flows.push(flow);
        Handle(self.flows.len() as u32 - 1)
    }

    /// The place of a destination's queue.
    fn place(&mut self, destination: Address) -> u32 {
        *self.places.entry(destination).or_insert_with(|| {
            self.queues.push(Queue::default());
            self.queues.len() as u32 - 1
        })
    }

    /// From `now` on a flow offers `packets` more packets of `size` bytes, behind those that it has offered. One larger than a
    /// slot leaves in a slot of its own.
    ///
    /// Panics if they have no size.
    pub fn offer(&mut self, now: Time, flow: Handle, size: u32, packets: u32) {
        assert!(size > 0, "packets of no size");
        if packets == 0 {
            return;
        }
        let size = size.min(self.sizes.room);
        self.least = self.least.min(size);
        let lane = if size <= self.sizes.room / 2 { Lane::Small } else { Lane::Large };
        let at = &mut self.flows[flow.0 as usize];
        let queue = &mut self.queues[at.queue as usize];
        let mut before = Share::of(&at.bins, &self.sizes);
        if at.lane != lane && (lane == Lane::Large || at.bins.count() == 0) {
            queue.lane(at.lane).replace(before, Share::default());
            at.lane = lane;
            before = Share::default();
        }
        if at.lane == Lane::Small && queue.small.is_empty() {
            queue.since = now;
        }
        at.bins.push(self.sizes.room, size, packets);
        let round = queue.lane(at.lane);
        round.replace(before, Share::of(&at.bins, &self.sizes));
        round.grow(size);
        if !std::mem::replace(&mut at.stands[at.lane as usize], true) {
            round.flows.push_back(flow.0);
        }
    }

    /// A flow offers nothing any more.
    pub fn withdraw(&mut self, flow: Handle) {
        let at = &mut self.flows[flow.0 as usize];
        if at.bins.count() > 0 {
            let queue = &mut self.queues[at.queue as usize];
            queue.lane(at.lane).replace(Share::of(&at.bins, &self.sizes), Share::default());
            at.bins.clear();
        }
    }

    /// An acknowledgement of `size` bytes waits for a slot from `now` on.
    ///
    /// Panics if it is larger than the largest.
    pub fn push_ack(&mut self, now: Time, destination: Address, size: u32, ack: A) {
        let size = size.min(self.sizes.room);
        assert!(size <= self.sizes.ack, "an acknowledgement of {size} bytes");
        self.least = self.least.min(size);
        let place = self.place(destination);
        self.queues[place as usize].push_ack(now, size, ack);
    }

    /// The acknowledgements that wait.
    pub fn acks(&self) -> impl Iterator<Item = &A> {
        self.places.values().flat_map(|&place| &self.queues[place as usize].acks).map(|(.., ack)| ack)
    }

    /// Withdraws all flows, and gives back all acknowledgements, by destination.
    pub fn take_all(&mut self) -> Vec<A> {
        for flow in 0..self.flows.len() as u32 {
            self.withdraw(Handle(flow));
        }
        let queues = &mut self.queues;
        let acks = self.places.values().flat_map(|&place| queues[place as usize].take_acks());
        acks.map(|(.., ack)| ack).collect()
    }

    /// Begins to fill a slot, which has come `now`.
    pub fn begin(&mut self, now: Time, destination: Address) -> Slot {
        let place = self.place(destination);
        let queue = &mut self.queues[place as usize];
        let turn = queue.take_turn(now, &self.sizes, self.longest_hold);
        let first = match turn {
            SlotUse::Data(lane) => turn_round(queue, &mut self.flows, lane),
            SlotUse::Acknowledgements => None,
        };
        let left = first.map_or(0, |flow| self.flows[flow as usize].bins.first().packets);
        let first = first.unwrap_or(u32::MAX);
        let (whole, parts) = (self.sizes.room, Part::of(turn));
        Slot { queue: place, turn, parts, whole, filled: 0, left, first, passed: 0, is_empty: true }
    }

    /// Returns what leaves next in a slot; nothing if nothing more fits. `size` gives the size of a flow's next packet.
    pub fn next(&mut self, slot: &mut Slot, mut size: impl FnMut(F) -> u32) -> Option<Next<A, F>> {
        while let Some(part) = slot.parts.first().filter(|_| slot.room() >= self.least) {
            let next = match part {
                Part::First => self.next_of_bin(slot, &mut size),
                Part::Acks => self.next_ack(slot),
                Part::Small => self.next_of_lane(slot, Lane::Small, &mut size),
                Part::Large => self.next_of_lane(slot, Lane::Large, &mut size),
            };
            if next.is_some() {
                slot.is_empty = false;
                return next;
            }
            slot.parts = &slot.parts[1..];
            slot.passed = 0;
        }
        None
    }

    fn next_of_bin(&mut self, slot: &mut Slot, size: impl FnOnce(F) -> u32) -> Option<Next<A, F>> {
        let flow =
            self.flows.get(slot.first as usize).filter(|flow| slot.left > 0 && flow.bins.count() > 0)?;
        let size = size(flow.name);
        slot.left -= 1;
        self.take(slot, slot.first, size)
    }

    fn next_ack(&mut self, slot: &mut Slot) -> Option<Next<A, F>> {
        let (size, ack) = self.queues[slot.queue as usize].pop_ack(slot.room())?;
        slot.filled += size;
        Some(Next::Ack(ack))
    }

    /// The next packet that fits, of the first flow of a lane that has one.
    fn next_of_lane(
        &mut self,
        slot: &mut Slot,
        lane: Lane,
        mut size: impl FnMut(F) -> u32,
    ) -> Option<Next<A, F>> {
        let most = if lane == Lane::Large { ASKED } else { usize::MAX };
        while slot.passed < most {
            let round = self.queues[slot.queue as usize].lane(lane);
            let &flow = round.flows.get(slot.passed)?;
            let at = &mut self.flows[flow as usize];
            if at.bins.count() == 0 || at.lane != lane {
                at.stands[lane as usize] = false;
                round.flows.remove(slot.passed);
                continue;
            }
            let size = size(at.name);
            if let Some(next) = self.take(slot, flow, size) {
                return Some(next);
            }
            slot.passed += 1;
        }
        None
    }

    /// Takes the next packet of a flow out, of this size, if it fits or is the first in its slot.
    fn take(&mut self, slot: &mut Slot, flow: u32, size: u32) -> Option<Next<A, F>> {
        if size > slot.room() && !slot.is_empty {
            return None;
        }
        slot.filled += size;
        let at = &mut self.flows[flow as usize];
        let round = self.queues[at.queue as usize].lane(at.lane);
        let before = Share::of(&at.bins, &self.sizes);
        at.bins.pop(size.min(self.sizes.room));
        round.replace(before, Share::of(&at.bins, &self.sizes));
        Some(Next::Packet(at.name, size))
    }

    /// Ends a slot, and counts it.
    pub fn end(&mut self, slot: &Slot) {
        *(if slot.is_empty { &mut self.unused } else { &mut self.used }) += 1;
        if slot.turn != SlotUse::Data(Lane::Small) {
            return;
        }
        // The flow that went first goes last.
        let round = &mut self.queues[slot.queue as usize].small;
        if round.flows.front() == Some(&slot.first) {
            round.flows.rotate_left(1);
        }
    }
}

/// The flow of a lane whose turn it is, if one offers anything. One with large packets goes to the end.
fn turn_round<A, F>(queue: &mut Queue<A>, flows: &mut [Flow<F>], lane: Lane) -> Option<u32> {
    let round = queue.lane(lane);
    while let Some(&flow) = round.flows.front() {
        let at = &mut flows[flow as usize];
        if at.bins.count() > 0 && at.lane == lane {
            if lane == Lane::Large {
                round.flows.rotate_left(1);
            }
            return Some(flow);
        }
        round.flows.pop_front();
        at.stands[lane as usize] = false;
    }
    None
}
