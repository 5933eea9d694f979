//! The sending machine: gives out packets as window and pacing allow, learns from acknowledgements what has
//! arrived and what is lost, and sends lost packets again before new ones. How much it may send is the congestion
//! control's part, what is lost the [`Recovery`]'s.

mod nack;
mod sending;

use std::sync::Arc;

use super::message::{Boundary, Messages};
use super::recovery::{Change, Recovery};
use super::{Ack, AckSample, CongestionControl, Data, Notice, Timeout, Windows};
use crate::machine::Readiness;
use crate::units::{Bytes, Span, Time};

/// What the senders of one transport share: `S` is the congestion control's part, `R` the recovery.
#[derive(Clone, Debug)]
pub struct Common<S, R> {
    /// Largest payload of a packet, in bytes.
    pub mtu: u32,
    /// How many packets may be sent from the lowest unacknowledged one on.
    pub reach: u32,
    /// See [`Scheme::recovery`](super::Scheme::recovery).
    pub recovery: R,
    /// See [`CongestionControl::Shared`].
    pub control: S,
}

/// A sender of one flow under the congestion control `C`, which recovers from loss by `R`.
///
/// The order of the fields is kept. First comes what every packet and every acknowledgement touches, then the control,
/// then what few of them do: of a flow to which nothing happens, a driver then takes up two lines of memory at a time.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender<C: CongestionControl, R: Recovery> {
    common: Arc<Common<C::Shared, R>>,
    /// Next packet never sent before.
    next: u32,
    /// Lowest packet not cumulatively acknowledged.
    una: u32,
    /// First packet after the message begun last, which is the only one in most flows; `u32::MAX` for data without end.
    end: u32,
    /// While the sender [is calm](Self::is_calm): the end of the oldest message not known to be wholly acknowledged, or
    /// `u32::MAX` without one. Else 0. So one comparison tells that there is nothing to look up.
    calm_until: u32,
    last_send: Time,
    /// When what is under way counts as lost; [`Time::NEVER`] while nothing is.
    timeout: Time,
    control: C,
    /// Payload of the last packet of the message begun last; 0 when it is known to be wholly acknowledged, and for data
    /// without end.
    tail: u32,
    rare: Option<Box<Rare<R>>>,
}

/// What most flows have no need of, made for the first of them that comes, and kept.
#[derive(Clone, Debug)]
struct Rare<R> {
    messages: Messages,
    /// Made when the first acknowledgement out of order or timeout comes.
    repair: Option<Repair<R>>,
}

/// What a sender knows of packets that did not fare well, and how often that was.
#[derive(Clone, Debug)]
struct Repair<R> {
    recovery: R,
    retransmissions: u32,
    timeouts: u32,
    /// Timeouts since the last acknowledgement.
    timeouts_in_a_row: u32,
}

impl<R: Recovery> Repair<R> {
    /// Nothing is left of what went wrong but the counters.
    fn is_over(&self) -> bool {
        self.recovery.is_over() && self.timeouts_in_a_row == 0
    }
}

/// A sender's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// Packets sent, retransmissions too.
    pub sent: u64,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Times the retransmission timer ran out.
    pub timeouts: u32,
    /// Packets under way.
    pub inflight: u32,
}

/// What a sender may send now, one packet after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Packets sent again, which go first. Their payloads are not known before.
    pub lost: u32,
    /// The first packet never sent.
    pub next: u32,
    /// The first packet after it that may not be sent.
    pub until: u32,
}

impl<C: CongestionControl, R: Recovery> Sender<C, R> {
    /// A sender with nothing to send yet. Panics on an MTU or a reach of zero.
    pub fn new(common: Arc<Common<C::Shared, R>>) -> Sender<C, R> {
        assert!(common.mtu > 0 && common.reach > 0, "an MTU or a reach of zero");
        Sender {
            control: C::new(&common.control),
            common,
            next: 0,
            una: 0,
            end: 0,
            calm_until: u32::MAX,
            last_send: Time::ZERO,
            timeout: Time::NEVER,
            tail: 0,
            rare: None,
        }
    }

    /// The congestion control, to be looked at.
    pub fn control(&self) -> &C {
        &self.control
    }

    /// Returns how long the retransmission timer waits from now on, if no timeout comes before.
    pub fn retransmission_timeout(&self) -> Span {
        self.control.retransmission_timeout(&self.common.control, 0)
    }

    /// Returns what the congestion control lets be seen.
    pub fn windows(&self) -> Windows {
        self.control.windows(&self.common.control)
    }

    /// The counters.
    pub fn flight(&self) -> Flight {
        let (retransmissions, timeouts) =
            self.repair().map_or((0, 0), |repair| (repair.retransmissions, repair.timeouts));
        let sent = u64::from(self.next) + u64::from(retransmissions);
        Flight { sent, retransmissions, timeouts, inflight: self.packets().under_way }
    }

    /// The application has a message of `bytes` to send. Panics on an empty one, and when the flow's packets
    /// would be more than 2^32 - 2.
    pub fn handle_message(&mut self, bytes: Bytes) {
        let waiting = self.rare.as_ref().and_then(|rare| rare.messages.offered());
        let message = Boundary::new(bytes.get(), waiting.unwrap_or(self.end), self.common.mtu);
        if self.next == self.end {
            self.control.on_more(&self.common.control);
            self.begin(message);
            self.look_around();
        } else {
            self.rare().messages.push_waiting(message);
        }
    }

    /// Everything that the application has offered is acknowledged.
    pub fn is_drained(&self) -> bool {
        self.una == self.end
    }

    /// The application has data without end.
    pub fn handle_endless(&mut self) {
        if self.next == self.end {
            self.control.on_more(&self.common.control);
            self.begin(Boundary { end: u32::MAX, tail: 0 });
        } else if self.end != u32::MAX {
            self.rare().messages.set_endless(true);
        }
    }

    /// The application's data without end has ended. Messages of a size are not cut.
    pub fn handle_stop(&mut self) {
        if self.end == u32::MAX {
            self.end = self.next;
        } else if let Some(rare) = &mut self.rare {
            rare.messages.set_endless(false);
        }
    }

    /// Begins a message when the one before is wholly sent.
    fn begin(&mut self, message: Boundary) {
        let before = Boundary { end: self.end, tail: self.tail };
        if before.tail > 0 {
            self.rare().messages.push_sent(before);
        }
        (self.end, self.tail) = (message.end, message.tail);
    }

    fn rare(&mut self) -> &mut Rare<R> {
        rare_of(&mut self.rare)
    }

    /// Returns whether an acknowledgement can be: it speaks of no packet never sent, and of no arrival that it denies.
    #[inline]
    pub fn believes(&self, ack: &Ack) -> bool {
        ack.cumulative <= self.next && ack.seq < self.next && ack.seq != ack.cumulative
    }

    /// An acknowledgement arrived at the NIC at `received` (t5) and is processed `now` (t6), or a congestion
    /// notification. An acknowledgement that cannot be is ignored.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) {
        if !self.believes(ack) {
            if ack.is_notification() {
                self.handle_notice(now, Notice::Congestion);
            }
            return;
        }
        let plain = self.is_calm() && ack.seq < ack.cumulative && ack.sack == 0 && ack.cumulative >= self.una;
        let (change, waited_for) = if plain {
            let acked = ack.cumulative - self.una;
            self.una = ack.cumulative;
            (Change { acked, lost: 0, nack: false }, self.next > self.una)
        } else {
            self.consult_recovery(ack)
        };
        let sample = AckSample {
            rtt: now.since(ack.echo),
            endpoint_delay: ack.remote_queuing() + now.since(received),
            hops: ack.hops,
            newly_acked: change.acked,
            congestion_experienced: ack.congestion_experienced,
            cumulative: self.una,
            next: self.next,
        };
        let shared = &self.common.control;
        self.control.on_ack(shared, now, &sample);
        if change.nack {
            self.control.on_notice(shared, now, Notice::Nack { cumulative: self.una, next: self.next });
        }
        if change.lost > 0 {
            self.control.on_loss(shared, now, self.una, self.next);
        }
        if !waited_for {
            // Lost packets and a probe that wait to be sent again are not waited for: the first one sent arms it anew.
            self.timeout = Time::NEVER;
        } else if change.acked > 0 {
            self.timeout = now + self.control.retransmission_timeout(shared, 0);
        }
    }

    /// What switches have written into the packet that caused this acknowledgement, which [`Self::handle_ack`] is to get next.
    pub fn handle_telemetry(&mut self, now: Time, ack: &Ack, telemetry: &C::Telemetry) {
        if self.believes(ack) {
            let cumulative = self.una.max(ack.cumulative);
            self.control.on_telemetry(&self.common.control, now, telemetry, cumulative, self.next);
        }
    }

    /// What an acknowledgement changed, and whether the timer has something to wait for after it.
    #[cold]
    fn consult_recovery(&mut self, ack: &Ack) -> (Change, bool) {
        let (una, next) = (self.una, self.next);
        let repair = self.repair_mut();
        repair.timeouts_in_a_row = 0;
        let change = repair.recovery.handle_ack(una, next, ack);
        self.una = una.max(ack.cumulative);
        self.look_around();
        (change, self.packets().is_waited_for())
    }

    fn repair(&self) -> Option<&Repair<R>> {
        self.rare.as_ref()?.repair.as_ref()
    }

    fn repair_mut(&mut self) -> &mut Repair<R> {
        let Sender { common, rare, .. } = self;
        rare_of(rare).repair.get_or_insert_with(|| Repair {
            recovery: common.recovery.clone(),
            retransmissions: 0,
            timeouts: 0,
            timeouts_in_a_row: 0,
        })
    }

    /// Every packet from `una` on is under way as far as is known, and an acknowledgement came since the last timeout.
    #[inline]
    fn is_calm(&self) -> bool {
        self.calm_until > 0
    }

    /// Computes anew until when the sender is calm, after a change of what is known of packets or of the oldest message.
    fn look_around(&mut self) {
        let calm = self.repair().is_none_or(Repair::is_over);
        let oldest = self.rare.as_ref().and_then(|rare| rare.messages.oldest_end());
        let newest = if self.tail > 0 { self.end } else { u32::MAX };
        self.calm_until = if calm { oldest.unwrap_or(newest) } else { 0 };
    }

    /// Something was said of the flow that is no acknowledgement, such as that it meets congestion.
    pub fn handle_notice(&mut self, now: Time, notice: Notice) {
        self.control.on_notice(&self.common.control, now, notice);
    }

    /// The driver knows that the last transmission of a packet was lost; `again` if that was not its first.
    pub fn handle_lost(&mut self, seq: u32, again: bool) {
        if seq < self.una || seq >= self.next {
            return;
        }
        let (una, next) = (self.una, self.next);
        self.repair_mut().recovery.mark_lost(una, next, seq, again);
        self.look_around();
        if self.packets().under_way == 0 {
            // Armed anew by the transmission that follows.
            self.timeout = Time::NEVER;
        }
    }

    /// A timer may have run out: the congestion control's or the one for retransmission.
    pub fn handle_timeout(&mut self, now: Time) {
        let shared = &self.common.control;
        if self.control.poll_timer(shared).is_some_and(|at| at <= now) {
            self.control.handle_timer(shared, now);
            let moved_on = self.control.poll_timer(shared).is_none_or(|at| at > now);
            assert!(moved_on, "a congestion control's timer that does not move on");
        }
        if now >= self.timeout {
            self.run_out(now);
        }
    }

    /// The retransmission timer has run out.
    fn run_out(&mut self, now: Time) {
        let (cumulative, next) = (self.una, self.next);
        let in_a_row = self.repair().map_or(0, |repair| repair.timeouts_in_a_row) + 1;
        let timeout = Timeout { in_a_row, cumulative, next };
        if let Some(at) = self.control.postpone(&self.common.control, now, &timeout) {
            assert!(at > now, "a timeout that is postponed to the past");
            self.timeout = at;
            return;
        }
        let repair = self.repair_mut();
        repair.recovery.give_up(now, cumulative, next);
        repair.timeouts += 1;
        repair.timeouts_in_a_row = in_a_row;
        self.look_around();
        self.control.on_timeout(&self.common.control, now, &timeout);
        if self.packets().is_waited_for() {
            self.arm(now);
        } else {
            // Armed anew by the transmission that follows.
            self.timeout = Time::NEVER;
        }
    }

    /// Returns when [`Self::handle_timeout`] is wanted.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        let first = match self.control.poll_timer(&self.common.control) {
            Some(at) => at.min(self.timeout),
            None => self.timeout,
        };
        (first != Time::NEVER).then_some(first)
    }

    /// Messages wholly acknowledged since this was last asked.
    #[inline]
    pub fn poll_completed(&mut self) -> u32 {
        if self.una < self.calm_until {
            return 0;
        }
        self.count_completed()
    }

    #[inline(never)]
    fn count_completed(&mut self) -> u32 {
        let mut completed = self.rare.as_mut().map_or(0, |rare| rare.messages.acknowledge(self.una));
        if self.tail > 0 && self.end <= self.una {
            self.tail = 0;
            completed += 1;
        }
        self.look_around();
        completed
    }
}

fn rare_of<R>(rare: &mut Option<Box<Rare<R>>>) -> &mut Rare<R> {
    rare.get_or_insert_with(|| Box::new(Rare { messages: Messages::default(), repair: None }))
}

#[cfg(test)]
mod tests;
