//! Fabric and endpoint windows together (§3.4): each watches its own part of the delay, the smaller one rules.

use std::sync::Arc;

use super::pacer::pacing_gap;
use super::target::FabricTarget;
use super::window::{Reading, Window};
use super::{SwiftParams, Variant};
use crate::transport::{AckSample, CongestionControl, Scheme, Windows};
use crate::units::{Bytes, Span, Time};

/// Weight of a new sample in the smoothed round-trip time.
const SRTT_GAIN: f64 = 0.25;

/// What the flows of one transport share: the parameters and what follows from them.
#[derive(Debug)]
pub struct SwiftConfig {
    params: SwiftParams,
    target: FabricTarget,
}

impl SwiftConfig {
    /// Shared by all flows with these parameters.
    pub fn new(mut params: SwiftParams) -> Arc<SwiftConfig> {
        if !params.cwnd_below_one {
            params.min_cwnd = params.min_cwnd.max(1.0);
        }
        let target = FabricTarget::new(&params);
        Arc::new(SwiftConfig { params, target })
    }
}

/// Swift's congestion control of one flow.
#[derive(Clone, Debug)]
pub struct Swift {
    config: Arc<SwiftConfig>,
    fabric: Window,
    endpoint: Window,
    /// Of the last sample; zero before the first.
    rtt: Span,
    /// Smoothed; zero before the first sample.
    srtt: Span,
    endpoint_delay: EndpointDelay,
    /// Least time between the starts of two packets: what follows from windows and round trip, kept as it is asked for
    /// more often than it changes.
    gap: Option<Span>,
    /// Timeouts since the last acknowledgement.
    retransmit_cnt: u32,
}

/// Moving average of the endpoint delay. The gain holds for one sample, and for every round trip between two.
#[derive(Clone, Copy, Debug, Default)]
struct EndpointDelay {
    average_ps: f64,
    /// When the last sample came.
    updated: Option<Time>,
}

impl EndpointDelay {
    #[inline]
    fn update(&mut self, now: Time, sample: Span, srtt: Span, gain: f64) -> Span {
        if sample != Span::ZERO || self.average_ps != 0.0 {
            self.average(now, sample, srtt, gain);
        }
        self.updated = Some(now);
        Span::from_ps(self.average_ps as u64)
    }

    /// A paced flow has few samples, each of which would count for little if the gain held per sample; so one
    /// that comes after n round trips has the weight of n: `1 - (1 - gain)^n`.
    fn average(&mut self, now: Time, sample: Span, srtt: Span, gain: f64) {
        let Some(updated) = self.updated else {
            self.average_ps = sample.as_ps() as f64;
            return;
        };
        let (elapsed, srtt) = (now.since(updated).as_ps(), srtt.as_ps().max(1));
        // An ordinary acknowledgement follows the last within two round trips: no need to divide.
        let round_trips = if elapsed < 2 * srtt { 1 } else { (elapsed / srtt).min(64) };
        let kept = power(1.0 - gain, round_trips as u32);
        self.average_ps = kept * self.average_ps + (1.0 - kept) * sample.as_ps() as f64;
    }
}

/// `base` to the power of `exponent`, by squaring: the same on every machine.
#[inline]
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut power = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    power
}

impl Swift {
    /// For a new flow.
    pub fn new(config: Arc<SwiftConfig>) -> Swift {
        let initial = config.params.initial_cwnd.max(config.params.min_cwnd);
        let mut swift = Swift {
            config,
            fabric: Window::new(initial),
            endpoint: Window::new(initial),
            rtt: Span::ZERO,
            srtt: Span::ZERO,
            endpoint_delay: EndpointDelay::default(),
            gap: None,
            retransmit_cnt: 0,
        };
        swift.space();
        swift
    }

    /// After a change of windows or round trip.
    #[inline]
    fn space(&mut self) {
        let window = self.window();
        self.gap = if window >= 1.0 || !self.config.params.pacing {
            None
        } else {
            pacing_gap(self.expected_rtt(), window)
        };
    }

    /// The round-trip time that spacing and timeouts go by: before the first sample, what it is aimed at.
    fn expected_rtt(&self) -> Span {
        if self.srtt == Span::ZERO {
            self.config.target.at(self.fabric.cwnd(), 1)
        } else {
            self.srtt
        }
    }
}

impl CongestionControl for Swift {
    #[inline]
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let config = &*self.config;
        let params = &config.params;
        self.retransmit_cnt = 0; // Algorithm 1, line 5.
        self.rtt = sample.rtt;
        self.srtt = if self.srtt == Span::ZERO {
            sample.rtt
        } else {
            let srtt = self.srtt.as_ps() as f64;
            Span::from_ps((srtt + SRTT_GAIN * (sample.rtt.as_ps() as f64 - srtt)) as u64)
        };
        let fabric_delay = match params.variant {
            Variant::Swift => sample.rtt.saturating_sub(sample.endpoint_delay),
            Variant::V0 => sample.rtt,
        };
        let fabric_target = config.target.at(self.fabric.cwnd(), sample.hops);
        let acked = sample.newly_acked;
        let fabric = Reading { delay: fabric_delay, target: fabric_target, beta: params.beta };
        self.fabric.on_ack(now, sample.rtt, &fabric, acked, params);
        if params.watches_endpoint() {
            let delay =
                self.endpoint_delay.update(now, sample.endpoint_delay, self.srtt, params.endpoint_gain);
            let endpoint = Reading { delay, target: params.endpoint_target, beta: params.endpoint_beta };
            self.endpoint.on_ack(now, sample.rtt, &endpoint, acked, params);
        }
        self.space();
    }

    fn on_loss(&mut self, now: Time, _cumulative: u32, _next: u32) {
        self.retransmit_cnt = 0;
        self.fabric.on_fast_recovery(now, self.rtt, &self.config.params);
        self.endpoint.on_fast_recovery(now, self.rtt, &self.config.params);
        self.space();
    }

    fn on_timeout(&mut self, now: Time, _next: u32) {
        self.retransmit_cnt += 1;
        self.fabric.on_timeout(now, self.rtt, self.retransmit_cnt, &self.config.params);
        self.endpoint.on_timeout(now, self.rtt, self.retransmit_cnt, &self.config.params);
        self.space();
    }

    #[inline]
    fn window(&self) -> f64 {
        if self.config.params.watches_endpoint() {
            self.fabric.cwnd().min(self.endpoint.cwnd())
        } else {
            self.fabric.cwnd()
        }
    }

    #[inline]
    fn pacing_gap(&self) -> Option<Span> {
        self.gap
    }

    /// Twice the smoothed round trip and the pacing gap: without that a paced flow would time out for nothing. The
    /// round trip's part doubles with every timeout since the last acknowledgement (RFC 6298 §5.5): a burst's queue
    /// may make the round trip longer than any before, and a few timeouts within it would throw the window to its
    /// floor.
    #[inline]
    fn retransmission_timeout(&self) -> Span {
        let params = &self.config.params;
        let backoff = 1 << self.retransmit_cnt.min(params.rto_backoff);
        let gap = self.pacing_gap().unwrap_or(Span::ZERO);
        if self.srtt == Span::ZERO {
            return params.initial_rto * backoff + gap;
        }
        (self.srtt * 2 * backoff + gap).max(params.min_rto * backoff)
    }

    /// A flow keeps to one path, so a hole is a loss.
    fn dup_threshold(&self) -> u32 {
        1
    }

    fn windows(&self) -> Windows {
        let ecwnd = if self.config.params.watches_endpoint() { self.endpoint.cwnd() } else { f64::NAN };
        let fcwnd = self.fabric.cwnd();
        Windows { cwnd: self.window(), fcwnd, ecwnd, srtt: self.srtt }
    }
}

impl Scheme for SwiftParams {
    type Control = Swift;

    const HEADER: Bytes = Bytes::new(64);

    fn control(&self, _frame: Bytes) -> Swift {
        Swift::new(SwiftConfig::new(self.clone()))
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    fn max_window(&self) -> f64 {
        self.max_cwnd
    }
}
