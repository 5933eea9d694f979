//! Flow control as it happens: PAUSEs leave, take effect at the other end of their link, are repeated, and run out.

use super::fabric::Fabric;
use super::loss::{Lost, Reason};
use super::out::Out;
use super::plan::Plan;
use crate::engine::event::{key, Event, Kind};
use crate::net::pfc::Pause;
use crate::net::port::Port;

impl Fabric {
    /// Tells those at the other ends of links what flow control has to say to them. Where a port has woken, what ports after it
    /// do in the same instant comes later.
    #[inline]
    pub(super) fn tell_peers(&mut self, plan: &Plan, out: &mut Out, woken: Option<u32>) {
        if self.ports.has_told() {
            self.tell_all_peers(plan, out, woken);
        }
    }

    #[inline(never)]
    fn tell_all_peers(&mut self, plan: &Plan, out: &mut Out, woken: Option<u32>) {
        while let Some(at) = self.ports.next_pausing() {
            self.watch_account(out, at);
        }
        while let Some((at, class)) = self.ports.next_told() {
            let until = if woken.is_some_and(|woken| woken < at) { out.now - 1 } else { out.now };
            self.catch_up(plan, out, at, until);
            self.say_what_is_told(out, at);
            if let Some(due) = self.ports.arm_repeat(at, class, out.now) {
                out.schedule(Event::bare(due, Kind::Repeat, at));
            }
        }
    }

    /// A port says what it has to say now, or when it is free. What was decided may have been taken back.
    fn say_what_is_told(&mut self, out: &mut Out, at: u32) {
        if !self.ports.is_told(at) {
            return;
        }
        if self.ports.transmits(at) {
            self.arm(out, at);
        } else {
            self.send_signal(out, at);
        }
    }

    /// A port whose turn it is sends a PAUSE or a RESUME.
    pub(super) fn send_signal(&mut self, out: &mut Out, at: u32) {
        let told = self.ports.send_signal(at, out.now);
        if told.more {
            self.arm(out, at);
        } else {
            self.await_turn(out, at);
        }
        let Some(arrives) = told.arrives else { return };
        let port = self.ports.port(at);
        let Pause { class, time } = told.pause;
        let key = u64::from(key(Kind::Pause, port.link())) << 32;
        let event = Event { time: arrives, stamp: time, route_seq: class.into(), key };
        out.calendar.add(port.node, event);
    }

    /// Something happens at a port that is flow control's or a fault's. Returns whether a class may be free again at a NIC, whose host
    /// then has to say what it sends.
    #[cold]
    pub(super) fn control_flow(&mut self, plan: &Plan, out: &mut Out, event: &Event) -> bool {
        match event.kind() {
            Kind::Pause => return self.take_pause(plan, out, event),
            Kind::Expire => return self.end_pauses(plan, out, event.id()),
            Kind::Change => return self.change_link(plan, out, event.id()),
            Kind::Bypass => self.bypass_relay(plan, out, event.id()),
            Kind::Repeat => self.repeat_pauses(plan, out, event.id()),
            kind => unreachable!("{kind:?} is none of flow control's or faults'"),
        }
        false
    }

    /// A PAUSE or RESUME takes effect.
    fn take_pause(&mut self, plan: &Plan, out: &mut Out, event: &Event) -> bool {
        let at = plan.partition.port(event.id() ^ 1).at;
        let pause = Pause { class: event.route_seq as u8, time: event.stamp };
        self.catch_up(plan, out, at, out.now);
        if let Some(expires) = self.ports.hold(at, pause, out.now) {
            out.schedule(Event::bare(expires, Kind::Expire, at));
        }
        self.note_pauses(out, at);
        let frees_nic = pause.time == 0 && self.go_on(plan, out, at);
        self.tell_peers(plan, out, None);
        frees_nic
    }

    /// A relay fails, or is back.
    fn bypass_relay(&mut self, plan: &Plan, out: &mut Out, at: u32) {
        for frame in self.ports.bypass(at, out.now, &mut out.calendar) {
            let link = self.next_link(plan, &frame);
            out.lose(plan, &frame, Lost { at: out.now, link, reason: Reason::Dead });
        }
        let relay = plan.graph.link(self.ports.port(at).link()).from;
        for &link in plan.graph.outgoing(relay) {
            self.note_pauses(out, plan.partition.port(link).at);
        }
        self.tell_peers(plan, out, None);
    }

    /// Writes down which classes are paused at a port, where a flow is to be explained.
    pub(super) fn note_pauses(&self, out: &mut Out, at: u32) {
        if let Some(notes) = &mut out.notes {
            notes.note_pauses(out.now, self.ports.port(at).link(), self.ports.paused(at));
        }
    }

    fn repeat_pauses(&mut self, plan: &Plan, out: &mut Out, at: u32) {
        self.ports.repeat(at, out.now, |again| out.schedule(Event::bare(again, Kind::Repeat, at)));
        self.catch_up(plan, out, at, out.now);
        self.say_what_is_told(out, at);
        self.tell_peers(plan, out, None);
    }

    fn end_pauses(&mut self, plan: &Plan, out: &mut Out, at: u32) -> bool {
        self.catch_up(plan, out, at, out.now);
        self.ports.expire(at, out.now, |again| out.schedule(Event::bare(again, Kind::Expire, at)));
        self.note_pauses(out, at);
        self.go_on(plan, out, at)
    }

    /// A class of a port may be free again: a switch's port goes on. Returns whether the port is a NIC, which is left to its host.
    pub(super) fn go_on(&mut self, plan: &Plan, out: &mut Out, at: u32) -> bool {
        if self.ports.port(at).intersects(Port::NIC) {
            return true;
        }
        if !self.ports.transmits(at) {
            self.go_on_at_switch(plan, out, at);
        }
        false
    }
}
