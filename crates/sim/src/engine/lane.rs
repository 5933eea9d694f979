//! A ring of events that all have the same delay. They are pushed in the order in which they are caused, so
//! their times never fall and the ring needs no sorting, save among events of one instant.

use std::collections::VecDeque;

use super::event::Event;
use super::prefetch::prefetch;

/// A sorted queue of events, but for runs of equal times, which are sorted when their time comes.
#[derive(Debug)]
pub(super) struct Lane {
    /// A power of two of places.
    ring: Box<[Event]>,
    /// Places taken out and put in so far; their difference is the length.
    head: usize,
    tail: usize,
    /// Time and key of the last event put in. Whether it is still here does not matter: one that has been taken out
    /// was earlier than any that is put in now.
    last: (u64, u64),
    /// The instants at which events stand in the wrong order, ascending.
    unsorted: VecDeque<u64>,
}

const FIRST_PLACES: usize = 64;

impl Lane {
    pub(super) fn new() -> Lane {
        let empty = Event { time: 0, stamp: 0, flow_seq: 0, key: 0 };
        Lane {
            ring: vec![empty; FIRST_PLACES].into(),
            head: 0,
            tail: 0,
            last: (0, 0),
            unsorted: VecDeque::new(),
        }
    }

    #[inline(always)]
    fn at(&self, place: usize) -> &Event {
        &self.ring[place & (self.ring.len() - 1)]
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The event `ahead` places behind the head.
    #[inline(always)]
    pub(super) fn peek(&self, ahead: usize) -> Option<&Event> {
        (self.tail - self.head > ahead).then(|| self.at(self.head + ahead))
    }

    /// Hints that the places `ahead` of the head will be looked at.
    #[inline(always)]
    pub(super) fn expect(&self, ahead: usize) {
        prefetch(&self.ring, (self.head + ahead) & (self.ring.len() - 1));
    }

    /// Adds an event, no earlier than the last; whether its instant has to be sorted when it comes.
    #[inline(always)]
    pub(super) fn push(&mut self, event: Event) -> bool {
        if self.tail - self.head == self.ring.len() {
            self.grow();
        }
        let (time, key) = self.last;
        assert!(event.time >= time, "a lane's delay is constant, so its times never fall");
        let disorder = event.time == time && event.key < key;
        self.last = (event.time, event.key);
        let mask = self.ring.len() - 1;
        self.ring[self.tail & mask] = event;
        self.tail += 1;
        if disorder {
            self.note_disorder(event.time);
        }
        disorder
    }

    #[cold]
    fn note_disorder(&mut self, time: u64) {
        if self.unsorted.back() != Some(&time) {
            self.unsorted.push_back(time);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = Vec::with_capacity(self.ring.len() * 2);
        ring.extend((self.head..self.tail).map(|place| *self.at(place)));
        ring.resize(self.ring.len() * 2, ring[0]);
        self.tail -= self.head;
        self.head = 0;
        self.ring = ring.into();
    }

    /// Takes the first event out.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Event {
        debug_assert!(!self.is_empty());
        let event = *self.at(self.head);
        self.head += 1;
        event
    }

    /// The earliest instant that has to be sorted.
    pub(super) fn first_unsorted(&self) -> u64 {
        self.unsorted.front().copied().unwrap_or(u64::MAX)
    }

    /// Sorts the run of events at `time`, which stand at the head, if it has to be; in room that is lent.
    pub(super) fn sort_run(&mut self, time: u64, run: &mut Vec<Event>) {
        if self.unsorted.front() != Some(&time) {
            return;
        }
        self.unsorted.pop_front();
        run.clear();
        while let Some(event) = self.peek(run.len()).filter(|event| event.time == time) {
            run.push(*event);
        }
        run.sort_unstable_by_key(|event| event.key);
        let mask = self.ring.len() - 1;
        for (i, event) in run.drain(..).enumerate() {
            self.ring[(self.head + i) & mask] = event;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Event> {
        (self.head..self.tail).map(|place| self.at(place))
    }
}
