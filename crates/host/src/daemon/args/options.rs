//! An algorithm's parameters as options. Two readers ask it for them: one defines the options with their help, the other
//! has the values that were given.

use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::{value_parser, Arg, ArgMatches};
use clearway_proto::parameter::{wanted, Parameter, ParameterReader, Shown};
use clearway_proto::quantity::{self, UnitError, Units};
use clearway_proto::units::{Bytes, Rate, Span};

use crate::daemon::output::Problem;

/// A parameter's name as an option, without the dashes before it.
pub(super) fn option(parameter: &str) -> String {
    parameter.replace('_', "-")
}

/// The options that an algorithm's parameters are.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) args: Vec<Arg>,
}

impl Definitions {
    fn add(&mut self, name: &str, value: &'static str, doc: &str, default: &str) {
        let help = format!("{} [default: {default}]", doc.trim_end_matches('.'));
        // Text or not: what is no text is told with the option's name.
        let arg = Arg::new(name.to_string()).long(option(name)).value_name(value).help(help);
        self.args.push(arg.value_parser(value_parser!(OsString)));
    }
}

impl ParameterReader for Definitions {
    fn time(&mut self, parameter: &Parameter<Span>, default: Span) -> Span {
        self.add(parameter.name, "TIME", parameter.doc, &default.shown());
        default
    }

    fn number(&mut self, parameter: &Parameter<f64>, default: f64) -> f64 {
        self.add(parameter.name, "NUMBER", parameter.doc, &default.to_string());
        default
    }

    fn count(&mut self, parameter: &Parameter<u32>, default: u32) -> u32 {
        self.add(parameter.name, "N", parameter.doc, &default.to_string());
        default
    }

    fn size(&mut self, parameter: &Parameter<Bytes>, default: Bytes) -> Bytes {
        self.add(parameter.name, "BYTES", parameter.doc, &default.shown());
        default
    }

    fn rate(&mut self, parameter: &Parameter<Rate>, default: Rate) -> Rate {
        self.add(parameter.name, "RATE", parameter.doc, &default.shown());
        default
    }

    fn optional_time(&mut self, parameter: &Parameter<Span>, otherwise: &'static str) -> Option<Span> {
        self.add(parameter.name, "TIME", parameter.doc, otherwise);
        None
    }

    fn optional_number(&mut self, parameter: &Parameter<f64>, otherwise: &'static str) -> Option<f64> {
        self.add(parameter.name, "NUMBER", parameter.doc, otherwise);
        None
    }

    fn optional_count(&mut self, parameter: &Parameter<u32>, otherwise: &'static str) -> Option<u32> {
        self.add(parameter.name, "N", parameter.doc, otherwise);
        None
    }

    fn optional_rate(&mut self, parameter: &Parameter<Rate>, otherwise: &'static str) -> Option<Rate> {
        self.add(parameter.name, "RATE", parameter.doc, otherwise);
        None
    }

    fn flag(&mut self, name: &'static str, doc: &'static str, default: bool) -> bool {
        self.add(name, "on|off", doc, if default { "on" } else { "off" });
        default
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        let shown = options.iter().find(|(_, value)| *value == default);
        self.add(name, "NAME", doc, shown.map_or("", |(name, _)| name));
        default
    }
}

/// The values that were given, and what is wrong with them.
#[derive(Debug)]
pub(super) struct Given<'a> {
    matches: &'a ArgMatches,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Given<'a> {
    pub(super) fn new(matches: &'a ArgMatches) -> Given<'a> {
        Given { matches, problems: Vec::new() }
    }

    /// The value that was given for a parameter, if `read` can make one of it and it is in range; otherwise `default`.
    fn value<T: Shown>(
        &mut self,
        parameter: &Parameter<T>,
        default: T,
        read: fn(&str, &RangeInclusive<T>) -> Result<T, String>,
    ) -> T {
        self.value_if_given(parameter, read).unwrap_or(default)
    }

    /// The value that was given for a parameter, if `read` can make one of it and it is in range.
    fn value_if_given<T: Shown>(
        &mut self,
        Parameter { name, range, .. }: &Parameter<T>,
        read: fn(&str, &RangeInclusive<T>) -> Result<T, String>,
    ) -> Option<T> {
        self.optional(name, |text| match read(text, range) {
            Ok(value) if range.contains(&value) => Ok(value),
            Ok(_) => Err(format!("found {text}, expected {}", wanted(range))),
            Err(expected) => Err(format!("found {text:?}, {expected}")),
        })
    }

    /// Returns what `read` makes of the value that was given; none where nothing was, or nothing that is right.
    fn optional<T>(&mut self, name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let value: &OsString = self.matches.get_one(name)?;
        let text = value.to_str().ok_or_else(|| format!("found {value:?}, which is no text (UTF-8)"));
        match text.and_then(read) {
            Ok(value) => Some(value),
            Err(what) => {
                self.problems.push(Problem::bare(format!("--{}: {what}", option(name))));
                None
            }
        }
    }
}

/// A number in decimal digits.
fn number<T: FromStr + Shown>(text: &str, range: &RangeInclusive<T>) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {}", wanted(range)))
}

/// A size with its unit.
pub(super) fn bytes(text: &str) -> Result<Bytes, String> {
    amount(text, quantity::BYTES, "a size with its unit, such as 64kB").map(Bytes::new)
}

/// A time with its unit.
pub(super) fn time(text: &str) -> Result<Span, String> {
    amount(text, quantity::TIME, "a time with its unit, such as 25us").map(Span::from_ps)
}

/// A rate with its unit.
fn rate(text: &str) -> Result<Rate, String> {
    let bits = amount(text, quantity::RATE, "a rate with its unit, such as 10Gbps")?;
    // None is below every range; there is no rate of nothing.
    Ok(Rate::from_bps(bits.max(1)))
}

fn amount(text: &str, units: Units, wanted: impl Display) -> Result<u64, String> {
    quantity::parse(text, units).map_err(|error| match error {
        UnitError::TooLarge => "which is more than is held".to_string(),
        UnitError::Inexact => format!("expected a whole number of {}", units[0].0),
        UnitError::Malformed | UnitError::NoUnit => format!("expected {wanted}"),
        UnitError::UnknownUnit => {
            let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
            format!("expected {wanted} (units: {})", names.join(", "))
        }
    })
}

impl ParameterReader for Given<'_> {
    fn time(&mut self, parameter: &Parameter<Span>, default: Span) -> Span {
        self.value(parameter, default, |text, _| time(text))
    }

    fn number(&mut self, parameter: &Parameter<f64>, default: f64) -> f64 {
        self.value(parameter, default, number)
    }

    fn count(&mut self, parameter: &Parameter<u32>, default: u32) -> u32 {
        self.value(parameter, default, number)
    }

    fn size(&mut self, parameter: &Parameter<Bytes>, default: Bytes) -> Bytes {
        self.value(parameter, default, |text, _| bytes(text))
    }

    fn rate(&mut self, parameter: &Parameter<Rate>, default: Rate) -> Rate {
        self.value(parameter, default, |text, _| rate(text))
    }

    fn optional_time(&mut self, parameter: &Parameter<Span>, _otherwise: &'static str) -> Option<Span> {
        self.value_if_given(parameter, |text, _| time(text))
    }

    fn optional_number(&mut self, parameter: &Parameter<f64>, _otherwise: &'static str) -> Option<f64> {
        self.value_if_given(parameter, number)
    }

    fn optional_count(&mut self, parameter: &Parameter<u32>, _otherwise: &'static str) -> Option<u32> {
        self.value_if_given(parameter, number)
    }

    fn optional_rate(&mut self, parameter: &Parameter<Rate>, _otherwise: &'static str) -> Option<Rate> {
        self.value_if_given(parameter, |text, _| rate(text))
    }

    fn flag(&mut self, name: &'static str, _doc: &'static str, default: bool) -> bool {
        let read = |text: &str| match text {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(format!("found {text:?}, expected on or off")),
        };
        self.optional(name, read).unwrap_or(default)
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        _doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        let read = |text: &str| {
            let found = options.iter().find(|(option, _)| *option == text);
            let names: Vec<&str> = options.iter().map(|(option, _)| *option).collect();
            let expected = || format!("found {text:?}, expected one of {}", names.join(", "));
            found.map(|(_, value)| *value).ok_or_else(expected)
        };
        self.optional(name, read).unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use clearway_proto::baseline::none::NoneParams;
    use clearway_proto::parameter::Parameters;

    use super::*;

    /// Reads the parameters of `none`, of which some need not be there.
    fn read(given: &str) -> (NoneParams, Vec<String>) {
        let mut definitions = Definitions::default();
        NoneParams::read(&mut definitions, &NoneParams::default());
        let command = clap::Command::new("none").no_binary_name(true).args(definitions.args);
        let matches = command.get_matches_from(given.split_whitespace());
        let mut given = Given::new(&matches);
        let params = NoneParams::read(&mut given, &NoneParams::default());
        (params, given.problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn what_need_not_be_there_is_taken_where_it_is() {
        assert_eq!(read(""), (NoneParams::default(), Vec::new()));
        let (params, errors) = read("--window 7 --rate 2.5Gbps --dup-threshold 3");
        assert_eq!((params.window, params.dup_threshold, errors), (Some(7), 3, Vec::new()));
        assert_eq!(params.rate, Some(Rate::from_bps(2_500_000_000)));
    }

    #[test]
    fn what_need_not_be_there_has_a_range_where_it_is() {
        let said = read("--window 0 --rate 0bps").1;
        let expected = [
            "--window: found 0, expected a whole number from 1 to 1048576",
            "--rate: found 0bps, expected a rate from 1kbps to 10Tbps",
        ];
        assert_eq!(said, expected);
        let word = read("--window x").1;
        assert_eq!(word, ["--window: found \"x\", expected a whole number from 1 to 1048576"]);
    }
}
