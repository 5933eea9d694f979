//! The sending machine: gives out packets as window and pacing allow, learns from acknowledgements what has
//! arrived and what is lost, and sends lost packets again before new ones. How much it may send is the congestion
//! control's part, what is lost the [`Recovery`]'s.

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

/// How many packets there are of each kind.
#[derive(Clone, Copy, Debug)]
struct Packets {
    under_way: u32,
    /// Given up, waiting to be sent again.
    lost: u32,
    /// See [`Recovery::asks`].
    asks: bool,
}

impl Packets {
    /// Returns whether the retransmission timer has something to wait for: packets are under way, and the one that asks whether
    /// they are lost has left.
    fn is_waited_for(&self) -> bool {
        self.under_way > 0 && !self.asks
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

    /// Returns what an acknowledgement changed, and whether the timer has something to wait for after it.
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

    /// Returns whether a packet may be sent.
    #[inline]
    pub fn readiness(&self, now: Time) -> Readiness {
        let packets = self.packets();
        let fresh = self.next < self.end && self.next - self.una < self.common.reach;
        if !fresh && packets.lost == 0 {
            return Readiness::Idle;
        }
        let shared = &self.common.control;
        // At least one packet may always be under way; the spacing makes up for a window below one.
        if f64::from(packets.under_way + 1) > self.control.window(shared).max(1.0) && !packets.asks {
            return Readiness::Idle;
        }
        match self.control.pacing_gap(shared) {
            Some(gap) if self.next > 0 && now < self.last_send + gap => Readiness::At(self.last_send + gap),
            _ => Readiness::Ready,
        }
    }

    /// Packets that window and application let be sent one after the other from now on, however they are spaced.
    pub fn sendable(&self) -> u32 {
        let packets = self.packets();
        let offered = self.rare.as_ref().and_then(|rare| rare.messages.offered()).unwrap_or(self.end);
        let reachable = self.una.saturating_add(self.common.reach);
        let fresh = offered.min(reachable).saturating_sub(self.next);
        let window = self.control.window(&self.common.control).max(1.0);
        let room = (window as u32).saturating_sub(packets.under_way);
        room.max(u32::from(packets.asks)).min(packets.lost + fresh)
    }

    /// Returns which packets those are.
    pub fn offered(&self) -> Offered {
        let sendable = self.sendable();
        let lost = sendable.min(self.packets().lost);
        Offered { lost, next: self.next, until: self.next + (sendable - lost) }
    }

    /// Payload of packet `seq`, which has not been sent, and how many packets from it on are offered in a row that have as much.
    ///
    /// Panics if the application has not offered it.
    pub fn payload_from(&self, seq: u32) -> (u32, u32) {
        let current = Boundary { end: self.end, tail: self.tail };
        let message = if seq < self.end { Some(current) } else { self.waiting_message(seq) };
        let Boundary { end, tail } = message.expect("a packet that is offered");
        match end - seq {
            1 if tail > 0 => (tail, 1),
            packets => (self.common.mtu, packets - u32::from(tail > 0)),
        }
    }

    #[cold]
    fn waiting_message(&self, seq: u32) -> Option<Boundary> {
        self.rare.as_ref()?.messages.waiting_at(seq)
    }

    /// The most payload that the next packet can have, in bytes: what it has, unless it is one sent again.
    pub fn next_payload(&self) -> u32 {
        let fresh = self.is_calm() || self.packets().lost == 0;
        if fresh && self.tail > 0 && self.next + 1 == self.end {
            self.tail
        } else {
            self.common.mtu
        }
    }

    /// The next packet: a lost one, the lowest first, or else a new one. To be called when [`Self::readiness`] is
    /// `Ready`; panics when there is nothing to send.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time) -> Data {
        let retransmit = !self.is_calm() && self.packets().lost > 0;
        let (seq, (payload, last)) = if retransmit { self.retransmit() } else { self.transmit_new() };
        let data = Data { seq, payload, last, sent: now };
        self.last_send = now;
        self.control.on_sent(&self.common.control, now, &data);
        if self.timeout == Time::NEVER {
            self.arm(now);
        }
        data
    }

    /// Sets the timer for the first packet under way.
    fn arm(&mut self, now: Time) {
        let timeouts = self.repair().map_or(0, |repair| repair.timeouts_in_a_row);
        self.timeout = now + self.control.retransmission_timeout(&self.common.control, timeouts);
    }

    #[inline]
    fn transmit_new(&mut self) -> (u32, (u32, bool)) {
        assert!(self.next < self.end, "nothing to send");
        let seq = self.next;
        self.next += 1;
        let whole = if self.next == self.end { self.finish_message() } else { (self.common.mtu, false) };
        (seq, whole)
    }

    /// The packet just sent ends what was begun last. Returns its payload and whether it ends a message.
    #[cold]
    fn finish_message(&mut self) -> (u32, bool) {
        let tail = self.tail;
        let following = self.rare.as_mut().and_then(|rare| rare.messages.pop_waiting());
        if let Some(message) = following {
            self.begin(message);
        }
        if tail > 0 {
            (tail, true)
        } else {
            (self.common.mtu, false)
        }
    }

    #[cold]
    fn retransmit(&mut self) -> (u32, (u32, bool)) {
        let (una, next) = (self.una, self.next);
        let repair = self.repair_mut();
        let seq = repair.recovery.take_lost(una, next).expect("packets are lost");
        repair.retransmissions += 1;
        let newest = Some(self.tail).filter(|&tail| tail > 0 && seq + 1 == self.end);
        let tail = newest.or_else(|| self.rare().messages.tail_at(seq + 1));
        (seq, tail.map_or((self.common.mtu, false), |tail| (tail, true)))
    }

    /// Packets under way and given up.
    #[inline]
    fn packets(&self) -> Packets {
        if self.is_calm() {
            Packets { under_way: self.next - self.una, lost: 0, asks: false }
        } else {
            self.packets_in_trouble()
        }
    }

    #[cold]
    fn packets_in_trouble(&self) -> Packets {
        let recovery = &self.repair().expect("who is not calm has something to repair").recovery;
        Packets {
            under_way: recovery.under_way(self.una, self.next),
            lost: recovery.lost(self.next),
            asks: recovery.asks(),
        }
    }
}

fn rare_of<R>(rare: &mut Option<Box<Rare<R>>>) -> &mut Rare<R> {
    rare.get_or_insert_with(|| Box::new(Rare { messages: Messages::default(), repair: None }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::none::NoneParams;
    use crate::transport::{Path, Scheme};
    use crate::units::Rate;

    fn ack(seq: u32, cumulative: u32) -> Ack {
        Ack {
            seq,
            cumulative,
            sack: 0,
            echo: Time::ZERO,
            congestion_experienced: false,
            hops: 1,
            remote_queuing_us: 0,
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn what_every_packet_touches_comes_first() {
        use crate::swift::control::Swift;
        use crate::transport::recovery::SelectiveRepeat;

        type SwiftSender = Sender<Swift, SelectiveRepeat>;
        assert_eq!(std::mem::offset_of!(SwiftSender, control), 40);
        assert_eq!(std::mem::offset_of!(SwiftSender, control) + Swift::TOUCHED_BY_ALL, 104);
        assert_eq!(size_of::<SwiftSender>(), 144);
    }

    #[test]
    fn acknowledgements_that_cannot_be_are_ignored() {
        let mut sender = NoneParams::default().sender(1500, Path::new(Bytes::new(1500), Rate::from_gbps(10)));
        sender.handle_endless();
        for _ in 0..2 {
            sender.transmit(Time::ZERO);
        }
        let timeout = sender.poll_timeout();
        // Of packets never sent, and of the arrival of the packet that it says is missing.
        for (seq, cumulative) in [(2, 2), (2, 0), (0, 3), (0, 0), (1, 1)] {
            assert!(!sender.believes(&ack(seq, cumulative)));
            sender.handle_ack(Time::ZERO, Time::ZERO, &ack(seq, cumulative));
            assert_eq!((sender.flight().inflight, sender.poll_timeout()), (2, timeout));
        }
        sender.handle_ack(Time::ZERO, Time::ZERO, &ack(1, 2));
        assert_eq!((sender.flight().inflight, sender.poll_timeout()), (0, None));
    }
}
