//! Flow control as it happens: PAUSEs leave, take effect at the other end of their link, are repeated, and run out.

use super::domain::{Domain, NONE};
use super::plan::Plan;
use crate::engine::event::{key, Event, Kind};
use crate::net::pfc::Pause;

impl Domain {
    /// Tells those at the other ends of links what flow control has to say to them.
    #[inline]
    pub(super) fn tell_peers(&mut self) {
        while let Some((at, class)) = self.ports.next_told() {
            if !self.ports.transmits(at) && self.ports.is_told(at) {
                self.send_signal(at);
            }
            if let Some(due) = self.ports.arm_repeat(at, class, self.now) {
                self.schedule(Event::bare(due, Kind::Repeat, at));
            }
        }
    }

    /// A port whose turn it is sends a PAUSE or a RESUME.
    pub(super) fn send_signal(&mut self, at: u32) {
        let told = self.ports.send_signal(at, self.now);
        self.schedule(Event::bare(told.ends, Kind::Wake, at));
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
            Kind::Repeat => self.repeat_pauses(plan, event.id()),
            Kind::Expire => self.end_pauses(plan, event.id()),
            kind => unreachable!("{kind:?} is none of flow control's"),
        }
    }

    /// A PAUSE or RESUME takes effect.
    fn take_pause(&mut self, plan: &Plan, event: &Event) {
        let at = plan.partition.port(event.id() ^ 1).at;
        let pause = Pause { class: event.route_seq as u8, time: event.stamp };
        if let Some(expires) = self.ports.hold(at, pause, self.now) {
            self.schedule(Event::bare(expires, Kind::Expire, at));
        }
        if pause.time == 0 {
            self.go_on(plan, at);
        }
        self.tell_peers();
    }

    fn repeat_pauses(&mut self, plan: &Plan, at: u32) {
        for frame in self.ports.bypass(at, self.now) {
            self.lose(plan, &frame);
        }
        for again in self.ports.repeat(at, self.now) {
            self.schedule(Event::bare(again, Kind::Repeat, at));
        }
        if !self.ports.transmits(at) && self.ports.is_told(at) {
            self.send_signal(at);
        }
        self.tell_peers();
    }

    fn end_pauses(&mut self, plan: &Plan, at: u32) {
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
