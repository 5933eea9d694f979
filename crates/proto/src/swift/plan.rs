//! Which target delay a network should have, and what that costs: base, hop scaling and flow scaling (§3.5) from the delays of
//! the empty path, and round trip and goodput of flows that share one link, from the law by which windows move (Algorithm 1).
//!
//! The target of the longest path is what that takes when it is empty, and room for a few flows' queue and for the hosts' jitter.
//! For each switch it has what a switch adds to the empty path. Flow scaling adds the difference of the mean queues of many flows
//! and of one: N paced flows of random phase keep a queue of sqrt(πN/8) packets on average (figure 4; the deviation of N uniform
//! phases is a Brownian bridge, whose largest value has a Rayleigh distribution).

use std::f64::consts::{FRAC_PI_8, PI};

use super::target::FabricTarget;
use super::SwiftParams;
use crate::units::{Bytes, Rate, Span};

/// Flows to plan for, and the path that they take to the link that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetPlan {
    /// Rate of every link.
    pub rate: Rate,
    /// Delay of every link, one way.
    pub delay: Span,
    /// A full frame on the wire.
    pub frame: Bytes,
    /// An acknowledgement on the wire.
    pub ack: Bytes,
    /// Payload of a full frame.
    pub payload: Bytes,
    /// Switches on the longest path.
    pub switches: u8,
    /// The most flows that share a link.
    pub flows: u32,
    /// Flows for whose queue the base target has room: each raises its window by a packet in a round trip.
    pub few: u32,
    /// What hosts add to a round trip at most: timestamps that err, and work that waits.
    pub jitter: Span,
    /// Whether the target grows with the number of flows.
    pub flow_scaling: bool,
}

/// What some flows get, on average, that share a link and always have something to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The window of each, in packets.
    pub cwnd: f64,
    /// The target for that window.
    pub target: Span,
    /// The mean round trip.
    pub rtt: Span,
    /// The share of the link that they fill.
    pub share: f64,
}

/// Returns the mean queue, in packets, of `flows` paced flows of random phase at a link that they fill: figure 4.
pub fn mean_queue(flows: u32) -> f64 {
    (FRAC_PI_8 * f64::from(flows)).sqrt()
}

impl TargetPlan {
    fn frame_time(&self) -> Span {
        self.rate.transmission(self.frame)
    }

    /// Returns what a link, and the switch before it, add to the round trip of an empty path (ħ): a frame there, an
    /// acknowledgement back.
    pub fn per_hop(&self) -> Span {
        self.frame_time() + self.rate.transmission(self.ack) + self.delay * 2
    }

    /// Returns the round trip of an empty path over `switches` switches, which has one link more than switches.
    pub fn empty(&self, switches: u8) -> Span {
        self.per_hop() * (u64::from(switches) + 1)
    }

    /// The queue for which the base target has room, as time: what the few flows add in a round trip.
    pub fn room(&self) -> Span {
        self.frame_time() * u64::from(self.few)
    }

    /// Returns what flow scaling adds at most: the time of the mean queue of all flows, less that of one.
    pub fn range(&self) -> Span {
        if self.flow_scaling {
            self.frame_time().scaled(mean_queue(self.flows) - mean_queue(1))
        } else {
            Span::ZERO
        }
    }

    /// The target of the longest path with nothing added for flows.
    fn least_target(&self) -> Span {
        self.empty(self.switches) + self.room() + self.jitter
    }

    /// Packets that leave in this time.
    fn packets(&self, time: Span) -> f64 {
        time.as_ps_f64() / self.frame_time().as_ps_f64()
    }

    /// Swift's parameters. All of the range is added at the window that each of all flows has, and none at that of one flow
    /// alone: so that flows of different windows always have different targets, which is what makes them fair.
    pub fn params(&self) -> SwiftParams {
        let (least, range) = (self.least_target(), self.range());
        let unscaled = SwiftParams {
            base_target: self.per_hop() + self.room() + self.jitter,
            hop_scaling: self.per_hop(),
            flow_scaling: false,
            ..SwiftParams::default()
        };
        if range == Span::ZERO {
            return unscaled;
        }
        SwiftParams {
            fs_range: range,
            fs_min_cwnd: self.packets(least + range) / f64::from(self.flows),
            fs_max_cwnd: self.packets(least),
            flow_scaling: true,
            ..unscaled
        }
    }

    /// Returns what `flows` flows get, each from a host with few of them, on a path over `switches` switches.
    ///
    /// A flow alone waits in its own host, before its packets count. Of several, each raises its window by `ai` in a round trip
    /// that is below the target, and lowers it by the share `β (D - t) / D` in one that is above (Algorithm 1). So
    /// `P(D < t) ai = β w E[max(0, D - t)] / D` in the mean, where w is the window that is lowered: the mean one, and the
    /// `ai` by which it has just been raised. D is taken as normal around its mean, with the deviation of a sawtooth of the
    /// height of what all flows add in a round trip: `ai` for each flow, or for each packet where there are fewer of them.
    pub fn outcome(&self, flows: u32, switches: u8) -> Outcome {
        let params = self.params();
        let (scaled, empty) = (FabricTarget::new(&params), self.empty(switches));
        let window = |rtt: Span| self.packets(rtt) / f64::from(flows);
        if flows == 1 {
            let cwnd = window(empty);
            return Outcome { cwnd, target: scaled.at(cwnd, switches), rtt: empty, share: 1.0 };
        }
        let deviation = |rtt: Span| {
            let height = f64::from(flows).min(self.packets(rtt)) * params.ai;
            height * self.frame_time().as_ps_f64() / 12_f64.sqrt()
        };
        let grows = |rtt: Span| {
            let (cwnd, deviation) = (window(rtt), deviation(rtt));
            let target = scaled.at(cwnd, switches);
            let above = (rtt.as_ps_f64() - target.as_ps_f64()) / deviation;
            let excess = deviation * (density(above) + above * below(above));
            below(-above) * params.ai > params.beta * (cwnd + params.ai) * excess / rtt.as_ps_f64()
        };
        let (mut low, mut high) = (empty, (self.least_target() + self.range()) * 16);
        while high.as_ps() > low.as_ps() + 1 {
            let middle = Span::from_ps(low.as_ps().midpoint(high.as_ps()));
            (low, high) = if grows(middle) { (middle, high) } else { (low, middle) };
        }
        // The link idles where the round trip would be shorter than the empty path's.
        let deviation = deviation(low);
        let spare = (low.as_ps_f64() - empty.as_ps_f64()) / deviation;
        let idle = deviation * (density(spare) - spare * below(-spare)) / empty.as_ps_f64();
        let cwnd = window(low);
        Outcome { cwnd, target: scaled.at(cwnd, switches), rtt: low, share: (1.0 - idle).clamp(0.0, 1.0) }
    }

    /// Payload of all flows in bits per second, where they fill this share of the link.
    pub fn goodput(&self, share: f64) -> f64 {
        share * self.rate.as_bps() as f64 * self.payload.get() as f64 / self.frame.get() as f64
    }
}

/// The density of the standard normal distribution.
fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

/// The share of the standard normal distribution below x, to 1e-7 (Abramowitz and Stegun, 26.2.17).
fn below(x: f64) -> f64 {
    const TERMS: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let above = density(x) * t * TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    if x < 0.0 {
        above
    } else {
        1.0 - above
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Parameters;

    /// Frames of a microsecond at 8 Gb/s, and acknowledgements of a tenth of that.
    fn plan(flows: u32, switches: u8) -> TargetPlan {
        TargetPlan {
            rate: Rate::from_gbps(8),
            delay: Span::from_ns(450),
            frame: Bytes::new(1000),
            ack: Bytes::new(100),
            payload: Bytes::new(900),
            switches,
            flows,
            few: 4,
            jitter: Span::from_us(3),
            flow_scaling: true,
        }
    }

    #[test]
    fn the_base_target_is_a_link_and_what_waits_and_each_switch_adds_a_link() {
        let params = plan(100, 5).params();
        // 1 us and 0.1 us and twice 0.45 us for a link; four frames; three microseconds of hosts.
        assert_eq!(params.hop_scaling, Span::from_us(2));
        assert_eq!(params.base_target, Span::from_us(2 + 4 + 3));
        assert_eq!(plan(100, 5).empty(5), Span::from_us(12));
        let target = FabricTarget::new(&params).at(params.fs_max_cwnd, 5);
        assert_eq!(target, Span::from_us(12 + 4 + 3));
    }

    #[test]
    fn the_range_is_the_queue_of_all_flows_less_that_of_one() {
        // sqrt(π 128 / 8) - sqrt(π / 8).
        let plan = plan(128, 1);
        assert_eq!(plan.range().as_us_f64(), 6.463_158);
        let params = plan.params();
        assert_eq!(params.fs_range, plan.range());
        // 4 us empty, 7 us more, and the range, in frames of 1 us, over 128 flows.
        assert!((params.fs_min_cwnd - (11.0 + 6.463_158) / 128.0).abs() < 1e-9);
        assert!((params.fs_max_cwnd - 11.0).abs() < 1e-9);
        assert!(params.conflicts().is_empty());
    }

    #[test]
    fn one_flow_needs_no_scaling_and_waits_for_nobody() {
        let plan = plan(1, 3);
        assert!(!plan.params().flow_scaling);
        let outcome = plan.outcome(1, 3);
        assert_eq!((outcome.rtt, outcome.share), (Span::from_us(8), 1.0));
        assert_eq!(plan.goodput(1.0), 7.2e9);
    }

    #[test]
    fn the_more_flows_the_longer_the_round_trip_and_scaling_pays_for_the_link() {
        let plan = TargetPlan { few: 0, jitter: Span::ZERO, ..plan(1000, 1) };
        let mut before = Span::ZERO;
        for flows in [2, 10, 100, 1000] {
            let outcome = plan.outcome(flows, 1);
            assert!(outcome.rtt > before && outcome.rtt > outcome.target, "{flows}: {outcome:?}");
            assert!((outcome.cwnd * f64::from(flows) - outcome.rtt.as_us_f64()).abs() < 1e-6);
            before = outcome.rtt;
        }
        let unscaled = TargetPlan { flow_scaling: false, ..plan.clone() };
        let (with, without) = (plan.outcome(1000, 1), unscaled.outcome(1000, 1));
        assert!(with.rtt > without.rtt && with.share > without.share, "{with:?}, {without:?}");
    }

    #[test]
    fn at_the_mean_windows_grow_as_much_as_they_shrink() {
        let (plan, flows) = (plan(100, 3), 20_u32);
        let (outcome, params) = (plan.outcome(flows, 3), plan.params());
        let deviation = f64::from(flows).min(outcome.rtt.as_us_f64()) / 12_f64.sqrt();
        let steps = 20_000;
        let (mut grown, mut shrunk) = (0.0, 0.0);
        // The two sides of the balance, summed over the distribution in place of its closed form.
        for step in 0..steps {
            let x = 16.0 * (f64::from(step) + 0.5) / f64::from(steps) - 8.0;
            let (rtt, weight) =
                (outcome.rtt.as_us_f64() + x * deviation, density(x) * 16.0 / f64::from(steps));
            let excess = rtt - outcome.target.as_us_f64();
            if excess < 0.0 {
                grown += weight * params.ai;
            } else {
                shrunk +=
                    weight * params.beta * (outcome.cwnd + params.ai) * excess / outcome.rtt.as_us_f64();
            }
        }
        assert!((grown / shrunk - 1.0).abs() < 1e-3, "{grown} and {shrunk}");
    }

    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        for (x, share) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_963_985, 0.025), (3.0, 0.998_650_102)] {
            assert!((below(x) - share).abs() < 1e-7, "{x}");
        }
    }
}
