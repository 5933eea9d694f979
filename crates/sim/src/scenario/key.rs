//! One key of the file: its name, what it means, its default and its range. A key is defined where it is read, and
//! nowhere else.

use std::ops::RangeInclusive;

use clearway_proto::parameter::wanted;
use clearway_proto::units::{Bytes, Rate, Span};
use serde_json::{json, Map, Value as Json};

pub(super) use clearway_proto::parameter::Shown;

use super::document::Value;
use super::error::Misread;
use super::units::{self, UnitError, Units};
use crate::model::{PartsPerBillion, PerSecond};

/// A key that holds a quantity.
pub(super) struct Key<T> {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) range: RangeInclusive<T>,
    pub(super) default: Fallback<T>,
}

/// What holds when a key is not given.
pub(super) enum Fallback<T> {
    /// The key must be given.
    Required,
    /// This value is the default.
    Always(T),
    /// This value is the default; it depends on other keys, as the words say.
    Follows(T, &'static str),
}

impl<T: Quantity> Key<T> {
    /// A key that must be given.
    pub(super) fn new(name: &'static str, doc: &'static str, range: RangeInclusive<T>) -> Key<T> {
        Key { name, doc, range, default: Fallback::Required }
    }

    /// The key with a default.
    pub(super) fn or(self, default: T) -> Key<T> {
        Key { default: Fallback::Always(default), ..self }
    }

    /// The key with a default that depends on other keys.
    pub(super) fn or_as(self, default: T, words: &'static str) -> Key<T> {
        Key { default: Fallback::Follows(default, words), ..self }
    }

    /// The value with which a reader continues that has none: it is in the key's range.
    pub(super) fn placeholder(&self) -> T {
        match self.default {
            Fallback::Required => *self.range.start(),
            Fallback::Always(value) | Fallback::Follows(value, _) => value,
        }
    }

    /// Reads a value and checks that it is in range.
    pub(super) fn read(&self, value: &Value) -> Result<T, Misread> {
        match T::read(value)? {
            Some(read) if self.range.contains(&read) => Ok(read),
            _ => Err(Misread::expected(self.wanted())),
        }
    }

    /// Returns what the key expects, in words.
    pub(super) fn wanted(&self) -> String {
        wanted(&self.range)
    }

    /// The key's part of the schema, without description and default.
    pub(super) fn schema(&self) -> Map<String, Json> {
        let mut schema = T::schema(*self.range.start(), *self.range.end());
        schema.insert("x-min".into(), self.range.start().json());
        schema.insert("x-max".into(), self.range.end().json());
        schema
    }
}

/// A value with an order, a spelling and a unit.
pub(super) trait Quantity: Shown {
    /// Reads a value; none if it is beyond what the type can hold.
    fn read(value: &Value) -> Result<Option<Self>, Misread>;
    /// The value in the form in which a file holds it.
    fn json(self) -> Json {
        self.shown().into()
    }
    /// The type, the unit and the limits for the schema.
    fn schema(min: Self, max: Self) -> Map<String, Json>;
}

/// Reads a quantity that is written with its unit.
fn with_unit(value: &Value, units: Units, wanted: &str) -> Result<Option<u64>, Misread> {
    let Value::Text(text) = value else { return Err(Misread::expected(wanted)) };
    match units::parse(text, units) {
        Ok(number) => Ok(Some(number)),
        Err(UnitError::TooLarge) => Ok(None),
        Err(UnitError::Malformed | UnitError::NoUnit) => Err(Misread::expected(wanted)),
        Err(UnitError::UnknownUnit) => {
            let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
            Err(Misread::Expected(
                format!("{wanted} (units: {})", names.join(", ")),
                units::meant(text, units),
            ))
        }
        Err(UnitError::Inexact) => {
            Err(Misread::expected(format!("{wanted}, a whole number of {}", units[0].0)))
        }
    }
}

fn string_schema(unit: &str, units: Units) -> Map<String, Json> {
    object(json!({ "type": "string", "pattern": units::pattern(units), "x-unit": unit }))
}

/// The entries of a JSON object.
pub(super) fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(entries) => entries,
        _ => Map::new(),
    }
}

impl Quantity for Span {
    fn read(value: &Value) -> Result<Option<Span>, Misread> {
        with_unit(value, units::TIME, "a time with its unit, such as \"25us\"")
            .map(|ps| ps.map(Span::from_ps))
    }
    fn schema(_: Span, _: Span) -> Map<String, Json> {
        string_schema("time", units::TIME)
    }
}

impl Quantity for Bytes {
    fn read(value: &Value) -> Result<Option<Bytes>, Misread> {
        with_unit(value, units::BYTES, "a size with its unit, such as \"64kB\"")
            .map(|bytes| bytes.map(Bytes::new))
    }
    fn schema(_: Bytes, _: Bytes) -> Map<String, Json> {
        string_schema("bytes", units::BYTES)
    }
}

impl Quantity for Rate {
    fn read(value: &Value) -> Result<Option<Rate>, Misread> {
        let bits = with_unit(value, units::RATE, "a rate with its unit, such as \"100Gbps\"")?;
        Ok(bits.filter(|bits| *bits > 0).map(Rate::from_bps))
    }
    fn schema(_: Rate, _: Rate) -> Map<String, Json> {
        string_schema("rate", units::RATE)
    }
}

impl Shown for PerSecond {
    const NOUN: &'static str = "a frequency";

    fn shown(self) -> String {
        units::spell(self.0, units::FREQUENCY)
    }
}

impl Quantity for PerSecond {
    fn read(value: &Value) -> Result<Option<PerSecond>, Misread> {
        with_unit(value, units::FREQUENCY, "a frequency with its unit, such as \"50k/s\"")
            .map(|times| times.map(PerSecond))
    }
    fn schema(_: PerSecond, _: PerSecond) -> Map<String, Json> {
        string_schema("frequency", units::FREQUENCY)
    }
}

impl Shown for PartsPerBillion {
    const NOUN: &'static str = "a rate error";

    fn shown(self) -> String {
        match self.0 {
            // No unit is shortest; this is the one people write.
            0 => "0ppm".into(),
            parts => units::spell(parts, units::PARTS),
        }
    }
}

impl Quantity for PartsPerBillion {
    fn read(value: &Value) -> Result<Option<PartsPerBillion>, Misread> {
        with_unit(value, units::PARTS, "a rate error with its unit, such as \"20ppm\"")
            .map(|parts| parts.map(PartsPerBillion))
    }
    fn schema(_: PartsPerBillion, _: PartsPerBillion) -> Map<String, Json> {
        string_schema("parts", units::PARTS)
    }
}

fn whole(value: &Value) -> Result<i64, Misread> {
    match value {
        Value::Integer(number) => Ok(*number),
        _ => Err(Misread::expected("a whole number, without quotes")),
    }
}

impl Quantity for u32 {
    fn read(value: &Value) -> Result<Option<u32>, Misread> {
        whole(value).map(|number| u32::try_from(number).ok())
    }
    fn json(self) -> Json {
        self.into()
    }
    fn schema(min: u32, max: u32) -> Map<String, Json> {
        object(json!({ "type": "integer", "minimum": min, "maximum": max, "x-unit": "integer" }))
    }
}

impl Quantity for u64 {
    fn read(value: &Value) -> Result<Option<u64>, Misread> {
        whole(value).map(|number| u64::try_from(number).ok())
    }
    fn json(self) -> Json {
        self.into()
    }
    fn schema(min: u64, max: u64) -> Map<String, Json> {
        object(json!({ "type": "integer", "minimum": min, "maximum": max, "x-unit": "integer" }))
    }
}

impl Quantity for f64 {
    fn read(value: &Value) -> Result<Option<f64>, Misread> {
        match value {
            Value::Integer(number) => Ok(Some(*number as f64)),
            Value::Float(number) if number.is_finite() => Ok(Some(*number)),
            _ => Err(Misread::expected("a number, without quotes")),
        }
    }
    fn json(self) -> Json {
        self.into()
    }
    fn schema(min: f64, max: f64) -> Map<String, Json> {
        let unit = if min >= 0.0 && max == 1.0 { "fraction" } else { "number" };
        object(json!({ "type": "number", "minimum": min, "maximum": max, "x-unit": unit }))
    }
}
