//! The frames that wait at ruled ports. Each stays in the slot of the event by which it came, which becomes that of its next arrival.

use crate::engine::calendar::EventSlot;
use crate::engine::event::{Event, Frame};
use crate::prefetch::prefetch;

const NONE: u32 = u32::MAX;
/// For how many slots more there is room at once.
const GROWTH: usize = 1024;

/// Frames in the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameQueue {
    head: u32,
    /// The slot of the last frame; meaningless where there is no head.
    tail: u32,
}

impl FrameQueue {
    pub(super) const EMPTY: FrameQueue = FrameQueue { head: NONE, tail: NONE };

    pub(super) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// The slot of the last frame; none if there is none.
    pub(super) fn last(self) -> Option<u32> {
        (!self.is_empty()).then_some(self.tail)
    }
}

/// For each slot with a frame that waits, the slot of the one behind it.
#[derive(Debug, Default)]
pub(super) struct WaitingFrames {
    next: Vec<u32>,
}

/// A frame that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub frame: Frame,
    /// Since when it has waited.
    pub since: u64,
    /// The port that has it on its account; see [`super::pfc`].
    pub ingress: u32,
}

impl Waited {
    /// What stands in the slot of a frame that waits: its account in place of the kind and id of an event.
    #[inline(always)]
    pub(super) fn to_event(self) -> Event {
        Event::carrying(self.since, self.ingress, &self.frame)
    }

    /// What such a slot says.
    #[inline(always)]
    pub(super) fn of(event: &Event) -> Waited {
        Waited { frame: event.frame(), since: event.time, ingress: (event.key >> 32) as u32 }
    }
}

impl WaitingFrames {
    /// Puts the frame in a slot behind all others of a queue.
    #[inline(always)]
    pub(super) fn append(&mut self, queue: &mut FrameQueue, slot: u32) {
        if let Some(next) = self.next.get_mut(slot as usize) {
            *next = NONE;
        } else {
            self.grow(slot);
        }
        if queue.is_empty() {
            queue.head = slot;
        } else {
            self.next[queue.tail as usize] = slot;
        }
        queue.tail = slot;
    }

    #[cold]
    fn grow(&mut self, slot: u32) {
        self.next.resize((slot as usize + 1).next_multiple_of(GROWTH), NONE);
    }

    /// Takes the first frame of a queue that has one: its slot.
    #[inline(always)]
    pub(super) fn take(&mut self, queue: &mut FrameQueue, events: &[EventSlot]) -> u32 {
        let slot = queue.head;
        queue.head = self.next[slot as usize];
        prefetch(events, queue.head as usize);
        slot
    }

    /// Hints that the first frame of a queue will be taken, and one put behind the last.
    #[inline(always)]
    pub(super) fn prefetch(&self, queue: FrameQueue, events: &[EventSlot]) {
        prefetch(events, queue.head as usize);
        prefetch(&self.next, queue.head as usize);
        prefetch(&self.next, queue.tail as usize);
    }

    /// The frames with what stands in the slots.
    pub(super) fn within<'a>(&'a self, events: &'a [EventSlot]) -> Waiting<'a> {
        Waiting { next: &self.next, events }
    }
}

/// The frames that wait, to be looked at.
#[derive(Clone, Copy)]
pub(super) struct Waiting<'a> {
    next: &'a [u32],
    events: &'a [EventSlot],
}

impl<'a> Waiting<'a> {
    /// The frames of a queue.
    pub(super) fn of(self, queue: FrameQueue) -> impl Iterator<Item = Waited> + 'a {
        let some = |slot: u32| (slot != NONE).then_some(slot);
        let slots = std::iter::successors(some(queue.head), move |&slot| some(self.next[slot as usize]));
        slots.map(move |slot| Waited::of(&self.events[slot as usize]))
    }
}
