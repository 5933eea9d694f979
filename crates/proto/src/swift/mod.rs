//! Swift: delay is simple and effective for congestion control in the datacenter (SIGCOMM 2020).
//!
//! The parameters are here; each part of the paper has a file: [`target`] (§3.5), [`window`] (Algorithm 1),
//! [`pacer`] (§3.6), [`control`] (fabric and endpoint windows together, §3.4),
//! [`header`] (appendix B).

pub mod control;
pub mod header;
pub mod pacer;
pub mod target;
pub mod window;

use crate::units::Span;

/// Which delays a sender's windows watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Fabric and endpoint delay apart, a window for each (§3.4).
    Swift,
    /// The whole round trip against the fabric's target, one window: Swift-v0 (§5.4).
    V0,
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
    /// Most that flow scaling adds to the fabric target (`fs_range`). 100 us (public code).
    pub fs_range: Span,
    /// Window in packets at and below which all of `fs_range` is added. 0.005 (calibrated on table 3 and figure 21;
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
    /// Additive increase, in packets a round trip (`ai`). 1.0 (public code).
    pub ai: f64,
    /// Reaction of the fabric window to the relative excess over its target (`β` of
    /// Algorithm 1). 5 (calibrated on figure 17; public code: 0.8).
    pub beta: f64,
    /// Largest decrease in one round trip (`max_mdf`). 0.5 (slides).
    pub max_mdf: f64,
    /// Smallest window in packets; below 1 the flow is paced. 0.001 (§3.6).
    pub min_cwnd: f64,
    /// Let windows fall below one packet; without it their floor is one. On.
    pub cwnd_below_one: bool,
    /// Space the packets of a window below one; without it one follows as soon as the last is acknowledged. On.
    pub pacing: bool,
    /// Largest window in packets. 128 (figure 19 suggests a cap near 120; public code: 256).
    pub max_cwnd: f64,
    /// Window in packets of a new flow. 16: a small bandwidth-delay product.
    pub initial_cwnd: f64,
    /// Timeouts in a row after which the window falls to its floor (`RETX_RESET_THRESHOLD`). 3 (public code).
    pub retx_reset_threshold: u32,
    /// Least retransmission timeout. 250 us (public code).
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample, beside the pacing gap. 1 ms.
    pub initial_rto: Span,
    /// Doublings of the retransmission timeout at most, one for each timeout in a row. 6 (the paper names none; 0 is
    /// none).
    pub rto_backoff: u32,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets; the reach of the SACK
    /// bitmap. A power of two; 1024.
    pub reach: u32,
}

impl SwiftParams {
    /// Whether there is a window for the endpoint delay beside the fabric's: Swift-v0 has none (§5.4).
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
            fs_range: Span::from_us(100),
            fs_min_cwnd: 0.005,
            fs_max_cwnd: 256.0,
            topology_scaling: true,
            flow_scaling: true,
            endpoint_window: true,
            endpoint_target: Span::from_us(100),
            endpoint_gain: 0.5,
            endpoint_beta: 0.8,
            ai: 1.0,
            beta: 5.0,
            max_mdf: 0.5,
            min_cwnd: 0.001,
            cwnd_below_one: true,
            pacing: true,
            max_cwnd: 128.0,
            initial_cwnd: 16.0,
            retx_reset_threshold: 3,
            min_rto: Span::from_us(250),
            initial_rto: Span::from_ms(1),
            rto_backoff: 6,
            reach: 1024,
        }
    }
}
