//! What leaves a domain for others.

use std::collections::VecDeque;

use super::domain_index::DomainIndex;
use super::parcels::{Parcel, Parcels};
use crate::engine::calendar::{node_of, slot_of, Calendar, Entry, MAX_NODES};
use crate::engine::event::{Event, Meta};
use crate::net::ports::Ports;

/// The links that lead out of a domain. In its calendar an arrival in another domain is one at a number that stands for
/// the node there: these numbers follow those of the domain's own nodes.
#[derive(Debug)]
pub(super) struct Exits {
    /// How many nodes the domain has.
    nodes: u32,
    /// The links out of the domain.
    links: Vec<Exit>,
    /// The links at which frames are held, by their places in `links`.
    holding: Vec<u32>,
    /// When the first of these frames begins to leave, in picoseconds; the largest number if there is none.
    next_beginning: u64,
    /// Room for what leaves in a window.
    leaving: Vec<Entry>,
}

/// A link out of a domain.
#[derive(Debug)]
struct Exit {
    /// The node at its end.
    end: DomainIndex,
    /// The port that feeds it, if that may mark a frame until it begins to leave: it is held here till then.
    waits_at: Option<u32>,
    /// The slots of the frames that are held, in the order in which they leave.
    held: VecDeque<u32>,
}

impl Exits {
    /// Returns the exits of a domain with `nodes` nodes: none yet.
    pub fn new(nodes: u32) -> Exits {
        Exits { nodes, links: Vec::new(), holding: Vec::new(), next_beginning: u64::MAX, leaving: Vec::new() }
    }

    /// Adds a link that leads to a node of another domain, and gives the number that stands for that. It is said which
    /// port feeds it where that may mark a frame that waits.
    pub fn add(&mut self, end: DomainIndex, waits_at: Option<u32>) -> u32 {
        self.links.push(Exit { end, waits_at, held: VecDeque::new() });
        let number = self.nodes + (self.links.len() - 1) as u32;
        assert!((number as usize) < MAX_NODES, "a domain of more than {MAX_NODES} nodes and links to others");
        number
    }

    /// Returns when the first of the frames that are held begins to leave, in picoseconds. It goes on when the window that
    /// contains that instant has passed, which is before the window in which it arrives.
    pub fn next_beginning(&self) -> Option<u64> {
        (!self.holding.is_empty()).then_some(self.next_beginning)
    }

    /// The slots of the frames that are held.
    pub fn held(&self) -> impl Iterator<Item = u32> + '_ {
        self.holding.iter().flat_map(|&link| self.links[link as usize].held.iter().copied())
    }

    /// Takes what a window that ends at `end` leaves for other domains out of the calendar, and passes it to `send`; but for
    /// frames that may yet be marked.
    #[inline(always)]
    pub fn empty(
        &mut self,
        calendar: &mut Calendar,
        parcels: &mut Parcels,
        (ports, end): (&Ports, u64),
        mut send: impl FnMut(DomainIndex, Event, Option<Parcel>),
    ) {
        self.leaving.clear();
        calendar.take_elsewhere(&mut self.leaving);
        let mut send = |calendar: &mut Calendar, to, slot| {
            let event = calendar.release(slot);
            let pooled = event.meta().contains(Meta::POOLED);
            let parcel = pooled.then(|| parcels.take(event.frame().seq()));
            send(to, event, parcel);
        };
        if self.next_beginning < end {
            self.let_go(calendar, (ports, end), &mut send);
        }
        for &entry in &self.leaving {
            let number = node_of(entry) - self.nodes;
            let link = &mut self.links[number as usize];
            let slot = slot_of(entry);
            let begins = link.waits_at.map_or(0, |at| begins(ports, at, calendar.event(slot)));
            if begins < end {
                send(calendar, link.end, slot);
                continue;
            }
            if link.held.is_empty() {
                self.holding.push(number);
            }
            // What leaves comes in no order, and what is held goes on in that of its beginnings.
            let arrives = calendar.event(slot).time;
            let sooner =
                link.held.iter().rev().take_while(|&&held| calendar.event(held).time > arrives).count();
            link.held.insert(link.held.len() - sooner, slot);
            self.next_beginning = self.next_beginning.min(begins);
        }
    }

    /// Passes the held frames on that begin to leave before `end`.
    #[inline(never)]
    fn let_go(
        &mut self,
        calendar: &mut Calendar,
        (ports, end): (&Ports, u64),
        send: &mut impl FnMut(&mut Calendar, DomainIndex, u32),
    ) {
        self.next_beginning = u64::MAX;
        let (links, next) = (&mut self.links, &mut self.next_beginning);
        self.holding.retain(|&number| {
            let link = &mut links[number as usize];
            let at = link.waits_at.expect("frames are held where they may be marked");
            while let Some(&slot) = link.held.front() {
                let begins = begins(ports, at, calendar.event(slot));
                if begins >= end {
                    *next = begins.min(*next);
                    return true;
                }
                link.held.pop_front();
                send(calendar, link.end, slot);
            }
            false
        });
    }
}

/// Returns when a frame begins to leave a port, from its arrival at the link's end.
fn begins(ports: &Ports, at: u32, arrival: &Event) -> u64 {
    ports.begins(at, &arrival.frame(), arrival.time)
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
