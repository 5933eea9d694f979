//! A domain: some nodes of the network with all that happens at them, one window of time after the other.
//!
//! In a window a domain goes from node to node, and lets happen at each all that it has there, in order. What a node
//! sends to another arrives in a later window at the earliest, so the order of the nodes means nothing. A node of
//! another domain gets it through an outbox that is emptied between windows.

use std::collections::VecDeque;
use std::ops::Range;

use clearway_proto::fastpass::rotation::Rotation;
use clearway_proto::units::Time;

use super::exchanged::Exchanged;
use super::operations::Operations;
use super::outbox::{Exits, Outbox};
use super::parcels::{Parcel, Parcels};
use super::place::Place;
use super::plan::Plan;
use crate::engine::agenda::{self, Agenda, NO_SLOT};
use crate::engine::batches::{Batches, AHEAD};
use crate::engine::calendar::{node_of, slot_of, Calendar, Entry};
use crate::engine::event::{key, Event, Frame, Kind, Meta};
use crate::engine::order::{self, Item, Known};
use crate::engine::prefetch::prefetch;
use crate::host::agent::Seat;
use crate::host::clock::HostClocks;
use crate::host::ends::{Losses, ReceivingEnd, SendingEnd};
use crate::host::processors::Processors;
use crate::host::round::Round;
use crate::host::slots::{Offer, Slots};
use crate::net::port::Port;
use crate::net::ports::Ports;
use crate::net::routes::Next;
use crate::record::counters::TransportCounters;

/// How many frames ahead of its time the queue is prefetched that a frame may join.
const NEAR: usize = 4;

/// No host, or no processor.
pub(super) const NONE: u32 = u32::MAX;

/// Some nodes of a network, with all that they own, at some instant.
#[derive(Debug)]
pub struct Domain {
    /// Its number in the partition.
    pub(super) number: u32,
    /// The time of the event that is happening, in picoseconds.
    pub(super) now: u64,
    /// The first instant after the time that is being simulated.
    pub(super) end: u64,
    /// The node at which it happens.
    pub(super) node: u32,
    pub(super) calendar: Calendar,
    pub(super) agenda: Agenda,
    /// Starts of flows, known in advance: when, and which sending end.
    pub(super) starts: VecDeque<(Time, u32)>,
    pub(super) nodes: Vec<NodeState>,
    pub(super) ports: Ports,
    pub(super) hosts: Vec<HostState>,
    /// The flows that wait for a NIC, by host and class.
    pub(super) rounds: Vec<Round>,
    pub(super) senders: Vec<SendingEnd>,
    pub(super) receivers: Vec<ReceivingEnd>,
    pub(super) processors: Processors,
    /// The clocks of hosts whose transports read them.
    pub(super) clocks: Vec<HostClocks>,
    pub(super) seats: Vec<Seat>,
    /// What waits for timeslots at each host that has an endpoint.
    pub(super) slots: Vec<Slots>,
    /// What each sending end has offered to be sent in timeslots; empty where no host has an endpoint.
    pub(super) offers: Vec<Offer>,
    /// For each conversation of control packets what was sent and taken in this domain: there, and back.
    pub(super) exchanged: Vec<[Exchanged; 2]>,
    /// Which way the next packet takes, in both directions of each.
    pub(super) rotations: Vec<[Rotation; 2]>,
    pub(super) operations: Operations,
    /// For each conversation what was lost in this domain.
    pub(super) losses: Vec<Losses>,
    /// From when to when is measured; to [`Time::NEVER`] while the measurement goes on.
    pub(super) measured: Range<Time>,
    /// The counters of each transport.
    pub(super) counters: Vec<TransportCounters>,
    pub(super) parcels: Parcels,
    /// Sized flows that end in this domain and are not complete.
    pub(super) incomplete: usize,
    pub(super) packet_hops: u64,
    /// Events since the domain was asked last.
    pub(super) events: u64,
    pub(super) exits: Exits,
    /// For each domain what is on its way there.
    pub(super) outboxes: Vec<Outbox>,
    pub(super) batches: Batches,
    /// The frames that go through the switch that is visited.
    pub(super) frames: Vec<Item>,
    pub(super) spare_frames: Vec<Item>,
    /// The slots of those for which there was no room.
    pub(super) dropped: Vec<u32>,
}

/// Where a port's link leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkEnd {
    /// The link.
    pub number: u32,
    /// The node at its end.
    pub node: u32,
}

impl LinkEnd {
    #[inline(always)]
    pub fn of(port: &Port) -> LinkEnd {
        LinkEnd { number: port.link, node: port.node }
    }
}

/// A node of a domain: its host, if it is one, and how it is visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeState {
    /// The place of its host; [`NONE`] for a switch.
    pub host: u32,
    /// Frames are all that it has to do with, and all its ports are plain.
    pub forwards: bool,
}

/// A host: where its parts stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostState {
    /// The port of its NIC.
    pub nic: u32,
    /// The first of its rounds.
    pub rounds: u32,
    /// Its processor; [`NONE`] where work takes no time.
    pub processor: u32,
    /// Its clocks; [`NONE`] where its transports know the exact time.
    pub clocks: u32,
    /// What waits here for timeslots; [`NONE`] where no endpoint is.
    pub slots: u32,
    /// How long a read is served here before it is answered, in picoseconds.
    pub operation_service: u64,
    /// A flow of it that has sent and is ready again goes on before the others.
    pub fifo: bool,
    /// A plain NIC is to wake when it is free.
    pub armed: bool,
}

impl Domain {
    /// Lets all of a window happen that lies before `end`.
    pub(super) fn run_window(&mut self, plan: &Plan, window: u64, end: u64) {
        self.end = end;
        let start = plan.windows.start(window);
        self.gather(plan, window, start);
        self.batches.deal(|node| self.nodes[node as usize].forwards);
        self.events += self.batches.count() as u64;
        let length = plan.windows.length();
        let known = if self.batches.are_near_their_places() { Known::Near } else { Known::Length(length) };
        let huge = self.batches.are_huge();
        let dealt = self.batches.take_dealt();
        let (mut batch, mut from) = (0, 0);
        while let Some(to) = self.batches.end_of(batch) {
            let entries = &dealt[from..to + AHEAD];
            (batch, from) = (batch + 1, to);
            if self.nodes[node_of(entries[0]) as usize].forwards {
                self.forward_all(plan, start, entries, known);
            } else {
                if huge {
                    self.prefetch_hosts(plan, entries);
                }
                self.visit(plan, start, entries, known);
            }
        }
        self.batches.give_back(dealt);
        self.catch_up_all(plan);
    }

    /// Takes the events of a window that begins at `start` out of the calendar.
    fn gather(&mut self, plan: &Plan, window: u64, start: u64) {
        self.ports.mark_until(start, self.calendar.parts().0);
        let entries = self.batches.begin();
        self.calendar.take(window, entries);
        while let Some(&(at, sender)) = self.starts.front().filter(|(at, _)| at.as_ps() < self.end) {
            self.starts.pop_front();
            let slot = self.calendar.store(Event::bare(at.as_ps(), Kind::Start, sender));
            let flow = self.senders[sender as usize].flow;
            let node = plan.partition.node(plan.specs[flow as usize].from).at;
            entries.push(self.calendar.entry(node, slot, at.as_ps()));
        }
        if self.end < plan.windows.end(window) {
            self.put_back_late();
        }
    }

    /// Puts those events back that lie beyond the time that is being simulated.
    #[cold]
    fn put_back_late(&mut self) {
        let (end, calendar) = (self.end, &mut self.calendar);
        self.batches.entries().retain(|&entry| {
            let late = calendar.event(slot_of(entry)).time >= end;
            if late {
                calendar.put_back(entry);
            }
            !late
        });
    }

    /// All that happens in a window at a switch, or at several, whose ports are plain: frames come, and go on in their
    /// slots. Behind their entries are [`AHEAD`] of other events, to be prefetched.
    #[inline(never)]
    fn forward_all(&mut self, plan: &Plan, start: u64, entries: &[Entry], known: Known) {
        let (events, schedule) = self.calendar.parts();
        let ports = &mut self.ports;
        self.frames.clear();
        self.frames.extend(entries.windows(AHEAD + 1).map(|near| {
            prefetch(events, slot_of(near[AHEAD]) as usize);
            plan.routes.prefetch(events[slot_of(near[AHEAD / 2]) as usize].route());
            let slot = slot_of(near[0]);
            let event = &events[slot as usize];
            let Next::Port(at) = plan.routes.next(event.route(), event.meta()) else {
                unreachable!("a route does not end at a switch without an agent");
            };
            ports.prefetch(at);
            Item { order: event.order_since(start), tag: u64::from(slot) << 32 | u64::from(at) }
        }));
        self.packet_hops += self.frames.len() as u64;
        order::sort(&mut self.frames, &mut self.spare_frames, known);
        // So that there is one to be prefetched for the last frames, too.
        self.frames.extend([Item::default(); NEAR]);
        for near in self.frames.windows(NEAR + 1) {
            let (frame, ahead) = (near[0], near[NEAR]);
            ports.prefetch_backlog(ahead.tag as u32);
            let (slot, at) = ((frame.tag >> 32) as u32, frame.tag as u32);
            let event = &mut events[slot as usize];
            let (now, mut meta) = (event.time, event.meta());
            let Some((arrives, port)) = ports.send::<false>(at, now, &mut meta, slot) else {
                self.dropped.push(slot);
                continue;
            };
            event.time = arrives;
            event.key = u64::from(key(Kind::Arrival, port.link)) << 32 | u64::from(meta.crossed().0);
            schedule.enter(port.node, slot, arrives);
        }
        while let Some(slot) = self.dropped.pop() {
            let event = self.calendar.release(slot);
            self.lose(plan, &event.frame());
        }
    }

    /// All that happens in a window at hosts, at switches with ruled ports, and where agents are; `entries` are as for
    /// [`Self::forward_all`].
    #[inline(never)]
    fn visit(&mut self, plan: &Plan, start: u64, entries: &[Entry], known: Known) {
        let (events, _) = self.calendar.parts();
        let events = entries.windows(AHEAD + 1).map(|near| {
            prefetch(events, slot_of(near[AHEAD]) as usize);
            (&events[slot_of(near[0]) as usize], node_of(near[0]), slot_of(near[0]))
        });
        self.agenda.begin(start, events, known);
        while let Some(item) = self.agenda.pop() {
            self.happen(plan, item);
        }
    }

    /// Hints at what the visits will use that come after this one: NICs, and the ends of the flows whose frames arrive. That
    /// pays where these do not all stay in a core's caches. `entries` are as for [`Self::forward_all`].
    fn prefetch_hosts(&self, plan: &Plan, entries: &[Entry]) {
        for near in entries.windows(AHEAD + 1) {
            plan.routes.prefetch(self.calendar.event(slot_of(near[AHEAD / 2])).route());
            let soon = near[AHEAD / 4];
            let event = self.calendar.event(slot_of(soon));
            let Some(host) = self.hosts.get(self.nodes[node_of(soon) as usize].host as usize) else {
                continue;
            };
            self.ports.prefetch(host.nic);
            let end = if event.is_arrival() { plan.routes.end(event.route(), event.meta()) } else { None };
            match end {
                Some(end) if event.meta().contains(Meta::ACK) => prefetch(&self.senders, end as usize),
                Some(end) => prefetch(&self.receivers, end as usize),
                None => (),
            }
        }
    }

    /// Lets an item of the agenda happen.
    #[inline(always)]
    fn happen(&mut self, plan: &Plan, item: Item) {
        self.now = self.agenda.time_of(item);
        self.node = agenda::node_of(item);
        let host = self.nodes[self.node as usize].host;
        if host == NONE {
            self.happen_at_switch(plan, item);
        } else if agenda::is_arrival(item) {
            let event = self.calendar.release(agenda::slot_of(item));
            self.arrive(plan, host, &event);
        } else {
            self.happen_at_host(plan, host, item);
        }
    }

    /// The event of an item, which gives its slot back.
    #[inline(always)]
    fn take_event(&mut self, item: Item) -> Event {
        match agenda::slot_of(item) {
            NO_SLOT => self.agenda.bare(item),
            slot => self.calendar.release(slot),
        }
    }

    #[inline(never)]
    fn happen_at_switch(&mut self, plan: &Plan, item: Item) {
        if agenda::is_arrival(item) {
            return self.arrive_at_switch(plan, agenda::slot_of(item));
        }
        let event = &self.take_event(item);
        match event.kind() {
            Kind::Wake => self.wake_switch_port(plan, event.id()),
            Kind::Act => self.wake_agent(plan, event.id()),
            Kind::Pause | Kind::Bypass | Kind::Repeat | Kind::Expire => self.control_flow(plan, event),
            kind => unreachable!("{kind:?} happens at no switch"),
        }
    }

    /// A frame reaches a switch, whose arrival stands in `slot`.
    #[inline(always)]
    fn arrive_at_switch(&mut self, plan: &Plan, slot: u32) {
        self.packet_hops += 1;
        let event = self.calendar.event(slot);
        match plan.routes.next(event.route(), event.meta()) {
            Next::Port(at) if self.ports.port(at).intersects(Port::RULED) => {
                self.pass_on_ruled(plan, at, slot);
            }
            Next::Port(at) => {
                let event = self.calendar.release(slot);
                self.offer(plan, at, event.frame());
            }
            Next::Agent(seat) => {
                let event = self.calendar.release(slot);
                self.tell_agent(plan, seat, &event.frame());
            }
            Next::Here(_) => unreachable!("a switch has no stack"),
        }
    }

    /// Lets an item that is no arrival happen at a host.
    #[inline(never)]
    fn happen_at_host(&mut self, plan: &Plan, host: u32, item: Item) {
        let event = &self.take_event(item);
        match event.kind() {
            Kind::Arrival => unreachable!("an arrival has its own function"),
            Kind::Process => self.process(plan, host),
            Kind::Wake => self.wake_nic(plan, host),
            Kind::Start => self.start(plan, host, event.id()),
            Kind::Stop => self.stop(plan, host, event.id()),
            Kind::Pace => self.pace(plan, host, event.id()),
            Kind::Timeout => self.time_out(plan, host, event.id()),
            Kind::AckDelay => self.delayed_ack(plan, host, event.id()),
            Kind::Grant => self.grant(plan, host),
            Kind::Depart | Kind::DepartAck => self.depart(plan, host, &event.frame()),
            Kind::Release => self.release_batch(plan, host),
            Kind::Issue => self.issue_next(plan, host, event.id()),
            Kind::Answer => self.answer(plan, host, event.id(), 1),
            Kind::Act => self.wake_agent(plan, event.id()),
            Kind::Pause | Kind::Bypass | Kind::Repeat | Kind::Expire => self.control_flow(plan, event),
        }
    }

    /// A frame reaches a host. Where work takes no time, the stack takes it at once.
    #[inline(always)]
    fn arrive(&mut self, plan: &Plan, host: u32, event: &Event) {
        self.packet_hops += 1;
        let frame = event.frame();
        match plan.routes.end(event.route(), event.meta()) {
            Some(end) if self.hosts[host as usize].processor == NONE => {
                self.take(plan, host, end, &frame, self.time());
            }
            end => self.arrive_otherwise(plan, host, end.is_some(), &frame),
        }
    }

    /// A frame reaches a host whose stack does not take it at once, or is for no end of a flow.
    #[inline(never)]
    fn arrive_otherwise(&mut self, plan: &Plan, host: u32, is_for_an_end: bool, frame: &Frame) {
        let state = self.hosts[host as usize];
        // What is for an endpoint comes through its host's stack.
        if is_for_an_end || state.slots != NONE && state.processor != NONE {
            self.receive(plan, host, frame);
        } else {
            self.pass_to_agent(plan, plan.routes.next(frame.route(), frame.meta), frame);
        }
    }

    /// A frame reaches a host, and is not for its stack.
    #[cold]
    pub(super) fn pass_to_agent(&mut self, plan: &Plan, next: Next, frame: &Frame) {
        let Next::Agent(seat) = next else { unreachable!("a host forwards nothing") };
        self.tell_agent(plan, seat, frame);
    }

    /// A frame is to leave over a port.
    #[inline(always)]
    pub(super) fn offer(&mut self, plan: &Plan, at: u32, frame: Frame) {
        if self.ports.port(at).intersects(Port::RULED) {
            self.offer_own(plan, at, frame);
        } else if self.ports.port(at).intersects(Port::NIC) {
            self.offer_plain::<true>(plan, at, frame.stamp, frame.route_seq, frame.meta);
        } else {
            self.offer_plain::<false>(plan, at, frame.stamp, frame.route_seq, frame.meta);
        }
    }

    /// A frame is to leave over a plain port. Its parts fit the processor's registers, which a [`Frame`] does not.
    #[inline(never)]
    fn offer_plain<const NIC: bool>(
        &mut self,
        plan: &Plan,
        at: u32,
        stamp: u64,
        route_seq: u64,
        mut meta: Meta,
    ) {
        let slot = if NIC { 0 } else { self.calendar.next_slot() };
        let now = self.now;
        let Some((arrives, port)) = self.ports.send::<NIC>(at, now, &mut meta, slot) else {
            return self.lose(plan, &Frame { stamp, route_seq, meta });
        };
        let link = LinkEnd::of(port);
        self.send_on(link, arrives, &Frame { stamp, route_seq, meta });
    }

    /// A frame is on its way over a port's link, at whose end it arrives at `arrives`.
    #[inline(always)]
    pub(super) fn send_on(&mut self, link: LinkEnd, arrives: u64, frame: &Frame) {
        let event = Event::arrival(arrives, link.number, &Frame { meta: frame.meta.crossed(), ..*frame });
        self.calendar.add(link.node, event);
    }

    /// Passes what a window leaves for other domains to `send`.
    #[inline(always)]
    pub(super) fn send_out(&mut self, send: impl FnMut(Place, Event, Option<Parcel>)) {
        self.ports.mark_until(self.end, self.calendar.parts().0);
        self.exits.empty(&mut self.calendar, &mut self.parcels, (&self.ports, self.end), send);
    }

    /// Puts what a window leaves for other domains into the outboxes.
    #[inline(never)]
    pub(super) fn fill_outboxes(&mut self) {
        self.ports.mark_until(self.end, self.calendar.parts().0);
        let outboxes = &mut self.outboxes;
        let send = |to: Place, event, parcel| outboxes[to.domain as usize].add(to.at, event, parcel);
        self.exits.empty(&mut self.calendar, &mut self.parcels, (&self.ports, self.end), send);
    }

    /// What another domain has put into its outbox comes in.
    pub(super) fn take_in(&mut self, from: &mut Outbox) {
        let mut parcels = from.parcels.drain(..);
        for &(node, event) in &from.arrivals {
            let pooled = event.meta().contains(Meta::POOLED);
            let parcel = pooled.then(|| parcels.next().expect("what does not fit an event goes with it"));
            self.admit(node, event, parcel);
        }
        drop(parcels);
        from.clear();
    }

    /// An event comes from another domain, and with it what does not fit it.
    #[inline(always)]
    pub(super) fn admit(&mut self, node: u32, mut event: Event, parcel: Option<Parcel>) {
        if let Some(parcel) = parcel {
            event.route_seq = u64::from(event.route()) << 32 | u64::from(self.parcels.put(parcel));
        }
        self.calendar.add(node, event);
    }

    /// Adds an event of the node at which something happens now.
    #[inline]
    pub(super) fn schedule(&mut self, event: Event) {
        if event.time >= self.end {
            self.calendar.add(self.node, event);
        } else if event.carries() {
            let slot = self.calendar.store(event);
            self.agenda.add(&event, self.node, slot);
        } else {
            self.agenda.add(&event, self.node, NO_SLOT);
        }
    }

    #[cold]
    pub(super) fn lose(&mut self, plan: &Plan, frame: &Frame) {
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

    /// Whether what happened at `time` is within the measurement.
    #[inline]
    pub(super) fn is_measured(&self, time: Time) -> bool {
        self.measured.contains(&time)
    }

    /// The first window in which something happens here, if any.
    pub(super) fn next_window(&self) -> Option<u64> {
        let start = self.starts.front().map(|(at, _)| self.calendar.windows().number(at.as_ps()));
        let soonest = match (self.calendar.next(), start) {
            (Some(event), Some(start)) => Some(event.min(start)),
            (event, start) => event.or(start),
        };
        let turn = self.exits.next_beginning().unwrap_or(u64::MAX).min(self.ports.next_turn);
        if turn == u64::MAX {
            return soonest;
        }
        Some(soonest.unwrap_or(u64::MAX).min(self.calendar.windows().number(turn)))
    }

    /// Every event to come, in no particular order.
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> + '_ {
        self.calendar.events().chain(self.exits.held().map(|slot| self.calendar.event(slot)))
    }

    /// The time of what happens now.
    #[inline]
    pub(super) fn time(&self) -> Time {
        Time::from_ps(self.now)
    }
}
