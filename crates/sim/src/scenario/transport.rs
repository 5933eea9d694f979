//! `[transport.NAME]`: a protocol, its parameters, and what its frames weigh. Defaults are the protocol's own.

use std::ops::RangeInclusive;

use clearway_proto::baseline::cubic::CubicParams;
use clearway_proto::baseline::dctcp::DctcpParams;
use clearway_proto::baseline::gcn::GcnParams;
use clearway_proto::baseline::go_back_n::GoBackNParams;
use clearway_proto::baseline::none::NoneParams;
use clearway_proto::baseline::reno::RenoParams;
use clearway_proto::baseline::tcp::TcpParams;
use clearway_proto::swift::{SwiftParams, Variant};
use clearway_proto::transport::Scheme;
use clearway_proto::units::{Bytes, Span};

use super::class;
use super::key::Key;
use super::link::rate_key;
use super::network::MAX_FRAME;
use super::reader::Section;
use crate::model::{for_each_scheme, Network, Protocol, Spray, TrafficClass, Transport};

/// The furthest that a sender can be ahead of an acknowledgement, in packets.
const MAX_REACH: u32 = 1 << 20;

const SPRAY: &str = "Which of the shortest paths packets take: all of a flow's one, or each packet one of all. Packets on several paths \
                     overtake each other.";
const SPRAYS: &[(&str, Spray)] = &[("flow", Spray::Flow), ("packet", Spray::Packet)];

/// Parameters that a scenario can give.
trait Keys {
    /// Reads each key.
    fn read(r: &mut Section) -> Self;
}

/// Reads the keys of one scheme: its parameters, and what its data frames carry by default.
type Reader = fn(&mut Section) -> (Protocol, Bytes);

macro_rules! readers {
    ($($Kind:ident($Params:ty) = $name:literal, $what:literal;)*) => {
        /// Name and reader of each scheme.
        pub(super) const READERS: &[(&str, Reader)] =
            &[$(($name, |r| (Protocol::$Kind(<$Params as Keys>::read(r)), <$Params>::HEADER)),)*];
    };
}

for_each_scheme!(readers);

/// Reads one table; its name is for the caller to fill in.
pub(super) fn read(
    r: &mut Section,
    network: Option<&Network>,
    classes: Option<&[TrafficClass]>,
) -> Transport {
    let read_keys = r.choice("protocol", Protocol::DOC, None, READERS);
    let (protocol, header) = read_keys(r);
    let weight = |name, doc| Key::new(name, doc, Bytes::new(0)..=Bytes::new(65_000));
    let header = weight("header", "What a data frame carries beside payload and framing.").or(header);
    let header = r.get(&header);
    let ack = weight("ack", "What an acknowledgement carries beside framing.").or_as(header, "header");
    let ack = r.get(&ack);
    let (class, ack_class) = class::read_names(r, classes);
    let (header, ack) = (header.get() as u32, ack.get() as u32);
    let spray = r.one_of("spray", SPRAY, Some("flow"), SPRAYS);
    let transport = Transport { name: String::new(), protocol, header, ack, class, ack_class, spray };
    if let Some(network) = network {
        check_frames(r, &transport, network);
    }
    transport
}

fn check_frames(r: &Section, transport: &Transport, network: &Network) {
    let frame = network.mtu + transport.header + network.framing;
    if r.sound() && frame > MAX_FRAME {
        let message = format!("a full frame weighs {frame}B with mtu and framing; the most is {MAX_FRAME}B");
        r.conflict("header", message);
    }
    if r.sound() && transport.ack + network.framing == 0 {
        r.conflict("ack", "an acknowledgement would weigh nothing: framing is 0B too");
    }
}

/// A window in packets.
fn window(name: &'static str, doc: &'static str) -> Key<f64> {
    Key::new(name, doc, 1e-6..=f64::from(MAX_REACH))
}

/// A span that is a target or a timer.
fn span(name: &'static str, doc: &'static str, range: RangeInclusive<Span>) -> Key<Span> {
    Key::new(name, doc, range)
}

fn timeout(name: &'static str, doc: &'static str) -> Key<Span> {
    Key::new(name, doc, Span::from_us(1)..=Span::from_secs(100))
}

const VARIANT: &str = "What the windows watch: swift, fabric and endpoint delay apart; v0, the whole round trip, against the fabric's target.";
const BETA: &str = "Reaction of the fabric window to the relative excess over its target.";
const ENDPOINT_BETA: &str = "Reaction of the endpoint window to the relative excess over its target.";
const VARIANTS: &[(&str, Variant)] = &[("swift", Variant::Swift), ("v0", Variant::V0)];

impl Keys for SwiftParams {
    fn read(r: &mut Section) -> SwiftParams {
        let d = SwiftParams::default();
        let targets = || Span::from_ns(1)..=Span::from_secs(1);
        let additions = || Span::ZERO..=Span::from_secs(1);
        let base =
            span("base_target", "Fabric target before scaling: one hop and a few flows' queue.", targets());
        let hop =
            span("hop_scaling", "Added to the fabric target for every switch on the path.", additions());
        let fs_range = span("fs_range", "Most that flow scaling adds to the fabric target.", additions());
        let fs_min = window("fs_min_cwnd", "Window in packets at and below which all of fs_range is added.");
        let fs_max = window("fs_max_cwnd", "Window in packets at and above which nothing is added.");
        let endpoint = span("endpoint_target", "Target for the delay in the hosts.", targets());
        let ai = Key::new("ai", "Additive increase, in packets a round trip.", 1e-6..=1000.0);
        let max_mdf =
            Key::new("max_mdf", "Largest decrease in one round trip, as a share of the window.", 0.0..=1.0);
        let rto = timeout("min_rto", "Least retransmission timeout.");
        let params = SwiftParams {
            variant: r.one_of("variant", VARIANT, Some("swift"), VARIANTS),
            base_target: r.get(&base.or(d.base_target)),
            hop_scaling: r.get(&hop.or(d.hop_scaling)),
            fs_range: r.get(&fs_range.or(d.fs_range)),
            fs_min_cwnd: r.get(&fs_min.or(d.fs_min_cwnd)),
            fs_max_cwnd: r.get(&fs_max.or(d.fs_max_cwnd)),
            topology_scaling: r.flag(
                "topology_scaling",
                "Scale the target with the path.",
                d.topology_scaling,
            ),
            flow_scaling: r.flag("flow_scaling", "Scale the target with the window.", d.flow_scaling),
            endpoint_window: r.flag(
                "endpoint_window",
                "Keep a window for the delay in the hosts, too.",
                d.endpoint_window,
            ),
            endpoint_target: r.get(&endpoint.or(d.endpoint_target)),
            endpoint_gain: r.get(&endpoint_gain().or(d.endpoint_gain)),
            endpoint_beta: r.get(&reaction("endpoint_beta", ENDPOINT_BETA).or(d.endpoint_beta)),
            ai: r.get(&ai.or(d.ai)),
            beta: r.get(&reaction("beta", BETA).or(d.beta)),
            max_mdf: r.get(&max_mdf.or(d.max_mdf)),
            min_cwnd: r.get(&min_cwnd().or(d.min_cwnd)),
            cwnd_below_one: r.flag(
                "cwnd_below_one",
                "Let windows fall below one packet; if not, their floor is one.",
                d.cwnd_below_one,
            ),
            pacing: r.flag("pacing", "Space the packets of a window below one.", d.pacing),
            max_cwnd: r.get(&max_cwnd().or(d.max_cwnd)),
            initial_cwnd: r.get(&initial_cwnd().or(d.initial_cwnd)),
            retx_reset_threshold: r.get(&retx_reset_threshold().or(d.retx_reset_threshold)),
            min_rto: r.get(&rto.or(d.min_rto)),
            initial_rto: r.get(&initial_rto().or(d.initial_rto)),
            rto_backoff: r.get(&rto_backoff().or(d.rto_backoff)),
            reach: r.get(&reach().or(d.reach)),
        };
        check_swift(r, &params);
        params
    }
}

/// How strongly a window answers to its delay.
fn reaction(name: &'static str, doc: &'static str) -> Key<f64> {
    Key::new(name, doc, 0.0..=10.0)
}

fn endpoint_gain() -> Key<f64> {
    let doc = "Share of a new endpoint delay in its moving average after one round trip.";
    Key::new("endpoint_gain", doc, 0.001..=1.0)
}

fn retx_reset_threshold() -> Key<u32> {
    let doc = "Timeouts in a row after which the window falls to its floor.";
    Key::new("retx_reset_threshold", doc, 1..=1000)
}

fn rto_backoff() -> Key<u32> {
    let doc = "Doublings of the retransmission timeout at most, one for each timeout in a row; 0: none.";
    Key::new("rto_backoff", doc, 0..=16)
}

fn check_swift(r: &Section, params: &SwiftParams) {
    if r.sound() && params.fs_min_cwnd >= params.fs_max_cwnd {
        let message = format!("{} is not below fs_max_cwnd, {}", params.fs_min_cwnd, params.fs_max_cwnd);
        conflict(r, &["fs_min_cwnd", "fs_max_cwnd"], message);
    }
    if r.sound() && !params.cwnd_below_one && params.max_cwnd < 1.0 {
        let message =
            format!("{} is below the floor of one packet that cwnd_below_one = false sets", params.max_cwnd);
        conflict(r, &["max_cwnd"], message);
    }
    check_windows(r, [params.min_cwnd, params.initial_cwnd, params.max_cwnd], params.reach);
}

impl Keys for DctcpParams {
    fn read(r: &mut Section) -> DctcpParams {
        let d = DctcpParams::default();
        let gain = Key::new("gain", "Weight of a new window's marked fraction (g).", 1e-6..=1.0);
        let alpha = Key::new(
            "initial_alpha",
            "Estimate of the marked fraction before the first window ends.",
            0.0..=1.0,
        );
        let ack_every =
            "Packets for one delayed acknowledgement; a change of the mark is acknowledged at once.";
        DctcpParams {
            gain: r.get(&gain.or(d.gain)),
            initial_alpha: r.get(&alpha.or(d.initial_alpha)),
            tcp: read_tcp(r, &d.tcp, ack_every),
        }
    }
}

impl Keys for GcnParams {
    fn read(r: &mut Section) -> GcnParams {
        let d = GcnParams::default();
        let ai = Key::new("ai", "Additive increase, in packets a round trip.", 1e-6..=1000.0);
        let ack_every = "Packets without a mark for one delayed acknowledgement; marked ones do not wait.";
        GcnParams { ai: r.get(&ai.or(d.ai)), tcp: read_tcp(r, &d.tcp, ack_every) }
    }
}

impl Keys for CubicParams {
    fn read(r: &mut Section) -> CubicParams {
        let d = CubicParams::default();
        let c = Key::new("c", "Steepness of the cubic, in packets a cubed second.", 1e-6..=1e12);
        let beta = Key::new("beta", "What a loss leaves of the window.", 0.01..=0.99);
        let convergence = "Let a loss below the last maximum lower the next one further.";
        CubicParams {
            c: r.get(&c.or(d.c)),
            beta: r.get(&beta.or(d.beta)),
            fast_convergence: r.flag("fast_convergence", convergence, d.fast_convergence),
            tcp: read_tcp(r, &d.tcp, PACKETS_AN_ACK),
        }
    }
}

impl Keys for RenoParams {
    fn read(r: &mut Section) -> RenoParams {
        let d = RenoParams::default();
        RenoParams { tcp: read_tcp(r, &d.tcp, PACKETS_AN_ACK) }
    }
}

impl Keys for NoneParams {
    fn read(r: &mut Section) -> NoneParams {
        let d = NoneParams::default();
        let params = NoneParams {
            window: r.optional(&packets_under_way(), "reach").or(d.window),
            rate: r
                .optional(&rate_key("rate", "One packet every frame length at this rate."), "no limit")
                .or(d.rate),
            rto: r.get(&timeout("rto", "Retransmission timeout.").or(d.rto)),
            reach: r.get(&reach().or(d.reach)),
        };
        check_reach(r, params.reach);
        if let Some(window) = params.window.filter(|window| r.sound() && *window > params.reach) {
            r.conflict("window", format!("{window} is above reach, {}", params.reach));
        }
        params
    }
}

impl Keys for GoBackNParams {
    fn read(r: &mut Section) -> GoBackNParams {
        let d = GoBackNParams::default();
        GoBackNParams {
            window: r.get(&packets_under_way().or(d.window)),
            rto: r.get(&timeout("rto", "Retransmission timeout.").or(d.rto)),
        }
    }
}

fn packets_under_way() -> Key<u32> {
    Key::new("window", "Packets under way at most.", 1..=MAX_REACH)
}

/// What every TCP has.
fn read_tcp(r: &mut Section, d: &TcpParams, ack_every: &'static str) -> TcpParams {
    let params = TcpParams {
        initial_cwnd: r.get(&initial_cwnd().or(d.initial_cwnd)),
        min_cwnd: r.get(&min_cwnd().or(d.min_cwnd)),
        max_cwnd: r.get(&max_cwnd().or(d.max_cwnd)),
        ack_every: r.get(&packets_an_ack(ack_every).or(d.ack_every)),
        ack_delay: r.get(&ack_delay().or(d.ack_delay)),
        dup_threshold: r.get(&dup_threshold().or(d.dup_threshold)),
        min_rto: r.get(&min_rto().or(d.min_rto)),
        initial_rto: r.get(&initial_rto().or(d.initial_rto)),
        reach: r.get(&reach().or(d.reach)),
    };
    check_windows(r, [params.min_cwnd, params.initial_cwnd, params.max_cwnd], params.reach);
    params
}

fn initial_cwnd() -> Key<f64> {
    window("initial_cwnd", "Window in packets of a new flow.")
}

fn min_cwnd() -> Key<f64> {
    window("min_cwnd", "Smallest window in packets.")
}

fn max_cwnd() -> Key<f64> {
    window("max_cwnd", "Largest window in packets.")
}

const PACKETS_AN_ACK: &str = "Packets for one delayed acknowledgement.";

fn packets_an_ack(doc: &'static str) -> Key<u32> {
    Key::new("ack_every", doc, 1..=1000)
}

fn ack_delay() -> Key<Span> {
    let doc = "Longest that a delayed acknowledgement waits.";
    span("ack_delay", doc, Span::from_ns(1)..=Span::from_secs(10))
}

fn dup_threshold() -> Key<u32> {
    Key::new("dup_threshold", "Packets received above a hole before it counts as lost.", 1..=1000)
}

fn min_rto() -> Key<Span> {
    timeout("min_rto", "Least retransmission timeout.")
}

fn initial_rto() -> Key<Span> {
    timeout("initial_rto", "Retransmission timeout before the first round-trip sample.")
}

fn reach() -> Key<u32> {
    let doc =
        "How far ahead of the lowest unacknowledged packet a sender may be, in packets; a power of two.";
    Key::new("reach", doc, 64..=MAX_REACH)
}

fn check_reach(r: &Section, reach: u32) {
    if r.sound() && !reach.is_power_of_two() {
        let (below, above) = (reach.next_power_of_two() / 2, reach.next_power_of_two());
        r.conflict("reach", format!("found {reach}, expected a power of two, such as {below} or {above}"));
    }
}

fn check_windows(r: &Section, [min, initial, max]: [f64; 3], reach: u32) {
    check_reach(r, reach);
    if !r.sound() {
        return;
    }
    if min > max {
        conflict(r, &["min_cwnd", "max_cwnd"], format!("min_cwnd, {min}, is above max_cwnd, {max}"));
    } else if initial < min {
        conflict(
            r,
            &["initial_cwnd", "min_cwnd"],
            format!("initial_cwnd, {initial}, is below min_cwnd, {min}"),
        );
    } else if initial > max {
        conflict(
            r,
            &["initial_cwnd", "max_cwnd"],
            format!("initial_cwnd, {initial}, is above max_cwnd, {max}"),
        );
    } else if max > f64::from(reach) {
        conflict(r, &["max_cwnd", "reach"], format!("max_cwnd, {max}, is above reach, {reach}"));
    }
}

/// Blames the first of the keys that the file gives: the others are defaults.
fn conflict(r: &Section, names: &[&str], message: String) {
    let blamed = names.iter().find(|name| r.given(name)).unwrap_or(&names[0]);
    r.conflict(blamed, message);
}
