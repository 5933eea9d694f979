//! Quantities with their units in the type.
//!
//! Time is counted in whole picoseconds: one byte at 400 Gb/s lasts 20 ps, and 213 days fit in 64 bits. An
//! instant ([`Time`]) and a length ([`Span`]) are different types, so adding two instants does not compile.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, RangeInclusive, Sub};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the driver's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(u64);

/// A length of time, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(u64);

impl Time {
    /// The driver's start.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Microseconds since the start, for reports.
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 / PS_PER_US as f64
    }

    /// Returns how long after `earlier` this is; zero when it is not after.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A length of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Span {
        Span(ps)
    }

    /// A length of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns * PS_PER_NS)
    }

    /// A length of `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * PS_PER_US)
    }

    /// A length of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * PS_PER_US * 1_000)
    }

    /// A length of `s` seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s * PS_PER_SECOND)
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the picoseconds as a float; a length of more than 2^63 of them, 106 days, counts as 2^63. Processors turn signed
    /// numbers to floats and back in one instruction, which unsigned ones take many for.
    #[inline]
    pub fn as_ps_f64(self) -> f64 {
        self.0.min(i64::MAX as u64) as f64
    }

    /// A length of `ps` picoseconds, rounded down to a whole number, from 0 to 2^63.
    #[inline]
    pub fn from_ps_f64(ps: f64) -> Span {
        debug_assert!(ps >= 0.0, "a negative length of time");
        Span(ps as i64 as u64)
    }

    /// Microseconds, for reports.
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 / PS_PER_US as f64
    }

    /// Seconds, for rates.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND as f64
    }

    /// This length times a non-negative factor, rounded down; saturates at the longest span.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Span {
        Span((self.0 as f64 * factor) as u64)
    }

    /// This length less `other`; zero when `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, by: u64) -> Span {
        Span(self.0 / by)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, ps) in [("s", PS_PER_SECOND), ("ms", 1_000_000_000), ("us", PS_PER_US), ("ns", PS_PER_NS)]
        {
            if self.0 >= ps {
                return write!(f, "{}{unit}", self.0 as f64 / ps as f64);
            }
        }
        write!(f, "{}ps", self.0)
    }
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// Returns this number of bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

/// What a link or a sender may be given: up to 10 Tb/s, two generations beyond what is sold.
pub const RATES: RangeInclusive<Rate> = Rate::from_bps(1_000)..=Rate::from_gbps(10_000);

/// A link's speed, in bits a second; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

impl Rate {
    /// `bits` a second. Panics on zero: a link that never sends is a missing link.
    pub const fn from_bps(bits: u64) -> Rate {
        assert!(bits > 0, "a rate of zero");
        Rate(bits)
    }

    /// `gbps` thousand million bits a second.
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate::from_bps(gbps * 1_000_000_000)
    }

    /// Bits a second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns how long `bytes` take on the wire: `ceil(bits / rate)` picoseconds, exact for every rate.
    pub const fn transmission(self, bytes: Bytes) -> Span {
        let bits = bytes.0 as u128 * 8;
        Span((bits * PS_PER_SECOND as u128).div_ceil(self.0 as u128) as u64)
    }

    /// The longest time in which no more than `bytes` go over the wire.
    pub const fn lasting(self, bytes: Bytes) -> Span {
        Span((bytes.0 as u128 * 8 * PS_PER_SECOND as u128 / self.0 as u128) as u64)
    }

    /// The bytes that go over the wire in `span`, a begun byte as a whole one.
    pub const fn sent_in(self, span: Span) -> Bytes {
        let bits = span.0 as u128 * self.0 as u128;
        Bytes(bits.div_ceil(8 * PS_PER_SECOND as u128) as u64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Gbps", self.0 as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_float_and_back_up_to_106_days() {
        for ps in [0, 1, 999, 1 << 50] {
            assert_eq!(Span::from_ps_f64(Span::from_ps(ps).as_ps_f64() + 0.25), Span::from_ps(ps));
        }
        assert_eq!(Span::from_ps(u64::MAX).as_ps_f64(), 2_f64.powi(63));
        assert_eq!(Span::from_ps_f64(1e30), Span::from_ps(i64::MAX as u64));
    }

    #[test]
    fn a_byte_at_400_gbps_lasts_20_ps() {
        assert_eq!(Rate::from_gbps(400).transmission(Bytes::new(1)), Span::from_ps(20));
    }

    #[test]
    fn a_transmission_rounds_up_to_the_picosecond() {
        // 8 bits at 3 bit/s: 2.666... s.
        assert_eq!(Rate::from_bps(3).transmission(Bytes::new(1)), Span::from_ps(2_666_666_666_667));
    }

    #[test]
    fn a_long_transmission_does_not_overflow() {
        assert_eq!(Rate::from_bps(8).transmission(Bytes::new(1_000_000)), Span::from_secs(1_000_000));
    }

    #[test]
    fn what_is_sent_in_a_transmission_is_what_was_to_be_transmitted() {
        assert_eq!(Rate::from_gbps(100).sent_in(Span::from_us(800)), Bytes::new(10_000_000));
        for bytes in [1, 84, 1500, 9216, 40_000_000] {
            let rate = Rate::from_bps(400_000_000_000);
            assert_eq!(rate.sent_in(rate.transmission(Bytes::new(bytes))), Bytes::new(bytes));
        }
        assert_eq!(Rate::from_gbps(400).sent_in(Span::from_ps(21)), Bytes::new(2));
    }

    #[test]
    fn spans_print_in_the_largest_unit_that_fits() {
        assert_eq!(Span::from_us(25).to_string(), "25us");
        assert_eq!(Span::from_ps(2_500_000).to_string(), "2.5us");
        assert_eq!(Span::ZERO.to_string(), "0ps");
    }

    #[test]
    fn since_never_goes_negative() {
        assert_eq!(Time::from_ps(3).since(Time::from_ps(5)), Span::ZERO);
    }
}
