//! NSCC, network-signalled congestion control: a window from queuing delay and ECN marks, for packets on many paths and for
//! switches that trim (ultraethernet/uet-htsim, `htsim/sim/uec.cpp`, whose functions are named here).
//!
//! Mark and delay together say what to do: neither, grow in proportion to the delay that is left; delay alone, grow a little;
//! both, shrink; a mark alone, only take another path. Where much is trimmed the window becomes what has arrived in the last
//! round trip (quick adapt). htsim counts bytes, and here everything is counted in full packets.

use super::parameters::NsccParams;
use crate::transport::{
    AckPolicy, AckSample, CongestionControl, Data, Path, Scheme, SelectiveReceiver, SelectiveRepeat, Timeout,
    TrimSample, Windows,
};
use crate::units::{Bytes, Rate, Span, Time};

/// The network for which the increases are given: its rate and base round trip (`_reference_network_linkspeed` and
/// `_reference_network_rtt`).
const REFERENCE: (Rate, Span) = (Rate::from_bps(100_000_000_000), Span::from_us(12));
/// Delay below which there counts as no queue (`fast_increase`).
const NO_QUEUE: Span = Span::from_us(1);
/// Packets after whose acknowledgement the window takes what has been gathered (`_adjust_bytes_threshold`).
const ADJUST_AFTER: u32 = 8;
/// Quick adapt acts at this many times the target, where nothing was lost (`_qa_threshold`).
const QUICK_ADAPT_DELAY: u64 = 4;
/// The least that a decrease leaves of the window (`multiplicative_decrease`).
const LEAST_LEFT: f64 = 0.5;

impl Scheme for NsccParams {
    type Control = Nscc;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    /// What a packet of htsim weighs beside its payload (`_hdr_size`).
    const HEADER: Bytes = Bytes::new(64);

    fn ecn_capable(&self) -> bool {
        true
    }

    fn trimmable(&self) -> bool {
        true
    }

    fn shared(&self, path: Path) -> NsccShared {
        NsccShared::new(self, path)
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    fn dup_threshold(&self) -> u32 {
        self.dup_threshold
    }

    fn recovery(&self) -> SelectiveRepeat {
        SelectiveRepeat::new(self.reach, self.dup_threshold)
    }

    fn receiver(&self) -> SelectiveReceiver {
        let policy = if self.ack_every == 1 {
            AckPolicy::EveryPacket
        } else {
            AckPolicy::Delayed {
                every: self.ack_every,
                delay: self.ack_delay,
                marked_at_once: true,
                any_order: true,
            }
        };
        SelectiveReceiver::new(policy, self.reach)
    }
}

/// What the flows of one transport on such paths share. Windows are in full packets, times in picoseconds where they are
/// numbers.
#[derive(Clone, Debug)]
pub struct NsccShared {
    base_rtt: Span,
    /// Time that a full packet takes at the NIC.
    packet: f64,
    target: Span,
    max_bdps: f64,
    /// Packets by which a packet, and a picosecond of delay that is left below the target, let the window grow, times the
    /// window.
    alpha: f64,
    fair: f64,
    eta: f64,
    fast: f64,
    gain: f64,
    gamma: f64,
    quick_adapt: bool,
    quick_adapt_below: f64,
    rto: Span,
    /// A packet that was trimmed at the last switch is a packet less, as any other.
    minds_last_hop: bool,
}

/// The base round trip where `given` is that of the whole network; otherwise that of the path, or htsim's where nobody knows the path.
pub(super) fn base_rtt(given: Option<Span>, path: Path) -> Span {
    given.or(path.base_rtt).unwrap_or(REFERENCE.1)
}

/// The retransmission timeout where `given` is none: 15 us, and six base round trips.
pub(super) fn rto(given: Option<Span>, base_rtt: Span) -> Span {
    given.unwrap_or(Span::from_us(15) + base_rtt * 6)
}

impl NsccShared {
    /// What these parameters come to on a path.
    pub fn new(params: &NsccParams, path: Path) -> NsccShared {
        let base_rtt = base_rtt(params.base_rtt, path);
        let packet = path.rate.transmission(path.frame).as_ps_f64();
        let target = params.target.unwrap_or(base_rtt * 3 / 4);
        let reference = REFERENCE.0.as_bps() as f64 * REFERENCE.1.as_ps_f64();
        let scale = path.rate.as_bps() as f64 * base_rtt.as_ps_f64() / reference;
        NsccShared {
            base_rtt,
            packet,
            target,
            max_bdps: params.max_window,
            // With b = target / 12 us, `_alpha` is 4 MSS a b / target: the target cancels out.
            alpha: params.proportional_increase * scale / REFERENCE.1.as_ps_f64(),
            fair: params.fair_increase * scale,
            eta: params.eta * scale,
            fast: params.fast_increase * scale,
            gain: params.gain,
            gamma: params.gamma,
            quick_adapt: params.quick_adapt,
            quick_adapt_below: params.quick_adapt_below,
            rto: rto(params.rto, base_rtt),
            minds_last_hop: true,
        }
    }

    /// What flows share beside receivers that grant credit: what is trimmed at the last switch leaves the window as it is
    /// (`updateCwndOnNack_NSCC`).
    pub(super) fn beside_credit(self) -> NsccShared {
        NsccShared { minds_last_hop: false, ..self }
    }

    /// The largest window where the shortest round trip is this.
    fn max_cwnd(&self, base_rtt: Span) -> f64 {
        (self.max_bdps * base_rtt.as_ps_f64() / self.packet).max(1.0)
    }
}

/// NSCC of one flow.
#[derive(Clone, Debug)]
pub struct Nscc {
    cwnd: f64,
    /// The shortest round trip (`_base_rtt`).
    base_rtt: Span,
    /// Smoothed queuing delay, in picoseconds (`_avg_delay`).
    delay: f64,
    /// Increase that the window has not taken yet, times the window (`_inc_bytes`).
    gathered: f64,
    /// Packets that have arrived since quick adapt looked last (`_achieved_bytes`).
    achieved: u32,
    /// Packets acknowledged since the window took its increase (`_received_bytes`).
    received: u32,
    /// Packets acknowledged or trimmed since quick adapt acted (`_bytes_ignored`).
    ignored: u32,
    /// How many of these tell nothing new: they were under way then (`_bytes_to_ignore`).
    to_ignore: u32,
    /// Packets acknowledged in a row without a queue (`_fi_count`).
    unqueued: u32,
    /// Packets under way: sent, and neither acknowledged nor given up.
    under_way: u32,
    /// When quick adapt looks again; [`Time::ZERO`] before the first acknowledgement (`_qa_endtime`).
    looks_at: Time,
    /// When the window shrank last for delay (`_last_dec_time`).
    decreased: Time,
    /// When the window took what comes once a round trip (`_last_adjust_time`).
    adjusted: Time,
    /// The window grows fast (`_increase`).
    fast: bool,
    /// A packet was trimmed since quick adapt acted (`_trigger_qa`).
    trimmed: bool,
}

impl Nscc {
    /// The smoothed queuing delay.
    pub fn delay(&self) -> Span {
        Span::from_ps_f64(self.delay)
    }

    /// The largest window, by the shortest round trip (`_maxwnd`).
    fn max_cwnd(&self, shared: &NsccShared) -> f64 {
        shared.max_cwnd(self.base_rtt)
    }

    /// `update_base_rtt`.
    fn update_base_rtt(&mut self, rtt: Span) {
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
        }
    }

    /// `update_delay`, of a delay that is known, in picoseconds.
    fn update_delay(&mut self, shared: &NsccShared, delay: f64, marked: bool) {
        // Delay without marks is a queue that switches do not mind.
        let unminded = !marked && delay > shared.target.as_ps_f64();
        let sample = if unminded { self.base_rtt.as_ps_f64() * 0.25 } else { delay };
        self.delay = shared.gain * sample + (1.0 - shared.gain) * self.delay;
    }

    /// `quick_adapt`: whether there is nothing else to do.
    fn quick_adapt(&mut self, shared: &NsccShared, now: Time, marked: bool, delay: Span) -> bool {
        if !shared.quick_adapt {
            return false;
        }
        let mut done = false;
        if self.ignored < self.to_ignore && marked {
            done = true;
        } else if now > self.looks_at {
            let congested = self.trimmed || delay > shared.target * QUICK_ADAPT_DELAY;
            let little = f64::from(self.achieved) < self.max_cwnd(shared) * shared.quick_adapt_below;
            if self.looks_at != Time::ZERO && congested && little {
                self.cwnd = f64::from(self.achieved).max(1.0);
                (self.to_ignore, self.ignored) = (self.under_way, 0);
                self.trimmed = false;
                done = true;
            }
            self.achieved = 0;
            self.looks_at = now + self.base_rtt + shared.target;
        }
        if done {
            (self.gathered, self.received) = (0.0, 0);
        }
        done
    }

    /// `proportional_increase`, which is `fast_increase` while there is no queue.
    fn increase(&mut self, shared: &NsccShared, packets: u32, delay: Span) {
        let was_fast = self.fast;
        self.fast = false;
        if delay < NO_QUEUE {
            self.unqueued += packets;
            if f64::from(self.unqueued) > self.cwnd || was_fast {
                self.cwnd += f64::from(packets) * shared.fast;
                self.fast = true;
                return;
            }
        } else {
            self.unqueued = 0;
        }
        let left = shared.target.saturating_sub(delay).as_ps_f64();
        self.gathered += shared.alpha * f64::from(packets) * left;
    }

    /// `multiplicative_decrease`.
    fn decrease(&mut self, shared: &NsccShared, now: Time) {
        self.fast = false;
        self.unqueued = 0;
        let target = shared.target.as_ps_f64();
        if self.delay > target && now.since(self.decreased) > self.base_rtt {
            let left = 1.0 - shared.gamma * (self.delay - target) / self.delay;
            self.cwnd = (self.cwnd * left.max(LEAST_LEFT)).max(1.0);
            self.decreased = now;
        }
    }

    /// `fulfill_adjustment`: the window takes what has been gathered, and once a round trip a little more.
    fn adjust(&mut self, shared: &NsccShared, now: Time) {
        self.cwnd += self.gathered / self.cwnd;
        if now.since(self.adjusted) >= shared.base_rtt {
            self.cwnd += shared.eta;
            self.adjusted = now;
        }
        (self.gathered, self.received) = (0.0, 0);
    }

    /// `set_cwnd_bounds`.
    fn bound(&mut self, shared: &NsccShared) {
        self.cwnd = self.cwnd.clamp(1.0, self.max_cwnd(shared));
    }
}

impl CongestionControl for Nscc {
    type Shared = NsccShared;
    type Telemetry = ();

    fn new(shared: &NsccShared) -> Nscc {
        Nscc {
            cwnd: shared.max_cwnd(shared.base_rtt),
            base_rtt: shared.base_rtt,
            delay: 0.0,
            gathered: 0.0,
            achieved: 0,
            received: 0,
            ignored: 0,
            to_ignore: 0,
            unqueued: 0,
            under_way: 0,
            looks_at: Time::ZERO,
            decreased: Time::ZERO,
            adjusted: Time::ZERO,
            fast: false,
            trimmed: false,
        }
    }

    fn on_sent(&mut self, _shared: &NsccShared, _now: Time, _data: &Data) {
        self.under_way += 1;
    }

    /// `processAck` and `updateCwndOnAck_NSCC`.
    fn on_ack(&mut self, shared: &NsccShared, now: Time, sample: &AckSample) {
        let packets = sample.newly_acked;
        self.under_way = self.under_way.saturating_sub(packets).min(sample.next - sample.cumulative);
        self.achieved += packets;
        self.received += packets;
        self.ignored += packets;
        let rtt = sample.rtt.saturating_sub(sample.endpoint_delay);
        self.update_base_rtt(rtt);
        let delay = rtt.saturating_sub(self.base_rtt);
        let marked = sample.congestion_experienced;
        self.update_delay(shared, delay.as_ps_f64(), marked);
        if self.quick_adapt(shared, now, marked, delay) {
            return;
        }
        match (marked, delay >= shared.target) {
            (false, true) => self.gathered += shared.fair * f64::from(packets),
            (false, false) => self.increase(shared, packets, delay),
            (true, true) => self.decrease(shared, now),
            // Another path will do.
            (true, false) => (),
        }
        self.bound(shared);
        if self.received > ADJUST_AFTER || now.since(self.adjusted) > shared.base_rtt {
            self.adjust(shared, now);
            self.bound(shared);
        }
    }

    /// `processNack` and `updateCwndOnNack_NSCC`.
    fn on_trim(&mut self, shared: &NsccShared, now: Time, sample: &TrimSample) {
        self.under_way = self.under_way.saturating_sub(1);
        self.update_base_rtt(sample.rtt.saturating_sub(sample.endpoint_delay));
        self.ignored += 1;
        // A queue that trims counts as a base round trip long.
        self.update_delay(shared, shared.base_rtt.as_ps_f64(), true);
        self.trimmed = true;
        let adapted = self.quick_adapt(shared, now, true, Span::ZERO);
        if !adapted && (shared.minds_last_hop || !sample.last_hop) {
            self.cwnd -= 1.0;
            self.bound(shared);
        }
    }

    /// A hole that counts as lost is a packet less, as one that is trimmed; `uec.cpp` has none without SLEEK.
    fn on_loss(&mut self, shared: &NsccShared, _now: Time, _cumulative: u32, _next: u32) {
        self.under_way = self.under_way.saturating_sub(1);
        self.cwnd -= 1.0;
        self.bound(shared);
    }

    /// `mark_packet_for_retransmission`.
    fn on_timeout(&mut self, shared: &NsccShared, _now: Time, _timeout: &Timeout) {
        self.under_way = self.under_way.saturating_sub(1);
        self.cwnd -= 1.0;
        self.bound(shared);
    }

    fn window(&self, _shared: &NsccShared) -> f64 {
        self.cwnd
    }

    fn retransmission_timeout(&self, shared: &NsccShared, _timeouts: u32) -> Span {
        shared.rto
    }

    fn windows(&self, _shared: &NsccShared) -> Windows {
        Windows::new(self.cwnd, self.base_rtt + self.delay())
    }
}
