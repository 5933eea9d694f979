//! Flow control as it happens: PAUSEs leave, take effect at the other end of their link, are repeated, and run out.

use super::domain::{Domain, NONE};
use super::plan::Plan;
use crate::engine::event::{key, Event, Kind};
use crate::net::pfc::Pause;

impl Domain {
    /// Tells those at the other ends of links what flow control has to say to them. Where a port has woken, what ports after it
    /// do in the same instant comes later.
    #[inline]
    pub(super) fn tell_peers(&mut self, plan: &Plan, woken: Option<u32>) {
        if self.ports.has_told() {
            self.tell_all_peers(plan, woken);
        }
    }

    #[inline(never)]
    fn tell_all_peers(&mut self, plan: &Plan, woken: Option<u32>) {
        while let Some(at) = self.ports.next_pausing() {
            self.watch_account(at);
        }
        while let Some((at, class)) = self.ports.next_told() {
            let until = if woken.is_some_and(|woken| woken < at) { self.now - 1 } else { self.now };
            self.catch_up(plan, at, until);
            self.say_what_is_told(plan, at);
            if let Some(due) = self.ports.arm_repeat(at, class, self.now) {
                self.schedule(Event::bare(due, Kind::Repeat, at));
            }
        }
    }

    /// A port says what it has to say now, or when it is free. What was decided may have been taken back.
    fn say_what_is_told(&mut self, plan: &Plan, at: u32) {
        if !self.ports.is_told(at) {
            return;
        }
        if self.ports.transmits(at) {
            self.arm(at);
        } else {
            self.send_signal(plan, at);
        }
    }

    /// A port whose turn it is sends a PAUSE or a RESUME.
    pub(super) fn send_signal(&mut self, plan: &Plan, at: u32) {
        let told = self.ports.send_signal(at, self.now);
        if told.more {
            self.arm(at);
        } else {
            self.await_turn(plan, at);
        }
        let Some(arrives) = told.arrives else { return };
        let port = self.ports.port(at);
        let Pause { class, time } = told.pause;
        let key = u64::from(key(Kind::Pause, port.link)) << 32;
        let event = Event { time: arrives, stamp: time, route_seq: class.into(), key };
        self.calendar.add(port.node, event);
    }

    /// Something happens at a port that is flow control's.
    #[cold]
    pub(super) fn control_flow(&mut self, plan: &Plan, event: &Event) {
        match event.kind() {
            Kind::Pause => self.take_pause(plan, event),
            Kind::Bypass => self.bypass_relay(plan, event.id()),
            Kind::Repeat => self.repeat_pauses(plan, event.id()),
            Kind::Expire => self.end_pauses(plan, event.id()),
            kind => unreachable!("{kind:?} is none of flow control's"),
        }
    }

    /// A PAUSE or RESUME takes effect.
    fn take_pause(&mut self, plan: &Plan, event: &Event) {
        let at = plan.partition.port(event.id() ^ 1).at;
        let pause = Pause { class: event.route_seq as u8, time: event.stamp };
        self.catch_up(plan, at, self.now);
        if let Some(expires) = self.ports.hold(at, pause, self.now) {
            self.schedule(Event::bare(expires, Kind::Expire, at));
        }
        if pause.time == 0 {
            self.go_on(plan, at);
        }
        self.tell_peers(plan, None);
    }

    /// A relay fails, or is back.
    fn bypass_relay(&mut self, plan: &Plan, at: u32) {
        for frame in self.ports.bypass(at, self.now) {
            self.lose(plan, &frame);
        }
        self.tell_peers(plan, None);
    }

    fn repeat_pauses(&mut self, plan: &Plan, at: u32) {
        for again in self.ports.repeat(at, self.now) {
            self.schedule(Event::bare(again, Kind::Repeat, at));
        }
        self.catch_up(plan, at, self.now);
        self.say_what_is_told(plan, at);
        self.tell_peers(plan, None);
    }

    fn end_pauses(&mut self, plan: &Plan, at: u32) {
        self.catch_up(plan, at, self.now);
        for again in self.ports.expire(at, self.now) {
            self.schedule(Event::bare(again, Kind::Expire, at));
        }
        self.go_on(plan, at);
    }

    /// A class of a port may be free again.
    fn go_on(&mut self, plan: &Plan, at: u32) {
        let host = self.nodes[self.node as usize].host;
        if !self.ports.transmits(at) {
            if host == NONE {
                self.go_on_at_switch(plan, at);
            } else {
                self.give_turn(plan, host);
            }
        }
        if host != NONE && self.hosts[host as usize].processor != NONE {
            self.attend(plan, host);
        }
    }
}
