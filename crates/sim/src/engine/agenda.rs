//! What some nodes have to do in one window, in order.
//!
//! Most of it is known when the window begins and is sorted then, if it is not in order; what the nodes add for
//! themselves in the window is put to its place.

use super::event::{is_key_of_arrival, Event, TIME_AT};
use super::order::{self, Item, Known, FEW};

/// The slot of an event that has none: it is all said by its order.
pub const NO_SLOT: u32 = u32::MAX;

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

/// Returns whether an item is the arrival of a frame.
#[inline(always)]
pub fn is_arrival(item: Item) -> bool {
    is_key_of_arrival(item.order as u32)
}

/// The slot of an item.
#[inline(always)]
pub fn slot_of(item: Item) -> u32 {
    item.tag as u32
}

/// How the items of an agenda stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Few, those of one node in order among each other.
    Few,
    /// Node by node, few of each, and these in order.
    ByNode,
    /// All of one node, in order.
    OfOne,
}

/// The events of some nodes in a window.
#[derive(Debug)]
pub struct Agenda {
    /// The first instant of the window.
    start: u64,
    /// The items; from `next` on those that have not happened yet.
    items: Vec<Item>,
    next: usize,
    layout: Layout,
    /// For each node the latest time at which something happens of those that were in an agenda with few.
    latest: Vec<u64>,
    spare: Vec<Item>,
}

impl Agenda {
    /// Returns an agenda without events, for `nodes` nodes.
    pub fn new(nodes: usize) -> Agenda {
        Agenda {
            start: 0,
            items: Vec::new(),
            next: 0,
            layout: Layout::Few,
            latest: vec![0; nodes],
            spare: Vec::new(),
        }
    }

    /// Begins anew with these events and the node and the slot of each, in the window that begins at `start`: with at most
    /// [`FEW`], with those of one node, of whose order this is `known`, or with at most [`FEW`] of each of several nodes, node
    /// by node.
    #[inline]
    pub fn begin<'a>(
        &mut self,
        start: u64,
        events: impl ExactSizeIterator<Item = (&'a Event, u32, u32)>,
        known: Known,
    ) {
        debug_assert!(self.next == self.items.len(), "a window was left before its end");
        self.start = start;
        self.next = 0;
        self.items.clear();
        if events.len() <= FEW {
            self.layout = Layout::Few;
            let (latest, mut in_order) = (&mut self.latest, true);
            self.items.extend(events.map(|(event, node, slot)| {
                let before = std::mem::replace(&mut latest[node as usize], event.time);
                in_order &= before < event.time;
                item(event, start, node, slot)
            }));
            if !in_order {
                order::sort(&mut self.items, &mut self.spare, known);
            }
        } else {
            self.items.extend(events.map(|(event, node, slot)| item(event, start, node, slot)));
            if node_of(self.items[0]) == node_of(self.items[self.items.len() - 1]) {
                self.layout = Layout::OfOne;
                order::sort(&mut self.items, &mut self.spare, known);
            } else {
                self.layout = Layout::ByNode;
                sort_each(&mut self.items);
            }
        }
    }

    /// Adds an event of a node that happens in this window, no earlier than the one taken last, which is of this node, too. What
    /// comes before it is moved, which is little: what a node adds in a window is mostly due soon.
    #[inline(never)]
    pub fn add(&mut self, event: &Event, node: u32, slot: u32) {
        let item = item(event, self.start, node, slot);
        match self.layout {
            Layout::Few => self.insert(item, |other| other.order > item.order && node_of(*other) == node),
            Layout::ByNode => self.insert(item, |other| other.order > item.order || node_of(*other) != node),
            Layout::OfOne => {
                let sooner = self.items[self.next..].partition_point(|other| other.order <= item.order);
                let place = self.next + sooner;
                if self.next == 0 {
                    self.items.insert(place, item);
                } else {
                    self.items.copy_within(self.next..place, self.next - 1);
                    self.items[place - 1] = item;
                    self.next -= 1;
                }
            }
        }
    }

    /// Puts an item before the first of those to come that is later, or at the end.
    #[inline(always)]
    fn insert(&mut self, item: Item, is_later: impl Fn(&Item) -> bool) {
        if self.next == 0 {
            let place = self.items.iter().position(is_later).unwrap_or(self.items.len());
            return self.items.insert(place, item);
        }
        // Before the next item there is the place of one that has happened: those that come before the new one move up.
        self.next -= 1;
        let items = &mut self.items[self.next..];
        let mut free = 0;
        while let Some(&other) = items.get(free + 1).filter(|other| !is_later(other)) {
            items[free] = other;
            free += 1;
        }
        items[free] = item;
    }

    /// Takes out the next event. Two that are equal in their order are alike, such as one timer, set twice for one instant:
    /// it does not matter which is first.
    #[inline]
    pub fn pop(&mut self) -> Option<Item> {
        let item = *self.items.get(self.next)?;
        self.next += 1;
        Some(item)
    }

    /// Puts the event back that was taken out last: something else happens before it.
    #[inline(always)]
    pub fn put_back(&mut self) {
        self.next -= 1;
    }

    /// Takes out the next event if it is of this node, as [`Self::pop`] does.
    #[inline]
    pub fn pop_of(&mut self, node: u32) -> Option<Item> {
        let item = self.items.get(self.next).copied().filter(|item| node_of(*item) == node)?;
        self.next += 1;
        Some(item)
    }

    /// Returns when an item happens, in picoseconds.
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

/// Sorts the items of each of several nodes, which are few and stand together.
#[inline(never)]
fn sort_each(items: &mut [Item]) {
    let mut begin = 0;
    for next in 1..items.len() {
        let (before, item) = (items[next - 1], items[next]);
        let same = node_of(item) == node_of(before);
        begin = if same { begin } else { next };
        if item.order < before.order && same {
            order::move_back(&mut items[begin..], next - begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::Kind;
    use crate::random::{Entity, Stream};

    /// Each event that happens is the first of its node's that are left, also of those that the node has added meanwhile: of few
    /// events and many, of one node or node by node, and in whatever order they stand.
    #[test]
    fn the_events_of_each_node_happen_in_order() {
        const NODES: u64 = 4;
        const LENGTH: u64 = 1000;
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        let mut agenda = Agenda::new(NODES as usize);
        for window in 0..2000 {
            let start = window * LENGTH;
            let count = stream.below([8, 60, FEW as u64 * NODES][window as usize % 3]);
            let nodes = [NODES, 1][window as usize / 3 % 2];
            let mut event = |from: u64| {
                let time = start + from + stream.below(LENGTH - from);
                (Event::bare(time, Kind::Pace, stream.below(1 << 20) as u32), stream.below(nodes) as u32)
            };
            let mut events: Vec<(Event, u32)> = (0..count).map(|_| event(0)).collect();
            if window % 5 > 0 {
                events.sort_by_key(|(event, _)| event.time);
            }
            if nodes > 1 && count > FEW as u64 {
                events.sort_by_key(|(_, node)| *node);
            }
            agenda.begin(
                start,
                events.iter().map(|(event, node)| (event, *node, NO_SLOT)),
                Known::Length(LENGTH),
            );
            let mut left = vec![std::collections::BTreeSet::new(); NODES as usize];
            for (event, node) in &events {
                left[*node as usize].insert(event.order_since(start));
            }
            while let Some(item) = agenda.pop() {
                let node = node_of(item);
                assert_eq!(left[node as usize].pop_first(), Some(item.order));
                for _ in 0..item.order % 3 / 2 * 2 {
                    let (added, _) = event(agenda.time_of(item) - start);
                    if left[node as usize].insert(added.order_since(start)) {
                        agenda.add(&added, node, NO_SLOT);
                    }
                }
            }
            assert!(left.iter().all(std::collections::BTreeSet::is_empty));
        }
    }
}
