//! The event queue: a ring for each of the few delays that nearly all events have, and a heap for the rest.
//!
//! A simulated network has a handful of distinct constant delays (a full frame's or an acknowledgement's
//! transmission, with or without propagation, for each kind of link). Each has a lane, which is sorted by
//! itself; the next event is the least of the lanes' heads and the heap's top.

use std::collections::VecDeque;

use super::event::{Class, Event};
use super::heap::Heap;
use super::lane::Lane;

/// Lanes a queue may have; more would make finding the next event slower than a heap.
pub const MAX_LANES: usize = 16;
/// Lanes are scanned so many at a time.
const BLOCK: usize = 4;

/// Which lane, or none where a delay has no lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneId(u8);

impl LaneId {
    /// The heap.
    pub const NONE: LaneId = LaneId(u8::MAX);
}

/// All events to come, in order of time, class and id.
#[derive(Debug)]
pub struct EventQueue {
    /// Order of each lane's first event, with [`EMPTY`] where there is none.
    heads: [[u128; BLOCK]; MAX_LANES / BLOCK],
    /// Blocks of `heads` that have lanes.
    blocks: usize,
    /// Order of the heap's top.
    top: u128,
    lanes: Vec<Lane>,
    delays: Vec<u64>,
    heap: Heap,
    /// Events in the heap that carry a frame, by the index in their heap key; freed places are reused.
    parked: Vec<Event>,
    free: Vec<u32>,
    /// Events known in advance, in their order; the first of them is in the heap.
    scheduled: VecDeque<Event>,
    /// The earliest instant at which some lane has to be sorted.
    next_unsorted: u64,
    /// Room to sort in.
    run: Vec<Event>,
    now: u64,
}

/// How far ahead a lane's events are asked for, before anything is asked for on their behalf.
const LOOK_AHEAD: usize = 32;

const EMPTY: u128 = u128::MAX;

impl EventQueue {
    /// An empty queue at time zero.
    pub fn new() -> EventQueue {
        EventQueue {
            heads: [[EMPTY; BLOCK]; MAX_LANES / BLOCK],
            blocks: 0,
            top: EMPTY,
            scheduled: VecDeque::new(),
            lanes: Vec::new(),
            delays: Vec::new(),
            heap: Heap::default(),
            parked: Vec::new(),
            free: Vec::new(),
            next_unsorted: u64::MAX,
            run: Vec::new(),
            now: 0,
        }
    }

    /// The lane for events `delay` picoseconds ahead; [`LaneId::NONE`] once all are taken.
    pub fn lane(&mut self, delay: u64) -> LaneId {
        if let Some(at) = self.delays.iter().position(|&d| d == delay) {
            return LaneId(at as u8);
        }
        if self.lanes.len() == MAX_LANES {
            return LaneId::NONE;
        }
        self.lanes.push(Lane::new());
        self.delays.push(delay);
        self.blocks = self.lanes.len().div_ceil(BLOCK);
        LaneId((self.lanes.len() - 1) as u8)
    }

    /// The time of the last event taken out, in picoseconds.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Moves the clock on to `time`, up to which everything has happened.
    pub fn advance_to(&mut self, time: u64) {
        debug_assert!(self.now <= time);
        self.now = time;
    }

    /// Adds an event. `lane` is the one of its delay.
    #[inline(always)]
    pub fn push(&mut self, lane: LaneId, event: Event) {
        let Some(ring) = self.lanes.get_mut(lane.0 as usize) else {
            self.push_odd(event);
            return;
        };
        if ring.is_empty() {
            self.heads.as_flattened_mut()[lane.0 as usize] = event.order();
        }
        if ring.push(event) {
            self.next_unsorted = self.next_unsorted.min(event.time);
        }
    }

    /// Adds an event of any delay.
    pub fn push_odd(&mut self, event: Event) {
        let upper = u128::from(event.key >> 32) << 32;
        let parked = if event.carries() { self.park(event) } else { 0 };
        self.heap.push(u128::from(event.time) << 64 | upper | u128::from(parked));
        self.top = self.heap.top().unwrap_or(EMPTY);
    }

    fn park(&mut self, event: Event) -> u32 {
        if let Some(place) = self.free.pop() {
            self.parked[place as usize] = event;
            return place;
        }
        self.parked.push(event);
        (self.parked.len() - 1) as u32
    }

    /// Adds events that are known in advance, in their order. To be called once.
    pub fn schedule(&mut self, events: impl Iterator<Item = Event>) {
        self.scheduled.extend(events);
        if let Some(&first) = self.scheduled.front() {
            self.push_odd(first);
        }
    }

    /// Takes out the next event if it is before `limit`, and says which lane it was in.
    #[inline]
    pub fn pop(&mut self, limit: u64) -> Option<(Event, LaneId)> {
        let (mut which, mut order) = self.least();
        let time = (order >> 64) as u64;
        if time >= limit {
            return None;
        }
        if time >= self.next_unsorted {
            self.sort_instant(time);
            (which, order) = self.least();
        }
        self.now = (order >> 64) as u64;
        let Some(lane) = self.lanes.get_mut(which) else {
            return Some((self.pop_heap(), LaneId::NONE));
        };
        let event = lane.pop();
        lane.expect(LOOK_AHEAD);
        self.heads.as_flattened_mut()[which] = lane.peek(0).map_or(EMPTY, Event::order);
        Some((event, LaneId(which as u8)))
    }

    /// The lane whose head is the least, or no lane for the heap's top; and its order.
    #[inline(always)]
    fn least(&self) -> (usize, u128) {
        let mut which = MAX_LANES;
        let mut least = self.top;
        let mut block = 0;
        loop {
            for (at, &head) in self.heads[block % self.heads.len()].iter().enumerate() {
                let less = head < least;
                which = if less { block * BLOCK + at } else { which };
                least = if less { head } else { least };
            }
            block += 1;
            if block >= self.blocks {
                break;
            }
        }
        (which, least)
    }

    #[cold]
    fn sort_instant(&mut self, time: u64) {
        for (lane, head) in self.lanes.iter_mut().zip(self.heads.as_flattened_mut()) {
            lane.sort_run(time, &mut self.run);
            *head = lane.peek(0).map_or(EMPTY, Event::order);
        }
        self.next_unsorted = self.lanes.iter().map(Lane::first_unsorted).min().unwrap_or(u64::MAX);
    }

    fn pop_heap(&mut self) -> Event {
        let top = self.heap.pop().unwrap_or(EMPTY);
        self.top = self.heap.top().unwrap_or(EMPTY);
        let event = keyed(top);
        if event.class() == Class::Start {
            self.scheduled.pop_front();
            if let Some(&next) = self.scheduled.front() {
                self.push_odd(next);
            }
        }
        if !event.carries() {
            return event;
        }
        let place = top as u32;
        self.free.push(place);
        self.parked[place as usize]
    }

    /// The events so many places behind the head of a lane, as a hint of what comes.
    #[inline(always)]
    pub fn peek<const N: usize>(&self, lane: LaneId, ahead: [usize; N]) -> [Option<&Event>; N] {
        let lane = self.lanes.get(lane.0 as usize);
        ahead.map(|ahead| lane.and_then(|lane| lane.peek(ahead)))
    }

    /// The heap's top and the candidates for what comes after it, as a hint, without their frames.
    #[inline]
    pub fn peek_heap(&self) -> impl Iterator<Item = Event> + '_ {
        self.heap.upper().iter().map(|&entry| keyed(entry))
    }

    /// Every arrival that is to come, in no particular order.
    pub fn arrivals(&self) -> impl Iterator<Item = Event> + '_ {
        self.carriers().filter(Event::is_arrival)
    }

    /// Every event to come that carries a frame, in no particular order.
    pub fn carriers(&self) -> impl Iterator<Item = Event> + '_ {
        let in_lanes = self.lanes.iter().flat_map(Lane::iter).copied();
        let parked = self.heap.iter().filter(|&entry| keyed(entry).carries());
        in_lanes.filter(Event::carries).chain(parked.map(|entry| self.parked[entry as u32 as usize]))
    }
}

/// What a heap entry says of its event: all but its frame.
fn keyed(entry: u128) -> Event {
    Event { time: (entry >> 64) as u64, stamp: 0, flow_seq: 0, key: entry as u64 >> 32 << 32 }
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes events out of a queue and beside it out of a list sorted anew each time, adding some as it goes.
    #[test]
    fn events_come_out_as_from_a_sorted_list() {
        let mut queue = EventQueue::new();
        let delays = [5_u64, 7, 7 + 5, 3];
        let lanes: Vec<LaneId> = delays.iter().map(|&d| queue.lane(d)).collect();
        let mut oracle: Vec<Event> = Vec::new();
        let mut random = 12345_u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut unused: Vec<u32> = (0..4000).collect();
        for _ in 0..20_000 {
            let add = if oracle.len() < 50 { draw(6) } else { draw(2) };
            for _ in 0..add {
                if unused.is_empty() {
                    break;
                }
                let id = unused.swap_remove(draw(unused.len() as u64) as usize);
                let class = [Class::Wake, Class::Arrival, Class::Pace][draw(3) as usize];
                let which = draw(5) as usize;
                let delay = delays.get(which).copied().unwrap_or(1 + draw(20));
                let event = Event::bare(queue.now() + delay, class, id);
                queue.push(lanes.get(which).copied().unwrap_or(LaneId::NONE), event);
                oracle.push(event);
            }
            oracle.sort_by_key(Event::order);
            if !oracle.is_empty() {
                let expected = oracle.remove(0);
                assert_eq!(queue.pop(u64::MAX).map(|(event, _)| event), Some(expected));
                unused.push(expected.id());
            }
        }
    }

    #[test]
    fn nothing_at_or_after_the_limit_comes_out() {
        let mut queue = EventQueue::new();
        queue.push_odd(Event::bare(10, Class::Pace, 1));
        assert_eq!(queue.pop(10), None);
        assert!(queue.pop(11).is_some());
    }

    #[test]
    fn a_delay_beyond_the_last_lane_goes_to_the_heap() {
        let mut queue = EventQueue::new();
        for delay in 0..MAX_LANES as u64 {
            assert_ne!(queue.lane(delay), LaneId::NONE);
        }
        assert_eq!(queue.lane(1000), LaneId::NONE);
        assert_ne!(queue.lane(3), LaneId::NONE);
    }
}
