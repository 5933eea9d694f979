//! What some nodes have to do in one window, in order.
//!
//! Most of it is known when the window begins and is sorted once; what the nodes add for themselves in the window goes
//! through a small heap.

use super::calendar::Entry;
use super::event::Event;
use super::heap::Heap;
use super::order::{self, Few};

/// The slot of an event that has none: it is all said by its order.
pub const NO_SLOT: u32 = u32::MAX;

/// An item of an agenda: an event's order within its window, and below that the entry that says its node and its slot.
pub type Item = u128;

/// The entry of an item: its event's node and slot.
#[inline]
pub fn entry_of(item: Item) -> Entry {
    item as Entry
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
    /// The first of those; [`END`] if there is none.
    soonest: Item,
}

/// Behind all items.
const END: Item = Item::MAX;

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda { start: 0, known: vec![END], next: 0, added: Heap::default(), soonest: END }
    }
}

#[inline(always)]
fn item(order: u64, entry: Entry) -> Item {
    u128::from(order) << 64 | u128::from(entry)
}

impl Agenda {
    /// Begins anew with these entries, in any order, in the window that begins at `start`; `event` finds the event of the
    /// entry with this number among them.
    #[inline]
    pub fn begin<'a>(&mut self, start: u64, entries: &[Entry], event: impl Fn(usize) -> &'a Event) {
        debug_assert!(
            self.known[self.next] == END && self.soonest == END,
            "a window was left before its end"
        );
        self.start = start;
        self.next = 0;
        let orders = (0..entries.len()).map(|number| event(number).order_since(start));
        if entries.len() <= order::FEW {
            let few = Few::new(orders);
            self.known.resize(entries.len() + 1, END);
            self.known[entries.len()] = END;
            for (number, &entry) in entries.iter().enumerate() {
                let (order, place) = few.place(number);
                self.known[place] = item(order, entry);
            }
        } else {
            self.known.clear();
            self.known.extend(orders.zip(entries).map(|(order, &entry)| item(order, entry)));
            self.known.sort_unstable();
            self.known.push(END);
        }
    }

    /// Adds an event of a node that happens in this window, no earlier than the one taken last.
    #[inline]
    pub fn add(&mut self, event: &Event, node: u32, slot: u32) {
        let item = item(event.order_since(self.start), u64::from(node) << 32 | u64::from(slot));
        self.added.push(item);
        self.soonest = self.soonest.min(item);
    }

    /// Takes out the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let known = self.known[self.next];
        if self.soonest < known {
            return self.pop_added();
        }
        if known == END {
            return None;
        }
        self.next += 1;
        Some(known)
    }

    fn pop_added(&mut self) -> Option<Item> {
        let item = self.added.pop();
        self.soonest = self.added.top().unwrap_or(END);
        item
    }

    /// The event of an item that has no slot.
    #[inline]
    pub fn bare(&self, item: Item) -> Event {
        Event::ordered(self.start, (item >> 64) as u64)
    }
}
