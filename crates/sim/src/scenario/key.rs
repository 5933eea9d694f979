//! One key of the file: its name, what it means, its default and its range. A key is defined where it is read, and
//! nowhere else.

use std::ops::RangeInclusive;

use clearway_proto::parameter::{wanted, Amount, Form};
use serde_json::{json, Map, Value as Json};

pub(crate) use clearway_proto::parameter::Shown;

use super::document::Value;
use super::error::Misread;
use super::units::{self, UnitError, Units};
use crate::model::{PartsPerBillion, PerSecond};

/// A key that holds a quantity.
pub(crate) struct Key<T> {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) range: RangeInclusive<T>,
    pub(crate) default: Fallback<T>,
}

/// What holds when a key is not given.
pub(crate) enum Fallback<T> {
    /// The key must be given.
    Required,
    /// This value is the default.
    Always(T),
    /// This value is the default; it depends on other keys, as the words say.
    Follows(T, &'static str),
}

impl<T: Quantity> Key<T> {
    /// A key that must be given.
    pub(crate) fn new(name: &'static str, doc: &'static str, range: RangeInclusive<T>) -> Key<T> {
        Key { name, doc, range, default: Fallback::Required }
    }

    /// The key with a default.
    pub(crate) fn or(self, default: T) -> Key<T> {
        Key { default: Fallback::Always(default), ..self }
    }

    /// The key with a default that depends on other keys.
    pub(crate) fn or_as(self, default: T, words: &'static str) -> Key<T> {
        Key { default: Fallback::Follows(default, words), ..self }
    }

    /// The value with which a reader continues that has none: it is in the key's range.
    pub(crate) fn placeholder(&self) -> T {
        match self.default {
            Fallback::Required => *self.range.start(),
            Fallback::Always(value) | Fallback::Follows(value, _) => value,
        }
    }

    /// Reads a value and checks that it is in range.
    pub(crate) fn read(&self, value: &Value) -> Result<T, Misread> {
        match T::read(value)? {
            Some(read) if self.range.contains(&read) => Ok(read),
            _ => Err(Misread::expected(self.wanted())),
        }
    }

    /// What the key expects, in words.
    pub(crate) fn wanted(&self) -> String {
        wanted(&self.range)
    }

    /// The key's part of the schema, without description and default.
    pub(crate) fn schema(&self) -> Map<String, Json> {
        let mut schema = T::schema(*self.range.start(), *self.range.end());
        schema.insert("x-min".into(), self.range.start().json());
        schema.insert("x-max".into(), self.range.end().json());
        schema
    }
}

/// A value that a key may hold: parsed with its unit, and printed back.
pub(crate) trait Quantity: Shown {
    /// Reads a value; none if it is beyond what the type can hold.
    fn read(value: &Value) -> Result<Option<Self>, Misread> {
        let amount = match (Self::FORM, value) {
            (Form::Units { units, example, .. }, _) => {
                let wanted = format!("{} with its unit, such as \"{example}\"", Self::NOUN);
                with_unit(value, units, &wanted)?.map(Amount::Whole)
            }
            (Form::Number, Value::Integer(number)) => Some(Amount::Number(*number as f64)),
            (Form::Number, Value::Float(number)) if number.is_finite() => Some(Amount::Number(*number)),
            (Form::Whole, Value::Integer(number)) => u64::try_from(*number).ok().map(Amount::Whole),
            (_, Value::Text(_)) => return Err(Misread::expected(format!("{}, without quotes", Self::NOUN))),
            _ => return Err(Misread::expected(Self::NOUN)),
        };
        Ok(amount.and_then(Self::of))
    }

    /// The value in the form in which a file holds it.
    fn json(self) -> Json {
        match (Self::FORM, self.amount()) {
            (Form::Units { .. }, _) => self.shown().into(),
            (_, Amount::Whole(number)) => number.into(),
            (_, Amount::Number(number)) => number.into(),
        }
    }

    /// The type, the unit and the limits for the schema.
    fn schema(min: Self, max: Self) -> Map<String, Json> {
        object(match (Self::FORM, min.amount(), max.amount()) {
            (Form::Units { name, units, .. }, ..) => {
                json!({ "type": "string", "pattern": units::pattern(units), "x-unit": name })
            }
            (_, Amount::Number(least), Amount::Number(most)) => {
                let unit = if least >= 0.0 && most == 1.0 { "fraction" } else { "number" };
                json!({ "type": "number", "minimum": least, "maximum": most, "x-unit": unit })
            }
            _ => {
                let (min, max) = (min.json(), max.json());
                json!({ "type": "integer", "minimum": min, "maximum": max, "x-unit": "integer" })
            }
        })
    }
}

impl<T: Shown> Quantity for T {}

/// Reads a quantity that is written with its unit.
fn with_unit(value: &Value, units: Units, wanted: &str) -> Result<Option<u64>, Misread> {
    let Value::Text(text) = value else { return Err(Misread::expected(wanted)) };
    match units::parse(text, units) {
        Ok(number) => Ok(Some(number)),
        Err(UnitError::TooLarge) => Ok(None),
        Err(UnitError::Malformed) if is_negative(text, units) => {
            Err(Misread::expected(format!("{wanted}, and not below zero")))
        }
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

/// Returns whether a text is a quantity below zero.
fn is_negative(text: &str, units: Units) -> bool {
    text.strip_prefix('-').is_some_and(|rest| units::parse(rest, units).is_ok())
}

/// The entries of a JSON object.
pub(crate) fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(entries) => entries,
        _ => Map::new(),
    }
}

impl Shown for PerSecond {
    const NOUN: &'static str = "a frequency";
    const FORM: Form =
        Form::Units { name: "frequency", units: units::FREQUENCY, example: "50k/s", zero: "0/s" };

    fn of(amount: Amount) -> Option<PerSecond> {
        u64::of(amount).map(PerSecond)
    }

    fn amount(self) -> Amount {
        self.0.amount()
    }
}

impl Shown for PartsPerBillion {
    const NOUN: &'static str = "a rate error";
    const FORM: Form = Form::Units { name: "parts", units: units::PARTS, example: "20ppm", zero: "0ppm" };

    fn of(amount: Amount) -> Option<PartsPerBillion> {
        u64::of(amount).map(PartsPerBillion)
    }

    fn amount(self) -> Amount {
        self.0.amount()
    }
}
