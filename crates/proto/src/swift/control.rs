//! Fabric and endpoint windows together (§3.4): each watches its own part of the delay, the smaller one rules.

use super::pacer::pacing_gap;
use super::target::FabricTarget;
use super::window::{Moment, Reading, Window};
use super::{SwiftParams, Variant};
use crate::transport::{
    AckPolicy, AckSample, CongestionControl, Scheme, SelectiveReceiver, SelectiveRepeat, Timeout, Windows,
};
use crate::units::{Bytes, Span, Time};

/// Weight of a new sample in the smoothed round-trip time.
const SRTT_GAIN: f64 = 0.25;

/// What the flows of one transport share: the parameters and what follows from them.
#[derive(Clone, Debug)]
pub struct SwiftConfig {
    params: SwiftParams,
    target: FabricTarget,
    /// There is a window for the endpoint delay.
    watches_endpoint: bool,
}

impl SwiftConfig {
    /// The state that all flows with these parameters share.
    pub fn new(mut params: SwiftParams) -> SwiftConfig {
        if !params.cwnd_below_one {
            params.min_cwnd = params.min_cwnd.max(1.0);
        }
        let target = FabricTarget::new(&params);
        SwiftConfig { target, watches_endpoint: params.watches_endpoint(), params }
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
    endpoint_delay: EndpointDelay,
    endpoint_decrease: Time,
    /// Least time between the starts of two packets while the window is below one: what follows from window and round
    /// trip. Kept as it is asked for more often than it changes.
    gap: Gap,
}

/// A pacing gap in picoseconds. Its highest bit is set while the flow is probing: timeouts in a row have set the window to
/// its floor, and no acknowledgement has lifted it since.
#[derive(Clone, Copy, Debug)]
struct Gap(u64);

impl Gap {
    const PROBING: u64 = 1 << 63;

    #[inline]
    fn new(span: Span, probing: bool) -> Gap {
        Gap(span.as_ps() | if probing { Gap::PROBING } else { 0 })
    }

    #[inline]
    fn span(self) -> Span {
        Span::from_ps(self.0 & !Gap::PROBING)
    }

    #[inline]
    fn is_probing(self) -> bool {
        self.0 & Gap::PROBING != 0
    }
}

/// Moving average of the endpoint delay. The gain holds for one sample, and for every round trip between two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct EndpointDelay {
    /// While the average is zero, as it stays between hosts that take no time: when the last sample came, and
    /// [`Time::ZERO`] before the first. Else [`Time::NEVER`].
    quiet: Time,
    /// The time of the last sample, while the average is not zero.
    updated: Time,
    average_ps: f64,
}

impl EndpointDelay {
    #[inline]
    fn update(&mut self, now: Time, sample: Span, srtt: Span, gain: f64) -> Span {
        if self.quiet == Time::NEVER || sample != Span::ZERO {
            return self.average(now, sample, srtt, gain);
        }
        self.quiet = now;
        Span::ZERO
    }

    /// A paced flow has few samples, each of which would count for little if the gain held per sample; so one
    /// that comes after n round trips has the weight of n: `1 - (1 - gain)^n`.
    fn average(&mut self, now: Time, sample: Span, srtt: Span, gain: f64) -> Span {
        let quiet = std::mem::replace(&mut self.quiet, Time::NEVER);
        let updated = if quiet == Time::NEVER { self.updated } else { quiet };
        self.average_ps = if updated == Time::ZERO {
            sample.as_ps() as f64
        } else {
            let (elapsed, srtt) = (now.since(updated).as_ps(), srtt.as_ps().max(1));
            // An ordinary acknowledgement follows the last within two round trips: no need to divide.
            let round_trips = if elapsed < 2 * srtt { 1 } else { (elapsed / srtt).min(64) };
            let kept = power(1.0 - gain, round_trips as u32);
            kept * self.average_ps + (1.0 - kept) * sample.as_ps() as f64
        };
        self.updated = now;
        Span::from_ps(self.average_ps as u64)
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
    /// Bytes at its beginning that every acknowledgement touches; the others only one of a host that takes time, of a
    /// window below one packet, or that decreases the endpoint window.
    #[cfg(test)]
    pub(crate) const TOUCHED_BY_ALL: usize =
        std::mem::offset_of!(Swift, endpoint_delay) + std::mem::offset_of!(EndpointDelay, updated);

    /// After a change of windows or round trip.
    #[inline]
    fn space(&mut self, config: &SwiftConfig) {
        let window = self.window(config);
        if window < 1.0 && config.params.pacing {
            let probing = self.gap.is_probing() && window <= config.params.min_cwnd;
            self.set_gap(config, window, probing);
        }
    }

    fn set_gap(&mut self, config: &SwiftConfig, window: f64, probing: bool) {
        let gap = pacing_gap(self.expected_rtt(config), window).unwrap_or(Span::ZERO);
        self.gap = Gap::new(if probing { gap.min(config.params.floor_gap) } else { gap }, probing);
    }

    /// The round-trip time that spacing and timeouts go by: before the first sample, what it is aimed at.
    fn expected_rtt(&self, config: &SwiftConfig) -> Span {
        if self.srtt == Span::ZERO {
            config.target.at(self.fabric.cwnd(), 1)
        } else {
            self.srtt
        }
    }
}

impl CongestionControl for Swift {
    type Shared = SwiftConfig;

    fn new(config: &SwiftConfig) -> Swift {
        let initial = config.params.initial_cwnd.max(config.params.min_cwnd);
        let mut swift = Swift {
            fabric: Window::new(initial),
            fabric_decrease: Time::ZERO,
            endpoint: Window::new(if config.watches_endpoint { initial } else { f64::INFINITY }),
            rtt: Span::ZERO,
            srtt: Span::ZERO,
            endpoint_delay: EndpointDelay::default(),
            endpoint_decrease: Time::ZERO,
            gap: Gap::new(Span::ZERO, false),
        };
        swift.space(config);
        swift
    }

    #[inline]
    fn on_ack(&mut self, config: &SwiftConfig, now: Time, sample: &AckSample) {
        let params = &config.params;
        let rtt = sample.rtt;
        self.rtt = rtt;
        self.srtt = if self.srtt == Span::ZERO {
            rtt
        } else {
            let srtt = self.srtt.as_ps() as f64;
            Span::from_ps((srtt + SRTT_GAIN * (rtt.as_ps() as f64 - srtt)) as u64)
        };
        let fabric_delay = match params.variant {
            Variant::Swift => rtt.saturating_sub(sample.endpoint_delay),
            Variant::V0 => rtt,
        };
        let fabric_target = config.target.at(self.fabric.cwnd(), sample.hops);
        let acked = sample.newly_acked;
        let fabric = Reading { delay: fabric_delay, target: fabric_target, beta: params.beta };
        let moment = Moment { now, rtt, last_decrease: &mut self.fabric_decrease };
        self.fabric.on_ack(moment, &fabric, acked, params);
        if config.watches_endpoint {
            let delay =
                self.endpoint_delay.update(now, sample.endpoint_delay, self.srtt, params.endpoint_gain);
            let endpoint = Reading { delay, target: params.endpoint_target, beta: params.endpoint_beta };
            let moment = Moment { now, rtt, last_decrease: &mut self.endpoint_decrease };
            self.endpoint.on_ack(moment, &endpoint, acked, params);
        }
        self.space(config);
    }

    fn on_loss(&mut self, config: &SwiftConfig, now: Time, _cumulative: u32, _next: u32) {
        let rtt = self.rtt;
        let fabric = Moment { now, rtt, last_decrease: &mut self.fabric_decrease };
        self.fabric.on_fast_recovery(fabric, &config.params);
        if config.watches_endpoint {
            let endpoint = Moment { now, rtt, last_decrease: &mut self.endpoint_decrease };
            self.endpoint.on_fast_recovery(endpoint, &config.params);
        }
        self.space(config);
    }

    fn on_timeout(&mut self, config: &SwiftConfig, now: Time, timeout: &Timeout) {
        let (rtt, retransmit_cnt) = (self.rtt, timeout.in_a_row);
        let fabric = Moment { now, rtt, last_decrease: &mut self.fabric_decrease };
        self.fabric.on_timeout(fabric, retransmit_cnt, &config.params);
        if config.watches_endpoint {
            let endpoint = Moment { now, rtt, last_decrease: &mut self.endpoint_decrease };
            self.endpoint.on_timeout(endpoint, retransmit_cnt, &config.params);
        }
        if retransmit_cnt >= config.params.retx_reset_threshold {
            self.set_gap(config, self.window(config), true);
        } else {
            self.space(config);
        }
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
        (self.window(config) < 1.0 && config.params.pacing).then_some(self.gap.span())
    }

    /// Twice the smoothed round trip and the pacing gap: without that a paced flow would time out for nothing. The
    /// round trip's part doubles with every timeout since the last acknowledgement (RFC 6298 §5.5): a burst's queue
    /// may make the round trip longer than any before, and a few timeouts within it would throw the window to its
    /// floor.
    #[inline]
    fn retransmission_timeout(&self, config: &SwiftConfig, timeouts: u32) -> Span {
        let params = &config.params;
        let backoff = 1 << timeouts.min(params.rto_backoff);
        let gap = self.pacing_gap(config).unwrap_or(Span::ZERO);
        if self.srtt == Span::ZERO {
            return params.initial_rto * backoff + gap;
        }
        (self.srtt * 2 * backoff + gap).max(params.min_rto * backoff)
    }

    fn windows(&self, config: &SwiftConfig) -> Windows {
        let ecwnd = if config.watches_endpoint { self.endpoint.cwnd() } else { f64::NAN };
        let fcwnd = self.fabric.cwnd();
        Windows { cwnd: self.window(config), fcwnd, ecwnd, srtt: self.srtt }
    }
}

impl Scheme for SwiftParams {
    type Control = Swift;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    const HEADER: Bytes = Bytes::new(64);

    fn shared(&self, _frame: Bytes) -> SwiftConfig {
        SwiftConfig::new(self.clone())
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

    fn receiver(&self) -> SelectiveReceiver {
        SelectiveReceiver::new(AckPolicy::EveryPacket, self.reach)
    }
}
