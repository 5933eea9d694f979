//! Parameters that many schemes have, each with its range.

use std::ops::RangeInclusive;

use crate::parameter::{Conflict, Parameter};
use crate::units::Span;

/// How far ahead of the lowest unacknowledged packet a sender may be, in packets; also a power of two. What the two ends
/// keep of a flow whose packets come out of order is two bits for each.
pub const REACH: RangeInclusive<u32> = 64..=1 << 20;

/// [`REACH`] as a parameter; [`check_reach`] sees to the power of two.
pub fn reach() -> Parameter<u32> {
    let doc =
        "How far ahead of the lowest unacknowledged packet a sender may be, in packets; a power of two.";
    Parameter::new("reach", doc, REACH)
}

/// A window in packets.
pub fn window(name: &'static str, doc: &'static str) -> Parameter<f64> {
    Parameter::new(name, doc, 1e-6..=f64::from(*REACH.end()))
}

/// A fixed window, in whole packets.
pub fn fixed_window() -> Parameter<u32> {
    Parameter::new("window", "Packets under way at most.", 1..=*REACH.end())
}

/// The window of a new flow.
pub fn initial_cwnd() -> Parameter<f64> {
    window("initial_cwnd", "Window in packets of a new flow.")
}

/// The smallest window.
pub fn min_cwnd() -> Parameter<f64> {
    window("min_cwnd", "Smallest window in packets.")
}

/// The largest window.
pub fn max_cwnd() -> Parameter<f64> {
    window("max_cwnd", "Largest window in packets.")
}

/// Additive increase.
pub fn additive_increase() -> Parameter<f64> {
    Parameter::new("ai", "Additive increase, in packets a round trip.", 1e-6..=1000.0)
}

/// A retransmission timeout.
pub fn timeout(name: &'static str, doc: &'static str) -> Parameter<Span> {
    Parameter::new(name, doc, Span::from_us(1)..=Span::from_secs(100))
}

/// The least retransmission timeout.
pub fn min_rto() -> Parameter<Span> {
    timeout("min_rto", "Least retransmission timeout.")
}

/// The first retransmission timeout.
pub fn initial_rto() -> Parameter<Span> {
    timeout("initial_rto", "Retransmission timeout before the first round-trip sample.")
}

/// A retransmission timeout that nothing changes.
pub fn rto() -> Parameter<Span> {
    timeout("rto", "Retransmission timeout.")
}

/// See [`Scheme::dup_threshold`](super::Scheme::dup_threshold).
pub fn dup_threshold() -> Parameter<u32> {
    Parameter::new("dup_threshold", "Packets received above a hole before it counts as lost.", 1..=1000)
}

/// The conflict of a reach that is in range and no power of two.
pub fn check_reach(reach: u32) -> Vec<Conflict> {
    if reach.is_power_of_two() {
        return Vec::new();
    }
    let (below, above) = (reach.next_power_of_two() / 2, reach.next_power_of_two());
    vec![Conflict::alone("reach", &reach, format!("is not a power of two, such as {below} or {above}"))]
}

/// The conflicts among the windows and the reach of a scheme: each in range, they must also be in order.
pub fn check_windows([min, initial, max]: [f64; 3], reach: u32) -> Vec<Conflict> {
    let (min, initial, max) = (("min_cwnd", min), ("initial_cwnd", initial), ("max_cwnd", max));
    let mut conflicts = check_reach(reach);
    if min.1 > max.1 {
        conflicts.push(Conflict::between(min, "is above", max));
    } else if initial.1 < min.1 {
        conflicts.push(Conflict::between(initial, "is below", min));
    } else if initial.1 > max.1 {
        conflicts.push(Conflict::between(initial, "is above", max));
    }
    if max.1 > f64::from(reach) {
        conflicts.push(Conflict::between(max, "is above", ("reach", reach)));
    }
    conflicts
}
