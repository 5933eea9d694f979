//! Frames on their way from one domain to another.

use super::parcels::Parcel;
use crate::engine::event::{Event, Meta};

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
    pub fn add(&mut self, node: u32, event: Event, parcel: Option<Parcel>) {
        debug_assert_eq!(parcel.is_some(), event.meta().contains(Meta::POOLED));
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
