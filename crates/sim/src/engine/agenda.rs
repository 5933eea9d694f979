//! What one node has to do in one window, in order.
//!
//! Most of it is known when the window begins and is sorted once; what the node adds for itself in the window goes
//! through a small heap.

use super::event::Event;
use super::heap::Heap;

/// The slot of an event that has none: it is all said by its order.
pub const NO_SLOT: u32 = u32::MAX;

/// An item of an agenda: an event's order, with its slot in the lower 32 bits.
pub type Item = u128;

/// The time of an item.
#[inline]
pub fn time_of(item: Item) -> u64 {
    (item >> 64) as u64
}

/// The slot of an item.
#[inline]
pub fn slot_of(item: Item) -> u32 {
    item as u32
}

/// The event of an item that has no slot.
#[inline]
pub fn bare(item: Item) -> Event {
    Event { time: time_of(item), stamp: 0, route_seq: 0, key: item as u64 >> 32 << 32 }
}

/// The events of a node in a window.
#[derive(Debug, Default)]
pub struct Agenda {
    /// Known when the window began; sorted from `next` on.
    known: Vec<Item>,
    next: usize,
    /// Added since.
    added: Heap,
}

impl Agenda {
    /// Begins anew with these, in any order.
    #[inline]
    pub fn begin(&mut self, items: impl Iterator<Item = Item>) {
        debug_assert!(
            self.next == self.known.len() && self.added.top().is_none(),
            "a window was left before its end"
        );
        self.known.clear();
        self.next = 0;
        self.known.extend(items);
        sort(&mut self.known);
    }

    /// Adds an event that happens in this window, no earlier than the one taken last.
    #[inline]
    pub fn add(&mut self, event: &Event, slot: u32) {
        self.added.push(event.order() | u128::from(slot));
    }

    /// Takes out the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let known = self.known.get(self.next).copied();
        match (known, self.added.top()) {
            (Some(known), Some(added)) if added < known => self.added.pop(),
            (None, Some(_)) => self.added.pop(),
            (known, _) => {
                self.next += usize::from(known.is_some());
                known
            }
        }
    }
}

/// Sorts items; all of them differ.
#[inline]
pub fn sort(items: &mut [Item]) {
    items.sort_unstable();
}
