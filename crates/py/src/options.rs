//! Options of planners as a person writes them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clearway_proto::parameter::{wanted, Shown};
use clearway_proto::quantity::{self, UnitError, Units};
use clearway_proto::units::{Bytes, Rate, Span, RATES};

/// Preamble 8, header 14, frame check sequence 4, gap 12.
pub const BEYOND_MTU: u64 = 38;

/// The name of an option that is wrong, and the fault.
pub type Problem = (String, String);

/// What a person gave, option by option.
pub struct Options<'a> {
    given: &'a BTreeMap<String, String>,
    /// A sentence that says what is wrong with the value that was given.
    pub problems: Vec<Problem>,
}

impl<'a> Options<'a> {
    /// Options of which nothing is known to be wrong.
    pub fn new(given: &'a BTreeMap<String, String>) -> Options<'a> {
        Options { given, problems: Vec::new() }
    }

    /// Notes what is wrong with an option.
    pub fn problem(&mut self, name: &str, detail: impl Into<String>) {
        self.problems.push((name.into(), detail.into()));
    }

    /// A number with its unit; `None` if it is not given or is wrong.
    pub fn quantity(&mut self, name: &str, units: Units, example: &str) -> Option<u64> {
        let text = self.given.get(name)?;
        let detail = match quantity::parse(text, units) {
            Ok(number) => return Some(number),
            Err(UnitError::TooLarge) => format!("found {text:?}, which is more than is held"),
            Err(UnitError::Inexact) => {
                format!("found {text:?}, expected a whole number of {}", units[0].0)
            }
            Err(UnitError::Malformed | UnitError::NoUnit | UnitError::UnknownUnit) => {
                let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
                format!(
                    "found {text:?}, expected a number with its unit, such as {example} (units: {})",
                    names.join(", ")
                )
            }
        };
        self.problem(name, detail);
        None
    }

    /// A value if it is in this range.
    pub fn within<T: Shown>(&mut self, name: &str, value: T, range: &RangeInclusive<T>) -> Option<T> {
        if range.contains(&value) {
            return Some(value);
        }
        self.problem(name, format!("found {}, expected {}", value.shown(), wanted(range)));
        None
    }

    /// A time up to `most`, or this one.
    pub fn time(&mut self, name: &str, default: Span, most: Span) -> Span {
        let found = self.quantity(name, quantity::TIME, "1us").map(Span::from_ps);
        found.and_then(|time| self.within(name, time, &(Span::ZERO..=most))).unwrap_or(default)
    }

    /// A size of this range; `None` if it is not given or is wrong.
    pub fn size(&mut self, name: &str, range: &RangeInclusive<Bytes>) -> Option<Bytes> {
        let found = self.quantity(name, quantity::BYTES, "9000B").map(Bytes::new)?;
        self.within(name, found, range)
    }

    /// The rate of a link, which must be given.
    pub fn rate(&mut self) -> Rate {
        if !self.given.contains_key("rate") {
            self.problem("rate", "is missing: how fast the link is, such as 400Gbps");
        }
        self.rate_or("rate", *RATES.start())
    }

    /// The rate of a link, or this one.
    pub fn rate_or(&mut self, name: &str, default: Rate) -> Rate {
        let found = self.quantity(name, quantity::RATE, "400Gbps").map(|bits| Rate::from_bps(bits.max(1)));
        found.and_then(|rate| self.within(name, rate, &RATES)).unwrap_or(default)
    }

    /// A share from 0 to 1, or this one.
    pub fn share(&mut self, name: &str, default: f64) -> f64 {
        let Some(text) = self.given.get(name) else { return default };
        match text.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => share,
            _ => {
                self.problem(name, format!("found {text:?}, expected a share of the rate from 0 to 1"));
                default
            }
        }
    }

    /// A whole number of this range.
    pub fn count<T: FromStr + PartialOrd + std::fmt::Display>(
        &mut self,
        name: &str,
        default: T,
        range: &RangeInclusive<T>,
    ) -> T {
        let Some(text) = self.given.get(name) else { return default };
        match text.parse::<T>() {
            Ok(count) if range.contains(&count) => count,
            _ => {
                let (least, most) = (range.start(), range.end());
                self.problem(name, format!("found {text:?}, expected a whole number from {least} to {most}"));
                default
            }
        }
    }

    /// A number of this range.
    pub fn number(&mut self, name: &str, default: f64, range: &RangeInclusive<f64>) -> f64 {
        let Some(text) = self.given.get(name) else { return default };
        match text.parse::<f64>() {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let (least, most) = (range.start(), range.end());
                self.problem(name, format!("found {text:?}, expected a number from {least} to {most}"));
                default
            }
        }
    }

    /// The frame on the wire of this MTU.
    pub fn frame(&mut self, name: &str) -> Option<Bytes> {
        let mtu = self.size(name, &(Bytes::new(256)..=Bytes::new(65_535)))?;
        Some(Bytes::new(mtu.get() + BEYOND_MTU))
    }
}
