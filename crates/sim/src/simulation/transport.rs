//! The ends of flows at a host: what arrives is handed to the machines, and what they then want is seen to.

use clearway_proto::machine::Readiness;
use clearway_proto::multipath::PathFeedback;
use clearway_proto::transport::{Ack, Notice};
use clearway_proto::units::Time;

use super::domain::Domain;
use super::hosts::NONE;
use super::parcels::{Parcel, Said};
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind, Meta};
use crate::schemes::Wants;
use crate::traffic::Demand;

impl Domain {
    /// A host's stack takes a frame, for the end of this place, that arrived at the NIC at `received`.
    #[inline(always)]
    pub(super) fn take(&mut self, plan: &Plan, host: u32, end: u32, frame: &Frame, received: Time) {
        if frame.meta.contains(Meta::POOLED) {
            self.take_pooled(plan, host, end, frame, received);
        } else if frame.meta.contains(Meta::ACK) {
            let ack = plain_ack(frame);
            if plan.watches_acks {
                self.watch_ack(plan, end, frame.route(), &ack, received);
            }
            self.acknowledge(plan, host, end, ack, received);
        } else {
            self.receive_data(plan, host, end, frame, received);
        }
    }

    /// A host's stack takes a frame that says more than fits an event.
    #[inline(never)]
    fn take_pooled(&mut self, plan: &Plan, host: u32, end: u32, frame: &Frame, received: Time) {
        let said = match self.out.parcels.take(frame.seq()) {
            Parcel::Ack(ack) => Said::Ack(ack),
            Parcel::Slotted(slotted) => {
                let (header, said) = *slotted;
                self.take_header(plan, host, frame, &header);
                said
            }
            Parcel::Told(told) => return self.take_told(plan, host, end, frame, received, told),
            Parcel::Trimmed(seq) => return self.take_header_alone(plan, host, end, frame, seq, received),
            Parcel::Nack(nack) => return self.take_nack(plan, host, end, frame.route(), nack, received),
            Parcel::Asking(asking) => return self.take_asking(plan, host, end, frame, asking, received),
            Parcel::Pull(granted) => return self.take_pull(plan, host, end, granted),
            Parcel::Control(_) => unreachable!("a flow's frame has no control packet for its parcel"),
        };
        match said {
            Said::Ack(ack) if ack.is_notification() => self.notify(plan, host, end),
            Said::Ack(ack) => self.acknowledge_pooled(plan, host, end, frame.route(), ack, received),
            Said::Seq(seq) => {
                let route_seq = u64::from(frame.route()) << 32 | u64::from(seq);
                let frame = Frame { route_seq, meta: frame.meta.without(Meta::POOLED), ..*frame };
                self.take(plan, host, end, &frame, received);
            }
        }
    }

    /// A data packet has reached its destination.
    #[inline(never)]
    pub(super) fn receive_data(&mut self, plan: &Plan, host: u32, end: u32, frame: &Frame, received: Time) {
        let now = self.out.time();
        let received = self.hosts.arrival_as_read(host, now, received);
        let receiver = &mut self.hosts.receivers[end as usize];
        let completed = receiver.handle(&plan.makers[receiver.transport as usize], now, received, frame);
        if completed > 0 {
            self.complete(end, frame);
        }
        self.send_acks(plan, host, end, frame.meta.last());
        if completed > 0 {
            self.take_messages(plan, host, end, completed);
        }
    }

    /// A message has arrived whole with this packet; for a sized flow that is all of it.
    #[cold]
    #[inline(never)]
    fn complete(&mut self, end: u32, packet: &Frame) {
        let is_first = self.hosts.complete(end, self.out.time());
        if let Some(notes) = self.out.notes.as_mut().filter(|_| is_first) {
            notes.note_completion(self.hosts.receivers[end as usize].flow, packet);
        }
    }

    /// Sends the acknowledgements that are due. `last` is the flag of a packet just taken that ends a message.
    #[inline(always)]
    pub(super) fn send_acks(&mut self, plan: &Plan, host: u32, end: u32, last: u32) {
        if self.hosts.receivers[end as usize].receiver.is_due() {
            self.send_ack(plan, host, end, last);
        }
        if self.hosts.receivers[end as usize].receiver.is_due() {
            self.send_more_acks(plan, host, end, last);
        }
        let receiver = &mut self.hosts.receivers[end as usize];
        if let Some(at) = receiver.receiver.poll_timeout() {
            if at < receiver.timer_at {
                receiver.timer_at = at;
                self.out.schedule(Event::bare(at.as_ps(), Kind::AckDelay, end));
            }
        }
    }

    /// More than one acknowledgement is due.
    #[cold]
    fn send_more_acks(&mut self, plan: &Plan, host: u32, end: u32, last: u32) {
        while self.hosts.receivers[end as usize].receiver.is_due() {
            self.send_ack(plan, host, end, last);
        }
    }

    /// Sends the next acknowledgement that is due.
    #[inline(always)]
    fn send_ack(&mut self, plan: &Plan, host: u32, end: u32, last: u32) {
        let now = self.out.time();
        let receiver = &mut self.hosts.receivers[end as usize];
        let ack = receiver.acknowledgement(now);
        let (route, size) = (receiver.route, plan.makers[receiver.transport as usize].ack_frame);
        let flags = Meta::ACK | last | if ack.congestion_experienced { Meta::CE } else { 0 };
        let mut meta = Meta::new(size, flags).echoing(u32::from(ack.hops));
        let mut seq = ack.seq;
        if ack.cumulative != ack.seq + 1
            || ack.sack != 0
            || ack.remote_queuing_us != 0
            || self.out.parcels.told.is_some()
        {
            if ack.is_notification() {
                self.out.counters[receiver.transport as usize].notifications += 1;
                // It does not end what its packet ends.
                meta = meta.without(Meta::LAST);
            }
            seq = self.out.parcels.put_ack(ack);
            meta = meta.with(Meta::POOLED);
        }
        let route_seq = u64::from(route) << 32 | u64::from(seq);
        self.release(plan, host, end, Frame { stamp: ack.echo.as_ps(), route_seq, meta });
    }

    pub(super) fn delayed_ack(&mut self, plan: &Plan, host: u32, end: u32) {
        let now = self.out.time();
        let receiver = &mut self.hosts.receivers[end as usize];
        if receiver.timer_at == now {
            receiver.timer_at = Time::NEVER;
        }
        receiver.receiver.handle_timeout(now);
        self.send_acks(plan, host, end, 0);
    }

    /// An acknowledgement leaves its host's stack.
    #[inline(always)]
    pub(super) fn release(&mut self, plan: &Plan, host: u32, end: u32, ack: Frame) {
        let state = &self.hosts.all[host as usize];
        if state.has_but_a_nic() {
            let nic = state.nic;
            self.offer(plan, nic, ack);
        } else if state.slots != NONE
            && self.is_scheduled(plan, host, self.hosts.receivers[end as usize].flow)
        {
            self.ack_in_slot(plan, host, end, ack);
        } else if state.processor == NONE {
            let nic = state.nic;
            self.offer(plan, nic, ack);
        } else {
            self.release_ack(plan, host, end, &ack);
        }
    }

    /// An acknowledgement has reached the sender.
    #[inline(never)]
    pub(super) fn acknowledge(&mut self, plan: &Plan, host: u32, end: u32, mut ack: Ack, received: Time) {
        let now = self.out.time();
        let rtt = now.since(ack.echo);
        let received = self.hosts.stamps_as_read(host, now, received, &mut ack);
        let sender = &mut self.hosts.senders[end as usize];
        let counters = &mut self.out.counters[sender.transport as usize];
        counters.rtt.record(rtt);
        sender.acks += 1;
        let (completed, wants) = sender.sender.handle_ack(now, received, &ack);
        let waits = sender.waiting;
        if completed > 0 && sender.writes {
            self.end_acknowledged(plan, host, end, completed);
            return self.serve(plan, host, end);
        }
        self.serve_wants(plan, host, end, waits, wants);
    }

    /// An acknowledgement that says more than fits an event has reached the sender by the way back of a route.
    pub(super) fn acknowledge_pooled(
        &mut self,
        plan: &Plan,
        host: u32,
        end: u32,
        route: u32,
        ack: Ack,
        received: Time,
    ) {
        if plan.watches_acks {
            self.watch_ack(plan, end, route, &ack, received);
        }
        self.acknowledge(plan, host, end, ack, received);
    }

    /// Learns what a sender does not learn itself from an acknowledgement: how its round trip splits, how long it is where
    /// the sender is metered, and of the path that its packet took.
    #[inline(never)]
    fn watch_ack(&mut self, plan: &Plan, end: u32, route: u32, ack: &Ack, received: Time) {
        let now = self.out.time();
        let sender = &mut self.hosts.senders[end as usize];
        if plan.splits_rtt {
            let in_hosts = ack.remote_queuing() + now.since(received);
            self.out.counters[sender.transport as usize].split_rtt(now.since(ack.echo), in_hosts);
        }
        sender.sender.note_round_trip(now.since(ack.echo));
        let marked = ack.congestion_experienced;
        sender.note_path(now, route, if marked { PathFeedback::Marked } else { PathFeedback::Good });
    }

    /// A congestion notification has reached the sender. It is counted among the acknowledgements, whose way it takes, and
    /// is no sample of the round-trip time.
    #[cold]
    fn notify(&mut self, plan: &Plan, host: u32, end: u32) {
        let now = self.out.time();
        let sender = &mut self.hosts.senders[end as usize];
        sender.acks += 1;
        sender.sender.handle_notice(now, Notice::Congestion);
        self.serve(plan, host, end);
    }

    pub(super) fn start(&mut self, plan: &Plan, host: u32, end: u32) {
        let sender = &mut self.hosts.senders[end as usize];
        match plan.specs[sender.flow as usize].demand {
            Demand::Sized(bytes) => sender.sender.handle_message(bytes),
            Demand::Endless => sender.sender.handle_endless(),
            Demand::ClosedLoop(_) => self.hosts.start_loop(plan, &mut self.out, end),
            Demand::OpenLoop(_) | Demand::Messages => {}
        }
        self.serve(plan, host, end);
    }

    pub(super) fn stop(&mut self, plan: &Plan, host: u32, end: u32) {
        self.hosts.senders[end as usize].sender.handle_stop();
        self.serve(plan, host, end);
    }

    pub(super) fn pace(&mut self, plan: &Plan, host: u32, end: u32) {
        let now = self.out.time();
        let sender = &mut self.hosts.senders[end as usize];
        if sender.pace_at == now {
            sender.pace_at = Time::NEVER;
            self.serve(plan, host, end);
        }
    }

    /// Timers are lazy: one entry a flow, which comes back when the time has moved on meanwhile.
    pub(super) fn time_out(&mut self, plan: &Plan, host: u32, end: u32) {
        let now = self.out.time();
        let sender = &mut self.hosts.senders[end as usize];
        if sender.timer_at != now {
            return;
        }
        sender.timer_at = Time::NEVER;
        match sender.sender.poll_timeout() {
            Some(at) if at <= now => {
                let spec = &plan.specs[sender.flow as usize];
                if sender.sender.is_drained() && matches!(spec.demand, Demand::Sized(_)) {
                    // The flow is over; only its congestion control would go on. A late acknowledgement arms nothing, either.
                    sender.timer_at = Time::ZERO;
                    return;
                }
                sender.handle_timeout(now);
                self.serve(plan, host, end);
            }
            _ => self.hosts.arm_timer(&mut self.out, end),
        }
    }

    /// Asks a sender anew whether it has something to send, and when it wants its timer.
    pub(super) fn serve(&mut self, plan: &Plan, host: u32, end: u32) {
        let sender = &self.hosts.senders[end as usize];
        self.serve_wants(plan, host, end, sender.waiting, sender.sender.wants(self.out.time()));
    }

    /// Sees to what a sender wants, whose flow `waits` for the NIC or does not.
    #[inline(always)]
    fn serve_wants(&mut self, plan: &Plan, host: u32, end: u32, waits: bool, wants: Wants) {
        if waits {
            if !self.hosts.slots.is_empty() {
                self.offer_anew(plan, host, end);
                return self.hosts.arm_timer(&mut self.out, end);
            }
        } else {
            match wants.readiness {
                Readiness::Ready => return self.send_or_wait(plan, host, end),
                Readiness::At(at) => self.hosts.arm_pace(&mut self.out, end, at),
                Readiness::Idle => (),
            }
        }
        self.hosts.arm_timer_at(&mut self.out, end, wants.timeout);
    }
}

/// What an acknowledgement says that fits its event.
#[inline(always)]
fn plain_ack(frame: &Frame) -> Ack {
    Ack {
        seq: frame.seq(),
        cumulative: frame.seq() + 1,
        sack: 0,
        echo: Time::from_ps(frame.stamp),
        congestion_experienced: frame.meta.contains(Meta::CE),
        hops: frame.meta.echoed_hops() as u8,
        remote_queuing_us: 0,
    }
}
