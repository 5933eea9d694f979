//! The hosts of a domain: the ends of flows, which of them wait for a NIC, and what else stands between a flow and its NIC.

use clearway_proto::transport::Ack;
use clearway_proto::units::Time;

use super::jobs::Jobs;
use super::operations::Operations;
use super::out::Out;
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind};
use crate::host::clock::HostClocks;
use crate::host::ends::{ReceivingEnd, SendingEnd};
use crate::host::processors::Processors;
use crate::host::pulls::Pulls;
use crate::host::round::{Round, NO_FLOW};
use crate::host::slots::{Offer, Slots};
use crate::net::scheduling::{only, ClassSet};
use crate::schemes::Wants;

/// No host, or no processor.
pub(super) const NONE: u32 = u32::MAX;

/// The hosts of a domain.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Where each host's parts stand.
    pub all: Vec<HostState>,
    /// The flows that wait for a NIC, by host and class.
    pub rounds: Vec<Round>,
    pub senders: Vec<SendingEnd>,
    pub receivers: Vec<ReceivingEnd>,
    pub processors: Processors,
    /// The clocks of hosts whose transports read them.
    pub clocks: Vec<HostClocks>,
    /// What waits for timeslots at each host that has an endpoint.
    pub slots: Vec<Slots>,
    /// What each sending end has offered to be sent in timeslots; empty where no host has an endpoint.
    pub offers: Vec<Offer>,
    pub operations: Operations,
    /// The ranks of jobs that are here.
    pub jobs: Jobs,
    /// The NICs whose receivers grant credit.
    pub pulls: Pulls,
    /// Sized flows that end in this domain and are not complete.
    pub incomplete: usize,
    /// A NIC may catch up.
    pub nics_catch_up: bool,
}

/// A host: where its parts stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostState {
    /// The port of its NIC.
    pub nic: u32,
    /// The first of its rounds.
    pub rounds: u32,
    /// Its processor; [`NONE`] where work takes no time.
    pub processor: u32,
    /// Its clocks; [`NONE`] where its transports know the exact time.
    pub clocks: u32,
    /// What waits here for timeslots; [`NONE`] where no endpoint is.
    pub slots: u32,
    /// How long a read is served here before it is answered, in picoseconds.
    pub operation_service: u64,
    /// A flow of it that has sent and is ready again goes on before the others.
    pub fifo: bool,
    /// A plain NIC is to wake when it is free.
    pub armed: bool,
}

impl HostState {
    /// Returns whether nothing stands between its flows and its NIC: no processor and no endpoint.
    #[inline(always)]
    pub fn has_but_a_nic(&self) -> bool {
        // In `NONE` all bits are set.
        self.processor & self.slots == NONE
    }
}

impl Hosts {
    /// The round in which a flow of this host waits.
    #[inline]
    pub fn round_of(&self, plan: &Plan, host: u32, end: u32) -> usize {
        let class = plan.class_of_data(self.senders[end as usize].flow);
        self.all[host as usize].rounds as usize + class
    }

    /// Puts a flow at the end of those that wait for its NIC.
    #[inline]
    pub fn wait(&mut self, plan: &Plan, host: u32, end: u32) {
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
    pub fn wait_again(&mut self, plan: &Plan, host: u32, end: u32) {
        if !self.all[host as usize].fifo {
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
    pub fn take_turn(&mut self, round: usize) -> Option<u32> {
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
    pub fn next_frame(&mut self, plan: &Plan, out: &mut Out, host: u32, end: u32) -> Frame {
        self.next_frame_and_wants(plan, out, host, end).0
    }

    /// The next packet of a flow of this host, as a frame, and what the flow wants when it has sent that.
    #[inline(always)]
    pub fn next_frame_and_wants(
        &mut self,
        plan: &Plan,
        out: &mut Out,
        host: u32,
        end: u32,
    ) -> (Frame, Wants) {
        let sender = &mut self.senders[end as usize];
        let (mut frame, wants) = sender.transmit(&plan.makers[sender.transport as usize], out.time());
        if !sender.is_plain() {
            let (route_seq, flags) = self.direct(plan, out, (host, end), frame.seq());
            frame = Frame { route_seq, meta: frame.meta.with(flags), ..frame };
        }
        (frame, wants)
    }

    /// The classes of a host in whose rounds flows wait.
    pub fn asking(&self, plan: &Plan, host: u32) -> ClassSet {
        let first = self.all[host as usize].rounds as usize;
        let waits = |(class, round): (usize, &Round)| if round.has_waiting() { only(class) } else { 0 };
        self.rounds[first..first + plan.queues()].iter().enumerate().map(waits).fold(0, |all, one| all | one)
    }

    /// A message has arrived whole; for a sized flow that is all of it. Returns whether a sized flow is complete with it.
    pub fn complete(&mut self, end: u32, now: Time) -> bool {
        let receiver = &mut self.receivers[end as usize];
        let is_first = receiver.sized && receiver.completed_at == Time::NEVER;
        if is_first {
            receiver.completed_at = now;
            self.incomplete -= 1;
        }
        is_first
    }

    /// Returns whether work takes no time at a host. Mostly, it takes none at any, and then a host need not be asked.
    #[inline(always)]
    pub fn works_in_no_time(&self, host: u32) -> bool {
        self.processors.all.is_empty() || self.all[host as usize].processor == NONE
    }

    /// When a packet arrived at the NIC, as this host's clocks have it.
    #[inline(always)]
    pub fn arrival_as_read(&mut self, host: u32, now: Time, received: Time) -> Time {
        if self.clocks.is_empty() {
            return received;
        }
        match self.all[host as usize].clocks {
            NONE => received,
            clocks => self.clocks[clocks as usize].arrival(now, received),
        }
    }

    /// When an acknowledgement arrived at the NIC, as this host's clocks have it, and as they have the time at which its
    /// packet was sent, which its echo then says.
    #[inline(always)]
    pub fn stamps_as_read(&mut self, host: u32, now: Time, received: Time, ack: &mut Ack) -> Time {
        if self.clocks.is_empty() {
            return received;
        }
        match self.all[host as usize].clocks {
            NONE => received,
            clocks => {
                let stamps = self.clocks[clocks as usize].stamps(now, ack.echo, received);
                ack.echo = stamps.echo;
                stamps.received
            }
        }
    }

    /// When a packet was sent and when what is said of it arrived at the NIC, as this host's clocks have them.
    pub fn nack_as_read(&mut self, host: u32, now: Time, received: Time, echo: Time) -> (Time, Time) {
        match self.all[host as usize].clocks {
            NONE => (echo, received),
            clocks => {
                let stamps = self.clocks[clocks as usize].stamps(now, echo, received);
                (stamps.echo, stamps.received)
            }
        }
    }

    #[inline]
    pub fn arm_pace(&mut self, out: &mut Out, end: u32, at: Time) {
        let sender = &mut self.senders[end as usize];
        if sender.pace_at != at {
            sender.pace_at = at;
            out.schedule(Event::bare(at.as_ps(), Kind::Pace, end));
        }
    }

    #[inline]
    pub fn arm_timer(&mut self, out: &mut Out, end: u32) {
        let timeout = self.senders[end as usize].sender.poll_timeout();
        self.arm_timer_at(out, end, timeout);
    }

    /// Sees to it that a flow has its timer at this time, or before it.
    #[inline(always)]
    pub fn arm_timer_at(&mut self, out: &mut Out, end: u32, timeout: Option<Time>) {
        let sender = &mut self.senders[end as usize];
        if let Some(at) = timeout {
            if at < sender.timer_at {
                sender.timer_at = at;
                out.schedule(Event::bare(at.as_ps(), Kind::Timeout, end));
            }
        }
    }
}
