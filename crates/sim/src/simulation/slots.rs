//! Hosts whose packets leave in timeslots: what waits for a slot is offered to the endpoint, which says when a slot comes.

use clearway_proto::fastpass::endpoint::{EndpointOutput, Mode};
use clearway_proto::fastpass::fcp::Grant;
use clearway_proto::machine::Readiness;
use clearway_proto::transport::{Ack, Notice};
use clearway_proto::units::Time;

use super::domain::{Domain, NONE};
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind};
use crate::host::agent::Agent;
use crate::host::endpoint::EndpointHost;
use crate::host::processors::Processors;
use crate::host::round::{Round, NO_FLOW};
use crate::host::slots::Turn;

impl Domain {
    /// Whether packets of this flow wait for timeslots at this host now.
    #[inline]
    pub(super) fn is_scheduled(&self, plan: &Plan, host: u32, flow: u32) -> bool {
        let slots = self.hosts[host as usize].slots;
        slots != NONE && self.slots[slots as usize].mode == Mode::Scheduled && plan.takes_slots(flow)
    }

    /// Whether a flow's host has an endpoint for it, which has an arbiter.
    pub(super) fn has_arbiter(&self, plan: &Plan, host: u32, end: u32) -> bool {
        let slots = self.hosts[host as usize].slots;
        let transport = self.senders[end as usize].transport;
        plan.makers[transport as usize].slotted && self.slots[slots as usize].mode == Mode::Scheduled
    }

    /// A flow that is ready waits for a slot, or sends at once if it is short.
    pub(super) fn send_by_endpoint(&mut self, plan: &Plan, host: u32, end: u32) {
        if plan.takes_slots(self.senders[end as usize].flow) {
            return self.wait_for_slot(plan, host, end);
        }
        // A NIC that is busy with slots has next to no time left: so all of a short flow goes to its queue right away.
        while self.senders[end as usize].sender.readiness(self.time()) == Readiness::Ready {
            let frame = self.next_frame(plan, end);
            self.leave_stack(plan, host, frame);
        }
    }

    /// A flow that is ready waits for a slot.
    fn wait_for_slot(&mut self, plan: &Plan, host: u32, end: u32) {
        let sender = &mut self.senders[end as usize];
        sender.waiting = true;
        let destination = plan.specs[sender.flow as usize].to;
        let slots = self.hosts[host as usize].slots;
        self.slots[slots as usize].push_flow(destination, end);
        self.count_sendable(plan, host, end);
        self.ask_endpoint(plan, host);
    }

    /// A flow that waits may send more or fewer packets than before.
    #[cold]
    pub(super) fn offer_anew(&mut self, plan: &Plan, host: u32, end: u32) {
        if self.is_scheduled(plan, host, self.senders[end as usize].flow) {
            self.count_sendable(plan, host, end);
            self.ask_endpoint(plan, host);
        }
    }

    /// An acknowledgement waits for a slot.
    pub(super) fn ack_in_slot(&mut self, plan: &Plan, host: u32, end: u32, ack: Frame) {
        let flow = self.receivers[end as usize].flow;
        let destination = plan.specs[flow as usize].from;
        let slots = self.hosts[host as usize].slots;
        self.slots[slots as usize].push_ack(self.now, destination, ack);
        self.tell_backlog(slots, destination);
        self.ask_endpoint(plan, host);
    }

    /// Counts anew what a flow that waits could send.
    fn count_sendable(&mut self, plan: &Plan, host: u32, end: u32) {
        let sender = &self.senders[end as usize];
        let now = sender.sender.sendable();
        let destination = plan.specs[sender.flow as usize].to;
        let before = std::mem::replace(&mut self.sendable[end as usize], now);
        let slots = self.hosts[host as usize].slots;
        if before != now {
            self.slots[slots as usize].count_packets(destination, before, now);
            self.tell_backlog(slots, destination);
        }
    }

    fn tell_backlog(&mut self, slots: u32, destination: u32) {
        let now = self.time();
        let stack = &self.slots[slots as usize];
        let (backlog, seat) = (stack.backlog(destination), stack.seat);
        let at = &mut self.seats[seat as usize];
        let local = at.tell(now);
        endpoint_in(&mut at.agent).machine.handle_backlog(local, destination as u16, backlog);
    }

    /// Lets an endpoint send what is due, and sets its timer.
    pub(super) fn ask_endpoint(&mut self, plan: &Plan, host: u32) {
        let now = self.time();
        let slots = self.hosts[host as usize].slots;
        let seat = self.slots[slots as usize].seat;
        loop {
            self.follow_mode(plan, host);
            let at = &mut self.seats[seat as usize];
            let local = at.tell(now);
            let EndpointHost { machine, number, .. } = endpoint_in(&mut at.agent);
            let at = match machine.readiness(local) {
                Readiness::Ready => {
                    let free = stack_free_at(&mut self.processors, self.hosts[host as usize].processor, now);
                    if free > now {
                        return self.arm_stack(seat, free);
                    }
                    let number = *number;
                    match machine.transmit(local) {
                        EndpointOutput::Request(request) => self.send_request(plan, number, &request),
                        EndpointOutput::Slot(grant) => self.use_slot(plan, host, &grant),
                    }
                    continue;
                }
                Readiness::At(at) => at,
                Readiness::Idle => Time::NEVER,
            };
            let local = at.min(machine.poll_timeout().unwrap_or(Time::NEVER));
            return self.arm_endpoint(seat, local);
        }
    }

    /// An endpoint is asked again when its host's stack can send.
    fn arm_stack(&mut self, seat: u32, free: Time) {
        if self.seats[seat as usize].set_timer_at(free) {
            self.schedule(Event::bare(free.as_ps(), Kind::Act, seat));
        }
    }

    fn arm_endpoint(&mut self, seat: u32, local: Time) {
        let now = self.time();
        let at = &mut self.seats[seat as usize];
        if at.set_timer(now, local) {
            let due = at.timer_at.as_ps();
            self.schedule(Event::bare(due, Kind::Act, seat));
        }
    }

    /// The slot of a grant has come: as much leaves as fits.
    fn use_slot(&mut self, plan: &Plan, host: u32, grant: &Grant) {
        let slots = self.hosts[host as usize].slots;
        let destination = u32::from(grant.destination);
        let stack = &mut self.slots[slots as usize];
        let before = stack.room;
        let room = if stack.take_turn(self.now, destination) == Turn::Acknowledgements {
            let room = self.send_acks_in_slot(plan, host, grant, before);
            self.send_data_in_slot(plan, host, grant, room)
        } else {
            let room = self.send_data_in_slot(plan, host, grant, before);
            self.send_acks_in_slot(plan, host, grant, room)
        };
        let stack = &mut self.slots[slots as usize];
        *(if room == before { &mut stack.unused } else { &mut stack.used }) += 1;
        self.tell_backlog(slots, destination);
    }

    /// As many acknowledgements leave as have room in so many bytes; what is left of these.
    fn send_acks_in_slot(&mut self, plan: &Plan, host: u32, grant: &Grant, mut room: u32) -> u32 {
        let state = self.hosts[host as usize];
        while let Some(ack) = self.slots[state.slots as usize].pop_ack(grant.destination.into(), room) {
            room -= ack.meta.size();
            self.leave_stack(plan, host, on_path(plan, &ack, grant));
        }
        room
    }

    /// As many packets leave as have room in so many bytes; what is left of these. A packet that no slot has room for leaves
    /// in one of its own.
    fn send_data_in_slot(&mut self, plan: &Plan, host: u32, grant: &Grant, mut room: u32) -> u32 {
        let state = self.hosts[host as usize];
        let whole = room == self.slots[state.slots as usize].room;
        let first = if whole { u32::MAX } else { room };
        let mut data = self.next_in_slot(plan, host, grant.destination.into(), first);
        let slots = &mut self.slots[state.slots as usize];
        if !data.is_some_and(|(end, frame)| slots.remember(end, frame.seq(), grant.slot)) {
            // Nobody acknowledges acknowledgements, nor nothing at all.
            self.confirm(state.slots, grant.slot);
        }
        while let Some((_, frame)) = data {
            room = room.saturating_sub(frame.meta.size());
            if state.processor != NONE {
                self.processors.all[state.processor as usize].send_in_slot(self.now, frame.meta.size());
            }
            self.leave_stack(plan, host, on_path(plan, &frame, grant));
            data = self.next_in_slot(plan, host, grant.destination.into(), room);
        }
        room
    }

    /// A frame leaves its host's stack.
    fn leave_stack(&mut self, plan: &Plan, host: u32, frame: Frame) {
        let state = self.hosts[host as usize];
        if state.processor != NONE && self.processors.all[state.processor as usize].delays_slots() {
            self.join_batch(host, &frame);
        } else {
            self.offer(plan, state.nic, frame);
        }
    }

    /// The next packet for a destination, and its sending end, if it has room in so many bytes; its flow goes to the end of those that wait, if
    /// it has more.
    fn next_in_slot(&mut self, plan: &Plan, host: u32, destination: u32, room: u32) -> Option<(u32, Frame)> {
        let slots = self.hosts[host as usize].slots as usize;
        loop {
            let end = self.slots[slots].first_flow(destination)?;
            let sender = &self.senders[end as usize];
            let ready = sender.sender.readiness(self.time()) == Readiness::Ready;
            let overhead = plan.makers[sender.transport as usize].overhead;
            if ready && sender.sender.next_payload() + overhead > room {
                return None;
            }
            self.slots[slots].pop_flow(destination);
            let frame = ready.then(|| self.next_frame(plan, end));
            let more = self.senders[end as usize].sender.readiness(self.time()) == Readiness::Ready;
            if more {
                self.slots[slots].push_flow(destination, end);
                self.count_sendable(plan, host, end);
            } else {
                self.leave_round(destination, slots, end);
            }
            self.arm_timer(end);
            if let Some(frame) = frame {
                return Some((end, frame));
            }
        }
    }

    /// A flow has nothing more to send for now.
    fn leave_round(&mut self, destination: u32, slots: usize, end: u32) {
        self.senders[end as usize].waiting = false;
        let before = std::mem::take(&mut self.sendable[end as usize]);
        self.slots[slots].count_packets(destination, before, 0);
    }

    /// Does what follows where the endpoint has lost its arbiter, or found one again.
    fn follow_mode(&mut self, plan: &Plan, host: u32) {
        let slots = self.hosts[host as usize].slots as usize;
        let seat = self.slots[slots].seat as usize;
        let mode = endpoint_in(&mut self.seats[seat].agent).machine.mode();
        if self.slots[slots].mode == mode {
            return;
        }
        self.slots[slots].mode = mode;
        match mode {
            Mode::Unscheduled => self.go_on_without_slots(plan, host),
            Mode::Scheduled => self.go_back_to_slots(plan, host),
        }
    }

    /// Every flow begins anew as one of Swift, and what waited for slots leaves.
    fn go_on_without_slots(&mut self, plan: &Plan, host: u32) {
        let state = self.hosts[host as usize];
        let slots = state.slots as usize;
        let acks = self.slots[slots].take_all();
        for ack in acks {
            self.leave_stack(plan, host, ack);
        }
        for end in self.slots[slots].ends.clone() {
            self.senders[end as usize].waiting = false;
            self.sendable[end as usize] = 0;
        }
        self.tell_flows(plan, host, Notice::Unscheduled);
    }

    /// Flows that wait for the NIC wait for slots instead.
    fn go_back_to_slots(&mut self, plan: &Plan, host: u32) {
        let first = self.hosts[host as usize].rounds as usize;
        for round in first..first + plan.queues() {
            let mut next = std::mem::replace(&mut self.rounds[round], Round::EMPTY).first;
            while next != NO_FLOW {
                let end = next;
                next = self.senders[end as usize].next_waiting;
                self.senders[end as usize].waiting = false;
                if !plan.takes_slots(self.senders[end as usize].flow) {
                    self.wait(plan, host, end);
                }
            }
        }
        // What was demanded before the arbiter was lost may be sent by now.
        let slots = self.hosts[host as usize].slots;
        for destination in self.slots[slots as usize].destinations() {
            self.tell_backlog(slots, destination);
        }
        self.tell_flows(plan, host, Notice::Scheduled);
    }

    fn tell_flows(&mut self, plan: &Plan, host: u32, notice: Notice) {
        let slots = self.hosts[host as usize].slots as usize;
        for end in self.slots[slots].ends.clone() {
            let now = self.time();
            self.senders[end as usize].sender.handle_notice(now, notice);
            self.serve(plan, host, end);
        }
    }

    /// Packets of a flow are acknowledged, which may have left in slots.
    pub(super) fn confirm_slots(&mut self, host: u32, end: u32, ack: &Ack) {
        let slots = self.hosts[host as usize].slots;
        if slots == NONE {
            return;
        }
        while let Some(slot) = self.slots[slots as usize].acknowledged(end, ack.seq, ack.cumulative) {
            self.confirm(slots, slot);
        }
    }

    /// Nothing that left in a slot is missing.
    fn confirm(&mut self, slots: u32, slot: u64) {
        let now = self.time();
        let seat = self.slots[slots as usize].seat;
        let at = &mut self.seats[seat as usize];
        let local = at.tell(now);
        endpoint_in(&mut at.agent).machine.handle_arrived(local, slot);
    }
}

/// When a host's stack can send in a timeslot that has come.
fn stack_free_at(processors: &mut Processors, processor: u32, now: Time) -> Time {
    if processor == NONE {
        return now;
    }
    Time::from_ps(processors.all[processor as usize].slot_at(now.as_ps()))
}

/// The endpoint in a seat that is one's.
fn endpoint_in(agent: &mut Agent) -> &mut EndpointHost {
    match agent {
        Agent::Endpoint(endpoint) => endpoint,
        _ => unreachable!("a host's slots have an endpoint's seat"),
    }
}

/// A frame on the path of its grant.
fn on_path(plan: &Plan, frame: &Frame, grant: &Grant) -> Frame {
    let (first, ways) = plan.routes.of(plan.routes.conversation(frame.route()));
    let way = plan.control().way(grant.path, ways);
    Frame { route_seq: u64::from(first + way) << 32 | u64::from(frame.seq()), ..*frame }
}
