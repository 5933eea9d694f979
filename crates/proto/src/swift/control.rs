//! Fabric and endpoint windows together (§3.4): each watches its own part of the delay, the smaller one rules.

use super::pacer::pacing_gap;
use super::target::FabricTarget;
use super::window::{Moment, Reading, Window, WindowRules};
use super::{RtoRule, SwiftParams, Variant};
use crate::transport::{
    AckPolicy, AckSample, CongestionControl, Path, Scheme, SelectiveReceiver, SelectiveRepeat, Timeout,
    Windows,
};
use crate::units::{Bytes, Span, Time};

/// Weight of a new sample in the smoothed round-trip time.
const SRTT_GAIN: f64 = 0.25;

/// Switches on a path of which no acknowledgement has told.
const ASSUMED_HOPS: u8 = 1;

/// How many targets a round trip must take to show that flows at their limit are too many for the link.
const OVERLOADED: u64 = 4;

/// Factor by which one acknowledgement moves the limit to a flow's gap.
const GAP_LIMIT_FACTOR: f64 = 1.25;

/// What the flows of one transport share: the parameters and what follows from them.
#[derive(Clone, Debug)]
pub struct SwiftConfig {
    params: SwiftParams,
    target: FabricTarget,
    fabric: WindowRules,
    endpoint: WindowRules,
    /// There is a window for the endpoint delay.
    watches_endpoint: bool,
    /// Largest value of a flow's limit to its gap.
    largest_gap_limit: Span,
    /// Window of a new flow, in packets.
    initial_cwnd: f64,
    /// Retransmission timeout before the first sample.
    initial_rto: Span,
}

impl SwiftConfig {
    /// The state that all flows with these parameters on such a path share.
    pub fn new(params: SwiftParams, path: &Path) -> SwiftConfig {
        SwiftConfig {
            initial_cwnd: params.initial_cwnd(path),
            initial_rto: params.initial_rto(path),
            largest_gap_limit: params.gap_limit_max.max(params.gap_limit),
            target: FabricTarget::new(&params),
            fabric: WindowRules::fabric(&params),
            endpoint: WindowRules::endpoint(&params),
            watches_endpoint: params.watches_endpoint(),
            params,
        }
    }
}

/// Swift's congestion control of one flow. The order of the fields is kept: what every acknowledgement touches comes
/// first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Swift {
    fabric: Window,
    fabric_decrease: Time,
    /// Infinite where the endpoint delay has no window: the smaller one rules.
    endpoint: Window,
    /// The last sample; zero before the first.
    rtt: Span,
    /// Smoothed; zero before the first sample.
    srtt: Span,
    /// Longest that `gap` may be. It grows while the flows at their limits are too many for the link.
    gap_limit: Span,
    endpoint_delay: EndpointDelay,
    endpoint_decrease: Time,
    /// Mean deviation of the round trip, smoothed; zero where the timer does not go by it.
    rttvar: Span,
    /// Least time between the starts of two packets while the window is below one. Kept as it is asked for more often
    /// than it changes.
    gap: Span,
}

/// Moving average of the endpoint delay. The gain holds for one sample, and for every round trip between two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct EndpointDelay {
    /// When the last sample came; [`Time::ZERO`] before the first.
    updated: Time,
    /// The average in picoseconds; zero as long as no host has taken any time.
    average_ps: f64,
}

impl EndpointDelay {
    fn average(&self) -> Span {
        Span::from_ps_f64(self.average_ps)
    }

    #[inline]
    fn update(&mut self, now: Time, sample: Span, srtt: Span, gain: f64) -> Span {
        if self.average_ps != 0.0 || sample != Span::ZERO {
            return self.take(now, sample, srtt, gain);
        }
        self.updated = now;
        Span::ZERO
    }

    /// A paced flow has few samples, each of which would count for little if the gain held per sample; so one
    /// that comes after n round trips has the weight of n: `1 - (1 - gain)^n`.
    fn take(&mut self, now: Time, sample: Span, srtt: Span, gain: f64) -> Span {
        self.average_ps = if self.updated == Time::ZERO {
            sample.as_ps_f64()
        } else {
            let (elapsed, srtt) = (now.since(self.updated).as_ps(), srtt.as_ps().max(1));
            // An ordinary acknowledgement follows the last within two round trips: no need to divide.
            let round_trips = if elapsed < 2 * srtt { 1 } else { (elapsed / srtt).min(64) };
            let kept = power(1.0 - gain, round_trips as u32);
            kept * self.average_ps + (1.0 - kept) * sample.as_ps_f64()
        };
        self.updated = now;
        self.average()
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
    /// Bytes at its beginning that every acknowledgement touches; the others only one of a window below one packet, or
    /// that decreases the endpoint window.
    #[cfg(test)]
    pub(crate) const TOUCHED_BY_ALL: usize = std::mem::offset_of!(Swift, endpoint_decrease);

    /// Computes the gap anew, after a change of windows or round trip, on a path of `hops` switches.
    ///
    /// A gap is at most the flow's limit, and where the limit holds, between half of it and all: flows with one gap would
    /// send in step, and those that meet each other's queue would meet it every time.
    #[inline]
    fn update_pacing_gap(&mut self, config: &SwiftConfig, hops: u8) {
        let window = self.window(config);
        if window < 1.0 && config.params.pacing {
            let rtt =
                if self.srtt == Span::ZERO { config.target.at(self.fabric.cwnd(), hops) } else { self.srtt };
            let gap = pacing_gap(rtt, window).unwrap_or(Span::ZERO);
            let longest = Span::from_ps_f64(self.gap_limit.as_ps_f64() * (0.5 + 0.5 * spread(self.rtt)));
            self.gap = gap.min(longest);
        }
    }

    /// Moves the limit to the gap on the evidence of an acknowledgement, before anything else learns from it.
    #[inline]
    fn move_gap_limit(&mut self, config: &SwiftConfig, now: Time, sample: &AckSample, fabric_target: Span) {
        let window = self.window(config);
        if window < 1.0 || self.gap_limit != config.params.gap_limit {
            self.weigh_gap_limit(config, now, sample, fabric_target, window);
        }
    }

    /// The limit gives each flow a least rate, whatever its window says, and enough flows add up to more than the link
    /// carries. A packet that was spaced at the limit and meets a long queue tells of that, and the limit grows. It must
    /// have left after the last sample: the queue of a burst sent before, or a peer that was stopped, passes by itself. A
    /// round trip below the target takes the limit back. Timeouts tell nothing either way.
    #[cold]
    fn weigh_gap_limit(
        &mut self,
        config: &SwiftConfig,
        now: Time,
        sample: &AckSample,
        fabric_target: Span,
        window: f64,
    ) {
        let limit_ps = self.gap_limit.as_ps_f64();
        let target = fabric_target + self.endpoint_delay.average().min(config.params.endpoint_target);
        if sample.rtt < target {
            self.gap_limit = Span::from_ps_f64(limit_ps / GAP_LIMIT_FACTOR).max(config.params.gap_limit);
            return;
        }
        let limited = pacing_gap(self.srtt, window).is_some_and(|gap| gap > self.gap);
        let sent_since = now.since(self.endpoint_delay.updated) >= sample.rtt;
        if limited && sent_since && sample.rtt > target * OVERLOADED {
            self.gap_limit = Span::from_ps_f64(limit_ps * GAP_LIMIT_FACTOR).min(config.largest_gap_limit);
        }
    }

    /// A new sample for the smoothed round trip and, where the timer goes by it, its deviation (RFC 6298 §2.3, in that
    /// order).
    #[inline]
    fn smooth(&mut self, params: &SwiftParams, rtt: Span) {
        let varies = params.rto_rule == RtoRule::Rfc6298;
        if self.srtt == Span::ZERO {
            self.srtt = rtt;
            self.rttvar = if varies { rtt / 2 } else { Span::ZERO };
            return;
        }
        if varies {
            let error = self.srtt.saturating_sub(rtt) + rtt.saturating_sub(self.srtt);
            self.rttvar = (self.rttvar * 3 + error) / 4;
        }
        let srtt = self.srtt.as_ps_f64();
        self.srtt = Span::from_ps_f64(srtt + SRTT_GAIN * (rtt.as_ps_f64() - srtt));
    }
}

/// A number from 0 to 1 that looks drawn at random: round trips differ in their last digits.
fn spread(rtt: Span) -> f64 {
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    (rtt.as_ps().wrapping_mul(GOLDEN_RATIO) >> 11) as f64 / (1u64 << 53) as f64
}

impl CongestionControl for Swift {
    type Shared = SwiftConfig;
    type Telemetry = ();

    fn new(config: &SwiftConfig) -> Swift {
        let initial = |rules: &WindowRules| config.initial_cwnd.max(rules.min_cwnd);
        let endpoint = if config.watches_endpoint { initial(&config.endpoint) } else { f64::INFINITY };
        let mut swift = Swift {
            fabric: Window::new(initial(&config.fabric)),
            fabric_decrease: Time::ZERO,
            endpoint: Window::new(endpoint),
            rtt: Span::ZERO,
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            endpoint_delay: EndpointDelay::default(),
            endpoint_decrease: Time::ZERO,
            gap: Span::ZERO,
            gap_limit: config.params.gap_limit,
        };
        swift.update_pacing_gap(config, ASSUMED_HOPS);
        swift
    }

    #[inline]
    fn on_ack(&mut self, config: &SwiftConfig, now: Time, sample: &AckSample) {
        let params = &config.params;
        let rtt = sample.rtt;
        let fabric_target = config.target.at(self.fabric.cwnd(), sample.hops);
        self.move_gap_limit(config, now, sample, fabric_target);
        self.rtt = rtt;
        self.smooth(params, rtt);
        let fabric_delay = match params.variant {
            Variant::Swift => rtt.saturating_sub(sample.endpoint_delay),
            Variant::V0 => rtt,
        };
        let acked = sample.newly_acked;
        let fabric = Reading { delay: fabric_delay, target: fabric_target };
        let moment = Moment { now, rtt, last_decrease: &mut self.fabric_decrease };
        self.fabric.on_ack(moment, &fabric, acked, &config.fabric);
        if config.watches_endpoint {
            let delay =
                self.endpoint_delay.update(now, sample.endpoint_delay, self.srtt, params.endpoint_gain);
            let endpoint = Reading { delay, target: params.endpoint_target };
            let moment = Moment { now, rtt, last_decrease: &mut self.endpoint_decrease };
            self.endpoint.on_ack(moment, &endpoint, acked, &config.endpoint);
        } else {
            self.endpoint_delay.updated = now;
        }
        self.update_pacing_gap(config, sample.hops);
    }

    fn on_loss(&mut self, config: &SwiftConfig, now: Time, _cumulative: u32, _next: u32) {
        let rtt = self.rtt;
        let fabric = Moment { now, rtt, last_decrease: &mut self.fabric_decrease };
        self.fabric.on_fast_recovery(fabric, &config.fabric);
        if config.watches_endpoint {
            let endpoint = Moment { now, rtt, last_decrease: &mut self.endpoint_decrease };
            self.endpoint.on_fast_recovery(endpoint, &config.endpoint);
        }
        self.update_pacing_gap(config, ASSUMED_HOPS);
    }

    fn on_timeout(&mut self, config: &SwiftConfig, now: Time, timeout: &Timeout) {
        let (rtt, retransmit_cnt) = (self.rtt, timeout.in_a_row);
        let fabric = Moment { now, rtt, last_decrease: &mut self.fabric_decrease };
        self.fabric.on_timeout(fabric, retransmit_cnt, &config.fabric);
        if config.watches_endpoint {
            let endpoint = Moment { now, rtt, last_decrease: &mut self.endpoint_decrease };
            self.endpoint.on_timeout(endpoint, retransmit_cnt, &config.endpoint);
        }
        self.update_pacing_gap(config, ASSUMED_HOPS);
    }

    #[inline]
    fn window(&self, _config: &SwiftConfig) -> f64 {
        let (fabric, endpoint) = (self.fabric.cwnd(), self.endpoint.cwnd());
        // No window is NaN, so this is one instruction where `f64::min` is five.
        if fabric < endpoint {
            fabric
        } else {
            endpoint
        }
    }

    #[inline]
    fn pacing_gap(&self, config: &SwiftConfig) -> Option<Span> {
        (self.window(config) < 1.0 && config.params.pacing).then_some(self.gap)
    }

    /// Returns the timeout by [`RtoRule`], without the pacing gap: the timer runs only while a packet is under way. It doubles
    /// with every timeout since the last acknowledgement (RFC 6298 §5.5): a burst's queue may make the round trip longer than
    /// any before, and a few timeouts within it would throw the window to its floor.
    #[inline]
    fn retransmission_timeout(&self, config: &SwiftConfig, timeouts: u32) -> Span {
        let params = &config.params;
        let once = match params.rto_rule {
            _ if self.srtt == Span::ZERO => config.initial_rto,
            RtoRule::TwiceSrtt => (self.srtt.max(self.rtt) * 2).max(params.min_rto),
            RtoRule::Rfc6298 => (self.srtt + self.rttvar * 4).max(params.min_rto),
        };
        (once * (1 << timeouts.min(params.rto_backoff))).min(params.max_rto)
    }

    fn windows(&self, config: &SwiftConfig) -> Windows {
        let ecwnd = if config.watches_endpoint { self.endpoint.cwnd() } else { f64::NAN };
        let fcwnd = self.fabric.cwnd();
        Windows { cwnd: self.window(config), fcwnd, ecwnd, srtt: self.srtt, rate: f64::NAN }
    }
}

impl Scheme for SwiftParams {
    type Control = Swift;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    const HEADER: Bytes = Bytes::new(64);

    fn shared(&self, path: Path) -> SwiftConfig {
        SwiftConfig::new(self.clone(), &path)
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    fn max_window(&self) -> f64 {
        self.max_cwnd
    }

    fn dup_threshold(&self) -> u32 {
        self.dup_threshold
    }

    fn recovery(&self) -> SelectiveRepeat {
        SelectiveRepeat::new(self.reach, self.dup_threshold)
    }

    fn receiver(&self) -> SelectiveReceiver {
        SelectiveReceiver::new(AckPolicy::EveryPacket, self.reach)
    }
}
