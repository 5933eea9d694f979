//! A host's NIC: which flow sends next.
//!
//! A sender that is ready and finds the NIC idle sends at once. Otherwise its flow waits in the round of its host and
//! class, and the NIC, when it is free, asks the flows in turn; frames that wait at the NIC (acknowledgements) go
//! first. A host whose order is first in, first out lets one flow send until it is not ready any more. Where work takes
//! a host time, its processor stands between its flows and its NIC.

use clearway_proto::machine::Readiness;

use super::domain::{Domain, HostState, NONE};
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind};
use crate::host::round::{Round, NO_FLOW};
use crate::net::port::Port;
use crate::net::ruled::Turn;
use crate::net::scheduling::{only, ClassSet};

impl Domain {
    /// A flow is ready that does not wait for its NIC. In the end its timer is as it wants it.
    #[inline]
    pub(super) fn send_or_wait(&mut self, plan: &Plan, host: u32, end: u32) {
        let state = self.hosts[host as usize];
        if self.ports.port(state.nic).intersects(Port::RULED) {
            self.catch_up(plan, state.nic, self.now);
        }
        if state.slots != NONE && self.has_arbiter(plan, host, end) {
            self.send_by_endpoint(plan, host, end);
        } else if state.processor != NONE {
            self.wait(plan, host, end);
            self.attend(plan, host);
        } else if self.is_free(plan, state.nic, end) && !state.armed {
            return self.transmit(plan, host, end);
        } else {
            // A free NIC that is about to wake has flows waiting: they go first.
            self.wait(plan, host, end);
            self.arm_nic(host);
        }
        self.arm_timer(end);
    }

    /// Sees to it that a NIC with flows waiting wakes when it is free.
    #[inline]
    fn arm_nic(&mut self, host: u32) {
        let state = &mut self.hosts[host as usize];
        let port = self.ports.port(state.nic);
        if port.intersects(Port::RULED) {
            let nic = state.nic;
            self.arm(nic);
        } else if !state.armed {
            state.armed = true;
            let (at, nic) = (port.busy_until, state.nic);
            self.schedule(Event::bare(at, Kind::Wake, nic));
        }
    }

    /// Whether a packet of this flow that is sent over its NIC now leaves at once.
    #[inline(always)]
    fn is_free(&self, plan: &Plan, nic: u32, end: u32) -> bool {
        self.ports.is_free(nic, self.now, || plan.class_of_data(self.senders[end as usize].flow))
    }

    /// The round in which a flow of this host waits.
    #[inline]
    fn round_of(&self, plan: &Plan, host: u32, end: u32) -> usize {
        let class = plan.class_of_data(self.senders[end as usize].flow);
        self.hosts[host as usize].rounds as usize + class
    }

    /// Puts a flow at the end of those that wait for its NIC.
    #[inline]
    pub(super) fn wait(&mut self, plan: &Plan, host: u32, end: u32) {
        let at = self.round_of(plan, host, end);
        let sender = &mut self.senders[end as usize];
        sender.waiting = true;
        sender.next_waiting = NO_FLOW;
        let round = &mut self.rounds[at];
        let before = std::mem::replace(&mut round.last, end);
        if before == NO_FLOW {
            round.first = end;
        } else {
            self.senders[before as usize].next_waiting = end;
        }
    }

    /// Lets a flow wait that has just sent and is ready again: behind the others, or before them where the host serves
    /// first in, first out.
    #[inline]
    pub(super) fn wait_again(&mut self, plan: &Plan, host: u32, end: u32) {
        if !self.hosts[host as usize].fifo {
            return self.wait(plan, host, end);
        }
        let at = self.round_of(plan, host, end);
        let round = &mut self.rounds[at];
        let sender = &mut self.senders[end as usize];
        sender.waiting = true;
        sender.next_waiting = std::mem::replace(&mut round.first, end);
        if sender.next_waiting == NO_FLOW {
            round.last = end;
        }
    }

    /// Takes the flow whose turn it is out of a round.
    #[inline]
    pub(super) fn take_turn(&mut self, round: usize) -> Option<u32> {
        let round = &mut self.rounds[round];
        let end = round.first;
        let sender = self.senders.get_mut(end as usize)?;
        sender.waiting = false;
        round.first = sender.next_waiting;
        if round.first == NO_FLOW {
            round.last = NO_FLOW;
        }
        Some(end)
    }

    /// The next packet of a flow, as a frame.
    #[inline(always)]
    pub(super) fn next_frame(&mut self, plan: &Plan, end: u32) -> Frame {
        let now = self.time();
        let sender = &mut self.senders[end as usize];
        sender.transmit(&plan.makers[sender.transport as usize], now)
    }

    /// A flow that is ready sends over its idle NIC, and is asked anew.
    fn transmit(&mut self, plan: &Plan, host: u32, end: u32) {
        let frame = self.next_frame(plan, end);
        let nic = self.hosts[host as usize].nic;
        if self.ports.port(nic).intersects(Port::RULED) {
            let transmission = self.ports.send_pulled(nic, plan.class_of(&frame), frame, self.now);
            self.follow(plan, nic, &transmission);
        } else {
            self.offer(plan, nic, frame);
        }
        match self.senders[end as usize].sender.readiness(self.time()) {
            Readiness::Ready => {
                self.wait_again(plan, host, end);
                self.arm_nic(host);
            }
            Readiness::At(at) => self.arm_pace(end, at),
            Readiness::Idle => (),
        }
        self.arm_timer(end);
    }

    /// A NIC may be free.
    #[inline]
    pub(super) fn wake_nic(&mut self, plan: &Plan, host: u32) {
        let nic = self.hosts[host as usize].nic;
        if self.ports.port(nic).intersects(Port::RULED) {
            self.ports.disarm(nic);
            self.ports.end_transmission(nic);
            self.give_turn(plan, host);
            return;
        }
        self.hosts[host as usize].armed = false;
        if self.ports.is_free(nic, self.now, || 0) {
            self.pull(plan, host);
        } else {
            // Acknowledgements have joined meanwhile: they go first.
            self.arm_nic(host);
        }
    }

    /// A plain NIC is free: the next flow that is still ready sends.
    fn pull(&mut self, plan: &Plan, host: u32) {
        let round = self.hosts[host as usize].rounds as usize;
        if self.pull_from(plan, host, round) && self.rounds[round].has_waiting() {
            self.arm_nic(host);
        }
    }

    /// The next flow of a round that is still ready sends. Whether one did.
    fn pull_from(&mut self, plan: &Plan, host: u32, round: usize) -> bool {
        while let Some(end) = self.take_turn(round) {
            if self.senders[end as usize].sender.readiness(self.time()) != Readiness::Ready {
                self.serve(plan, host, end);
                continue;
            }
            self.transmit(plan, host, end);
            return true;
        }
        false
    }

    /// The classes of a host in whose rounds flows wait.
    pub(super) fn asking(&self, plan: &Plan, host: u32) -> ClassSet {
        let first = self.hosts[host as usize].rounds as usize;
        let waits = |(class, round): (usize, &Round)| if round.has_waiting() { only(class) } else { 0 };
        self.rounds[first..first + plan.queues()].iter().enumerate().map(waits).fold(0, |all, one| all | one)
    }

    /// A ruled NIC is free: the class whose turn it is sends, a frame that waits or else a flow that is ready.
    pub(super) fn give_turn(&mut self, plan: &Plan, host: u32) {
        let HostState { nic, rounds, processor, .. } = self.hosts[host as usize];
        // A processor gives its NIC frames by itself.
        let asking = |domain: &Domain| if processor == NONE { domain.asking(plan, host) } else { 0 };
        if !self.ports.has_waiting(nic) && asking(self) == 0 {
            return;
        }
        while let Some(turn) = self.ports.next(nic, asking(self)) {
            match turn {
                Turn::Queue(class) => {
                    let transmission = self.ports.send_queued(nic, class, self.now);
                    self.follow(plan, nic, &transmission);
                    return;
                }
                Turn::Signal => return self.send_signal(plan, nic),
                Turn::Pull(class) => {
                    if self.pull_one(plan, host, rounds as usize + class) {
                        return;
                    }
                }
            }
        }
    }

    /// The flow whose turn it is in a round sends, unless it is not ready any more. Whether it did.
    fn pull_one(&mut self, plan: &Plan, host: u32, round: usize) -> bool {
        let Some(end) = self.take_turn(round) else { return false };
        if self.senders[end as usize].sender.readiness(self.time()) != Readiness::Ready {
            self.serve(plan, host, end);
            return false;
        }
        self.transmit(plan, host, end);
        true
    }
}
