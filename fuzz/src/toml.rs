//! Values as TOML, to be read again.

use std::fmt::Write;

use serde_json::{Map, Value};

/// A table as a TOML file: each key on a line of its own, everything deeper inline.
pub(crate) fn file(table: &Map<String, Value>) -> String {
    table.iter().fold(String::new(), |mut text, (key, value)| {
        let _ = writeln!(text, "{} = {}", string(key), inline(value));
        text
    })
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => panic!("TOML has no null"),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => string(text),
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(table) => {
            let entry = |(key, value): (&String, &Value)| format!("{} = {}", string(key), inline(value));
            let entries: Vec<String> = table.iter().map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// A basic string, or a quoted key. JSON's escapes are TOML's; TOML wants one more character escaped.
pub(crate) fn string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
