//! What leaves a domain for others.

use super::parcels::{Parcel, Parcels};
use super::place::Place;
use crate::engine::calendar::{node_of, slot_of, Calendar, Entry, MAX_NODES};
use crate::engine::event::{Event, Meta};

/// What leaves a domain. In its calendar an arrival in another domain is one at a number that stands for the node there:
/// the numbers from that of its own nodes on are those of the links that lead out of it.
#[derive(Debug)]
pub(super) struct Outboxes {
    /// How many nodes the domain has.
    nodes: u32,
    /// For each link out of the domain the node at its end.
    ends: Vec<Place>,
    /// For each domain what is on its way there.
    pub of_domains: Vec<Outbox>,
    /// Room for what leaves in a window.
    leaving: Vec<Entry>,
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

impl Outboxes {
    /// None of this domain's links leads to another yet.
    pub fn new(nodes: u32, domains: usize) -> Outboxes {
        let of_domains = (0..domains).map(|_| Outbox::default()).collect();
        Outboxes { nodes, ends: Vec::new(), of_domains, leaving: Vec::new() }
    }

    /// Adds a link that leads to a node of another domain, and gives the number that stands for that.
    pub fn add_end(&mut self, end: Place) -> u32 {
        self.ends.push(end);
        let number = self.nodes + (self.ends.len() - 1) as u32;
        assert!((number as usize) < MAX_NODES, "a domain of more than {MAX_NODES} nodes and links to others");
        number
    }

    /// Collects what a window leaves for other domains.
    pub fn fill(&mut self, calendar: &mut Calendar, parcels: &mut Parcels) {
        self.leaving.clear();
        calendar.take_elsewhere(&mut self.leaving);
        for &entry in &self.leaving {
            let end = self.ends[(node_of(entry) - self.nodes) as usize];
            let event = calendar.release(slot_of(entry));
            let outbox = &mut self.of_domains[end.domain as usize];
            outbox.soonest = outbox.soonest.min(event.time);
            if event.meta().contains(Meta::POOLED) {
                outbox.parcels.push(parcels.take(event.frame().seq()));
            }
            outbox.arrivals.push((end.at, event));
        }
    }
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox { arrivals: Vec::new(), parcels: Vec::new(), soonest: u64::MAX }
    }
}

impl Outbox {
    /// Nothing is under way any more.
    pub fn clear(&mut self) {
        self.arrivals.clear();
        self.parcels.clear();
        self.soonest = u64::MAX;
    }
}
