//! Swift's parameters, with their defaults and ranges.

use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters, Shown};
use crate::transport::{common, Path};
use crate::units::Span;

/// Which delays a sender's windows watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Fabric and endpoint delay apart, a window for each (§3.4).
    Swift,
    /// The whole round trip against the fabric's target, one window: Swift-v0 (§5.4).
    V0,
}

/// What a retransmission timeout is made of, before it is doubled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// Twice the smoothed round trip (public code), or twice the last one where that is longer: while a burst's queue
    /// grows, the smoothed one lags.
    TwiceSrtt,
    /// The smoothed round trip and four times its mean deviation (RFC 6298 §2.3).
    Rfc6298,
}

/// Swift's parameters. The paper prints few values; `docs/DEVIATIONS.md` has the source of each default.
#[derive(Clone, Debug, PartialEq)]
pub struct SwiftParams {
    /// Which delays the windows watch. Swift.
    pub variant: Variant,
    /// Fabric target before scaling: one hop and a few flows' queue. 25 us (§5.2, testbed T2).
    pub base_target: Span,
    /// Added to the fabric target for every switch on the forward path (ħ). 1 us (public code).
    pub hop_scaling: Span,
    /// Most that flow scaling adds to the fabric target (`fs_range`). 75 us (calibrated on table 3 and figure 21; public
    /// code: 100 us).
    pub fs_range: Span,
    /// Window in packets at and below which all of `fs_range` is added. 0.015 (calibrated on table 3 and figure 21;
    /// public code: 0.1).
    pub fs_min_cwnd: f64,
    /// Window in packets at and above which nothing is added. 256 (public code).
    pub fs_max_cwnd: f64,
    /// Scale the target with the length of the path (`TBS`). On.
    pub topology_scaling: bool,
    /// Scale the target with the window (`FBS`). On.
    pub flow_scaling: bool,
    /// Keep a window for the endpoint delay, too; without it that delay is measured and left alone. On.
    pub endpoint_window: bool,
    /// Endpoint target. 100 us (table 4).
    pub endpoint_target: Span,
    /// Share of a new endpoint delay in its moving average after one round trip. 0.5 (calibrated).
    pub endpoint_gain: f64,
    /// Reaction of the endpoint window to the relative excess over its target. 0.8 (public code, which has a value of
    /// its own for this window).
    pub endpoint_beta: f64,
    /// Smallest endpoint window in packets, where that is above `min_cwnd`. 0.5 (calibrated on figure 19; public
    /// code: 1.0).
    pub endpoint_min_cwnd: f64,
    /// Additive increase, in packets a round trip (`ai`). 1.0 (public code).
    pub ai: f64,
    /// Reaction of the fabric window to the relative excess over its target (`β` of
    /// Algorithm 1). 0.8 (public code).
    pub beta: f64,
    /// Largest decrease in one round trip (`max_mdf`). 0.5 (slides).
    pub max_mdf: f64,
    /// Smallest window in packets; below 1 the flow is paced. 0.001 (§3.6; public code: 0.01).
    pub min_cwnd: f64,
    /// Let windows fall below one packet; without it their floor is one. On.
    pub cwnd_below_one: bool,
    /// Space the packets of a window below one; without it one follows as soon as the last is acknowledged. On.
    pub pacing: bool,
    /// Longest gap between two packets of a window below one, as long as the network carries what flows with that gap send.
    /// 12 ms (ours; the paper has no limit). Where it holds, a gap is drawn between half of it and all.
    pub gap_limit: Span,
    /// Longest that the limit to the gap grows while it is too short for the number of flows. 400 ms (ours). The same as
    /// `gap_limit`: it never grows.
    pub gap_limit_max: Span,
    /// Largest window in packets. 256 (public code; figure 19 suggests a cap near 120).
    pub max_cwnd: f64,
    /// Window in packets of a new flow. What the path holds: the NIC's rate times the round trip of the empty path, so that a
    /// lone flow fills its link from the first packet on; 16 where nobody knows the path.
    pub initial_cwnd: Option<f64>,
    /// Timeouts in a row after which the window falls to its floor (`RETX_RESET_THRESHOLD`). 3 (public code).
    pub retx_reset_threshold: u32,
    /// Packets received above a hole before it counts as lost. 1: a flow keeps to one path (§3.6 waits for no more).
    pub dup_threshold: u32,
    /// What the retransmission timeout is made of. Twice the smoothed round trip (public code).
    pub rto_rule: RtoRule,
    /// Least retransmission timeout. 1 ms: half of what a full buffer of 12.7 MB takes to drain at 50 Gb/s (public code:
    /// 250 us).
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample. 2 ms, what a full buffer of 12.7 MB takes to drain at
    /// 50 Gb/s, or two round trips of the empty path where these are longer.
    pub initial_rto: Option<Span>,
    /// Doublings of the retransmission timeout at most, one for each timeout in a row. 2 (the paper names none; 0 is
    /// none).
    pub rto_backoff: u32,
    /// Largest retransmission timeout, doubled or not: how long a flow may be silent after its path is back. 100 s, which is no limit.
    pub max_rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets; the reach of the SACK
    /// bitmap. A power of two; 1024.
    pub reach: u32,
}

/// [`SwiftParams::initial_cwnd`] of a path whose round trip nobody knows.
const CWND_ON_UNKNOWN_PATH: f64 = 16.0;

/// The least [`SwiftParams::initial_rto`] that is not given.
const LEAST_INITIAL_RTO: Span = Span::from_ms(2);

impl SwiftParams {
    /// The window of a new flow on a path, in packets; where it is not given, within the least and the largest window.
    pub fn initial_cwnd(&self, path: &Path) -> f64 {
        let follows = || path.bdp().unwrap_or(CWND_ON_UNKNOWN_PATH).clamp(self.min_cwnd, self.max_cwnd);
        self.initial_cwnd.unwrap_or_else(follows)
    }

    /// The retransmission timeout on a path before the first round-trip sample.
    pub fn initial_rto(&self, path: &Path) -> Span {
        let follows = || path.base_rtt.map_or(LEAST_INITIAL_RTO, |rtt| LEAST_INITIAL_RTO.max(rtt * 2));
        self.initial_rto.unwrap_or_else(follows)
    }

    /// Returns whether there is a window for the endpoint delay beside the fabric's: Swift-v0 has none (§5.4).
    #[inline]
    pub fn watches_endpoint(&self) -> bool {
        self.endpoint_window && self.variant == Variant::Swift
    }
}

impl Default for SwiftParams {
    fn default() -> SwiftParams {
        SwiftParams {
            variant: Variant::Swift,
            base_target: Span::from_us(25),
            hop_scaling: Span::from_us(1),
            fs_range: Span::from_us(75),
            fs_min_cwnd: 0.015,
            fs_max_cwnd: 256.0,
            topology_scaling: true,
            flow_scaling: true,
            endpoint_window: true,
            endpoint_target: Span::from_us(100),
            endpoint_gain: 0.5,
            endpoint_beta: 0.8,
            endpoint_min_cwnd: 0.5,
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            min_cwnd: 0.001,
            cwnd_below_one: true,
            pacing: true,
            gap_limit: Span::from_ms(12),
            gap_limit_max: Span::from_ms(400),
            max_cwnd: 256.0,
            initial_cwnd: None,
            retx_reset_threshold: 3,
            dup_threshold: 1,
            rto_rule: RtoRule::TwiceSrtt,
            min_rto: Span::from_ms(1),
            initial_rto: None,
            rto_backoff: 2,
            max_rto: Span::from_secs(100),
            reach: 1024,
        }
    }
}

const VARIANT: &str = "What the windows watch: swift, fabric and endpoint delay apart; v0, the whole round trip, against the fabric's target.";
const VARIANTS: &[(&str, Variant)] = &[("swift", Variant::Swift), ("v0", Variant::V0)];
const RTO_RULE: &str = "What the retransmission timeout is made of: twice_srtt, twice the smoothed round trip or the last, whichever is longer; rfc6298, that and four times its deviation.";
const RTO_RULES: &[(&str, RtoRule)] = &[("twice_srtt", RtoRule::TwiceSrtt), ("rfc6298", RtoRule::Rfc6298)];
const FS_RANGE: &str = "Most that flow scaling adds to the fabric target.";
const FS_MIN_CWND: &str = "Window in packets at and below which all of fs_range is added.";
const FS_MAX_CWND: &str = "Window in packets at and above which nothing is added.";
const ENDPOINT_GAIN: &str = "Share of a new endpoint delay in its moving average after one round trip.";
const ENDPOINT_BETA: &str = "Reaction of the endpoint window to the relative excess over its target.";
const ENDPOINT_MIN_CWND: &str =
    "Smallest window in packets for the delay in the hosts, where that is above min_cwnd.";
const BETA: &str = "Reaction of the fabric window to the relative excess over its target.";
const MAX_MDF: &str = "Largest decrease in one round trip, as a share of the window.";
const CWND_BELOW_ONE: &str = "Let windows fall below one packet; if not, their floor is one.";
const GAP_LIMIT: &str = "Longest gap between packets of a window below one, until the network shows it to be too short; 1000s: the paper's rule, without a limit.";
const GAP_LIMIT_MAX: &str =
    "Longest that gap_limit grows to while flows at their limits are too many for a link.";
const INITIAL_CWND: &str =
    "what the path holds, the NIC's rate times the round trip of the empty path; 16 where that is unknown";
const RETX_RESET: &str = "Timeouts in a row after which the window falls to its floor.";
const INITIAL_RTO: &str = "2ms, or two round trips of the empty path where these are longer";
const RTO_BACKOFF: &str =
    "Doublings of the retransmission timeout at most, one for each timeout in a row; 0: none.";
const MAX_RTO: &str = "Largest retransmission timeout, doubled or not.";

impl Parameters for SwiftParams {
    fn read(r: &mut impl ParameterReader, d: &SwiftParams) -> SwiftParams {
        let delay = |name, doc, least| Parameter::new(name, doc, least..=Span::from_secs(1));
        let gap = |name, doc| Parameter::new(name, doc, Span::from_us(1)..=Span::from_secs(1000));
        let reaction = |name, doc| Parameter::new(name, doc, 0.0..=10.0);
        let (ns, none) = (Span::from_ns(1), Span::ZERO);
        let base = "Fabric target before scaling: one hop and a few flows' queue.";
        let hop = "Added to the fabric target for every switch on the path.";
        let window = "Keep a window for the delay in the hosts, too.";
        SwiftParams {
            variant: r.choice("variant", VARIANT, VARIANTS, d.variant),
            base_target: r.value(&delay("base_target", base, ns), d.base_target),
            hop_scaling: r.value(&delay("hop_scaling", hop, none), d.hop_scaling),
            fs_range: r.value(&delay("fs_range", FS_RANGE, none), d.fs_range),
            fs_min_cwnd: r.value(&common::window("fs_min_cwnd", FS_MIN_CWND), d.fs_min_cwnd),
            fs_max_cwnd: r.value(&common::window("fs_max_cwnd", FS_MAX_CWND), d.fs_max_cwnd),
            topology_scaling: r.flag(
                "topology_scaling",
                "Scale the target with the path.",
                d.topology_scaling,
            ),
            flow_scaling: r.flag("flow_scaling", "Scale the target with the window.", d.flow_scaling),
            endpoint_window: r.flag("endpoint_window", window, d.endpoint_window),
            endpoint_target: r.value(
                &delay("endpoint_target", "Target for the delay in the hosts.", ns),
                d.endpoint_target,
            ),
            endpoint_gain: r
                .value(&Parameter::new("endpoint_gain", ENDPOINT_GAIN, 0.001..=1.0), d.endpoint_gain),
            endpoint_beta: r.value(&reaction("endpoint_beta", ENDPOINT_BETA), d.endpoint_beta),
            endpoint_min_cwnd: r
                .value(&common::window("endpoint_min_cwnd", ENDPOINT_MIN_CWND), d.endpoint_min_cwnd),
            ai: r.value(&common::additive_increase(), d.ai),
            beta: r.value(&reaction("beta", BETA), d.beta),
            max_mdf: r.value(&Parameter::new("max_mdf", MAX_MDF, 0.0..=1.0), d.max_mdf),
            min_cwnd: r.value(&common::min_cwnd(), d.min_cwnd),
            cwnd_below_one: r.flag("cwnd_below_one", CWND_BELOW_ONE, d.cwnd_below_one),
            pacing: r.flag("pacing", "Space the packets of a window below one.", d.pacing),
            gap_limit: r.value(&gap("gap_limit", GAP_LIMIT), d.gap_limit),
            gap_limit_max: r.value(&gap("gap_limit_max", GAP_LIMIT_MAX), d.gap_limit_max),
            max_cwnd: r.value(&common::max_cwnd(), d.max_cwnd),
            initial_cwnd: match d.initial_cwnd {
                Some(cwnd) => Some(r.value(&common::initial_cwnd(), cwnd)),
                None => r.optional(&common::initial_cwnd(), INITIAL_CWND),
            },
            retx_reset_threshold: r
                .value(&Parameter::new("retx_reset_threshold", RETX_RESET, 1..=1000), d.retx_reset_threshold),
            dup_threshold: r.value(&common::dup_threshold(), d.dup_threshold),
            rto_rule: r.choice("rto_rule", RTO_RULE, RTO_RULES, d.rto_rule),
            min_rto: r.value(&common::min_rto(), d.min_rto),
            initial_rto: match d.initial_rto {
                Some(rto) => Some(r.value(&common::initial_rto(), rto)),
                None => r.optional(&common::initial_rto(), INITIAL_RTO),
            },
            rto_backoff: r.value(&Parameter::new("rto_backoff", RTO_BACKOFF, 0..=16), d.rto_backoff),
            max_rto: r.value(&common::timeout("max_rto", MAX_RTO), d.max_rto),
            reach: r.value(&common::reach(), d.reach),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let (fs_min, fs_max) = (("fs_min_cwnd", self.fs_min_cwnd), ("fs_max_cwnd", self.fs_max_cwnd));
        if fs_min.1 >= fs_max.1 {
            conflicts.push(Conflict::between(fs_min, "is not below", fs_max));
        }
        if self.max_cwnd < 1.0 && !self.cwnd_below_one {
            let (max, floor) = (("max_cwnd", self.max_cwnd), ("cwnd_below_one", self.cwnd_below_one));
            conflicts.push(Conflict::between(max, "is below one packet, the floor that is set by", floor));
        }
        let (endpoint_min, max) =
            (("endpoint_min_cwnd", self.endpoint_min_cwnd), ("max_cwnd", self.max_cwnd));
        if endpoint_min.1 > max.1 {
            conflicts.push(Conflict::between(endpoint_min, "is above", max));
        }
        if self.min_rto > self.max_rto {
            conflicts.push(Conflict::between(
                ("min_rto", self.min_rto.shown()),
                "is above",
                ("max_rto", self.max_rto.shown()),
            ));
        }
        let initial = self.initial_cwnd.unwrap_or(self.min_cwnd);
        conflicts.extend(common::check_windows([self.min_cwnd, initial, self.max_cwnd], self.reach));
        conflicts
    }
}
