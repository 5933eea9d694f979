//! DCQCN at the sender (the reaction point): the rate of one flow.
//!
//! A notification cuts the current rate by half of alpha, the estimate of congestion, and makes the rate before it the
//! target. A timer and a counter of bytes then bring the rate back: at first each of their steps halves the way to the
//! target (fast recovery); then the target rises as well (additive increase), and faster when both have gone on for long
//! (hyper increase). Section 3.1 of the paper.
//!
//! Alpha falls with time, but only a notification reads it: so it has no timer, and what it lost since is worked out then.

use super::dcqcn::{DcqcnParams, DcqcnSet};
use crate::transport::Path;
use crate::units::{Span, Time};

/// What the reaction points of one transport and NIC share.
#[derive(Clone, Debug)]
pub struct DcqcnConfig {
    /// The parameters.
    pub params: DcqcnParams,
    /// The rate of the NIC in bits per second: where flows begin, and what they never exceed.
    pub line: f64,
    /// The time of a full packet at that rate.
    line_gap: Span,
}

impl DcqcnConfig {
    /// The configuration of flows on this path: they begin at the rate of its NIC.
    pub fn new(params: &DcqcnParams, path: Path) -> DcqcnConfig {
        let line = path.rate.as_bps() as f64;
        DcqcnConfig { params: params.clone(), line, line_gap: path.rate.transmission(path.frame) }
    }
}

/// The rate of a flow that has been told of congestion. A flow that has not sends as fast as its NIC.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    /// The rate in bits per second (`R_C`).
    current: f64,
    /// The target rate in bits per second (`R_T`).
    target: f64,
    alpha: f64,
    /// The time of a full packet at the current rate.
    gap: Span,
    /// When alpha moves next.
    alpha_at: Time,
    /// When the timer raises the rate next; [`Time::NEVER`] at line rate.
    increase_at: Time,
    /// No cut before this.
    next_cut: Time,
    /// Payload sent since the last cut or step of the byte counter.
    sent: u32,
    /// Increases by the timer since the last cut (`T`).
    timer_steps: u16,
    /// Increases by the byte counter since the last cut (`BC`).
    byte_steps: u16,
    /// A notification has come since alpha moved last (Mellanox's rule).
    notified: bool,
    /// A notification came too early for its cut, which follows.
    cut_waits: bool,
}

impl ReactionPoint {
    /// A flow at line rate that is about to be told of congestion for the first time.
    pub fn new(config: &DcqcnConfig, now: Time) -> ReactionPoint {
        ReactionPoint {
            current: config.line,
            target: config.line,
            alpha: config.params.initial_alpha,
            gap: config.line_gap,
            alpha_at: now + config.params.alpha_timer,
            increase_at: Time::NEVER,
            next_cut: match config.params.set {
                DcqcnSet::Paper => Time::ZERO,
                DcqcnSet::Mellanox => now + config.params.decrease_interval,
            },
            sent: 0,
            timer_steps: 0,
            byte_steps: 0,
            notified: false,
            cut_waits: false,
        }
    }

    /// The rate in bits per second.
    pub fn rate(&self) -> f64 {
        self.current
    }

    /// The target rate in bits per second.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Alpha as it was when it was last read.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Least time between the starts of two packets.
    #[inline]
    pub fn gap(&self) -> Span {
        self.gap
    }

    /// A notification came.
    pub fn on_notification(&mut self, config: &DcqcnConfig, now: Time) {
        self.advance(config, now);
        self.settle_alpha(config, now);
        self.notified = true;
        if config.params.set == DcqcnSet::Mellanox {
            self.next_cut = self.tick_after(config, now);
            self.cut_waits = true;
        } else if now >= self.next_cut {
            self.cut(config, now);
        } else {
            self.cut_waits = true;
        }
    }

    /// The first tick after `now` of those at which Mellanox's rule looks whether a notification has come: every decrease
    /// interval from the first notification on.
    fn tick_after(&self, config: &DcqcnConfig, now: Time) -> Time {
        let interval = config.params.decrease_interval;
        if now < self.next_cut || interval == Span::ZERO {
            return self.next_cut.max(now);
        }
        let passed = now.since(self.next_cut).as_ps() / interval.as_ps();
        self.next_cut + interval * (passed + 1)
    }

    /// Takes account of a packet with `payload` bytes of payload that left.
    pub fn on_sent(&mut self, config: &DcqcnConfig, payload: u32) {
        let each = config.params.byte_counter.get() as u32;
        if each == 0 || self.increase_at == Time::NEVER {
            return;
        }
        self.sent += payload;
        if self.sent >= each {
            self.sent %= each;
            self.increase(config);
            self.byte_steps = self.byte_steps.saturating_add(1);
        }
    }

    /// Returns when [`Self::advance`] is wanted.
    #[inline]
    pub fn poll_timer(&self) -> Option<Time> {
        let first = self.increase_at.min(self.cut_at());
        (first != Time::NEVER).then_some(first)
    }

    fn cut_at(&self) -> Time {
        if self.cut_waits {
            self.next_cut
        } else {
            Time::NEVER
        }
    }

    /// Does what time has brought: increases, and a cut that had to wait.
    pub fn advance(&mut self, config: &DcqcnConfig, now: Time) {
        loop {
            let (cut_at, increase_at) = (self.cut_at(), self.increase_at);
            if cut_at.min(increase_at) > now {
                return;
            }
            if cut_at <= increase_at {
                self.settle_alpha(config, cut_at);
                self.cut(config, cut_at);
            } else {
                self.increase_at = increase_at + config.params.increase_timer;
                self.increase(config);
                self.timer_steps = self.timer_steps.saturating_add(1);
            }
        }
    }

    /// Moves alpha by the periods that have ended. The first of them may have had a notification, by Mellanox's rule; by the
    /// paper's a notification begins a period.
    fn settle_alpha(&mut self, config: &DcqcnConfig, now: Time) {
        if now < self.alpha_at {
            return;
        }
        let (period, gain) = (config.params.alpha_timer, config.params.gain);
        let later = now.since(self.alpha_at).as_ps() / period.as_ps();
        let notified =
            std::mem::replace(&mut self.notified, false) && config.params.set == DcqcnSet::Mellanox;
        self.alpha = (1.0 - gain) * self.alpha + if notified { gain } else { 0.0 };
        self.alpha *= power(1.0 - gain, later);
        self.alpha_at = self.alpha_at + period * (later + 1);
    }

    fn cut(&mut self, config: &DcqcnConfig, now: Time) {
        let params = &config.params;
        if params.set == DcqcnSet::Paper || self.timer_steps > 0 || self.byte_steps > 0 {
            self.target = self.current;
        }
        let least = (params.min_rate.as_bps() as f64).min(config.line);
        self.set_rate(config, (self.current * (1.0 - self.alpha / 2.0)).max(least));
        if params.set == DcqcnSet::Paper {
            self.alpha = (1.0 - params.gain) * self.alpha + params.gain;
            self.alpha_at = now + params.alpha_timer;
        }
        (self.timer_steps, self.byte_steps, self.sent) = (0, 0, 0);
        self.increase_at = now + params.increase_timer;
        self.next_cut = now + params.decrease_interval;
        self.cut_waits = false;
    }

    /// One step up, by the steps that have been since the last cut.
    fn increase(&mut self, config: &DcqcnConfig) {
        let params = &config.params;
        let (timer, bytes) = (u32::from(self.timer_steps), u32::from(self.byte_steps));
        // Where bytes are not counted the timer stands for both.
        let bytes = if params.byte_counter.get() == 0 { timer } else { bytes };
        let raise = if timer.max(bytes) < params.fast_recovery {
            0
        } else if timer.min(bytes) > params.fast_recovery {
            params.hai_rate.as_bps()
        } else {
            params.ai_rate.as_bps()
        };
        self.target = (self.target + raise as f64).min(config.line);
        self.set_rate(config, f64::midpoint(self.target, self.current));
    }

    fn set_rate(&mut self, config: &DcqcnConfig, rate: f64) {
        self.current = rate;
        self.gap = config.line_gap.scaled(config.line / rate);
        if self.gap <= config.line_gap {
            // As near as a clock of picoseconds can tell.
            (self.current, self.target, self.increase_at) = (config.line, config.line, Time::NEVER);
        }
    }
}

/// `base` to the power of `exponent`, by products alone.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}
