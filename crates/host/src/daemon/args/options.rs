//! An algorithm's parameters as options. Two readers ask it for them: one defines the options with their help, the other
//! has the values that were given.

use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;

use clap::{value_parser, Arg, ArgMatches};
use clearway_proto::parameter::{wanted, Amount, Form, Parameter, ParameterReader, Shown};
use clearway_proto::quantity::{self, UnitError, Units};

use crate::daemon::output::Problem;

/// What stands below each help.
pub(super) const STATUS: &str = "\
Units are written: 25us, 5s, 64kB.
Exit status: 0 done, 1 what had begun failed or a check did not hold, 2 bad input, 128 and the signal's number after a signal.";

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
    fn add(&mut self, name: &str, value: impl Into<String>, doc: &str, default: &str) {
        let help = format!("{} [default: {default}]", doc.trim_end_matches('.'));
        // Text or not: what is no text is told with the option's name.
        let arg = Arg::new(name.to_string()).long(option(name)).value_name(value.into()).help(help);
        self.args.push(arg.value_parser(value_parser!(OsString)));
    }
}

/// What a value of this kind is called in the help.
fn value_name<T: Shown>() -> String {
    match T::FORM {
        Form::Units { name, .. } => name.to_uppercase(),
        Form::Whole => "N".into(),
        Form::Number => "NUMBER".into(),
    }
}

impl ParameterReader for Definitions {
    fn value<T: Shown>(&mut self, parameter: &Parameter<T>, default: T) -> T {
        let shown = match default.amount() {
            Amount::Whole(_) => default.shown(),
            Amount::Number(number) => number.to_string(),
        };
        self.add(parameter.name, value_name::<T>(), parameter.doc, &shown);
        default
    }

    fn optional<T: Shown>(&mut self, parameter: &Parameter<T>, otherwise: &'static str) -> Option<T> {
        self.add(parameter.name, value_name::<T>(), parameter.doc, otherwise);
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

    /// Returns what `read` makes of the value that was given; none where nothing was, or nothing that is right.
    fn read<T>(&mut self, name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
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

/// The value of the option that has this name; an error says which there are.
pub(crate) fn one_of<T: Copy>(options: &[(&'static str, T)], name: Option<&str>) -> Result<T, String> {
    let found = options.iter().find(|(option, _)| name == Some(option));
    let names = || options.iter().map(|(option, _)| *option).collect::<Vec<_>>().join(", ");
    found.map(|(_, value)| *value).ok_or_else(|| format!("expected one of {}", names()))
}

/// Reads a value; none if it is beyond what the type can hold. An error says what is expected.
pub(crate) fn parse<T: Shown>(text: &str, range: &RangeInclusive<T>) -> Result<Option<T>, String> {
    let plain = |amount: Option<Amount>| {
        amount.and_then(T::of).map(Some).ok_or_else(|| format!("expected {}", wanted(range)))
    };
    match T::FORM {
        Form::Units { units, example, .. } => {
            let expected = format!("{} with its unit, such as {example}", T::NOUN);
            amount(text, units, expected).map(|number| T::of(Amount::Whole(number)))
        }
        Form::Whole => plain(text.parse().ok().map(Amount::Whole)),
        Form::Number => plain(text.parse().ok().map(Amount::Number)),
    }
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
    fn optional<T: Shown>(
        &mut self,
        Parameter { name, range, .. }: &Parameter<T>,
        _otherwise: &'static str,
    ) -> Option<T> {
        self.read(name, |text| match parse(text, range) {
            Ok(value) => value
                .filter(|value| range.contains(value))
                .ok_or_else(|| format!("found {text}, expected {}", wanted(range))),
            Err(expected) => Err(format!("found {text:?}, {expected}")),
        })
    }

    fn flag(&mut self, name: &'static str, _doc: &'static str, default: bool) -> bool {
        let read = |text: &str| match text {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(format!("found {text:?}, expected on or off")),
        };
        self.read(name, read).unwrap_or(default)
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        _doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        let read = |text: &str| {
            one_of(options, Some(text)).map_err(|expected| format!("found {text:?}, {expected}"))
        };
        self.read(name, read).unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use clearway_proto::baseline::none::NoneParams;
    use clearway_proto::parameter::Parameters;
    use clearway_proto::units::Rate;

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
