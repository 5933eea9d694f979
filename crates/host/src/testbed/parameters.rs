//! A scheme's parameters in a plan: names, meanings and ranges are the scheme's own, as in a scenario.

use clearway_proto::parameter::{wanted, Parameter, ParameterReader, Parameters, Shown};
use serde_json::{Map, Value};

use crate::daemon::args::{one_of, parse};
use crate::daemon::output::Problem;

/// The key of the plan that has them.
const KEY: &str = "parameters";

/// Reads the parameters that a plan gives; those that it does not give are as in `defaults`. Errors name each value that is wrong.
pub fn read<P: Parameters>(values: &Map<String, Value>, defaults: &P) -> Result<P, Vec<Problem>> {
    let mut given = Given { values, names: Vec::new(), problems: Vec::new() };
    let params = P::read(&mut given, defaults);
    let Given { names, mut problems, .. } = given;
    for name in values.keys().filter(|name| !names.contains(&name.as_str())) {
        let message = format!("{KEY}.{name}: there is no such parameter");
        problems.push(Problem::new(message, &format!("there are {}", names.join(", "))));
    }
    for conflict in params.conflicts() {
        let message = conflict.message(|name| format!("{KEY}.{name}"));
        problems.push(Problem::new(message, "change one of them"));
    }
    if problems.is_empty() {
        Ok(params)
    } else {
        Err(problems)
    }
}

struct Given<'a> {
    values: &'a Map<String, Value>,
    names: Vec<&'static str>,
    problems: Vec<Problem>,
}

impl Given<'_> {
    /// Returns what `read` makes of the value of this name; none where there is no value, or none that is right.
    fn take<T>(&mut self, name: &'static str, read: impl FnOnce(&Value) -> Result<T, String>) -> Option<T> {
        self.names.push(name);
        match read(self.values.get(name)?) {
            Ok(value) => Some(value),
            Err(expected) => {
                let found = &self.values[name];
                self.problems.push(Problem::bare(format!("{KEY}.{name}: found {found}, {expected}")));
                None
            }
        }
    }
}

impl ParameterReader for Given<'_> {
    fn optional<T: Shown>(&mut self, parameter: &Parameter<T>, _otherwise: &'static str) -> Option<T> {
        let range = &parameter.range;
        self.take(parameter.name, |value| {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => String::new(),
            };
            let read = parse(&text, range)?.filter(|value| range.contains(value));
            read.ok_or_else(|| format!("expected {}", wanted(range)))
        })
    }

    fn flag(&mut self, name: &'static str, _doc: &'static str, default: bool) -> bool {
        let read = |value: &Value| value.as_bool().ok_or_else(|| "expected true or false".to_string());
        self.take(name, read).unwrap_or(default)
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        _doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        self.take(name, |value| one_of(options, value.as_str())).unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use clearway_proto::swift::Variant;
    use clearway_proto::units::Span;
    use serde_json::json;

    use clearway_proto::swift::SwiftParams;

    use super::*;

    fn said(values: &Value) -> Vec<String> {
        let problems = read(values.as_object().unwrap(), &SwiftParams::default()).err().unwrap_or_default();
        problems.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn what_is_given_is_taken_and_the_rest_is_the_default() {
        let values = json!({ "base_target": "70us", "beta": 0.7, "reach": 64, "max_cwnd": 64.0, "pacing": false, "variant": "v0" });
        let params = read(values.as_object().unwrap(), &SwiftParams::default()).unwrap();
        assert_eq!((params.base_target, params.beta, params.reach), (Span::from_us(70), 0.7, 64));
        assert_eq!((params.pacing, params.variant), (false, Variant::V0));
        assert_eq!(params.fs_range, SwiftParams::default().fs_range);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_what_it_can_be() {
        for (values, words) in [
            (json!({ "base_target": 70 }), "parameters.base_target: found 70, expected a time with its unit"),
            (json!({ "base_target": "70 parsecs" }), "parameters.base_target: found \"70 parsecs\""),
            (json!({ "beta": "x" }), "parameters.beta: found \"x\", expected a number from"),
            (json!({ "beta": [1] }), "parameters.beta: found [1]"),
            (json!({ "pacing": "on" }), "parameters.pacing: found \"on\", expected true or false"),
            (json!({ "variant": "v9" }), "parameters.variant: found \"v9\", expected one of "),
            (json!({ "base_traget": "70us" }), "parameters.base_traget: there is no such parameter"),
            (
                json!({ "fs_min_cwnd": 300.0 }),
                "parameters.fs_min_cwnd, 300, is not below parameters.fs_max_cwnd, 256",
            ),
        ] {
            let said = said(&values);
            assert!(said.len() == 1 && said[0].contains(words), "{values}: {said:?}");
        }
    }
}
