//! Swift's parameters as options, under the names and in the ranges that scenarios have.

use std::ops::RangeInclusive;

use clearway_proto::swift::{SwiftParams, Variant};
use clearway_proto::units::Span;

use super::options::Options;

const MAX_REACH: u32 = 1 << 20;

/// The names and variants of Swift; the first is the default.
const VARIANTS: &[(&str, Variant)] = &[("swift", Variant::Swift), ("v0", Variant::V0)];

/// Swift's own defaults, except where they assume a stack that polls. A process that sleeps is woken tens of
/// microseconds late at both ends, and its endpoint delay contains that. When Linux does not schedule a process for
/// some milliseconds, as happens on a busy machine, nothing is lost: three timeouts within that time would reduce the
/// window to its minimum.
fn defaults() -> SwiftParams {
    SwiftParams {
        endpoint_target: Span::from_us(500),
        min_rto: Span::from_ms(5),
        initial_rto: Span::from_ms(10),
        ..SwiftParams::default()
    }
}

pub(super) fn read(o: &mut Options) -> SwiftParams {
    let params = fabric_target(o, &defaults());
    let params = endpoint_window(o, &params);
    let params = fabric_window(o, &params);
    let params = retransmission(o, &params);
    check(o, &params);
    params
}

/// The options that make up the fabric target.
fn fabric_target(o: &mut Options, d: &SwiftParams) -> SwiftParams {
    SwiftParams {
        variant: o.choice("variant", "Delays apart, or one target for the whole round trip.", VARIANTS),
        base_target: o.time("base-target", "Fabric target before scaling.", d.base_target, targets()),
        hop_scaling: o.time(
            "hop-scaling",
            "Added to the fabric target for every switch on the path.",
            d.hop_scaling,
            additions(),
        ),
        fs_range: o.time("fs-range", "Most that flow scaling adds to the target.", d.fs_range, additions()),
        fs_min_cwnd: packets(
            o,
            "fs-min-cwnd",
            "Window at and below which all of it is added.",
            d.fs_min_cwnd,
        ),
        fs_max_cwnd: packets(o, "fs-max-cwnd", "Window at and above which nothing is added.", d.fs_max_cwnd),
        topology_scaling: o.switch("topology-scaling", "Scale the target with the path.", d.topology_scaling),
        flow_scaling: o.switch("flow-scaling", "Scale the target with the window.", d.flow_scaling),
        ..d.clone()
    }
}

/// The options of the window for the delay in the hosts.
fn endpoint_window(o: &mut Options, d: &SwiftParams) -> SwiftParams {
    SwiftParams {
        endpoint_window: o.switch(
            "endpoint-window",
            "Keep a window for the delay in the hosts, too.",
            d.endpoint_window,
        ),
        endpoint_target: o.time(
            "endpoint-target",
            "Target for the delay in the hosts.",
            d.endpoint_target,
            targets(),
        ),
        endpoint_gain: o.number(
            "endpoint-gain",
            "SHARE",
            "Share of a new endpoint delay in its average after a round trip.",
            d.endpoint_gain,
            0.001..=1.0,
        ),
        endpoint_beta: o.number(
            "endpoint-beta",
            "FACTOR",
            "Reaction of the endpoint window to the relative excess over its target.",
            d.endpoint_beta,
            0.0..=10.0,
        ),
        ..d.clone()
    }
}

/// The options of the window for the delay in the fabric, and the bounds of the window.
fn fabric_window(o: &mut Options, d: &SwiftParams) -> SwiftParams {
    SwiftParams {
        ai: o.number("ai", "PACKETS", "Additive increase a round trip.", d.ai, 1e-6..=1000.0),
        beta: o.number(
            "beta",
            "FACTOR",
            "Reaction of the fabric window to the relative excess over its target.",
            d.beta,
            0.0..=10.0,
        ),
        max_mdf: o.number("max-mdf", "SHARE", "Largest decrease in one round trip.", d.max_mdf, 0.0..=1.0),
        min_cwnd: packets(o, "min-cwnd", "Smallest window; below 1 packets are paced.", d.min_cwnd),
        cwnd_below_one: o.switch("cwnd-below-one", "Let windows fall below one packet.", d.cwnd_below_one),
        pacing: o.switch("pacing", "Space the packets of a window below one.", d.pacing),
        max_cwnd: packets(o, "max-cwnd", "Largest window.", d.max_cwnd),
        initial_cwnd: packets(o, "initial-cwnd", "Window of a new flow.", d.initial_cwnd),
        ..d.clone()
    }
}

/// The options that say when packets are retransmitted, and how far ahead of acknowledgements a sender may be.
fn retransmission(o: &mut Options, d: &SwiftParams) -> SwiftParams {
    SwiftParams {
        retx_reset_threshold: o.number(
            "retx-reset-threshold",
            "N",
            "Timeouts in a row after which the window falls to its floor.",
            d.retx_reset_threshold,
            1..=1000,
        ),
        min_rto: o.time("min-rto", "Least retransmission timeout.", d.min_rto, timeouts()),
        initial_rto: o.time(
            "initial-rto",
            "The same before the first round trip.",
            d.initial_rto,
            timeouts(),
        ),
        rto_backoff: o.number("rto-backoff", "N", "Doublings of it at most.", d.rto_backoff, 0..=16),
        reach: o.number(
            "reach",
            "PACKETS",
            "How far a sender may be ahead; a power of two.",
            d.reach,
            64..=MAX_REACH,
        ),
        ..d.clone()
    }
}

fn packets(o: &mut Options, name: &'static str, doc: &'static str, default: f64) -> f64 {
    o.number(name, "PACKETS", doc, default, 1e-6..=f64::from(MAX_REACH))
}

fn targets() -> RangeInclusive<Span> {
    Span::from_ns(1)..=Span::from_secs(1)
}

fn additions() -> RangeInclusive<Span> {
    Span::ZERO..=Span::from_secs(1)
}

fn timeouts() -> RangeInclusive<Span> {
    Span::from_us(1)..=Span::from_secs(100)
}

fn check(o: &mut Options, params: &SwiftParams) {
    let [min, initial, max] = [params.min_cwnd, params.initial_cwnd, params.max_cwnd];
    if !params.reach.is_power_of_two() {
        let (below, above) = (params.reach.next_power_of_two() / 2, params.reach.next_power_of_two());
        let remedy = format!("such as {below} or {above}");
        o.conflict(&format!("--reach: found {}, expected a power of two", params.reach), &remedy);
    }
    if params.fs_min_cwnd >= params.fs_max_cwnd {
        let message = format!(
            "--fs-min-cwnd, {}, is not below --fs-max-cwnd, {}",
            params.fs_min_cwnd, params.fs_max_cwnd
        );
        o.conflict(&message, "give a lower or a higher one");
    }
    if initial < min || initial > max {
        let message =
            format!("--initial-cwnd, {initial}, is not between --min-cwnd, {min}, and --max-cwnd, {max}");
        o.conflict(&message, "change one of them");
    }
    if max < 1.0 && !params.cwnd_below_one {
        let message = format!("--max-cwnd, {max}, is below one packet, the floor without --cwnd-below-one");
        o.conflict(&message, "give a higher one");
    }
    if max > f64::from(params.reach) {
        let message = format!("--max-cwnd, {max}, is above --reach, {}", params.reach);
        o.conflict(&message, "lower the one or raise the other");
    }
}
