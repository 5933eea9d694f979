//! When the frames at plain ports leave, as one list a port in a common pool.

use crate::engine::calendar::EventSlot;
use crate::prefetch::prefetch;

/// No place in the pool.
pub(super) const NONE: u32 = u32::MAX;

/// The frames at a port that have not all left, as a list in a pool: the one in transmission and those behind it. It
/// is empty where no frame has waited since the port was idle, and may begin with frames that have left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backlog {
    pub head: u32,
    pub tail: u32,
    /// The bytes of the list; of the frame sent last where the list is empty.
    pub held: u32,
}

impl Backlog {
    pub(super) const EMPTY: Backlog = Backlog { head: NONE, tail: NONE, held: 0 };

    pub(super) fn is_empty(self) -> bool {
        self.head == NONE
    }
}

/// A frame at a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// When its last bit has left, in picoseconds.
    pub at: u64,
    pub size: u32,
    next: u32,
    /// The slot of its arrival at the link's end, or [`NOT_CAPABLE`], also where it can no longer be marked by what waits behind
    /// it.
    pub slot: u32,
}

/// The slot of a frame that is not to be marked, such as one that is not capable of ECN.
pub(super) const NOT_CAPABLE: u32 = u32::MAX;

/// The departures of all plain ports of a domain, in one pool. The place freed last is used first: it is the likeliest
/// to be in the cache.
#[derive(Debug)]
pub(super) struct Departures {
    nodes: Vec<Departure>,
    free: u32,
    /// The ports that mark by what waits behind a frame and may have such a one: where more than their threshold has waited.
    pub marking: Vec<u32>,
    /// The slots of the arrivals of frames that are to be marked.
    to_mark: Vec<u32>,
}

impl Default for Departures {
    fn default() -> Departures {
        Departures { nodes: Vec::new(), free: NONE, marking: Vec::new(), to_mark: Vec::new() }
    }
}

impl Departures {
    #[inline(always)]
    pub(super) fn append(&mut self, backlog: &mut Backlog, at: u64, size: u32, slot: u32) {
        let place = match self.nodes.get_mut(self.free as usize) {
            Some(node) => {
                // Word by word from registers: a copy of what was just put together in memory would have to wait for it.
                let next = std::mem::replace(&mut node.next, NONE);
                (node.at, node.size, node.slot) = (at, size, slot);
                std::mem::replace(&mut self.free, next)
            }
            None => self.add(at, size, slot),
        };
        if backlog.head == NONE {
            backlog.head = place;
        } else {
            self.nodes[backlog.tail as usize].next = place;
        }
        backlog.tail = place;
    }

    /// Makes a place.
    #[cold]
    fn add(&mut self, at: u64, size: u32, slot: u32) -> u32 {
        self.nodes.push(Departure { at, size, next: NONE, slot });
        (self.nodes.len() - 1) as u32
    }

    /// Frees the frames that have left by `now`.
    #[inline]
    pub(super) fn settle(&mut self, backlog: &mut Backlog, now: u64) {
        while let Some(&first) = self.nodes.get(backlog.head as usize) {
            if first.at > now {
                break;
            }
            backlog.held -= first.size;
            self.nodes[backlog.head as usize].next = self.free;
            self.free = backlog.head;
            backlog.head = first.next;
        }
    }

    /// Frees all frames of a port that is idle.
    #[cold]
    pub(super) fn clear(&mut self, backlog: &mut Backlog) {
        self.nodes[backlog.tail as usize].next = self.free;
        self.free = backlog.head;
        backlog.head = NONE;
    }

    /// Frees the frames that have left by `now`, as [`Self::settle`] does. Those that began to leave meanwhile are to be marked if
    /// more than `threshold` bytes waited behind; how many these are. What waited is what waits now, less what began.
    #[inline(always)]
    pub(super) fn settle_and_judge(&mut self, backlog: &mut Backlog, now: u64, threshold: u32) -> u32 {
        let mut marked = 0;
        while let Some(&first) = self.nodes.get(backlog.head as usize) {
            if first.at > now {
                break;
            }
            backlog.held -= first.size;
            self.nodes[backlog.head as usize].next = self.free;
            self.free = backlog.head;
            backlog.head = first.next;
            let Some(begins) = self.nodes.get(first.next as usize) else { break };
            if backlog.held - begins.size > threshold && begins.slot != NOT_CAPABLE {
                self.to_mark.push(begins.slot);
                marked += 1;
            }
        }
        marked
    }

    /// Marks the frames that are to be marked, in the events that their arrivals are.
    pub(super) fn mark(&mut self, events: &mut [EventSlot]) {
        self.to_mark.drain(..).for_each(|slot| events[slot as usize].mark());
    }

    /// Hints that frames will be added to a backlog.
    #[inline(always)]
    pub(super) fn prefetch(&self, backlog: Backlog) {
        prefetch(&self.nodes, backlog.head as usize);
        prefetch(&self.nodes, backlog.tail as usize);
    }

    pub(super) fn iter(&self, backlog: Backlog) -> impl Iterator<Item = Departure> + Clone + '_ {
        let first = self.nodes.get(backlog.head as usize).copied();
        std::iter::successors(first, |node| self.nodes.get(node.next as usize).copied())
    }
}
