//! Faults of links as they happen: links change at their ports, switches forward around those that they know to be dead, and what is lost
//! so is counted by fault.

use super::domain::Domain;
use super::fabric::Fabric;
use super::loss::{Lost, Reason};
use super::notes::RateChange;
use super::out::Out;
use super::plan::Plan;
use crate::engine::agenda;
use crate::engine::event::Frame;
use crate::engine::order::Item;
use crate::net::forwarding::{Asked, Forwarding, Hop};

impl Fabric {
    /// A link changes: it dies, or lives again, or has another rate. Returns whether its port is a NIC that may go on.
    pub(super) fn change_link(&mut self, plan: &Plan, out: &mut Out, at: u32) -> bool {
        let now = out.now;
        self.catch_up(plan, out, at, now);
        self.watch_switch(plan, out, at);
        let Some(changes) = self.ports.changes.get(&at) else {
            unreachable!("only links with faults change")
        };
        let (dies, is_noticed, returns) = (changes.dies(now), changes.is_noticed(now), changes.returns(now));
        let (usual, rate) = (changes.usual, changes.rate(now));
        self.ports.set_rate(at, usual, rate);
        if let Some(notes) = &mut out.notes {
            let (link, rate) = (self.ports.port(at).link(), self.ports.rate(at));
            notes.note_rate(RateChange { link, rate, until: self.ports.ends(at).unwrap_or(now) });
        }
        if let Some(fault) = dies {
            let node = plan.graph.link(self.ports.port(at).link()).from;
            for (class, frame) in self.ports.take_waiting(at, now, &mut out.calendar) {
                out.taken.add(fault, node, class, &frame);
                self.lose(plan, out, at, &frame, Reason::Dead);
            }
        }
        if is_noticed {
            self.ports.forget_pauses(at, now);
            self.note_pauses(out, at);
        }
        if returns {
            self.ports.say_pauses_again(at);
        }
        let frees_nic = is_noticed && self.go_on(plan, out, at);
        self.tell_peers(plan, out, None);
        frees_nic
    }
}

impl Domain {
    /// Lets an item happen at a switch of a network that is routed around faults, and those after it that are of the same one.
    #[inline(never)]
    pub(super) fn happen_at_steering_switch(&mut self, plan: &Plan, forwarding: &Forwarding, mut item: Item) {
        loop {
            if agenda::is_arrival(item) {
                self.steer(plan, forwarding, agenda::slot_of(item));
            } else {
                self.happen_otherwise_at_switch(plan, item);
            }
            let Some(next) = self.out.agenda.pop_of(self.out.node) else { return };
            item = next;
            self.out.now = self.out.agenda.time_of(item);
        }
    }

    /// A frame reaches a switch that looks for a next hop for it. Its arrival stands in `slot`.
    fn steer(&mut self, plan: &Plan, forwarding: &Forwarding, slot: u32) {
        let event = self.out.calendar.event(slot);
        let node = plan.graph.link(event.id()).to;
        match forwarding.hop(&plan.graph, node, &asked(plan, &event.frame()), self.out.now) {
            Hop::AsRouted => self.arrive_at_switch(plan, slot),
            Hop::Over(link) => {
                self.out.packet_hops += 1;
                self.pass_on(plan, plan.partition.port(link).at, slot);
            }
            Hop::Arrived => {
                self.out.packet_hops += 1;
                let frame = self.out.calendar.release(slot).frame();
                self.pass_to_agent(plan, plan.routes.next(frame.route(), frame.meta), &frame);
            }
            Hop::Nowhere(fault) => {
                self.out.packet_hops += 1;
                let event = self.out.calendar.release(slot);
                self.drop_unrouted(plan, fault, (node, event.id()), &event.frame());
            }
        }
    }

    /// A frame of an agent is to leave its node over this port, unless that is a switch which knows better.
    pub(super) fn offer_of_agent(&mut self, plan: &Plan, at: u32, frame: Frame) {
        let node = plan.partition.nodes_in(self.number)[self.out.node as usize];
        let forwarding = plan.forwarding.as_ref().filter(|_| node >= plan.graph.host_count());
        let hop = forwarding.map(|of| of.hop(&plan.graph, node, &asked(plan, &frame), self.out.now));
        match hop {
            None | Some(Hop::AsRouted) => self.offer(plan, at, frame),
            Some(Hop::Over(link)) => self.offer(plan, plan.partition.port(link).at, frame),
            Some(Hop::Nowhere(fault)) => {
                let link = self.fabric.ports.port(at).link();
                self.drop_unrouted(plan, fault, (node, link), &frame);
            }
            Some(Hop::Arrived) => unreachable!("a conversation has two ends, apart from each other"),
        }
    }

    fn drop_unrouted(&mut self, plan: &Plan, fault: u32, (node, link): (u32, u32), frame: &Frame) {
        self.out.taken.add(fault, node, plan.class_of(frame), frame);
        self.out.lose(plan, frame, Lost { at: self.out.now, link, reason: Reason::NoWay });
    }
}

/// What a switch asks of a frame.
fn asked(plan: &Plan, frame: &Frame) -> Asked {
    let route = frame.route();
    let conversation = plan.routes.conversation(route);
    // Packets of one flow that leave at one instant are none; an acknowledgement has the stamp of its packet.
    let salt = if plan.routes.of(conversation).1 > 1 { frame.stamp } else { 0 };
    Asked { route, conversation, meta: frame.meta, salt }
}
