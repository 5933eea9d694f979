//! What leaves a domain for others.

use super::parcels::{Parcel, Parcels};
use super::place::Place;
use crate::engine::calendar::{node_of, slot_of, Calendar, Entry, MAX_NODES};
use crate::engine::event::{Event, Meta};

/// The links that lead out of a domain. In its calendar an arrival in another domain is one at a number that stands for
/// the node there: these numbers follow those of the domain's own nodes.
#[derive(Debug)]
pub(super) struct Exits {
    /// How many nodes the domain has.
    nodes: u32,
    /// For each link out of the domain the node at its end.
    ends: Vec<Place>,
    /// Room for what leaves in a window.
    leaving: Vec<Entry>,
}

impl Exits {
    /// No links lead out of a domain with so many nodes yet.
    pub fn new(nodes: u32) -> Exits {
        Exits { nodes, ends: Vec::new(), leaving: Vec::new() }
    }

    /// Adds a link that leads to a node of another domain, and gives the number that stands for that.
    pub fn add(&mut self, end: Place) -> u32 {
        self.ends.push(end);
        let number = self.nodes + (self.ends.len() - 1) as u32;
        assert!((number as usize) < MAX_NODES, "a domain of more than {MAX_NODES} nodes and links to others");
        number
    }

    /// Takes what a window leaves for other domains out of the calendar, and passes it to `send`.
    #[inline(always)]
    pub fn empty(
        &mut self,
        calendar: &mut Calendar,
        parcels: &mut Parcels,
        mut send: impl FnMut(Place, Event, Option<Parcel>),
    ) {
        self.leaving.clear();
        calendar.take_elsewhere(&mut self.leaving);
        for &entry in &self.leaving {
            let event = calendar.release(slot_of(entry));
            let pooled = event.meta().contains(Meta::POOLED);
            let parcel = pooled.then(|| parcels.take(event.frame().seq()));
            send(self.ends[(node_of(entry) - self.nodes) as usize], event, parcel);
        }
    }
}

/// Frames on their way to another domain, with what does not fit their events.
#[derive(Debug)]
pub(super) struct Outbox {
    /// Arrivals, each with the place of its node in the other domain.
    pub arrivals: Vec<(u32, Event)>,
    /// The parcels of those that are [`Meta::POOLED`], in the same order.
    pub parcels: Vec<Parcel>,
    /// When the first of them arrives, in picoseconds; the largest number if there is none.
    pub soonest: u64,
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox { arrivals: Vec::new(), parcels: Vec::new(), soonest: u64::MAX }
    }
}

impl Outbox {
    /// Adds an arrival at a node.
    #[inline]
    pub fn add(&mut self, node: u32, event: Event, parcel: Option<Parcel>) {
        self.soonest = self.soonest.min(event.time);
        self.arrivals.push((node, event));
        self.parcels.extend(parcel);
    }

    /// Nothing is under way any more.
    pub fn clear(&mut self) {
        self.arrivals.clear();
        self.parcels.clear();
        self.soonest = u64::MAX;
    }
}
