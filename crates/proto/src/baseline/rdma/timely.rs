//! TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015), a rate from round-trip times and
//! their gradient.
//!
//! Once in each round trip (algorithm 1):
//!
//! | the round trip | the rate |
//! |---|---|
//! | below `t_low` | rises by δ |
//! | above `t_high` | times `1 - β (1 - t_high / rtt)` |
//! | between them, not growing | rises by δ, by five times that from the fifth such step in a row on |
//! | between them, growing by the share g of `min_rtt` a round trip, smoothed | times `1 - β g`, at least zero |
//!
//! It begins at the NIC's rate, as in the simulator of HPCC's authors (`rdma-hw.cc`), which sets a rate once in a round trip, too; the paper
//! does so for each segment of 16 kB or more. What a packet spends in hosts is no part of its round trip: the paper's adapters acknowledge by
//! themselves. Loss changes nothing, and is repaired as RoCE does ([`super::roce`]).

use super::receiver::RdmaReceiver;
use super::roce::{RecoveryKind, RoceParams, RoceRecovery, RECOVERIES, RECOVERY};
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters, Shown};
use crate::transport::{common, AckSample, CongestionControl, Path, Scheme, Timeout, Windows};
use crate::units::{Bytes, Rate, Span, Time, RATES};

/// Parameters of TIMELY.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelyParams {
    /// Weight of the newest difference of two round trips (α). 0.875 (HPCC's authors).
    pub ewma: f64,
    /// Share by which the rate falls (β). 0.8 (section 5).
    pub beta: f64,
    /// Additive increase of the rate (δ); none: a thousandth of the NIC's rate, 10 Mb/s at the paper's 10 Gb/s (section 5).
    pub increase: Option<Rate>,
    /// Steps in a row without growth from which on the rate rises five times as fast (N, hyperactive increase). 5 (section 4.3).
    pub hyper_after: u32,
    /// Round trip below which the rate always rises (`T_low`). 50 us (section 5).
    pub t_low: Span,
    /// Round trip above which the rate always falls (`T_high`). 500 us (section 5).
    pub t_high: Span,
    /// What the growth of a round trip is a share of (`minRTT`). 20 us (section 5).
    pub min_rtt: Span,
    /// Smallest rate. 10 Mb/s, as DCQCN's.
    pub min_rate: Rate,
    /// Packets under way at most; none: no limit.
    pub window: Option<u32>,
    /// How it recovers from loss. Go-back-N.
    pub recovery: RecoveryKind,
    /// Retransmission timeout, which nothing lengthens. RoCE's.
    pub rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets, with selective repeat. RoCE's.
    pub reach: u32,
    /// Packets that must have arrived above a hole before it counts as lost, with selective repeat. RoCE's.
    pub dup_threshold: u32,
}

impl Default for TimelyParams {
    fn default() -> TimelyParams {
        let RoceParams { recovery, window, rto, reach, dup_threshold, .. } = RoceParams::default();
        TimelyParams {
            ewma: 0.875,
            beta: 0.8,
            increase: None,
            hyper_after: 5,
            t_low: Span::from_us(50),
            t_high: Span::from_us(500),
            min_rtt: Span::from_us(20),
            min_rate: Rate::from_bps(10_000_000),
            window,
            recovery,
            rto,
            reach,
            dup_threshold,
        }
    }
}

/// How many times as fast the rate rises after some steps in a row.
const HYPER: f64 = 5.0;

impl Parameters for TimelyParams {
    fn read(r: &mut impl ParameterReader, d: &TimelyParams) -> TimelyParams {
        let share = |name, doc| Parameter::new(name, doc, 1e-6..=1.0);
        let span = |name, doc| Parameter::new(name, doc, Span::from_ns(1)..=Span::from_secs(1));
        let ewma = share("ewma", "Weight of the newest difference of two round trips (α).");
        let beta = share("beta", "Share by which the rate falls (β).");
        let increase = Parameter::new("increase", "Additive increase of the rate (δ).", RATES);
        let hyper = "Steps in a row without growth from which on the rate rises five times as fast (N).";
        let t_low = span("t_low", "Round trip below which the rate always rises (T_low).");
        let t_high = span("t_high", "Round trip above which the rate always falls (T_high).");
        let min_rtt = span("min_rtt", "What the growth of a round trip is a share of (minRTT).");
        TimelyParams {
            ewma: r.value(&ewma, d.ewma),
            beta: r.value(&beta, d.beta),
            increase: r.optional(&increase, "a thousandth of the NIC's rate").or(d.increase),
            hyper_after: r.value(&Parameter::new("hyper_after", hyper, 1..=1000), d.hyper_after),
            t_low: r.value(&t_low, d.t_low),
            t_high: r.value(&t_high, d.t_high),
            min_rtt: r.value(&min_rtt, d.min_rtt),
            min_rate: r.value(&Parameter::new("min_rate", "Smallest rate.", RATES), d.min_rate),
            window: r.optional(&common::fixed_window(), "no limit").or(d.window),
            recovery: r.choice("recovery", RECOVERY, RECOVERIES, d.recovery),
            rto: r.value(&common::rto(), d.rto),
            reach: r.value(&common::reach(), d.reach),
            dup_threshold: r.value(&common::dup_threshold(), d.dup_threshold),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = common::check_reach(self.reach);
        conflicts.extend(self.recovery.check_window(self.window, self.reach));
        conflicts.extend(self.recovery.check_threshold(self.dup_threshold));
        if self.t_low > self.t_high {
            let (low, high) = (("t_low", self.t_low.shown()), ("t_high", self.t_high.shown()));
            conflicts.push(Conflict::between(low, "is above", high));
        }
        conflicts
    }
}

impl Scheme for TimelyParams {
    type Control = Timely;
    type Recovery = RoceRecovery;
    type Receiver = RdmaReceiver;

    /// RoCE's.
    const HEADER: Bytes = RoceParams::HEADER;

    fn shared(&self, path: Path) -> TimelyShared {
        let line = path.rate.as_bps() as f64;
        TimelyShared {
            params: self.clone(),
            line,
            line_gap: path.rate.transmission(path.frame),
            increase: self.increase.map_or(line / 1000.0, |rate| rate.as_bps() as f64),
            least: (self.min_rate.as_bps() as f64).min(line),
            window: self.max_window(),
        }
    }

    fn reach(&self) -> u32 {
        self.recovery.reach(self.reach)
    }

    fn tracked_packets(&self) -> u32 {
        self.recovery.tracked_packets(self.reach)
    }

    fn max_window(&self) -> f64 {
        f64::from(self.window.unwrap_or(self.reach()))
    }

    fn dup_threshold(&self) -> u32 {
        self.dup_threshold
    }

    fn recovery(&self) -> RoceRecovery {
        self.recovery.recovery(self.reach, self.dup_threshold)
    }

    fn receiver(&self) -> RdmaReceiver {
        self.recovery.receiver(self.reach)
    }
}

/// What the flows of one transport and NIC share. Rates are in bits a second.
#[derive(Clone, Debug)]
pub struct TimelyShared {
    params: TimelyParams,
    line: f64,
    /// The time from packet to packet at the NIC's rate.
    line_gap: Span,
    /// δ.
    increase: f64,
    least: f64,
    /// Packets under way at most.
    window: f64,
}

/// TIMELY of one flow.
#[derive(Clone, Debug)]
pub struct Timely {
    /// R, in bits a second.
    rate: f64,
    /// The round trip before; none before the first.
    previous: Option<Span>,
    /// The smoothed difference of two round trips, in picoseconds.
    difference: f64,
    /// Steps in a row without growth.
    calm: u32,
    /// The next round trip begins when the packets before this one are acknowledged, and one more.
    last_update: u32,
    /// Time from packet to packet; zero at the NIC's own rate, where packets need no spacing.
    gap: Span,
}

impl Timely {
    /// The rate, in bits a second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The smoothed growth of the round trip from one to the next, as a share of `min_rtt`.
    fn gradient(&self, shared: &TimelyShared) -> f64 {
        self.difference / shared.params.min_rtt.as_ps_f64()
    }

    /// The rate after a round trip that took so long (algorithm 1).
    fn step(&mut self, shared: &TimelyShared, rtt: Span) {
        let params = &shared.params;
        let Some(previous) = self.previous.replace(rtt) else { return };
        let newest = rtt.as_ps_f64() - previous.as_ps_f64();
        self.difference = (1.0 - params.ewma) * self.difference + params.ewma * newest;
        let gradient = self.gradient(shared);
        let is_calm = rtt >= params.t_low && rtt <= params.t_high && gradient <= 0.0;
        self.calm = if is_calm { self.calm + 1 } else { 0 };
        let rate = if rtt < params.t_low {
            self.rate + shared.increase
        } else if rtt > params.t_high {
            self.rate * (1.0 - params.beta * (1.0 - params.t_high.as_ps_f64() / rtt.as_ps_f64()))
        } else if is_calm {
            let times = if self.calm >= params.hyper_after { HYPER } else { 1.0 };
            self.rate + times * shared.increase
        } else {
            self.rate * (1.0 - params.beta * gradient).max(0.0)
        };
        self.rate = rate.clamp(shared.least, shared.line);
        let is_spaced = self.rate < shared.line;
        self.gap = if is_spaced { shared.line_gap.scaled(shared.line / self.rate) } else { Span::ZERO };
    }
}

impl CongestionControl for Timely {
    type Shared = TimelyShared;
    type Telemetry = ();

    fn new(shared: &TimelyShared) -> Timely {
        Timely {
            rate: shared.line,
            previous: None,
            difference: 0.0,
            calm: 0,
            last_update: 0,
            gap: Span::ZERO,
        }
    }

    fn on_ack(&mut self, shared: &TimelyShared, _now: Time, sample: &AckSample) {
        if sample.cumulative > self.last_update {
            self.last_update = sample.next;
            self.step(shared, sample.rtt.saturating_sub(sample.endpoint_delay));
        }
    }

    fn on_loss(&mut self, _shared: &TimelyShared, _now: Time, _cumulative: u32, _next: u32) {}

    fn on_timeout(&mut self, _shared: &TimelyShared, _now: Time, _timeout: &Timeout) {}

    #[inline]
    fn window(&self, shared: &TimelyShared) -> f64 {
        shared.window
    }

    #[inline]
    fn pacing_gap(&self, _shared: &TimelyShared) -> Option<Span> {
        Some(self.gap)
    }

    fn retransmission_timeout(&self, shared: &TimelyShared, _timeouts: u32) -> Span {
        shared.params.rto
    }

    fn windows(&self, shared: &TimelyShared) -> Windows {
        Windows { rate: self.rate, ..Windows::new(shared.window, Span::ZERO) }
    }
}
