//! A host's NIC: which flow sends next.
//!
//! A sender that is ready and finds the NIC idle sends at once. Otherwise its flow waits in the round of its host and
//! class, and the NIC, when it is free, asks the flows in turn; frames that wait at the NIC (acknowledgements) go
//! first. A host whose order is first in, first out lets one flow send until it is not ready any more. Where work takes
//! a host time, its processor stands between its flows and its NIC.

use clearway_proto::machine::Readiness;

use super::domain::Domain;
use super::hosts::{HostState, Hosts, NONE};
use super::loss::Reason;
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind};
use crate::engine::order::Item;
use crate::host::round::Round;
use crate::net::port::Port;
use crate::net::transmission::NextToSend;

impl Domain {
    /// A flow is ready that does not wait for its NIC. In the end its timer is as it wants it.
    #[inline]
    pub(super) fn send_or_wait(&mut self, plan: &Plan, host: u32, end: u32) {
        let state = self.hosts.all[host as usize];
        if self.fabric.ports.port(state.nic).intersects(Port::RULED) {
            let now = self.out.now;
            self.fabric.catch_up(plan, &mut self.out, state.nic, now);
        }
        if state.slots != NONE && self.has_arbiter(plan, host, end) {
            self.send_by_endpoint(plan, host, end);
        } else if state.processor != NONE {
            self.hosts.wait(plan, host, end);
            self.attend(plan, host);
        } else if self.is_free(plan, state.nic, end) && !state.armed {
            return self.transmit(plan, host, state.nic, end);
        } else {
            // A free NIC that is about to wake has flows waiting: they go first.
            self.hosts.wait(plan, host, end);
            self.arm_nic(host);
        }
        self.hosts.arm_timer(&mut self.out, end);
    }

    /// A frame of a host, or of an agent, is to leave over a port.
    #[inline(always)]
    pub(super) fn offer(&mut self, plan: &Plan, at: u32, frame: Frame) {
        if self.fabric.ports.port(at).intersects(Port::RULED) {
            self.offer_to_ruled(plan, at, frame);
        } else if !self.fabric.offer_plain(&mut self.out, at, &frame) {
            self.fabric.lose(plan, &mut self.out, at, &frame, Reason::NoRoom);
        }
    }

    #[inline(never)]
    fn offer_to_ruled(&mut self, plan: &Plan, at: u32, frame: Frame) {
        self.fabric.offer_own(plan, &mut self.out, at, frame);
        if self.fabric.ports.port(at).intersects(Port::NIC) {
            let host = self.nodes[self.out.node as usize].host;
            self.arm_if_asked(plan, host);
        }
    }

    /// Sees to it that a ruled NIC wakes when it is free, if flows wait for it.
    #[inline(always)]
    fn arm_if_asked(&mut self, plan: &Plan, host: u32) {
        let state = &self.hosts.all[host as usize];
        if self.fabric.ports.port(state.nic).intersects(Port::ARMED | Port::BEHIND) {
            return;
        }
        let rounds = &self.hosts.rounds[state.rounds as usize..][..plan.queues()];
        // A processor gives its NIC frames by itself.
        if state.processor == NONE && rounds.iter().any(|round| Round::has_waiting(*round)) {
            let nic = state.nic;
            self.fabric.arm(&mut self.out, nic);
        }
    }

    /// Sees to it that a NIC with flows waiting wakes when it is free.
    #[inline(always)]
    fn arm_nic(&mut self, host: u32) {
        let state = &mut self.hosts.all[host as usize];
        let port = self.fabric.ports.port(state.nic);
        if port.intersects(Port::RULED) {
            let nic = state.nic;
            self.fabric.arm(&mut self.out, nic);
        } else if !state.armed {
            state.armed = true;
            let (at, nic) = (port.busy_until, state.nic);
            self.out.schedule(Event::bare(at, Kind::Wake, nic));
        }
    }

    /// Returns whether a packet of this flow that is sent over its NIC now leaves at once.
    #[inline(always)]
    fn is_free(&self, plan: &Plan, nic: u32, end: u32) -> bool {
        self.fabric
            .ports
            .is_free(nic, self.out.now, || plan.class_of_data(self.hosts.senders[end as usize].flow))
    }

    /// A flow that is ready sends over its idle NIC, and is asked anew.
    fn transmit(&mut self, plan: &Plan, host: u32, nic: u32, end: u32) {
        let (frame, wants) = self.hosts.next_frame_and_wants(plan, &mut self.out, host, end);
        if self.fabric.ports.port(nic).intersects(Port::RULED) {
            self.fabric.send_pulled(plan, &mut self.out, nic, &frame);
            // A flow that is ready waits again, and has the NIC wake for itself.
            if wants.readiness != Readiness::Ready {
                self.arm_if_asked(plan, host);
            }
        } else {
            self.offer(plan, nic, frame);
        }
        match wants.readiness {
            Readiness::Ready => {
                self.hosts.wait_again(plan, host, end);
                self.arm_nic(host);
            }
            Readiness::At(at) => self.hosts.arm_pace(&mut self.out, end, at),
            Readiness::Idle => (),
        }
        self.hosts.arm_timer_at(&mut self.out, end, wants.timeout);
    }

    /// A NIC may be free.
    #[inline]
    pub(super) fn wake_nic(&mut self, plan: &Plan, host: u32) {
        let nic = self.hosts.all[host as usize].nic;
        if self.fabric.ports.port(nic).intersects(Port::RULED) {
            self.fabric.ports.disarm(nic);
            self.fabric.ports.end_transmission(nic);
            self.give_turn(plan, host);
            return;
        }
        self.hosts.all[host as usize].armed = false;
        if self.fabric.ports.is_free(nic, self.out.now, || 0) {
            self.pull(plan, host);
        } else {
            // Acknowledgements have joined meanwhile: they go first.
            self.arm_nic(host);
        }
    }

    /// Has the NICs catch up between which and their flows nothing stands, if they are ruled: what happens at the end of a transmission
    /// then happens when something else is to happen at the host, or when the window ends. That is as if there were an event for each
    /// end, which would come before all others of its instant.
    pub(super) fn let_nics_catch_up(&mut self) {
        for host in self.hosts.all.iter().filter(|host| host.has_but_a_nic()) {
            self.fabric.ports.let_catch_up(host.nic);
            self.hosts.nics_catch_up |= self.fabric.ports.port(host.nic).intersects(Port::CATCHES_UP);
        }
    }

    /// Returns whether a host's NIC has something to do that comes before what is about to happen.
    #[inline(always)]
    pub(super) fn is_nic_behind(&self, host: u32) -> bool {
        self.fabric.ports.is_nic_behind(self.hosts.all[host as usize].nic, self.out.now)
    }

    /// Ends the transmission of a NIC that catches up, if that is all that it did then: nothing waits at it or for it. Returns
    /// whether it did.
    #[inline(always)]
    pub(super) fn end_nic_alone(&mut self, plan: &Plan, host: u32) -> bool {
        let is_all = self.fabric.ports.end_nic_alone(self.hosts.all[host as usize].nic);
        debug_assert!(
            !is_all || self.hosts.asking(plan, host) == 0,
            "a NIC for which flows wait is not behind"
        );
        is_all
    }

    /// A NIC that catches up has ended a transmission, and does what it did then.
    #[inline(never)]
    pub(super) fn go_on_at_nic(&mut self, plan: &Plan, host: u32) {
        let nic = self.hosts.all[host as usize].nic;
        self.out.now = self.fabric.ports.port(nic).busy_until;
        self.fabric.ports.end_transmission(nic);
        self.give_turn(plan, host);
    }

    /// At the end of a window all NICs catch up for which something waits, and what they bring about happens at their hosts.
    #[inline(never)]
    pub(super) fn catch_up_nics(&mut self, plan: &Plan) {
        let mut place = 0;
        self.fabric.ports.next_nic_turn = u64::MAX;
        while let Some(&node) = self.fabric.ports.nics_behind.get(place) {
            let host = self.nodes[node as usize].host;
            let nic = self.hosts.all[host as usize].nic;
            self.out.node = node;
            while self.fabric.ports.is_nic_behind(nic, self.out.end - 1) {
                self.go_on_at_nic(plan, host);
                while let Some(item) = self.out.agenda.pop() {
                    self.happen_later(plan, item);
                }
            }
            let waits = self.fabric.ports.has_queued(nic) || self.hosts.asking(plan, host) != 0;
            place = self.fabric.ports.note_nic(nic, waits, place);
        }
    }

    /// Lets an item happen that a NIC has added as it caught up.
    #[cold]
    #[inline(never)]
    fn happen_later(&mut self, plan: &Plan, item: Item) {
        self.happen::<true>(plan, item);
    }

    /// A plain NIC is free: the next flow that is still ready sends.
    fn pull(&mut self, plan: &Plan, host: u32) {
        let HostState { nic, rounds, .. } = self.hosts.all[host as usize];
        let round = rounds as usize;
        if self.pull_from(plan, host, nic, round) && self.hosts.rounds[round].has_waiting() {
            self.arm_nic(host);
        }
    }

    /// Lets the next flow of a round that is still ready send. Returns whether one did.
    fn pull_from(&mut self, plan: &Plan, host: u32, nic: u32, round: usize) -> bool {
        while let Some(end) = self.hosts.take_turn(round) {
            if self.hosts.senders[end as usize].sender.readiness(self.out.time()) != Readiness::Ready {
                self.serve(plan, host, end);
                continue;
            }
            self.transmit(plan, host, nic, end);
            return true;
        }
        false
    }

    /// A ruled NIC is free: the class whose turn it is sends, a frame that waits or else a flow that is ready.
    pub(super) fn give_turn(&mut self, plan: &Plan, host: u32) {
        let HostState { nic, rounds, processor, .. } = self.hosts.all[host as usize];
        // A processor gives its NIC frames by itself.
        let asking = |hosts: &Hosts| if processor == NONE { hosts.asking(plan, host) } else { 0 };
        let mut classes = asking(&self.hosts);
        if classes == 0 && !self.fabric.ports.has_waiting(nic) {
            return;
        }
        while let Some(turn) = self.fabric.ports.next(nic, classes) {
            match turn {
                NextToSend::Queue(class) => {
                    self.fabric.send_first(plan, &mut self.out, nic, class);
                    return self.arm_if_asked(plan, host);
                }
                NextToSend::Signal => {
                    self.fabric.send_signal(&mut self.out, nic);
                    return self.arm_if_asked(plan, host);
                }
                NextToSend::Pull(class) => {
                    if self.pull_one(plan, host, nic, rounds as usize + class) {
                        return;
                    }
                    classes = asking(&self.hosts);
                }
            }
        }
    }

    /// A class of a host's NIC may be free again.
    pub(super) fn go_on(&mut self, plan: &Plan, host: u32) {
        let HostState { nic, processor, .. } = self.hosts.all[host as usize];
        if !self.fabric.ports.transmits(nic) {
            self.give_turn(plan, host);
        }
        if processor != NONE {
            self.attend(plan, host);
        }
    }

    /// The flow whose turn it is in a round sends, unless it is not ready any more. Returns whether it did.
    fn pull_one(&mut self, plan: &Plan, host: u32, nic: u32, round: usize) -> bool {
        let Some(end) = self.hosts.take_turn(round) else { return false };
        if self.hosts.senders[end as usize].sender.readiness(self.out.time()) != Readiness::Ready {
            self.serve(plan, host, end);
            return false;
        }
        self.transmit(plan, host, nic, end);
        true
    }
}
