//! Ruled ports as they go on: frames come to them, begin to leave, and have left. See [`crate::net::switches`].

use super::fabric::Fabric;
use super::loss::{Lost, Reason};
use super::out::{LinkEnd, Out};
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind};
use crate::net::pfc::NO_PORT;
use crate::net::port::Port;
use crate::net::transmission::{Joined, Leaves, NextToSend, Passed, Transmission};

impl Fabric {
    /// A frame has come to a switch over a link, and is to leave over a ruled port. Its arrival stands in `slot`, which becomes
    /// that at the next node; where more is to be asked, the frame is taken out of it first.
    #[inline(always)]
    pub(super) fn pass_on_ruled(&mut self, plan: &Plan, out: &mut Out, at: u32, slot: u32) {
        let event = out.calendar.event(slot);
        let (class, size) = (plan.class_of_arrival(event), event.meta().size());
        let ingress = plan.partition.port(event.id() ^ 1).at;
        self.catch_up(plan, out, at, out.now);
        let admitted = self.ports.admit_at_once(at, class, size, ingress);
        let Some(ingress) = admitted.or_else(|| self.admit_after_last(plan, out, at, class, size, ingress))
        else {
            let frame = out.calendar.release(slot).frame();
            return self.offer_ruled(plan, out, at, class, frame, ingress);
        };
        let arrival = &mut out.calendar.parts().0[slot as usize];
        let watched = match self.ports.pass(at, class, arrival, slot, ingress) {
            Passed::Goes { arrives, watched } => {
                out.send_slot_on(LinkEnd::of(self.ports.port(at)), arrives, slot);
                watched
            }
            Passed::Waits { watched } => {
                if !watched {
                    self.ports.fall_behind(at);
                }
                watched
            }
            Passed::Rarely => {
                let frame = out.calendar.release(slot).frame();
                return self.join(plan, out, at, class, frame, ingress);
            }
        };
        if watched {
            self.arm(out, at);
        }
    }

    /// Admits a frame as [`Ports::admit_at_once`](crate::net::ports::Ports::admit_at_once) does, if the account of port `ingress` has
    /// room when the port has caught up to which the frame before went.
    #[inline(never)]
    fn admit_after_last(
        &mut self,
        plan: &Plan,
        out: &mut Out,
        at: u32,
        class: usize,
        size: u32,
        ingress: u32,
    ) -> Option<u32> {
        let last = self.ports.last_from(ingress).filter(|&last| self.ports.is_behind(last, out.now))?;
        self.go_on_until(plan, out, last, out.now);
        self.ports.admit_at_once(at, class, size, ingress)
    }

    /// A frame that begins here is to leave over a ruled port.
    #[inline(always)]
    pub(super) fn offer_own(&mut self, plan: &Plan, out: &mut Out, at: u32, frame: Frame) {
        let class = plan.class_of(&frame);
        self.catch_up(plan, out, at, out.now);
        match self.ports.admit_at_once(at, class, frame.meta.size(), NO_PORT) {
            Some(ingress) => self.join(plan, out, at, class, frame, ingress),
            None => self.offer_ruled(plan, out, at, class, frame, NO_PORT),
        }
    }

    /// A frame is to leave over a ruled port. It came over the link to port `ingress`, or begins here.
    #[inline(never)]
    pub(super) fn offer_ruled(
        &mut self,
        plan: &Plan,
        out: &mut Out,
        at: u32,
        class: usize,
        frame: Frame,
        ingress: u32,
    ) {
        let size = frame.meta.size();
        self.catch_up(plan, out, at, out.now);
        if self.ports.trims(at) {
            return self.offer_to_trimming(plan, out, at, class, frame);
        }
        if self.ports.has_account(ingress, class) {
            self.count_account(plan, out, ingress);
        } else {
            self.count_memory(plan, out, at);
        }
        match self.ports.admit(at, class, size, ingress, out.now) {
            Some(ingress) => self.join(plan, out, at, class, frame, ingress),
            None => self.lose(plan, out, at, &frame, Reason::NoRoom),
        }
        self.tell_peers(plan, out, None);
    }

    /// A frame for which there is room comes to a ruled port.
    #[inline(never)]
    pub(super) fn join(
        &mut self,
        plan: &Plan,
        out: &mut Out,
        at: u32,
        class: usize,
        mut frame: Frame,
        ingress: u32,
    ) {
        let calendar = &mut out.calendar;
        if let Joined::Begun(leaves) = self.ports.join(at, class, &mut frame, ingress, out.now, calendar) {
            self.send_begun(plan, out, at, &frame, leaves);
        }
        self.await_turn(out, at);
    }

    /// A ruled port sends the first frame that waits in a class, whose turn it is.
    #[inline(always)]
    pub(super) fn send_first(&mut self, plan: &Plan, out: &mut Out, at: u32, class: usize) {
        let transmission = self.ports.send_queued(at, class, out.now, out.calendar.parts().0);
        self.send_waited(plan, out, at, transmission);
        self.await_turn(out, at);
    }

    /// A ruled port sends a frame that its host has made for it.
    #[inline(always)]
    pub(super) fn send_pulled(&mut self, plan: &Plan, out: &mut Out, at: u32, frame: &Frame) {
        let leaves = self.ports.send_pulled(at, plan.class_of(frame), frame.meta.size(), out.now);
        self.send_begun(plan, out, at, frame, leaves);
        self.await_turn(out, at);
    }

    /// What a ruled port transmits arrives, or is lost: a frame that waited.
    #[inline(always)]
    fn send_waited(&mut self, plan: &Plan, out: &mut Out, at: u32, transmission: Transmission) {
        let Transmission { slot, leaves } = transmission;
        if let Leaves::Arriving(arrives) = leaves {
            return out.send_slot_on(LinkEnd::of(self.ports.port(at)), arrives, slot);
        }
        let frame = out.calendar.release(slot).frame();
        self.send_begun(plan, out, at, &frame, leaves);
    }

    /// What a ruled port transmits arrives, or is lost: a frame that has not waited.
    #[inline(always)]
    fn send_begun(&mut self, plan: &Plan, out: &mut Out, at: u32, frame: &Frame, leaves: Leaves) {
        match leaves {
            Leaves::Arriving(arrives) => out.send_on(LinkEnd::of(self.ports.port(at)), arrives, frame),
            Leaves::Written(arrives) => self.send_written(plan, out, at, frame, arrives),
            Leaves::Lost => self.lose_on_link(plan, out, at, frame),
        }
    }

    /// A frame has begun to leave over a ruled port whose link loses it.
    #[cold]
    fn lose_on_link(&self, plan: &Plan, out: &mut Out, at: u32, frame: &Frame) {
        let port = self.ports.port(at);
        let begun = port.busy_until - self.ports.transmission(at, frame.meta.size());
        out.lose(plan, frame, Lost { at: begun, link: port.link(), reason: Reason::OnLink });
    }

    /// Sees to it that a ruled port goes on when it is free: by an event, where others may learn something from that, or else when
    /// it catches up. That a NIC goes on with what its host has to send, is the host's to see to.
    #[inline(always)]
    pub(super) fn await_turn(&mut self, out: &mut Out, at: u32) {
        let queued = self.ports.has_queued(at);
        if self.ports.port(at).intersects(Port::NIC) {
            if queued {
                self.arm(out, at);
            }
        } else if self.ports.is_watched(at) {
            self.arm(out, at);
        } else if queued {
            self.ports.fall_behind(at);
        }
    }

    /// Sees to it that the end of a ruled port's transmission is an event, if it transmits, or that its host looks at it then.
    #[inline(never)]
    pub(super) fn arm(&mut self, out: &mut Out, at: u32) {
        if self.ports.port(at).intersects(Port::CATCHES_UP) {
            return self.ports.let_nic_fall_behind(at, out.node);
        }
        if let Some(ends) = self.ports.arm(at) {
            out.schedule(Event::bare(ends, Kind::Wake, at));
        }
    }

    /// Lets all happen at a ruled port that happens there by itself up to `until`.
    #[inline(always)]
    pub(super) fn catch_up(&mut self, plan: &Plan, out: &mut Out, at: u32, until: u64) {
        if self.ports.is_behind(at, until) && !self.ports.end_alone(at) {
            self.go_on_until(plan, out, at, until);
        }
    }

    #[inline(never)]
    fn go_on_until(&mut self, plan: &Plan, out: &mut Out, at: u32, until: u64) {
        loop {
            let ended = self.ports.port(at).busy_until;
            self.ports.end_transmission(at);
            let events = out.calendar.parts().0;
            let Some(transmission) = self.ports.send_next_queued(at, ended, events) else { return };
            self.send_waited(plan, out, at, transmission);
            if self.ports.port(at).busy_until > until {
                return;
            }
        }
    }

    /// Lets all ports catch up that may have frames on an account of port `ingress`.
    #[inline(never)]
    fn count_account(&mut self, plan: &Plan, out: &mut Out, ingress: u32) {
        let mut from = 0;
        while let Some(at) = self.ports.next_with_account(from, ingress) {
            self.catch_up(plan, out, at, out.now);
            from = at + 1;
        }
    }

    /// Lets all ports catch up that share the memory of port `at`.
    #[inline(never)]
    fn count_memory(&mut self, plan: &Plan, out: &mut Out, at: u32) {
        let mut from = 0;
        while let Some(other) = self.ports.next_with_memory(from, at) {
            self.catch_up(plan, out, other, out.now);
            from = other + 1;
        }
    }

    /// An account of port `ingress` has begun to pause its link: the ports are watched from now on that may have frames on it. They
    /// have caught up.
    pub(super) fn watch_account(&mut self, out: &mut Out, ingress: u32) {
        let mut from = 0;
        while let Some(at) = self.ports.next_with_account(from, ingress) {
            self.arm(out, at);
            from = at + 1;
        }
    }

    /// At the end of a window all ports catch up at which frames wait. Says when the first of them goes on.
    #[inline(always)]
    pub(super) fn catch_up_all(&mut self, plan: &Plan, out: &mut Out) {
        if self.ports.any_behind() {
            self.catch_up_each(plan, out);
        }
        if self.ports.any_pausing() {
            self.watch_anew(plan, out);
        }
    }

    #[inline(never)]
    fn catch_up_each(&mut self, plan: &Plan, out: &mut Out) {
        let mut place = 0;
        self.ports.next_turn = u64::MAX;
        while let Some(at) = self.ports.next_behind(place) {
            self.catch_up(plan, out, at, out.end - 1);
            self.ports.next_turn = self.ports.next_turn.min(self.ports.ends(at).unwrap_or(u64::MAX));
            place += 1;
        }
    }

    /// Finds out which accounts may tell their links to go on in the next window, and which ports are watched for that.
    #[inline(never)]
    fn watch_anew(&mut self, plan: &Plan, out: &mut Out) {
        let mut place = 0;
        while let Some((switch, found)) = self.ports.begin_to_watch(place) {
            place = found + 1;
            self.catch_up_listed(plan, out, out.end - 1);
            if self.ports.count_leaving(switch, plan.windows.length(), out.calendar.slots()) {
                self.arm_listed(plan, out);
            }
        }
    }

    /// What may leave before the window ends at the switch of port `at` changes: all its accounts are watched that pause their links.
    pub(super) fn watch_switch(&mut self, plan: &Plan, out: &mut Out, at: u32) {
        self.ports.watch_all_at(at);
        self.catch_up_listed(plan, out, out.now);
        self.arm_listed(plan, out);
    }

    /// Lets the listed ports catch up that may have frames on accounts which pause their links.
    fn catch_up_listed(&mut self, plan: &Plan, out: &mut Out, until: u64) {
        for place in 0..self.ports.with_paused.len() {
            self.catch_up(plan, out, self.ports.with_paused[place], until);
        }
    }

    /// Sees to it that the ends of transmissions are events at those of the listed ports that are watched.
    fn arm_listed(&mut self, plan: &Plan, out: &mut Out) {
        for place in 0..self.ports.with_paused.len() {
            let at = self.ports.with_paused[place];
            if self.ports.is_watched(at) {
                let link = plan.graph.link(self.ports.port(at).link());
                out.node = plan.partition.node(link.from).at;
                self.arm(out, at);
            }
        }
    }

    /// A transmission of a switch's ruled port has ended.
    #[inline]
    pub(super) fn wake_switch_port(&mut self, plan: &Plan, out: &mut Out, at: u32) {
        self.ports.disarm(at);
        self.ports.end_transmission(at);
        if self.ports.is_told(at) {
            self.go_on_at_switch(plan, out, at);
        } else if let Some(transmission) = self.ports.send_next_queued(at, out.now, out.calendar.parts().0) {
            self.send_waited(plan, out, at, transmission);
            if self.ports.is_watched(at) {
                self.arm(out, at);
            } else if self.ports.has_queued(at) {
                self.ports.fall_behind(at);
            }
        }
        self.tell_peers(plan, out, Some(at));
    }

    /// A switch's port that transmits nothing sends what is next.
    pub(super) fn go_on_at_switch(&mut self, plan: &Plan, out: &mut Out, at: u32) {
        if !self.ports.has_waiting(at) {
            return;
        }
        match self.ports.next(at, 0) {
            Some(NextToSend::Queue(class)) => self.send_first(plan, out, at, class),
            Some(NextToSend::Signal) => self.send_signal(out, at),
            Some(NextToSend::Pull(_)) => unreachable!("nothing is pulled at a switch"),
            None => (),
        }
    }
}
