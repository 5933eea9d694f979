//! The options of a command: each is defined once, where it is read, with its name, a sentence, its default and its
//! range.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clearway_proto::parameter::{wanted, Parameter, ParameterReader, Shown};
use clearway_proto::quantity::{self, UnitError, Units};
use clearway_proto::units::{Bytes, Rate, Span};

const DEFAULT_IDLE: Span = Span::from_secs(5);

/// A problem with the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgError {
    /// The problem, with the option that has it.
    pub message: String,
    /// The remedy.
    pub remedy: Option<String>,
}

/// An option as the help shows it.
#[derive(Clone, Debug)]
struct Known {
    name: String,
    /// The value's placeholder in the help; nothing for a flag.
    value: &'static str,
    doc: &'static str,
    default: Option<String>,
}

/// The options of a command, as they are defined and as they were given.
#[derive(Debug, Default)]
pub(super) struct Options {
    given: BTreeMap<String, String>,
    known: Vec<Known>,
    errors: Vec<ArgError>,
}

impl Options {
    /// Options with the values that the command line gives; without values when help is asked for.
    pub(super) fn given(&self, mut parser: lexopt::Parser) -> Result<Option<Self>, ArgError> {
        let mut given = BTreeMap::new();
        while let Some(arg) = parser.next().map_err(problem)? {
            let name = match arg {
                lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(None),
                lexopt::Arg::Long(name) => name.to_string(),
                other => return Err(problem(other.unexpected())),
            };
            let Some(known) = self.known.iter().find(|known| known.name == name) else {
                let names = self.known.iter().map(|known| known.name.as_str());
                let remedy = did_you_mean(&name, names, "--");
                return Err(ArgError { message: format!("no option --{name}"), remedy });
            };
            let value = if known.value.is_empty() {
                String::new()
            } else {
                let value = parser.value().map_err(problem)?;
                value.into_string().map_err(|_| error(&known.name, "found what is no text (UTF-8)"))?
            };
            if given.insert(name.clone(), value).is_some() {
                return Err(error(&name, "given twice"));
            }
        }
        Ok(Some(Self { given, ..Self::default() }))
    }

    /// The values of the options, or all problems that they have.
    pub(super) fn finish<T>(self, read: T) -> Result<T, Vec<ArgError>> {
        if self.errors.is_empty() {
            Ok(read)
        } else {
            Err(self.errors)
        }
    }

    pub(super) fn help(&self, name: &str, about: &str) -> String {
        let left = |known: &Known| format!("  --{} {}", known.name, known.value).trim_end().to_string();
        let width = self.known.iter().map(|known| left(known).len()).max().unwrap_or(0);
        let mut text = format!("{about}\n\nclearwayd {name} OPTIONS\n\n");
        for known in &self.known {
            let default = known.default.as_ref().map_or(String::new(), |default| format!(" [{default}]"));
            let _ = writeln!(text, "{:<width$}  {}{default}", left(known), known.doc);
        }
        text.push_str(
            "\nUnits are written: 25us, 5s, 64kB. In brackets: what holds where nothing is given.\n",
        );
        text
    }

    fn define(
        &mut self,
        name: &str,
        value: &'static str,
        doc: &'static str,
        default: Option<String>,
    ) -> Option<String> {
        self.known.push(Known { name: name.into(), value, doc, default });
        self.given.get(name).cloned()
    }

    pub(super) fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    pub(super) fn conflict(&mut self, message: &str, remedy: &str) {
        self.errors.push(ArgError { message: message.into(), remedy: Some(remedy.into()) });
    }

    /// A required value. Where it is missing a placeholder stands in, so that other problems are found, too.
    pub(super) fn required(&mut self, name: &str, value: &'static str, doc: &'static str) -> SocketAddr {
        let found = self.define(name, value, doc, None);
        let placeholder = SocketAddr::from(([127, 0, 0, 1], 1));
        let Some(text) = found else {
            let message = format!("--{name} is missing");
            self.errors.push(ArgError { message, remedy: Some(format!("give --{name} {value}")) });
            return placeholder;
        };
        text.parse().unwrap_or_else(|_| {
            let wanted = "expected an IP address and a port, such as 10.0.0.2:4600 or [::1]:4600";
            self.errors.push(error(name, &format!("found {text:?}, {wanted}")));
            placeholder
        })
    }

    pub(super) fn optional<T: FromStr>(
        &mut self,
        name: &str,
        value: &'static str,
        doc: &'static str,
    ) -> Option<T> {
        let text = self.define(name, value, doc, None)?;
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.errors.push(error(name, &format!("found {text:?}, expected a whole number")));
        }
        parsed
    }

    pub(super) fn flag(&mut self, name: &str, doc: &'static str) -> bool {
        self.define(name, "", doc, None).is_some()
    }

    pub(super) fn idle_timeout(&mut self) -> Span {
        let doc = "Longest time without progress before giving up.";
        self.time("idle-timeout", doc, DEFAULT_IDLE, Span::from_ms(1)..=Span::from_secs(3600))
    }

    pub(super) fn switch(&mut self, name: &str, doc: &'static str, default: bool) -> bool {
        let shown = if default { "on" } else { "off" };
        match self.define(name, "on|off", doc, Some(shown.into())).as_deref() {
            None => default,
            Some("on") => true,
            Some("off") => false,
            Some(text) => {
                self.errors.push(error(name, &format!("found {text:?}, expected on or off")));
                default
            }
        }
    }

    pub(super) fn number<T: FromStr + Shown + Display>(
        &mut self,
        name: &str,
        value: &'static str,
        doc: &'static str,
        default: T,
        range: RangeInclusive<T>,
    ) -> T {
        let Some(text) = self.define(name, value, doc, Some(default.to_string())) else { return default };
        let Some(number) = text.parse::<T>().ok() else {
            self.errors.push(error(name, &format!("found {text:?}, expected {}", wanted(&range))));
            return default;
        };
        self.within(name, &text, number, &range, default)
    }

    pub(super) fn time(
        &mut self,
        name: &str,
        doc: &'static str,
        default: Span,
        range: RangeInclusive<Span>,
    ) -> Span {
        let Some(text) = self.define(name, "TIME", doc, Some(default.shown())) else { return default };
        match self.quantity(name, &text, quantity::TIME, "a time with its unit, such as 25us") {
            Some(ps) => self.within(name, &text, Span::from_ps(ps), &range, default),
            None => default,
        }
    }

    pub(super) fn bytes(
        &mut self,
        name: &str,
        doc: &'static str,
        default: Bytes,
        range: RangeInclusive<Bytes>,
    ) -> Bytes {
        let shown = Some(quantity::spell(default.get(), quantity::BYTES));
        let Some(text) = self.define(name, "BYTES", doc, shown) else { return default };
        self.sized(name, &text, range).unwrap_or(default)
    }

    pub(super) fn optional_bytes(
        &mut self,
        name: &str,
        doc: &'static str,
        range: RangeInclusive<Bytes>,
    ) -> Option<Bytes> {
        let text = self.define(name, "BYTES", doc, None)?;
        // A value that is wrong was given all the same: one problem, not two.
        Some(self.sized(name, &text, range).unwrap_or(Bytes::new(1)))
    }

    fn sized(&mut self, name: &str, text: &str, range: RangeInclusive<Bytes>) -> Option<Bytes> {
        let bytes =
            Bytes::new(self.quantity(name, text, quantity::BYTES, "a size with its unit, such as 64kB")?);
        Some(self.within(name, text, bytes, &range, *range.start()))
    }

    fn rated(&mut self, name: &str, text: &str, range: RangeInclusive<Rate>) -> Option<Rate> {
        let bits = self.quantity(name, text, quantity::RATE, "a rate with its unit, such as 10Gbps")?;
        Some(self.within(name, text, Rate::from_bps(bits.max(1)), &range, *range.start()))
    }

    fn quantity(&mut self, name: &str, text: &str, units: Units, wanted: &str) -> Option<u64> {
        let detail = match quantity::parse(text, units) {
            Ok(number) => return Some(number),
            Err(UnitError::TooLarge) => "which is more than is held".to_string(),
            Err(UnitError::Inexact) => format!("expected a whole number of {}", units[0].0),
            Err(UnitError::Malformed | UnitError::NoUnit) => format!("expected {wanted}"),
            Err(UnitError::UnknownUnit) => {
                let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
                format!("expected {wanted} (units: {})", names.join(", "))
            }
        };
        self.errors.push(error(name, &format!("found {text:?}, {detail}")));
        None
    }

    fn within<T: Shown>(
        &mut self,
        name: &str,
        text: &str,
        value: T,
        range: &RangeInclusive<T>,
        default: T,
    ) -> T {
        if range.contains(&value) {
            return value;
        }
        self.errors.push(error(name, &format!("found {text}, expected {}", wanted(range))));
        default
    }
}

/// A parameter's name as an option, without the dashes before it.
pub(super) fn option(parameter: &str) -> String {
    parameter.replace('_', "-")
}

impl ParameterReader for Options {
    fn time(&mut self, parameter: &Parameter<Span>, default: Span) -> Span {
        Options::time(self, &option(parameter.name), parameter.doc, default, parameter.range.clone())
    }

    fn number(&mut self, parameter: &Parameter<f64>, default: f64) -> f64 {
        let name = option(parameter.name);
        Options::number(self, &name, "NUMBER", parameter.doc, default, parameter.range.clone())
    }

    fn count(&mut self, parameter: &Parameter<u32>, default: u32) -> u32 {
        Options::number(self, &option(parameter.name), "N", parameter.doc, default, parameter.range.clone())
    }

    fn size(&mut self, parameter: &Parameter<Bytes>, default: Bytes) -> Bytes {
        Options::bytes(self, &option(parameter.name), parameter.doc, default, parameter.range.clone())
    }

    fn rate(&mut self, parameter: &Parameter<Rate>, default: Rate) -> Rate {
        let name = option(parameter.name);
        let text = self.define(&name, "RATE", parameter.doc, Some(default.shown()));
        text.and_then(|text| self.rated(&name, &text, parameter.range.clone())).unwrap_or(default)
    }

    fn optional_count(&mut self, parameter: &Parameter<u32>, otherwise: &'static str) -> Option<u32> {
        let name = option(parameter.name);
        let text = self.define(&name, "N", parameter.doc, Some(otherwise.into()))?;
        let Ok(number) = text.parse() else {
            self.errors.push(error(&name, &format!("found {text:?}, expected {}", wanted(&parameter.range))));
            return None;
        };
        Some(self.within(&name, &text, number, &parameter.range, *parameter.range.start()))
    }

    fn optional_rate(&mut self, parameter: &Parameter<Rate>, otherwise: &'static str) -> Option<Rate> {
        let name = option(parameter.name);
        let text = self.define(&name, "RATE", parameter.doc, Some(otherwise.into()))?;
        self.rated(&name, &text, parameter.range.clone())
    }

    fn flag(&mut self, name: &'static str, doc: &'static str, default: bool) -> bool {
        self.switch(&option(name), doc, default)
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        let name = option(name);
        let shown = options.iter().find(|(_, value)| *value == default).map(|(name, _)| (*name).to_string());
        let Some(text) = self.define(&name, "NAME", doc, shown) else { return default };
        let found = options.iter().find(|(option, _)| *option == text);
        if found.is_none() {
            let names: Vec<&str> = options.iter().map(|(option, _)| *option).collect();
            let message = format!("found {text:?}, expected one of {}", names.join(", "));
            self.errors.push(error(&name, &message));
        }
        found.map_or(default, |(_, value)| *value)
    }
}

fn error(name: &str, what: &str) -> ArgError {
    ArgError { message: format!("--{name}: {what}"), remedy: None }
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
pub(super) fn problem(error: lexopt::Error) -> ArgError {
    ArgError { message: error.to_string(), remedy: Some("clearwayd --help shows what there is".into()) }
}

/// The nearest of `names`, if `name` looks like a misspelling of it.
pub(super) fn did_you_mean<'a>(
    name: &str,
    names: impl Iterator<Item = &'a str>,
    prefix: &str,
) -> Option<String> {
    let distance = |candidate: &&str| strsim::osa_distance(name, candidate);
    let nearest = names.min_by_key(distance)?;
    let near = strsim::osa_distance(name, nearest) <= (name.chars().count() / 3).max(1);
    near.then(|| format!("did you mean {prefix}{nearest}?"))
}

#[cfg(test)]
mod tests {
    use clearway_proto::baseline::none::NoneParams;
    use clearway_proto::parameter::Parameters;

    use super::*;

    /// Reads the parameters of `none`, of which some need not be there.
    fn read(given: &[(&str, &str)]) -> (NoneParams, Vec<String>) {
        let given = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let mut options = Options { given, ..Options::default() };
        let params = NoneParams::read(&mut options, &NoneParams::default());
        (params, options.errors.into_iter().map(|error| error.message).collect())
    }

    #[test]
    fn what_need_not_be_there_is_taken_where_it_is() {
        assert_eq!(read(&[]), (NoneParams::default(), Vec::new()));
        let (params, errors) = read(&[("window", "7"), ("rate", "2.5Gbps"), ("dup-threshold", "3")]);
        assert_eq!((params.window, params.dup_threshold, errors), (Some(7), 3, Vec::new()));
        assert_eq!(params.rate, Some(Rate::from_bps(2_500_000_000)));
    }

    #[test]
    fn what_need_not_be_there_has_a_range_where_it_is() {
        let said = read(&[("window", "0"), ("rate", "0bps")]).1;
        let expected = [
            "--window: found 0, expected a whole number from 1 to 1048576",
            "--rate: found 0bps, expected a rate from 1kbps to 10Tbps",
        ];
        assert_eq!(said, expected);
        let word = read(&[("window", "x")]).1;
        assert_eq!(word, ["--window: found \"x\", expected a whole number from 1 to 1048576"]);
    }
}
