//! A scheme's parameters as keys of a table: names, meanings, ranges and defaults are the scheme's own.

use clearway_proto::parameter::{Parameter, ParameterReader, Parameters, Shown};

use super::key::Key;
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

fn key<T: Shown>(parameter: &Parameter<T>) -> Key<T> {
    Key::new(parameter.name, parameter.doc, parameter.range.clone())
}

fn key_or<T: Shown>(parameter: &Parameter<T>, default: T) -> Key<T> {
    match parameter.follows {
        Some(words) => key(parameter).or_as(default, words),
        None => key(parameter).or(default),
    }
}

impl ParameterReader for Section<'_> {
    fn value<T: Shown>(&mut self, parameter: &Parameter<T>, default: T) -> T {
        self.get(&key_or(parameter, default))
    }

    fn optional<T: Shown>(&mut self, parameter: &Parameter<T>, otherwise: &'static str) -> Option<T> {
        Section::optional(self, &key(parameter), otherwise)
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
