//! A scheme's parameters as keys of a table: names, meanings, ranges and defaults are the scheme's own.

use clearway_proto::parameter::{Parameter, ParameterReader, Parameters};
use clearway_proto::units::{Bytes, Rate, Span};

use super::key::{Key, Quantity};
use super::reader::Section;

/// Reads each parameter as a key, and reports what does not go together.
pub(crate) fn read<P: Parameters + Default>(r: &mut Section) -> P {
    let parameters = P::read(r, &P::default());
    if r.sound() {
        for conflict in parameters.conflicts() {
            // The file gives one of them; the others are defaults.
            let blamed = conflict.names().find(|name| r.given(name)).unwrap_or(conflict.name);
            r.conflict(blamed, conflict.message(str::to_string));
        }
    }
    parameters
}

fn key<T: Quantity>(parameter: &Parameter<T>) -> Key<T> {
    Key::new(parameter.name, parameter.doc, parameter.range.clone())
}

fn key_or<T: Quantity>(parameter: &Parameter<T>, default: T) -> Key<T> {
    match parameter.follows {
        Some(words) => key(parameter).or_as(default, words),
        None => key(parameter).or(default),
    }
}

impl ParameterReader for Section<'_> {
    fn time(&mut self, parameter: &Parameter<Span>, default: Span) -> Span {
        self.get(&key_or(parameter, default))
    }

    fn number(&mut self, parameter: &Parameter<f64>, default: f64) -> f64 {
        self.get(&key_or(parameter, default))
    }

    fn count(&mut self, parameter: &Parameter<u32>, default: u32) -> u32 {
        self.get(&key_or(parameter, default))
    }

    fn size(&mut self, parameter: &Parameter<Bytes>, default: Bytes) -> Bytes {
        self.get(&key_or(parameter, default))
    }

    fn rate(&mut self, parameter: &Parameter<Rate>, default: Rate) -> Rate {
        self.get(&key_or(parameter, default))
    }

    fn optional_time(&mut self, parameter: &Parameter<Span>, otherwise: &'static str) -> Option<Span> {
        self.optional(&key(parameter), otherwise)
    }

    fn optional_number(&mut self, parameter: &Parameter<f64>, otherwise: &'static str) -> Option<f64> {
        self.optional(&key(parameter), otherwise)
    }

    fn optional_count(&mut self, parameter: &Parameter<u32>, otherwise: &'static str) -> Option<u32> {
        self.optional(&key(parameter), otherwise)
    }

    fn optional_rate(&mut self, parameter: &Parameter<Rate>, otherwise: &'static str) -> Option<Rate> {
        self.optional(&key(parameter), otherwise)
    }

    fn flag(&mut self, name: &'static str, doc: &'static str, default: bool) -> bool {
        Section::flag(self, name, doc, default)
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        let default = options.iter().find(|(_, value)| *value == default).map(|(name, _)| *name);
        self.one_of(name, doc, default, options)
    }
}
