//! Hosts whose packets leave in timeslots: what waits for a slot is offered to the endpoint, which says when a slot comes.

use clearway_proto::fastpass::endpoint::{EndpointOutput, Mode};
use clearway_proto::fastpass::fcp::{Address, Grant};
use clearway_proto::fastpass::filling::{Next, Slot};
use clearway_proto::fastpass::receipts::{Fate, SlotHeader};
use clearway_proto::machine::Readiness;
use clearway_proto::transport::Notice;
use clearway_proto::units::Time;

use super::domain::Domain;
use super::hosts::NONE;
use super::parcels::{Parcel, Said};
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind, Meta};
use crate::host::agent::Agent;
use crate::host::endpoint::EndpointHost;
use crate::host::ends::SendingEnd;
use crate::host::processors::Processors;
use crate::host::round::{Round, NO_FLOW};

impl Domain {
    /// Returns whether packets of this flow wait for timeslots at this host now.
    #[inline]
    pub(super) fn is_scheduled(&self, plan: &Plan, host: u32, flow: u32) -> bool {
        let slots = self.hosts.all[host as usize].slots;
        slots != NONE && self.hosts.slots[slots as usize].mode == Mode::Scheduled && plan.takes_slots(flow)
    }

    /// Returns whether a flow's host has an endpoint for it, which has an arbiter.
    pub(super) fn has_arbiter(&self, plan: &Plan, host: u32, end: u32) -> bool {
        let slots = self.hosts.all[host as usize].slots;
        let transport = self.hosts.senders[end as usize].transport;
        plan.makers[transport as usize].slotted && self.hosts.slots[slots as usize].mode == Mode::Scheduled
    }

    /// A flow that is ready waits for a slot, or sends at once if it is short.
    pub(super) fn send_by_endpoint(&mut self, plan: &Plan, host: u32, end: u32) {
        if plan.takes_slots(self.hosts.senders[end as usize].flow) {
            return self.wait_for_slot(plan, host, end);
        }
        // A NIC that is busy with slots has next to no time left: so all of a short flow goes to its queue right away.
        while self.hosts.senders[end as usize].sender.readiness(self.out.time()) == Readiness::Ready {
            let frame = self.hosts.next_frame(plan, &mut self.out, host, end);
            self.leave_stack(plan, host, frame);
        }
    }

    /// A flow that is ready waits for a slot.
    fn wait_for_slot(&mut self, plan: &Plan, host: u32, end: u32) {
        self.hosts.senders[end as usize].waiting = true;
        self.offer_packets(plan, host, end);
        self.ask_endpoint(plan, host);
    }

    /// A flow that waits may send more or fewer packets than before.
    #[cold]
    pub(super) fn offer_anew(&mut self, plan: &Plan, host: u32, end: u32) {
        if self.is_scheduled(plan, host, self.hosts.senders[end as usize].flow) {
            self.offer_packets(plan, host, end);
            self.ask_endpoint(plan, host);
        }
    }

    /// An acknowledgement waits for a slot.
    pub(super) fn ack_in_slot(&mut self, plan: &Plan, host: u32, end: u32, ack: Frame) {
        let flow = self.hosts.receivers[end as usize].flow;
        let destination = plan.control().served.address(plan.specs[flow as usize].from);
        let slots = self.hosts.all[host as usize].slots;
        let now = self.out.time();
        let size = ack.meta.size();
        self.hosts.slots[slots as usize].filling.push_ack(now, destination, size, ack);
        self.tell_backlog(slots, destination);
        self.ask_endpoint(plan, host);
    }

    /// Offers what a flow that waits may send and has not offered; all of it anew if it may not send what it has offered.
    fn offer_packets(&mut self, plan: &Plan, host: u32, end: u32) {
        let slots = self.hosts.all[host as usize].slots;
        let sender = &mut self.hosts.senders[end as usize];
        let time = Time::from_ps(self.out.now);
        let (now, offer) = (sender.sender.offered(), &mut self.hosts.offers[end as usize]);
        if (offer.lost, offer.until) == (now.lost, now.until) {
            return;
        }
        let destination = plan.control().served.address(plan.specs[sender.flow as usize].to);
        let filling = &mut self.hosts.slots[slots as usize].filling;
        let handle = *offer.handle.get_or_insert_with(|| filling.open(destination, end));
        let maker = &plan.makers[sender.transport as usize];
        let mut seq = offer.until.max(now.next);
        if offer.lost != now.lost || offer.until > now.until {
            filling.withdraw(handle);
            filling.offer(time, handle, maker.data_frame, now.lost);
            seq = now.next;
        }
        while seq < now.until {
            let (payload, packets) = sender.sender.payload_from(seq);
            let packets = packets.min(now.until - seq);
            filling.offer(time, handle, payload + maker.overhead, packets);
            seq += packets;
        }
        (offer.lost, offer.until) = (now.lost, now.until);
        self.tell_backlog(slots, destination);
    }

    fn tell_backlog(&mut self, slots: u32, destination: Address) {
        let now = self.out.time();
        let stack = &self.hosts.slots[slots as usize];
        let (backlog, seat) = (stack.filling.backlog(destination), stack.seat);
        let at = &mut self.agents.seats[seat as usize];
        let local = at.tell(now);
        endpoint_in(&mut at.agent).machine.handle_backlog(local, destination, backlog);
    }

    /// Lets an endpoint send what is due, and sets its timer.
    pub(super) fn ask_endpoint(&mut self, plan: &Plan, host: u32) {
        let now = self.out.time();
        let slots = self.hosts.all[host as usize].slots;
        let seat = self.hosts.slots[slots as usize].seat;
        loop {
            self.follow_mode(plan, host);
            let at = &mut self.agents.seats[seat as usize];
            let local = at.tell(now);
            let EndpointHost { machine, number, .. } = endpoint_in(&mut at.agent);
            let at = match machine.readiness(local) {
                Readiness::Ready => {
                    let free = stack_free_at(
                        &mut self.hosts.processors,
                        self.hosts.all[host as usize].processor,
                        now,
                    );
                    if free > now {
                        return self.arm_stack(seat, free);
                    }
                    let number = *number;
                    match machine.transmit(local) {
                        EndpointOutput::Request(request) => self.send_request(plan, number, &request),
                        EndpointOutput::Slot(grant) => self.use_slot(plan, host, &grant),
                        EndpointOutput::Answer(answer, path) => self.send_answer(plan, number, answer, path),
                        EndpointOutput::Trial(trial, path) => self.send_trial_on(plan, number, trial, path),
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
        if self.agents.seats[seat as usize].set_timer_at(free) {
            self.out.schedule(Event::bare(free.as_ps(), Kind::Act, seat));
        }
    }

    fn arm_endpoint(&mut self, seat: u32, local: Time) {
        let now = self.out.time();
        let at = &mut self.agents.seats[seat as usize];
        if at.set_timer(now, local) {
            let due = at.timer_at.as_ps();
            self.out.schedule(Event::bare(due, Kind::Act, seat));
        }
    }

    /// The slot of a grant has come: as much leaves as fits.
    fn use_slot(&mut self, plan: &Plan, host: u32, grant: &Grant) {
        let state = self.hosts.all[host as usize];
        let now = self.out.time();
        let mut slot = self.hosts.slots[state.slots as usize].filling.begin(now, grant.destination);
        let mut header = None;
        while let Some(next) = self.next_in_slot(plan, state.slots, &mut slot) {
            let (frame, packet) = match next {
                Next::Ack(ack) => (ack, None),
                Next::Packet(end, size) => {
                    let frame = self.pull_in_slot(plan, host, end);
                    slot.give_back(size - frame.meta.size());
                    (frame, Some(end))
                }
            };
            let is_first = header.is_none();
            let header = *header.get_or_insert_with(|| self.stamp(state.slots, grant));
            if let Some(end) = packet {
                let again = frame.seq() + 1 != self.hosts.senders[end as usize].sender.offered().next;
                let receipts = &mut self.hosts.slots[state.slots as usize].receipts;
                receipts.note(grant.destination, header.number, end, frame.seq(), again);
            }
            let frame = if is_first { self.with_header(&frame, header) } else { frame };
            self.leave_in_slot(plan, host, &frame, grant);
        }
        self.hosts.slots[state.slots as usize].filling.end(&slot);
        self.tell_backlog(state.slots, grant.destination);
    }

    /// The header of a slot that is being used.
    fn stamp(&mut self, slots: u32, grant: &Grant) -> SlotHeader {
        let now = self.out.time();
        let at = &mut self.agents.seats[self.hosts.slots[slots as usize].seat as usize];
        let local = at.tell(now);
        endpoint_in(&mut at.agent).machine.stamp(local, grant)
    }

    /// A frame that carries the header of its slot.
    fn with_header(&mut self, frame: &Frame, header: SlotHeader) -> Frame {
        let said = if frame.meta.contains(Meta::POOLED) {
            Said::Ack(self.out.parcels.take_ack(frame.seq()))
        } else {
            Said::Seq(frame.seq())
        };
        let place = self.out.parcels.put(Parcel::Slotted(Box::new((header, said))));
        let route_seq = u64::from(frame.route()) << 32 | u64::from(place);
        Frame { route_seq, meta: frame.meta.with(Meta::POOLED), ..*frame }
    }

    /// Returns what leaves next in a slot.
    fn next_in_slot(&mut self, plan: &Plan, slots: u32, slot: &mut Slot) -> Option<Next<Frame, u32>> {
        let senders = &self.hosts.senders;
        let filling = &mut self.hosts.slots[slots as usize].filling;
        filling.next(slot, |end| size_of_next(plan, &senders[end as usize]))
    }

    /// The next packet of a flow, which leaves in a slot.
    fn pull_in_slot(&mut self, plan: &Plan, host: u32, end: u32) -> Frame {
        let frame = self.hosts.next_frame(plan, &mut self.out, host, end);
        let offer = &mut self.hosts.offers[end as usize];
        offer.lost = offer.lost.saturating_sub(1);
        self.offer_packets(plan, host, end);
        let now = self.out.time();
        let sender = &mut self.hosts.senders[end as usize];
        sender.waiting = sender.sender.readiness(now) == Readiness::Ready;
        self.hosts.arm_timer(&mut self.out, end);
        frame
    }

    /// A frame, be it an acknowledgement or a packet, leaves in a slot.
    fn leave_in_slot(&mut self, plan: &Plan, host: u32, frame: &Frame, grant: &Grant) {
        let processor = self.hosts.all[host as usize].processor;
        if processor != NONE && !frame.meta.contains(Meta::ACK) {
            self.hosts.processors.all[processor as usize].send_in_slot(self.out.now, frame.meta.size());
        }
        self.leave_stack(plan, host, on_path(plan, frame, grant));
    }

    /// A frame leaves its host's stack.
    fn leave_stack(&mut self, plan: &Plan, host: u32, frame: Frame) {
        let state = self.hosts.all[host as usize];
        if state.processor != NONE && self.hosts.processors.all[state.processor as usize].delays_slots() {
            self.join_batch(host, &frame);
        } else {
            self.offer(plan, state.nic, frame);
        }
    }

    /// Does what follows where the endpoint has lost its arbiter, or found one again.
    fn follow_mode(&mut self, plan: &Plan, host: u32) {
        let slots = self.hosts.all[host as usize].slots as usize;
        let seat = self.hosts.slots[slots].seat as usize;
        let mode = endpoint_in(&mut self.agents.seats[seat].agent).machine.mode();
        if self.hosts.slots[slots].mode == mode {
            return;
        }
        self.hosts.slots[slots].mode = mode;
        match mode {
            Mode::Unscheduled => self.go_on_without_slots(plan, host),
            Mode::Scheduled => self.go_back_to_slots(plan, host),
        }
    }

    /// Every flow begins anew as one of Swift, and what waited for slots leaves.
    fn go_on_without_slots(&mut self, plan: &Plan, host: u32) {
        let state = self.hosts.all[host as usize];
        let slots = state.slots as usize;
        let acks = self.hosts.slots[slots].filling.take_all();
        for ack in acks {
            self.leave_stack(plan, host, ack);
        }
        for end in self.hosts.slots[slots].ends.clone() {
            self.hosts.senders[end as usize].waiting = false;
            let offer = &mut self.hosts.offers[end as usize];
            (offer.lost, offer.until) = (0, 0);
        }
        self.tell_flows(plan, host, Notice::Unscheduled);
    }

    /// Flows that wait for the NIC wait for slots instead.
    fn go_back_to_slots(&mut self, plan: &Plan, host: u32) {
        let first = self.hosts.all[host as usize].rounds as usize;
        for round in first..first + plan.queues() {
            let mut next = std::mem::replace(&mut self.hosts.rounds[round], Round::EMPTY).first;
            while next != NO_FLOW {
                let end = next;
                next = self.hosts.senders[end as usize].next_waiting;
                self.hosts.senders[end as usize].waiting = false;
                if !plan.takes_slots(self.hosts.senders[end as usize].flow) {
                    self.hosts.wait(plan, host, end);
                }
            }
        }
        // What was demanded before the arbiter was lost may be sent by now.
        let slots = self.hosts.all[host as usize].slots;
        let destinations: Vec<_> = self.hosts.slots[slots as usize].filling.destinations().collect();
        for destination in destinations {
            self.tell_backlog(slots, destination);
        }
        self.tell_flows(plan, host, Notice::Scheduled);
    }

    fn tell_flows(&mut self, plan: &Plan, host: u32, notice: Notice) {
        let slots = self.hosts.all[host as usize].slots as usize;
        for end in self.hosts.slots[slots].ends.clone() {
            let now = self.out.time();
            self.hosts.senders[end as usize].sender.handle_notice(now, notice);
            self.serve(plan, host, end);
        }
    }

    /// A frame has come with the header of its slot. What it tells to be lost is sent again.
    pub(super) fn take_header(&mut self, plan: &Plan, host: u32, frame: &Frame, header: &SlotHeader) {
        let spec = &plan.specs[plan.routes.conversation(frame.route()) as usize];
        let from =
            plan.control().served.address(if frame.meta.contains(Meta::ACK) { spec.to } else { spec.from });
        let slots = self.hosts.all[host as usize].slots as usize;
        let seat = self.hosts.slots[slots].seat as usize;
        endpoint_in(&mut self.agents.seats[seat].agent).machine.handle_header(from, header);
        let mut any_lost = false;
        while let Some((to, settled)) = endpoint_in(&mut self.agents.seats[seat].agent).machine.poll_settled()
        {
            while let Some(packet) = self.hosts.slots[slots].receipts.settle(to, settled.number) {
                if settled.fate == Fate::Lost {
                    any_lost = true;
                    self.hosts.senders[packet.end as usize].sender.handle_lost(packet.seq, packet.again);
                    self.serve(plan, host, packet.end);
                }
            }
        }
        if any_lost {
            // A report of it may be due.
            self.ask_endpoint(plan, host);
        }
    }
}

/// Returns when a host's stack can send in a timeslot that has come.
fn stack_free_at(processors: &mut Processors, processor: u32, now: Time) -> Time {
    if processor == NONE {
        return now;
    }
    Time::from_ps(processors.all[processor as usize].slot_at(now.as_ps()))
}

/// The size of a sender's next packet, or more if it is one sent again.
fn size_of_next(plan: &Plan, sender: &SendingEnd) -> u32 {
    sender.sender.next_payload() + plan.makers[sender.transport as usize].overhead
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
    let (first, count) = plan.routes.of(plan.routes.conversation(frame.route()));
    let index = plan.control().route_index(grant.path, count);
    Frame { route_seq: u64::from(first + index) << 32 | u64::from(frame.seq()), ..*frame }
}
