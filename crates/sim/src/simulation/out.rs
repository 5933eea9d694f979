//! What happens next in a domain, and what has: the events to come, the frames under way, losses, and counts. Whoever lets
//! something happen is handed this, and puts there what follows.

use std::ops::Range;

use clearway_proto::units::Time;

use super::counters::TransportCounters;
use super::loss::Lost;
use super::notes::Notes;
use super::parcels::Parcels;
use super::plan::Plan;
use super::taken::Taken;
use crate::engine::agenda::{self, Agenda, NO_SLOT};
use crate::engine::calendar::Calendar;
use crate::engine::event::{Event, Frame, Meta};
use crate::engine::order::Item;
use crate::host::ends::Losses;
use crate::net::port::Port;

/// Where a port's link leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkEnd {
    /// The key of an arrival over it.
    pub arrival_key: u32,
    /// The node at its end.
    pub node: u32,
}

impl LinkEnd {
    #[inline(always)]
    pub fn of(port: &Port) -> LinkEnd {
        LinkEnd { arrival_key: port.arrival_key, node: port.node }
    }
}

/// What happens next in a domain, and what has.
#[derive(Debug)]
pub(super) struct Out {
    /// The time of the event that is happening, in picoseconds.
    pub now: u64,
    /// The first instant after the time that is being simulated.
    pub end: u64,
    /// The node at which it happens.
    pub node: u32,
    pub calendar: Calendar,
    pub agenda: Agenda,
    pub parcels: Parcels,
    /// For each conversation what was lost in this domain.
    pub losses: Vec<Losses>,
    /// From when to when is measured; to [`Time::NEVER`] while the measurement goes on.
    pub measured: Range<Time>,
    /// The counters of each transport.
    pub counters: Vec<TransportCounters>,
    pub packet_hops: u64,
    /// Events since the domain was asked last.
    pub events: u64,
    pub taken: Taken,
    /// The notes on frames; `None` where nothing is written down.
    pub notes: Option<Box<Notes>>,
}

impl Out {
    /// What happens next in a domain of `nodes` nodes, at time zero: nothing yet.
    pub fn new(plan: &Plan, nodes: usize) -> Out {
        Out {
            now: 0,
            end: 0,
            node: 0,
            calendar: Calendar::new(plan.windows, nodes as u32),
            agenda: Agenda::new(nodes),
            parcels: Parcels::default(),
            losses: vec![Losses::default(); plan.conversations()],
            measured: Time::ZERO..Time::NEVER,
            counters: plan.makers.iter().map(|_| TransportCounters::default()).collect(),
            packet_hops: 0,
            events: 0,
            taken: Taken::default(),
            notes: None,
        }
    }

    /// The time of what happens now.
    #[inline]
    pub fn time(&self) -> Time {
        Time::from_ps(self.now)
    }

    /// The event of an item, which gives its slot back.
    #[inline(always)]
    pub fn take_event(&mut self, item: Item) -> Event {
        match agenda::slot_of(item) {
            NO_SLOT => self.agenda.bare(item),
            slot => self.calendar.release(slot),
        }
    }

    /// Adds an event of the node at which something happens now.
    #[inline]
    pub fn schedule(&mut self, event: Event) {
        if event.time >= self.end {
            self.calendar.add(self.node, event);
        } else if event.carries() {
            let slot = self.calendar.store(event);
            self.agenda.add(&event, self.node, slot);
        } else {
            self.agenda.add(&event, self.node, NO_SLOT);
        }
    }

    /// A frame is lost, and with it what does not fit its event.
    #[cold]
    pub fn lose(&mut self, plan: &Plan, frame: &Frame, lost: Lost) {
        if let Some(notes) = &mut self.notes {
            notes.note_loss(plan, frame, lost, &self.parcels);
        }
        let conversation = plan.routes.conversation(frame.route());
        let losses = &mut self.losses[conversation as usize];
        if frame.meta.contains(Meta::POOLED) {
            self.parcels.discard(frame.seq());
        }
        if frame.meta.contains(Meta::ACK) {
            losses.acks += 1;
            return;
        }
        losses.data += 1;
        if let Some(flow) = plan.flow_of(frame) {
            let measured = self.is_measured(Time::from_ps(frame.stamp));
            self.counters[plan.specs[flow as usize].transport as usize].lose(measured);
        }
    }

    /// Returns whether what happened at `time` is within the measurement.
    #[inline]
    pub fn is_measured(&self, time: Time) -> bool {
        self.measured.contains(&time)
    }

    /// The frame in a slot is on its way over a port's link, at whose end it arrives at `arrives`.
    #[inline(always)]
    pub fn send_slot_on(&mut self, link: LinkEnd, arrives: u64, slot: u32) {
        let (events, schedule) = self.calendar.parts();
        let event = &mut *events[slot as usize];
        event.go_on(arrives, link.arrival_key, event.meta());
        schedule.enter(link.node, slot, arrives);
    }

    /// A frame is on its way over a port's link, at whose end it arrives at `arrives`.
    #[inline(always)]
    pub fn send_on(&mut self, link: LinkEnd, arrives: u64, frame: &Frame) {
        let event =
            Event::carrying(arrives, link.arrival_key, &Frame { meta: frame.meta.crossed(), ..*frame });
        self.calendar.add(link.node, event);
    }
}
