//! Swift's parameters as the kernel's integers: `struct swift_parameters` of `bpf/swift_window.h`.

use clearway_proto::parameter::{Parameter, ParameterReader, Parameters, Shown};
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Span;

/// The parameters that mean something to a kernel's TCP. What is missing is TCP's own there: retransmission and its timeouts; or
/// needs what only an endpoint that stamps packets knows: the endpoint's window, the number of switches on the path.
pub const NAMES: [&str; 16] = [
    "base_target",
    "fs_range",
    "fs_min_cwnd",
    "fs_max_cwnd",
    "flow_scaling",
    "ai",
    "beta",
    "max_mdf",
    "min_cwnd",
    "cwnd_below_one",
    "pacing",
    "gap_limit",
    "gap_limit_max",
    "max_cwnd",
    "initial_cwnd",
    "retx_reset_threshold",
];

/// One packet, or a factor of one.
const ONE: f64 = 4_294_967_296.0;

/// The most that the kernel's arithmetic holds of the slope of flow scaling, in nanoseconds times the square root of a packet.
const MOST_SLOPE: f64 = 134_217_728.0;

/// Bytes of the kernel's parameters: twelve words and two halves that it computes with, and two words of which these were made.
pub const BYTES: usize = 15 * 8;

/// Swift's defaults for a kernel's TCP. A target holds the round trip of a path through two kernels that share their processors with
/// applications, and some queue: 350 us to 1.1 ms is measured to fill 1 Gb/s with 1 to 64 flows, and processors with 16 (docs/HOST.md; why not
/// less: docs/DESIGN.md).
pub fn defaults() -> SwiftParams {
    SwiftParams {
        base_target: Span::from_us(350),
        fs_range: Span::from_us(750),
        fs_min_cwnd: 0.1,
        fs_max_cwnd: 100.0,
        max_cwnd: 4096.0,
        initial_cwnd: Some(10.0),
        // How far ahead a sender may be, TCP knows itself.
        reach: 1 << 20,
        ..SwiftParams::default()
    }
}

/// Why parameters do not fit the kernel's arithmetic: the parameter, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The parameter.
    pub name: &'static str,
    /// The reason why it is refused.
    pub what: &'static str,
    /// The advice to the user.
    pub remedy: &'static str,
}

/// Returns the kernel's parameters.
pub fn encode(params: &SwiftParams) -> Result<[u8; BYTES], Unfit> {
    let range = if params.flow_scaling { ns(params.fs_range) as f64 } else { 0.0 };
    let (steepest, flattest) = (1.0 / params.fs_min_cwnd.sqrt(), 1.0 / params.fs_max_cwnd.sqrt());
    let slope = range / (steepest - flattest);
    if slope >= MOST_SLOPE {
        let remedy = "lower fs_range, or set fs_min_cwnd and fs_max_cwnd further apart";
        return Err(Unfit { name: "fs_range", what: "is too large for so few windows", remedy });
    }
    let floor = if params.cwnd_below_one { params.min_cwnd } else { params.min_cwnd.max(1.0) };
    let initial = params.initial_cwnd.unwrap_or(10.0).clamp(floor, params.max_cwnd);
    let words = [
        ns(params.base_target),
        range as u64,
        (slope * 256.0).round() as u64,
        (slope * flattest).round() as u64,
        fixed(params.ai),
        fixed(params.beta),
        fixed(params.max_mdf),
        fixed(floor),
        fixed(params.max_cwnd),
        fixed(initial),
        ns(params.gap_limit),
        ns(params.gap_limit_max.max(params.gap_limit)),
    ];
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    bytes[96..100].copy_from_slice(&params.retx_reset_threshold.to_ne_bytes());
    bytes[100..104].copy_from_slice(&u32::from(params.pacing).to_ne_bytes());
    bytes[104..112].copy_from_slice(&fixed(params.fs_min_cwnd).to_ne_bytes());
    bytes[112..].copy_from_slice(&fixed(params.fs_max_cwnd).to_ne_bytes());
    Ok(bytes)
}

/// Returns what [`encode`] was given, as far as the kernel knows it: a range that is off is the default's.
pub fn decode(bytes: &[u8; BYTES]) -> SwiftParams {
    let word = |at: usize| u64::from_ne_bytes(bytes[at * 8..][..8].try_into().expect("eight bytes"));
    let half = |at: usize| u32::from_ne_bytes(bytes[at..][..4].try_into().expect("four bytes"));
    let defaults = defaults();
    let (range, min_cwnd) = (Span::from_ns(word(1)), number(word(7)));
    SwiftParams {
        base_target: Span::from_ns(word(0)),
        fs_range: if range == Span::ZERO { defaults.fs_range } else { range },
        flow_scaling: range != Span::ZERO,
        fs_min_cwnd: number(word(13)),
        fs_max_cwnd: number(word(14)),
        ai: number(word(4)),
        beta: number(word(5)),
        max_mdf: number(word(6)),
        min_cwnd,
        cwnd_below_one: min_cwnd < 1.0,
        max_cwnd: number(word(8)),
        initial_cwnd: Some(number(word(9))),
        gap_limit: Span::from_ns(word(10)),
        gap_limit_max: Span::from_ns(word(11)),
        retx_reset_threshold: half(96),
        pacing: half(100) != 0,
        ..defaults
    }
}

/// A number of packets, or a factor, in the kernel's units.
pub fn fixed(number: f64) -> u64 {
    (number * ONE).round() as u64
}

/// A number of packets, or a factor, of the kernel's, to a billionth.
pub fn number(fixed: u64) -> f64 {
    (fixed as f64 / ONE * 1e9).round() / 1e9
}

fn ns(span: Span) -> u64 {
    span.as_ps() / 1000
}

/// A reader that asks for the parameters of [`NAMES`] alone; all others have their defaults.
#[derive(Debug)]
pub struct ForKernel<'a, R>(pub &'a mut R);

impl<R: ParameterReader> ParameterReader for ForKernel<'_, R> {
    fn value<T: Shown>(&mut self, parameter: &Parameter<T>, default: T) -> T {
        if NAMES.contains(&parameter.name) {
            self.0.value(parameter, default)
        } else {
            default
        }
    }

    fn optional<T: Shown>(&mut self, parameter: &Parameter<T>, otherwise: &'static str) -> Option<T> {
        NAMES.contains(&parameter.name).then(|| self.0.optional(parameter, otherwise)).flatten()
    }

    fn flag(&mut self, name: &'static str, doc: &'static str, default: bool) -> bool {
        if NAMES.contains(&name) {
            self.0.flag(name, doc, default)
        } else {
            default
        }
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        if NAMES.contains(&name) {
            self.0.choice(name, doc, options, default)
        } else {
            default
        }
    }
}

/// Reads Swift's parameters for a kernel's TCP; what is not given is as in `otherwise`.
pub fn read(reader: &mut impl ParameterReader, otherwise: &SwiftParams) -> SwiftParams {
    SwiftParams::read(&mut ForKernel(reader), otherwise)
}
