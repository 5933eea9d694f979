//! Parameters as a person sets them. What each is called, what it means and in what range it lies is said once, beside the
//! algorithm that has it; whoever reads settings, a scenario or a command line, takes all of that from there.
//!
//! An algorithm's parameters implement [`Parameters`]: they ask a [`ParameterReader`] for one after the other. A reader
//! is a few methods, and then knows every algorithm.

use std::ops::RangeInclusive;

use crate::quantity::{self, Units};
use crate::units::{Bytes, Rate, Span};

/// A parameter that lies in a range.
#[derive(Clone, Debug)]
pub struct Parameter<T> {
    /// What a scenario calls it; a command line writes `-` for `_`.
    pub name: &'static str,
    /// A sentence for a person.
    pub doc: &'static str,
    /// What it may be.
    pub range: RangeInclusive<T>,
    /// What its default follows, in words; none where the default is always the same.
    pub follows: Option<&'static str>,
}

impl<T> Parameter<T> {
    /// A parameter of this name, meaning and range.
    pub fn new(name: &'static str, doc: &'static str, range: RangeInclusive<T>) -> Parameter<T> {
        Parameter { name, doc, range, follows: None }
    }

    /// The parameter with a default that follows other parameters, as these words say.
    #[must_use]
    pub fn following(self, words: &'static str) -> Parameter<T> {
        Parameter { follows: Some(words), ..self }
    }
}

/// The parameters of an algorithm.
pub trait Parameters: Sized {
    /// Asks for each parameter, in the order in which people see them. What is not given is as in `defaults`.
    fn read(r: &mut impl ParameterReader, defaults: &Self) -> Self;

    /// Returns what does not go together, of parameters that are each in range.
    fn conflicts(&self) -> Vec<Conflict> {
        Vec::new()
    }
}

/// Somebody who has values for parameters: each method answers with the value that is given, in range, or else with the
/// default.
pub trait ParameterReader {
    /// A value.
    fn value<T: Shown>(&mut self, parameter: &Parameter<T>, default: T) -> T {
        self.optional(parameter, "").unwrap_or(default)
    }

    /// A value that need not be there; `otherwise` says what holds then.
    fn optional<T: Shown>(&mut self, parameter: &Parameter<T>, otherwise: &'static str) -> Option<T>;

    /// Returns whether something is so.
    fn flag(&mut self, name: &'static str, doc: &'static str, default: bool) -> bool;

    /// One of several values that have names; the default is among them.
    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T;
}

/// A value that a person can write, and how a message shows it.
pub trait Shown: Copy + PartialOrd {
    /// How a message speaks of it.
    const NOUN: &'static str;
    /// How it is written.
    const FORM: Form;

    /// The value that is this amount; `None` if there is none.
    fn of(amount: Amount) -> Option<Self>;

    /// The value as an amount.
    fn amount(self) -> Amount;

    /// The value as a person writes it.
    fn shown(self) -> String {
        match (Self::FORM, self.amount()) {
            (Form::Units { zero, .. }, Amount::Whole(0)) => zero.into(),
            (Form::Units { units, .. }, Amount::Whole(number)) => quantity::spell(number, units),
            (_, Amount::Whole(number)) => number.to_string(),
            (_, Amount::Number(number)) => format!("{number:?}"),
        }
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// As a number with its unit.
    Units {
        /// What such values are called where no sentence is.
        name: &'static str,
        /// The units.
        units: Units,
        /// A value for people to see how it is written.
        example: &'static str,
        /// Zero with the unit that people write: none is shortest.
        zero: &'static str,
    },
    /// As a whole number.
    Whole,
    /// As any number.
    Number,
}

/// How much a value is: in the smallest of its units, where it has units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A whole number.
    Whole(u64),
    /// Any number.
    Number(f64),
}

/// Says how values are written that are whole numbers.
macro_rules! shown {
    ($($Type:ty: $noun:literal, $form:expr, $of:expr, $number:expr;)*) => {
        $(impl Shown for $Type {
            const NOUN: &'static str = $noun;
            const FORM: Form = $form;

            fn of(amount: Amount) -> Option<$Type> {
                match amount {
                    Amount::Whole(number) => $of(number),
                    Amount::Number(_) => None,
                }
            }

            fn amount(self) -> Amount {
                Amount::Whole($number(self))
            }
        })*
    };
}

const TIME: Form = Form::Units { name: "time", units: quantity::TIME, example: "25us", zero: "0us" };
const SIZE: Form = Form::Units { name: "bytes", units: quantity::BYTES, example: "64kB", zero: "0B" };
const RATE: Form = Form::Units { name: "rate", units: quantity::RATE, example: "100Gbps", zero: "0bps" };

shown! {
    Span: "a time", TIME, |ps| Some(Span::from_ps(ps)), Span::as_ps;
    Bytes: "a size", SIZE, |bytes| Some(Bytes::new(bytes)), Bytes::get;
    Rate: "a rate", RATE, |bits| (bits > 0).then(|| Rate::from_bps(bits)), Rate::as_bps;
    u32: "a whole number", Form::Whole, |number| u32::try_from(number).ok(), u64::from;
    u64: "a whole number", Form::Whole, Some, u64::from;
}

impl Shown for f64 {
    const NOUN: &'static str = "a number";
    const FORM: Form = Form::Number;

    fn of(amount: Amount) -> Option<f64> {
        Some(match amount {
            Amount::Whole(number) => number as f64,
            Amount::Number(number) => number,
        })
    }

    fn amount(self) -> Amount {
        Amount::Number(self)
    }
}

/// The values that this range allows, in words: `a time from 1us to 100s`.
pub fn wanted<T: Shown>(range: &RangeInclusive<T>) -> String {
    format!("{} from {} to {}", T::NOUN, range.start().shown(), range.end().shown())
}

/// A parameter that is in range and yet cannot be, by itself or beside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The parameter.
    pub name: &'static str,
    value: String,
    /// The fault of its value, in words that may end where the other parameter is named.
    rule: String,
    /// The other parameter with its value.
    other: Option<(&'static str, String)>,
}

impl Conflict {
    /// A parameter whose value is wrong by itself, as `rule` says: `is not a power of two`.
    pub fn alone(name: &'static str, value: &impl ToString, rule: impl Into<String>) -> Conflict {
        Conflict { name, value: value.to_string(), rule: rule.into(), other: None }
    }

    /// A parameter whose value does not go with another's, as `rule` says: `is above`.
    pub fn between(
        (name, value): (&'static str, impl ToString),
        rule: &str,
        (other, its): (&'static str, impl ToString),
    ) -> Conflict {
        let other = Some((other, its.to_string()));
        Conflict { name, value: value.to_string(), rule: rule.into(), other }
    }

    /// The parameters that it is about, the likeliest to be wrong first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.other.as_ref().map(|(name, _)| *name))
    }

    /// The whole of it, with each parameter's name as `spell` writes it.
    pub fn message(&self, spell: impl Fn(&str) -> String) -> String {
        let message = format!("{}, {}, {}", spell(self.name), self.value, self.rule);
        match &self.other {
            Some((name, value)) => format!("{message} {}, {value}", spell(name)),
            None => message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_what_it_wants() {
        assert_eq!(wanted(&(Span::ZERO..=Span::from_secs(1))), "a time from 0us to 1s");
        assert_eq!(wanted(&(1e-6..=1000.0)), "a number from 1e-6 to 1000.0");
        assert_eq!(wanted(&(64_u32..=1 << 20)), "a whole number from 64 to 1048576");
    }

    #[test]
    fn a_conflict_names_its_parameters_as_the_reader_writes_them() {
        let two = Conflict::between(("max_cwnd", 2000.0), "is above", ("reach", 1024));
        assert_eq!(two.message(str::to_string), "max_cwnd, 2000, is above reach, 1024");
        let option = |name: &str| format!("--{}", name.replace('_', "-"));
        assert_eq!(two.message(option), "--max-cwnd, 2000, is above --reach, 1024");
        assert_eq!(two.names().collect::<Vec<_>>(), ["max_cwnd", "reach"]);
        let one = Conflict::alone("reach", &65, "is not a power of two");
        assert_eq!(one.message(str::to_string), "reach, 65, is not a power of two");
    }
}
