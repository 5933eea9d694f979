//! The fuzzer's dictionary knows every word that a scenario can be written with.
//!
//! It is made from the schema. When keys change, rewrite it with
//! `CLEARWAY_UPDATE_DICTIONARY=1 cargo test -p clearway-fuzz --test dictionary`.

use std::collections::BTreeSet;
use std::path::Path;

use clearway_sim::scenario::schema;
use serde_json::Value;

/// Words that the schema does not list: tables, values with units, host lists, and what TOML itself is made of.
const MORE: &[&str] = &[
    "[[traffic]]\n",
    "[[job]]\n",
    "[[job.layer]]\n",
    "[[fault]]\n",
    "[[node]]\n",
    "[[link]]\n",
    "[network]\n",
    "[record]\n",
    "[record.flows]\n",
    "[groups]\n",
    "[switch.default]\n",
    "[host.default]\n",
    "[transport.a]\n",
    "[class.a]\n",
    "[",
    "]",
    "[[",
    "]]",
    "{ ",
    " }",
    " = ",
    "\"",
    "\"\"\"",
    "'''",
    "#",
    ", ",
    "..",
    "\n",
    "\r\n",
    "true",
    "false",
    "inf",
    "nan",
    "1e300",
    "0x7fffffffffffffff",
    "9223372036854775807",
    "-1",
    "0.5",
    "1970-01-01",
    "\"1ps\"",
    "\"10us\"",
    "\"1ms\"",
    "\"1000s\"",
    "\"0us..100us\"",
    "\"1B\"",
    "\"64kB\"",
    "\"1GB\"",
    "\"1GiB\"",
    "\"100Gbps\"",
    "\"1kbps\"",
    "\"50k/s\"",
    "\"0..4\"",
    "[0, \"2..4\"]",
    "\"fixed:4096B\"",
    "\"exponential:4kB\"",
    "\"websearch\"",
    "\"h0-tor0\"",
    "\"h0>tor0\"",
    "\"topologies/ring.toml\"",
    "\"networks/odd_rates.toml\"",
    "\"trace.csv\"",
    "\"sizes.txt\"",
    "\"host\"",
    "\"tor\"",
    "\"spine\"",
    "\"aggregation\"",
    "ends = [\"a\", \"b\"]",
    "role = ",
    "18446744073709551615ps",
];

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dictionaries/scenario.dict")
}

/// Collects the keys of all tables, the names that keys can hold and the ends of their ranges.
fn collect(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Array(list) => list.iter().for_each(|inner| collect(inner, words)),
        Value::Object(table) => {
            for (key, value) in table {
                match (key.as_str(), value) {
                    ("properties", Value::Object(keys)) => {
                        words.extend(keys.keys().map(|key| format!("{key} = ")));
                    }
                    ("const", Value::String(name)) => drop(words.insert(format!("\"{name}\""))),
                    ("x-min" | "x-max", limit) => drop(words.insert(limit.to_string())),
                    ("enum" | "examples", Value::Array(names)) => {
                        words
                            .extend(names.iter().filter_map(Value::as_str).map(|name| format!("\"{name}\"")));
                    }
                    _ => {}
                }
                collect(value, words);
            }
        }
        _ => {}
    }
}

/// A line of the dictionary.
fn entry(word: &str) -> String {
    let escaped: String = word
        .bytes()
        .map(|byte| match byte {
            b'"' => "\\\"".to_string(),
            b'\\' => "\\\\".to_string(),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        })
        .collect();
    format!("\"{escaped}\"\n")
}

#[test]
fn the_dictionary_has_every_key_and_name_of_the_schema() {
    let mut words: BTreeSet<String> = MORE.iter().map(ToString::to_string).collect();
    collect(&schema(), &mut words);
    assert!(words.contains("pattern = ") && words.contains("\"incast\"") && words.contains("\"swift\""));
    let wanted: String = words.iter().map(|word| entry(word)).collect();
    if std::env::var_os("CLEARWAY_UPDATE_DICTIONARY").is_some() {
        std::fs::write(path(), &wanted).expect("the dictionary can be written");
    }
    let found = std::fs::read_to_string(path()).unwrap_or_default();
    assert!(
        found == wanted,
        "the dictionary is not what the schema says; rewrite it with\n\
         CLEARWAY_UPDATE_DICTIONARY=1 cargo test -p clearway-fuzz --test dictionary"
    );
}
