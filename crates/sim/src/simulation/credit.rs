//! Credit that receivers grant, on its way: data packets say what their senders ask for, and the pacer of the receiving NIC answers
//! with pulls. See [`clearway_proto::baseline::uec::rccc`].
//!
//! What a data packet asks for does not fit its event: it is a parcel, whose place the frame holds instead of its sequence number.
//! A switch that cuts the packet leaves the parcel as it is.

use clearway_proto::machine::Readiness;
use clearway_proto::transport::Notice;
use clearway_proto::units::Time;

use super::domain::Domain;
use super::hosts::Hosts;
use super::out::Out;
use super::parcels::{Asking, Parcel};
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind, Meta};
use crate::host::round::NO_FLOW;

impl Hosts {
    /// Gives a data frame that a flow has just made its route, and what it asks for where the flow's receiver grants credit. Returns
    /// route and sequence number, and flags that are to be added.
    #[inline(never)]
    pub(super) fn direct(
        &mut self,
        plan: &Plan,
        out: &mut Out,
        (host, end): (u32, u32),
        seq: u32,
    ) -> (u64, u32) {
        let sender = &mut self.senders[end as usize];
        let route =
            u64::from(sender.one_of_routes(&plan.makers[sender.transport as usize], out.time())) << 32;
        if !sender.asks() {
            return (route | u64::from(seq), 0);
        }
        let senders = 1 + self.flows_that_wait(plan, host);
        let ask = self.senders[end as usize].sender.ask(senders);
        let place = out.parcels.put(Parcel::Asking(Asking { seq, ask }));
        (route | u64::from(place), Meta::POOLED)
    }

    /// Flows of a host that wait for its NIC.
    fn flows_that_wait(&self, plan: &Plan, host: u32) -> u32 {
        let first = self.all[host as usize].rounds as usize;
        let mut count = 0;
        for round in &self.rounds[first..first + plan.queues()] {
            let mut end = round.first;
            while end != NO_FLOW {
                count += 1;
                end = self.senders[end as usize].next_waiting;
            }
        }
        count
    }
}

impl Domain {
    /// A data packet has reached its destination, or its header alone, which says what its sender asks for.
    pub(super) fn take_asking(
        &mut self,
        plan: &Plan,
        host: u32,
        end: u32,
        frame: &Frame,
        asking: Asking,
        received: Time,
    ) {
        let Asking { seq, ask } = asking;
        let cut = frame.meta.trimmed_after().is_some();
        if cut {
            self.take_header_alone(plan, host, end, frame, seq, received);
        } else {
            let route_seq = u64::from(frame.route()) << 32 | u64::from(seq);
            let frame = Frame { route_seq, meta: frame.meta.without(Meta::POOLED), ..*frame };
            self.receive_data(plan, host, end, &frame, received);
        }
        let place = self.hosts.pulls.place(end);
        self.hosts.pulls.nics[place.nic as usize].pacer.handle_ask(place.flow, &ask, cut);
        self.grant_credit(plan, host, place.nic);
    }

    /// A NIC's pacer may have something to grant.
    pub(super) fn wake_pacer(&mut self, plan: &Plan, host: u32, nic: u32) {
        let now = self.out.time();
        let of = &mut self.hosts.pulls.nics[nic as usize];
        if of.wakes_at == now {
            of.wakes_at = Time::NEVER;
            self.grant_credit(plan, host, nic);
        }
    }

    /// Sends what a NIC's pacer grants now, and sees to it that it wakes when it grants more.
    fn grant_credit(&mut self, plan: &Plan, host: u32, nic: u32) {
        let now = self.out.time();
        loop {
            let of = &mut self.hosts.pulls.nics[nic as usize];
            match of.pacer.readiness(now) {
                Readiness::Ready => {
                    let pull = of.pacer.transmit(now);
                    let end = of.ends[pull.flow as usize];
                    self.send_pull(plan, host, end, pull.granted);
                }
                Readiness::At(at) => {
                    if of.wakes_at != at {
                        of.wakes_at = at;
                        self.out.schedule(Event::bare(at.as_ps(), Kind::Pull, nic));
                    }
                    return;
                }
                Readiness::Idle => return,
            }
        }
    }

    /// A receiver tells the sender how much it has granted. That is a frame on the way of acknowledgements, and counts as one.
    fn send_pull(&mut self, plan: &Plan, host: u32, end: u32, granted: u64) {
        let place = self.out.parcels.put(Parcel::Pull(granted));
        let receiver = &mut self.hosts.receivers[end as usize];
        receiver.acks += 1;
        let size = plan.makers[receiver.transport as usize].ack_frame;
        let route_seq = u64::from(receiver.route) << 32 | u64::from(place);
        let meta = Meta::new(size, Meta::ACK | Meta::POOLED);
        self.release(plan, host, end, Frame { stamp: self.out.now, route_seq, meta });
    }

    /// The sender is told how much its receiver has granted.
    pub(super) fn take_pull(&mut self, plan: &Plan, host: u32, end: u32, granted: u64) {
        let now = self.out.time();
        let sender = &mut self.hosts.senders[end as usize];
        sender.acks += 1;
        sender.sender.handle_notice(now, Notice::Pull(granted));
        self.serve(plan, host, end);
    }
}
