//! The events to come, by the window of time in which they happen.
//!
//! Time is cut into windows no longer than the quickest way from one node to another. So nothing that a node does in
//! a window reaches another node in that window, and the nodes need no order among each other: it is enough to take
//! out all events of a window, node by node, and to sort each node's. An event is put into its window in constant
//! time, however far away that is.

use std::ops::{Deref, DerefMut};

use super::event::{Event, Kind};
use super::heap::Heap;
use super::windows::{Windows, PARTS};
use crate::prefetch::prefetch;

/// How many windows from the first on have a bucket each; events of later ones wait in a heap.
const RING: usize = 4096;
/// The place behind the ring's, of the bucket of what happens elsewhere.
const ELSEWHERE: usize = RING;
/// Entries of a page.
const PAGE: usize = 32;

/// An event's node in 24 bits, the part of the window in which it happens in 8, and its slot in 32.
pub type Entry = u64;

/// Node numbers are below this.
pub const MAX_NODES: usize = 1 << 24;

/// The entry of an event.
#[inline(always)]
pub(super) fn entry(node: u32, part: u64, slot: u32) -> Entry {
    u64::from(node) << 40 | part << 32 | u64::from(slot)
}

/// The node of an entry.
#[inline(always)]
pub fn node_of(entry: Entry) -> u32 {
    (entry >> 40) as u32
}

/// The part of the window in which an entry's event happens.
#[inline(always)]
pub fn part_of(entry: Entry) -> usize {
    (entry >> 32) as usize % PARTS
}

/// The slot of an entry.
#[inline]
pub fn slot_of(entry: Entry) -> u32 {
    entry as u32
}

/// The entries of one window, on pages of which all but the last are full: the place behind the last entry. So the next
/// one needs a new page where this is a multiple of [`PAGE`], and 0 says that there is none.
type Bucket = u32;

/// Room for an event. Two fill a cache line, so that none lies in two.
#[derive(Debug)]
#[repr(align(32))]
pub struct EventSlot(Event);

impl Deref for EventSlot {
    type Target = Event;

    #[inline(always)]
    fn deref(&self) -> &Event {
        &self.0
    }
}

impl DerefMut for EventSlot {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Event {
        &mut self.0
    }
}

/// All events to come, and room for them.
#[derive(Debug)]
pub struct Calendar {
    events: Vec<EventSlot>,
    free: Vec<u32>,
    schedule: Schedule,
}

/// When each event happens: its slot stands in the bucket of its window.
#[derive(Debug)]
pub struct Schedule {
    windows: Windows,
    /// The nodes below this are here; the numbers from it on stand for nodes elsewhere.
    nodes: u32,
    /// No event lies in a window before this one.
    first: u64,
    /// The buckets of the windows, then that of what happens elsewhere.
    ring: Box<[Bucket; RING + 1]>,
    /// A bit for each bucket that has entries.
    occupied: Box<[u64; RING / 64 + 1]>,
    /// The entries, page by page.
    entries: Vec<Entry>,
    /// For each page the bucket as it was before it.
    below: Vec<Bucket>,
    free_pages: Vec<u32>,
    /// Window and entry of the events beyond the ring.
    later: Heap,
}

impl Calendar {
    /// Returns a calendar without events, for `nodes` nodes.
    pub fn new(windows: Windows, nodes: u32) -> Calendar {
        Calendar { events: Vec::new(), free: Vec::new(), schedule: Schedule::new(windows, nodes) }
    }

    /// Forgets when anything happens, to free the memory. What stands in the slots stays.
    pub fn forget_times(&mut self) {
        self.free = Vec::new();
        self.schedule = Schedule::new(self.windows(), 0);
    }

    /// Returns how time is cut.
    pub fn windows(&self) -> Windows {
        self.schedule.windows
    }

    /// Adds an event of a node; it may not lie in a window before the one taken last.
    #[inline(always)]
    pub fn add(&mut self, node: u32, event: Event) {
        let slot = self.store(event);
        self.schedule.enter(node, slot, event.time);
    }

    /// The slot that the event gets that is stored next.
    #[inline(always)]
    pub fn next_slot(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.events.len() as u32)
    }

    /// Gives an event a slot, without a place in time.
    #[inline(always)]
    pub fn store(&mut self, event: Event) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        // The one place where an event is written, so that its words come from registers. Were it put together in memory
        // and copied from there in halves, the copy would have to wait until all its words are written.
        let place = &mut self.events[slot as usize];
        place.time = event.time;
        place.stamp = event.stamp;
        place.route_seq = event.route_seq;
        place.key = event.key;
        slot
    }

    /// Makes a slot.
    #[cold]
    fn grow(&mut self) -> u32 {
        self.events.push(EventSlot(Event::bare(0, Kind::Wake, 0)));
        (self.events.len() - 1) as u32
    }

    /// Takes an event out of its slot, which is free from then on.
    #[inline(always)]
    pub fn release(&mut self, slot: u32) -> Event {
        self.free.push(slot);
        self.events[slot as usize].0
    }

    /// Puts an entry back into the window that was taken last.
    pub fn put_back(&mut self, entry: Entry) {
        self.schedule.put(self.schedule.first as usize % RING, entry);
    }

    /// An entry of the event in a slot, which happens at `time`.
    pub fn entry(&self, node: u32, slot: u32, time: u64) -> Entry {
        entry(node, self.windows().find(time).1, slot)
    }

    /// The event in a slot.
    #[inline(always)]
    pub fn event(&self, slot: u32) -> &Event {
        &self.events[slot as usize]
    }

    /// Hints that the event in a slot will be read.
    #[inline(always)]
    pub fn prefetch(&self, slot: u32) {
        prefetch(&self.events, slot as usize);
    }

    /// How many slots are not free.
    pub fn slots_in_use(&self) -> usize {
        self.events.len() - self.free.len()
    }

    /// What stands in each slot: an event, a frame that waits, or what was there before it was free.
    #[inline(always)]
    pub fn slots(&self) -> &[EventSlot] {
        &self.events
    }

    /// The events by slot, which may be changed into their next ones, and the schedule, to which those are added.
    #[inline(always)]
    pub fn parts(&mut self) -> (&mut [EventSlot], &mut Schedule) {
        (&mut self.events, &mut self.schedule)
    }

    /// The first window that has an event, if any has.
    pub fn next(&self) -> Option<u64> {
        self.schedule.next()
    }

    /// Moves the entries of a window, before which there is no event any more, to `out`. Their events stay in their
    /// slots.
    pub fn take(&mut self, window: u64, out: &mut Vec<Entry>) {
        self.schedule.take(window, out);
    }

    /// Moves the entries of what happens elsewhere to `out`; their events stay in their slots.
    pub fn take_elsewhere(&mut self, out: &mut Vec<Entry>) {
        self.schedule.empty(ELSEWHERE, out);
    }

    /// Every event to come, in no particular order.
    pub fn events(&self) -> impl Iterator<Item = &Event> + '_ {
        let later = self.schedule.later.iter().map(|entry| entry as u64);
        let soon = self.schedule.ring.iter().flat_map(|bucket| self.schedule.entries_of(*bucket));
        soon.chain(later).map(|entry| self.event(slot_of(entry)))
    }
}

impl Schedule {
    fn new(windows: Windows, nodes: u32) -> Schedule {
        Schedule {
            windows,
            nodes,
            first: 0,
            ring: vec![0; RING + 1].into_boxed_slice().try_into().expect("it has this length"),
            occupied: Box::new([0; RING / 64 + 1]),
            entries: Vec::new(),
            below: Vec::new(),
            free_pages: Vec::new(),
            later: Heap::default(),
        }
    }

    /// Adds the event in a slot at `time`, at which it happens.
    #[inline(always)]
    pub fn enter(&mut self, node: u32, slot: u32, time: u64) {
        let (window, part) = self.windows.find(time);
        debug_assert!(self.first <= window, "an event in the past");
        let entry = entry(node, part, slot);
        let elsewhere = node >= self.nodes;
        if window - self.first < RING as u64 {
            // Where frames go to and fro between domains, which it is cannot be predicted: it must not become a branch.
            self.put(if elsewhere { ELSEWHERE } else { window as usize % RING }, entry);
        } else {
            self.enter_far(elsewhere, window, entry);
        }
    }

    /// Adds the entry of an event beyond the ring.
    #[cold]
    fn enter_far(&mut self, elsewhere: bool, window: u64, entry: Entry) {
        if elsewhere {
            self.put(ELSEWHERE, entry);
        } else {
            self.later.push(u128::from(window) << 64 | u128::from(entry));
        }
    }

    #[inline(always)]
    fn put(&mut self, at: usize, entry: Entry) {
        if self.ring[at] as usize % PAGE == 0 {
            self.turn_page(at);
        }
        let end = &mut self.ring[at];
        self.entries[*end as usize] = entry;
        *end += 1;
    }

    #[cold]
    fn turn_page(&mut self, at: usize) {
        let page = self.free_pages.pop().unwrap_or_else(|| {
            self.entries.resize(self.entries.len() + PAGE, 0);
            self.below.push(0);
            (self.below.len() - 1) as u32
        });
        self.below[page as usize] = self.ring[at];
        self.ring[at] = page * PAGE as u32;
        self.occupied[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn next(&self) -> Option<u64> {
        // Mostly it is the window behind the one that was taken last.
        let bucket = |window: u64| self.ring[window as usize % RING];
        if bucket(self.first) == 0 && bucket(self.first + 1) != 0 {
            return Some(self.first + 1);
        }
        // What is beyond the ring lies in later windows than all that is in it.
        self.next_in_ring().or_else(|| self.later.top().map(|top| (top >> 64) as u64))
    }

    #[inline(never)]
    fn next_in_ring(&self) -> Option<u64> {
        let start = self.first as usize % RING;
        let words = RING / 64;
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            } else if step == words {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                return Some(self.first + ((at + RING - start) % RING) as u64);
            }
        }
        None
    }

    fn take(&mut self, window: u64, out: &mut Vec<Entry>) {
        self.first = window;
        while let Some(top) = self.later.top() {
            let due = (top >> 64) as u64;
            if due - window >= RING as u64 {
                break;
            }
            self.later.pop();
            self.put(due as usize % RING, top as u64);
        }
        self.empty(window as usize % RING, out);
    }

    /// Moves all entries of a bucket to `out`.
    fn empty(&mut self, at: usize, out: &mut Vec<Entry>) {
        let mut bucket = std::mem::take(&mut self.ring[at]);
        self.occupied[at / 64] &= !(1 << (at % 64));
        while let Some((page, filled)) = last_page(bucket) {
            // A whole page is copied without asking how much of it is filled.
            let end = out.len() + filled;
            out.extend_from_slice(&self.entries[page * PAGE..][..PAGE]);
            out.truncate(end);
            self.free_pages.push(page as u32);
            bucket = self.below[page];
        }
    }

    fn entries_of(&self, bucket: Bucket) -> impl Iterator<Item = Entry> + '_ {
        std::iter::successors(last_page(bucket), |&(page, _)| last_page(self.below[page]))
            .flat_map(|(page, filled)| self.entries[page * PAGE..][..filled].iter().copied())
    }
}

/// The last page of a bucket, and how many entries are on it.
fn last_page(bucket: Bucket) -> Option<(usize, usize)> {
    let last = (bucket as usize).checked_sub(1)?;
    Some((last / PAGE, last % PAGE + 1))
}

#[cfg(test)]
mod tests;
