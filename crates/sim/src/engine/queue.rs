//! The event queue: a ring for each of the few delays that nearly all events have, and a heap for the rest.
//!
//! A simulated network has a handful of distinct constant delays (a full frame's or an acknowledgement's
//! transmission, with or without propagation, for each kind of link). Each has a lane, which is sorted by
//! itself; the next event is the least of the lanes' heads and the heap's top.

use super::event::{Class, Event};
use super::heap::Heap;
use super::lane::Lane;

/// Lanes a queue may have; more would make finding the next event slower than a heap.
pub const MAX_LANES: usize = 15;

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
    /// Order of each lane's first event, with [`EMPTY`] for an empty one; the heap's top is the last.
    heads: [u128; MAX_LANES + 1],
    lanes: Vec<Lane>,
    delays: Vec<u64>,
    heap: Heap,
    /// Arrivals that are in the heap, by the index in their heap key; freed places are reused.
    parked: Vec<Event>,
    free: Vec<u32>,
    /// The earliest instant at which some lane has to be sorted.
    next_unsorted: u64,
    /// Room to sort in.
    run: Vec<Event>,
    now: u64,
}

const EMPTY: u128 = u128::MAX;
const HEAP: usize = MAX_LANES;

impl EventQueue {
    /// An empty queue at time zero.
    pub fn new() -> EventQueue {
        EventQueue {
            heads: [EMPTY; MAX_LANES + 1],
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
            self.heads[lane.0 as usize] = event.order();
        }
        if ring.push(event) {
            self.next_unsorted = self.next_unsorted.min(event.time);
        }
    }

    /// Adds an event of any delay.
    pub fn push_odd(&mut self, event: Event) {
        let upper = u128::from(event.key >> 32) << 32;
        let parked = if event.class() == Class::Arrival { self.park(event) } else { 0 };
        self.heap.push(u128::from(event.time) << 64 | upper | u128::from(parked));
        self.heads[HEAP] = self.heap.top().unwrap_or(EMPTY);
    }

    fn park(&mut self, event: Event) -> u32 {
        if let Some(place) = self.free.pop() {
            self.parked[place as usize] = event;
            return place;
        }
        self.parked.push(event);
        (self.parked.len() - 1) as u32
    }

    /// Adds events that are known in advance, in their order. They have a lane of their own.
    pub fn schedule(&mut self, events: impl Iterator<Item = Event>) {
        let lane = self.lane(u64::MAX);
        for event in events {
            self.push(lane, event);
        }
    }

    /// Takes out the next event if it is before `limit`, and says which lane it was in.
    #[inline]
    pub fn pop(&mut self, limit: u64) -> Option<(Event, LaneId)> {
        let mut which = self.least();
        let mut time = (self.heads[which] >> 64) as u64;
        if time >= limit {
            return None;
        }
        if time >= self.next_unsorted {
            self.sort_instant(time);
            which = self.least();
            time = (self.heads[which] >> 64) as u64;
        }
        self.now = time;
        if which == HEAP {
            return Some((self.pop_heap(), LaneId::NONE));
        }
        let lane = &mut self.lanes[which];
        let event = lane.pop();
        self.heads[which] = lane.peek(0).map_or(EMPTY, Event::order);
        Some((event, LaneId(which as u8)))
    }

    /// The lane whose head is the least, or the heap.
    #[inline(always)]
    fn least(&self) -> usize {
        let mut which = HEAP;
        let mut least = self.heads[HEAP];
        for (at, &head) in self.heads[..self.lanes.len()].iter().enumerate() {
            if head < least {
                least = head;
                which = at;
            }
        }
        which
    }

    #[cold]
    fn sort_instant(&mut self, time: u64) {
        for (lane, head) in self.lanes.iter_mut().zip(&mut self.heads) {
            lane.sort_run(time, &mut self.run);
            *head = lane.peek(0).map_or(EMPTY, Event::order);
        }
        self.next_unsorted = self.lanes.iter().map(Lane::first_unsorted).min().unwrap_or(u64::MAX);
    }

    fn pop_heap(&mut self) -> Event {
        let top = self.heap.pop().unwrap_or(EMPTY);
        self.heads[HEAP] = self.heap.top().unwrap_or(EMPTY);
        let event = keyed(top);
        if event.class() != Class::Arrival {
            return event;
        }
        let place = top as u32;
        self.free.push(place);
        self.parked[place as usize]
    }

    /// The event `ahead` places behind the head of a lane, as a hint of what comes.
    #[inline]
    pub fn peek(&self, lane: LaneId, ahead: usize) -> Option<&Event> {
        self.lanes.get(lane.0 as usize).and_then(|lane| lane.peek(ahead))
    }

    /// Every arrival that is to come, in no particular order.
    pub fn arrivals(&self) -> impl Iterator<Item = Event> + '_ {
        let in_lanes = self.lanes.iter().flat_map(Lane::iter).copied();
        let parked = self.heap.iter().filter(|&entry| keyed(entry).class() == Class::Arrival);
        in_lanes
            .filter(|event| event.class() == Class::Arrival)
            .chain(parked.map(|entry| self.parked[entry as u32 as usize]))
    }
}

/// What a heap entry says of its event: all but an arrival's frame.
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
