//! A domain: some nodes of the network with all that happens at them, one window of time after the other.
//!
//! In a window a domain goes from node to node, and lets happen at each all that it has there, in order. What a node
//! sends to another arrives in a later window at the earliest, so the order of the nodes means nothing. A node of
//! another domain gets it through an outbox that is emptied between windows.

use std::collections::VecDeque;

use clearway_proto::units::Time;

use super::agents::Agents;
use super::domain_index::DomainIndex;
use super::fabric::Fabric;
use super::hosts::{Hosts, NONE};
use super::out::Out;
use super::outbox::{Exits, Outbox};
use super::parcels::Parcel;
use super::plan::Plan;
use crate::engine::agenda::{self};
use crate::engine::batches::{Batches, AHEAD};
use crate::engine::calendar::{node_of, slot_of, Entry};
use crate::engine::event::{Event, Frame, Kind, Meta};
use crate::engine::order::{Item, Known};
use crate::net::port::Port;
use crate::net::routes::Next;
use crate::prefetch::prefetch;

/// Some nodes of a network, with all that they own, at some instant.
#[derive(Debug)]
pub struct Domain {
    /// Its number in the partition.
    pub(super) number: u32,
    pub(super) nodes: Vec<NodeState>,
    /// Starts of flows, known in advance: when, and which sending end.
    pub(super) starts: VecDeque<(Time, u32)>,
    pub(super) batches: Batches,
    pub(super) out: Out,
    pub(super) fabric: Fabric,
    pub(super) hosts: Hosts,
    pub(super) agents: Agents,
    pub(super) exits: Exits,
    /// For each domain what is on its way there.
    pub(super) outboxes: Vec<Outbox>,
}

/// A node of a domain: its host, if it is one, and how it is visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeState {
    /// The place of its host; [`NONE`] for a switch.
    pub host: u32,
    /// Frames are all that it has to do with, and all its ports are plain.
    pub forwards: bool,
    /// Where a window has few events, those of this node and of its like come first, as a batch of their own.
    pub goes_first: bool,
}

impl Domain {
    /// Lets all of a window happen that lies before `end`.
    pub(super) fn run_window(&mut self, plan: &Plan, window: u64, end: u64) {
        self.out.end = end;
        let start = plan.windows.start(window);
        self.gather(plan, window, start);
        let nodes = &self.nodes;
        self.batches.deal(|node| nodes[node as usize].goes_first, |node| nodes[node as usize].forwards);
        self.out.events += self.batches.count() as u64;
        let length = plan.windows.length();
        let known = if self.batches.are_near_their_places() { Known::Near } else { Known::Length(length) };
        let (large, huge) = (self.batches.are_large(), self.batches.are_huge());
        let dealt = self.batches.take_dealt();
        let (mut batch, mut from) = (0, 0);
        while let Some(to) = self.batches.end_of(batch) {
            let entries = &dealt[from..to + AHEAD];
            (batch, from) = (batch + 1, to);
            if self.nodes[node_of(entries[0]) as usize].forwards {
                self.forward_all(plan, start, entries, known);
            } else {
                if large {
                    self.prefetch(plan, entries, huge);
                }
                if self.hosts.nics_catch_up {
                    self.visit::<true>(plan, start, entries, known);
                } else {
                    self.visit::<false>(plan, start, entries, known);
                }
            }
        }
        self.batches.give_back(dealt);
        self.fabric.catch_up_all(plan, &mut self.out);
        if self.hosts.nics_catch_up {
            self.catch_up_nics(plan);
        }
    }

    /// Chooses the nodes that go first where a window has few events: switches that only forward frames, or all switches where
    /// there are none of these. A switch has several events then, which come in any order, and most hosts have one.
    pub(super) fn choose_first_nodes(&mut self) {
        let forwards = self.nodes.iter().any(|node| node.forwards);
        for node in &mut self.nodes {
            node.goes_first = if forwards { node.forwards } else { node.host == NONE };
        }
    }

    /// Takes the events of a window that begins at `start` out of the calendar.
    fn gather(&mut self, plan: &Plan, window: u64, start: u64) {
        self.fabric.ports.mark_until(start, self.out.calendar.parts().0);
        let entries = self.batches.begin();
        self.out.calendar.take(window, entries);
        while let Some(&(at, sender)) = self.starts.front().filter(|(at, _)| at.as_ps() < self.out.end) {
            self.starts.pop_front();
            let slot = self.out.calendar.store(Event::bare(at.as_ps(), Kind::Start, sender));
            let flow = self.hosts.senders[sender as usize].flow;
            let node = plan.partition.node(plan.specs[flow as usize].from).at;
            entries.push(self.out.calendar.entry(node, slot, at.as_ps()));
        }
        if self.out.end < plan.windows.end(window) {
            self.put_back_late();
        }
        if self.out.notes.is_some() {
            self.note_arrivals(plan);
        }
    }

    /// Writes down what arrives in a window.
    #[cold]
    #[inline(never)]
    fn note_arrivals(&mut self, plan: &Plan) {
        let Out { calendar, parcels, notes, .. } = &mut self.out;
        let Some(notes) = notes else { return };
        let events = self.batches.entries().iter().map(|&entry| calendar.event(slot_of(entry)));
        notes.note_window(plan, events, parcels);
    }

    /// Puts those events back that lie beyond the time that is being simulated.
    #[cold]
    fn put_back_late(&mut self) {
        let (end, calendar) = (self.out.end, &mut self.out.calendar);
        self.batches.entries().retain(|&entry| {
            let late = calendar.event(slot_of(entry)).time >= end;
            if late {
                calendar.put_back(entry);
            }
            !late
        });
    }

    /// All that happens in a window at switches whose ports are plain. This is a function of its own for speed: with the fabric and
    /// what happens next at fixed distances from one address, fewer registers are needed.
    #[inline(never)]
    fn forward_all(&mut self, plan: &Plan, start: u64, entries: &[Entry], known: Known) {
        let forwards = |entry: &Entry| self.nodes[node_of(*entry) as usize].forwards;
        debug_assert!(entries[..entries.len() - AHEAD].iter().all(forwards), "a batch of two kinds");
        let few = self.batches.are_few();
        self.fabric.forward_all(plan, &mut self.out, start, entries, known, few);
    }

    /// All that happens in a window at hosts, at switches with ruled ports, and where agents are; `entries` are as for
    /// [`Self::forward_all`]. `CATCHES_UP` says that NICs may have to catch up.
    #[inline(never)]
    fn visit<const CATCHES_UP: bool>(&mut self, plan: &Plan, start: u64, entries: &[Entry], known: Known) {
        let (events, _) = self.out.calendar.parts();
        let with_its_node = |entry| (&*events[slot_of(entry) as usize], node_of(entry), slot_of(entry));
        if self.batches.are_few() {
            let own = entries[..entries.len() - AHEAD].iter();
            self.out.agenda.begin(start, own.map(|&entry| with_its_node(entry)), known);
        } else {
            let events = entries.windows(AHEAD + 1).map(|near| {
                prefetch(events, slot_of(near[AHEAD]) as usize);
                with_its_node(near[0])
            });
            self.out.agenda.begin(start, events, known);
        }
        while let Some(item) = self.out.agenda.pop() {
            self.happen::<CATCHES_UP>(plan, item);
        }
    }

    /// Lets an item of the agenda happen, unless the host's NIC has something to do before it.
    #[inline(always)]
    pub(super) fn happen<const CATCHES_UP: bool>(&mut self, plan: &Plan, item: Item) {
        self.out.now = self.out.agenda.time_of(item);
        self.out.node = agenda::node_of(item);
        let host = self.nodes[self.out.node as usize].host;
        if host == NONE {
            self.happen_at_switch(plan, item);
        } else if CATCHES_UP && self.is_nic_behind(host) && !self.end_nic_alone(plan, host) {
            self.out.agenda.put_back();
            self.go_on_at_nic(plan, host);
        } else if agenda::is_arrival(item) {
            let event = self.out.calendar.release(agenda::slot_of(item));
            self.arrive(plan, host, &event);
        } else {
            self.happen_at_host(plan, host, item);
        }
    }

    /// Lets an item of the agenda happen at a switch, and those after it that are of the same one.
    #[inline(never)]
    fn happen_at_switch(&mut self, plan: &Plan, mut item: Item) {
        if let Some(forwarding) = &plan.forwarding {
            return self.happen_at_steering_switch(plan, forwarding, item);
        }
        loop {
            if agenda::is_arrival(item) {
                self.arrive_at_switch(plan, agenda::slot_of(item));
            } else {
                self.happen_otherwise_at_switch(plan, item);
            }
            let Some(next) = self.out.agenda.pop_of(self.out.node) else { return };
            item = next;
            self.out.now = self.out.agenda.time_of(item);
        }
    }

    /// Lets an item happen at a switch that is no arrival.
    #[inline]
    pub(super) fn happen_otherwise_at_switch(&mut self, plan: &Plan, item: Item) {
        let event = &self.out.take_event(item);
        match event.kind() {
            Kind::Wake => self.fabric.wake_switch_port(plan, &mut self.out, event.id()),
            Kind::Act => self.wake_agent(plan, event.id()),
            Kind::Pause | Kind::Bypass | Kind::Repeat | Kind::Expire | Kind::Change => {
                self.fabric.control_flow(plan, &mut self.out, event);
            }
            kind => unreachable!("{kind:?} happens at no switch"),
        }
    }

    /// A frame reaches a switch, whose arrival stands in `slot`.
    #[inline(always)]
    pub(super) fn arrive_at_switch(&mut self, plan: &Plan, slot: u32) {
        self.out.packet_hops += 1;
        let event = self.out.calendar.event(slot);
        match plan.routes.next(event.route(), event.meta()) {
            Next::Port(at) => self.pass_on(plan, at, slot),
            Next::Agent(seat) => {
                let event = self.out.calendar.release(slot);
                self.tell_agent(plan, seat, &event.frame());
            }
            Next::Choice(_) => self.fabric.pass_on_by_choice(plan, &mut self.out, slot),
            Next::Here(_) => unreachable!("a switch has no stack"),
        }
    }

    /// A frame that has reached a switch, whose arrival stands in `slot`, is to leave over this port.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, plan: &Plan, at: u32, slot: u32) {
        if self.fabric.ports.port(at).intersects(Port::RULED) {
            self.fabric.pass_on_ruled(plan, &mut self.out, at, slot);
        } else {
            let event = self.out.calendar.release(slot);
            self.fabric.offer(plan, &mut self.out, at, event.frame());
        }
    }

    /// Lets an item that is no arrival happen at a host.
    #[inline(never)]
    fn happen_at_host(&mut self, plan: &Plan, host: u32, item: Item) {
        let event = &self.out.take_event(item);
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
            Kind::Begin => self.begin_rank(plan, host, event.id()),
            Kind::Elapse => self.end_work(plan, host, event.id()),
            Kind::Act => self.wake_agent(plan, event.id()),
            Kind::Pull => self.wake_pacer(plan, host, event.id()),
            Kind::Pause | Kind::Bypass | Kind::Repeat | Kind::Expire | Kind::Change => {
                if self.fabric.control_flow(plan, &mut self.out, event) {
                    self.go_on(plan, host);
                }
            }
        }
    }

    /// A frame reaches a host. Where work takes no time, the stack takes it at once.
    #[inline(always)]
    fn arrive(&mut self, plan: &Plan, host: u32, event: &Event) {
        self.out.packet_hops += 1;
        let frame = event.frame();
        match plan.routes.end(event.route(), event.meta()) {
            Some(end) if self.hosts.works_in_no_time(host) => {
                self.take(plan, host, end, &frame, self.out.time());
            }
            end => self.arrive_otherwise(plan, host, end.is_some(), &frame),
        }
    }

    /// A frame reaches a host whose stack does not take it at once, or is for no end of a flow.
    #[inline(never)]
    fn arrive_otherwise(&mut self, plan: &Plan, host: u32, is_for_an_end: bool, frame: &Frame) {
        let state = self.hosts.all[host as usize];
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

    /// Passes what a window leaves for other domains to `send`.
    #[inline(always)]
    pub(super) fn send_out(&mut self, send: impl FnMut(DomainIndex, Event, Option<Parcel>)) {
        self.fabric.ports.mark_until(self.out.end, self.out.calendar.parts().0);
        self.exits.empty(
            &mut self.out.calendar,
            &mut self.out.parcels,
            (&self.fabric.ports, self.out.end),
            send,
        );
    }

    /// Puts what a window leaves for other domains into the outboxes.
    #[inline(never)]
    pub(super) fn fill_outboxes(&mut self) {
        self.fabric.ports.mark_until(self.out.end, self.out.calendar.parts().0);
        let outboxes = &mut self.outboxes;
        let send = |to: DomainIndex, event, parcel| outboxes[to.domain as usize].add(to.at, event, parcel);
        self.exits.empty(
            &mut self.out.calendar,
            &mut self.out.parcels,
            (&self.fabric.ports, self.out.end),
            send,
        );
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
            event.route_seq = u64::from(event.route()) << 32 | u64::from(self.out.parcels.put(parcel));
        }
        self.out.calendar.add(node, event);
    }

    /// The first window in which something happens here, if any.
    pub(super) fn next_window(&self) -> Option<u64> {
        let start = self.starts.front().map(|(at, _)| self.out.calendar.windows().number(at.as_ps()));
        let soonest = match (self.out.calendar.next(), start) {
            (Some(event), Some(start)) => Some(event.min(start)),
            (event, start) => event.or(start),
        };
        let ports = &self.fabric.ports;
        let turn =
            self.exits.next_beginning().unwrap_or(u64::MAX).min(ports.next_turn).min(ports.next_nic_turn);
        if turn == u64::MAX {
            return soonest;
        }
        Some(soonest.unwrap_or(u64::MAX).min(self.out.calendar.windows().number(turn)))
    }

    /// The frames that wait at a ruled port, class by class; those at a plain one are events already.
    pub(super) fn waiting_at(&self, at: u32) -> impl Iterator<Item = (usize, Frame)> + '_ {
        self.fabric.ports.waiting(at, self.out.calendar.slots())
    }

    /// The frames that wait at all ruled ports.
    pub(super) fn waiting_frames(&self) -> impl Iterator<Item = Frame> + '_ {
        (0..self.fabric.ports.len() as u32).flat_map(|at| self.waiting_at(at)).map(|(_, frame)| frame)
    }

    /// Every event to come, in no particular order.
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> + '_ {
        self.out.calendar.events().chain(self.exits.held().map(|slot| self.out.calendar.event(slot)))
    }
}
