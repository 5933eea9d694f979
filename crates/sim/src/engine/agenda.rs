//! What some nodes have to do in one window, in order.
//!
//! Most of it is known when the window begins and is sorted once; what the nodes add for themselves in the window goes
//! through a small heap.

use super::event::{is_key_of_arrival, Event, TIME_AT};
use super::heap::Heap;
use super::order::{self, Item, Known};

/// The slot of an event that has none: it is all said by its order.
pub const NO_SLOT: u32 = u32::MAX;

/// A mark behind all items.
const END: Item = Item { order: u64::MAX, tag: 0 };

/// An item's tag is its node, in the upper half, and its slot.
#[inline(always)]
fn item(event: &Event, start: u64, node: u32, slot: u32) -> Item {
    Item { order: event.order_since(start), tag: u64::from(node) << 32 | u64::from(slot) }
}

/// The node of an item.
#[inline(always)]
pub fn node_of(item: Item) -> u32 {
    (item.tag >> 32) as u32
}

/// Whether an item is the arrival of a frame.
#[inline(always)]
pub fn is_arrival(item: Item) -> bool {
    is_key_of_arrival(item.order as u32)
}

/// The slot of an item.
#[inline(always)]
pub fn slot_of(item: Item) -> u32 {
    item.tag as u32
}

/// The events of some nodes in a window.
#[derive(Debug)]
pub struct Agenda {
    /// The first instant of the window.
    start: u64,
    /// Known when the window began; sorted from `next` on, with [`END`] behind the last.
    known: Vec<Item>,
    next: usize,
    /// Added since.
    added: Heap,
    /// The order of the first of those; that of [`END`] if there is none.
    soonest: u64,
    spare: Vec<Item>,
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            start: 0,
            known: vec![END],
            next: 0,
            added: Heap::default(),
            soonest: END.order,
            spare: Vec::new(),
        }
    }
}

impl Agenda {
    /// Begins anew with these events and the node and the slot of each, in the window that begins at `start`.
    /// `known` says what is known of their order.
    #[inline]
    pub fn begin<'a>(
        &mut self,
        start: u64,
        events: impl Iterator<Item = (&'a Event, u32, u32)>,
        known: Known,
    ) {
        debug_assert!(
            self.known[self.next] == END && self.soonest == END.order,
            "a window was left before its end"
        );
        self.start = start;
        self.next = 0;
        self.known.clear();
        self.known.extend(events.map(|(event, node, slot)| item(event, start, node, slot)));
        order::sort(&mut self.known, &mut self.spare, known);
        self.known.push(END);
    }

    /// Adds an event of a node that happens in this window, no earlier than the one taken last.
    #[inline]
    pub fn add(&mut self, event: &Event, node: u32, slot: u32) {
        let item = item(event, self.start, node, slot);
        self.added.push(u128::from(item.order) << 64 | u128::from(item.tag));
        self.soonest = self.soonest.min(item.order);
    }

    /// Takes out the next event. Two that are equal in their order are alike, such as one timer, set twice for one instant:
    /// it does not matter which is first.
    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let known = self.known[self.next];
        if self.soonest < known.order {
            return self.pop_added();
        }
        if known.order == END.order {
            return None;
        }
        self.next += 1;
        Some(known)
    }

    fn pop_added(&mut self) -> Option<Item> {
        let item = self.added.pop()?;
        self.soonest = self.added.top().map_or(END.order, |top| (top >> 64) as u64);
        Some(Item { order: (item >> 64) as u64, tag: item as u64 })
    }

    /// When an item happens, in picoseconds.
    #[inline(always)]
    pub fn time_of(&self, item: Item) -> u64 {
        self.start + (item.order >> TIME_AT)
    }

    /// The event of an item that has no slot.
    #[inline]
    pub fn bare(&self, item: Item) -> Event {
        Event::ordered(self.start, item.order)
    }
}
