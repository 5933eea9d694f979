//! Files, and short ways to read them.

use std::path::{Path, PathBuf};

use super::super::load::{load_text, Loaded};
use crate::model::Scenario;
use crate::scenario::error::ScenarioError;

/// A file that uses most of what there is.
pub(super) const FULL: &str = r#"format = 1
name = "two protocols"
seed = 7
duration = "10ms"
warmup = "1ms"

[groups]
left = "0..3"
rest = [3, "4..6"]

[network]
topology = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
oversubscription = 2
rate = "50Gbps"

[switch.default]
ecn = "step"
ecn_threshold = "100kB"
[switch.tor]
sharing = "shared"
buffer = "16MB"
alpha = 0.5

[transport.bulk]
protocol = "swift"
base_target = "30us"
[transport.rival]
protocol = "dctcp"
ack_every = 2

[[traffic]]
pattern = "incast"
transport = "bulk"
from = "left"
to = 7
flows_per_pair = 10
start = "0us..100us"

[[traffic]]
pattern = "poisson"
transport = "rival"
load = 0.3
sizes = "websearch"
stop = "9ms"

[[traffic]]
pattern = "closed_loop"
transport = "bulk"
from = "rest"
to = "left"
bytes = "64kB"

[[fault]]
kind = "loss"
link = "h0-tor0"
probability = 0.01

[record]
queues = "10us"
"#;

/// The least that is a scenario.
pub(super) const SMALL: &str = r#"format = 1
name = "small"
duration = "1ms"
[network]
topology = "star"
hosts = 4
[transport.a]
protocol = "none"
[[traffic]]
pattern = "incast"
to = 0
bytes = "1MB"
"#;

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Loaded, ScenarioError> {
    load_text(text, "x.toml", Path::new(""), &[], None)
}

/// The scenario of a file with nothing wrong.
pub(super) fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|error| panic!("{error}")).scenario
}

/// Reads a file with these overrides.
pub(super) fn set(text: &str, sets: &[(&str, &str)]) -> Result<Loaded, ScenarioError> {
    let sets: Vec<_> =
        sets.iter().map(|(path, value)| ((*path).to_string(), Some((*value).to_string()))).collect();
    load_text(text, "x.toml", Path::new(""), &sets, None)
}

/// All that is said of a wrong file.
pub(super) fn said(text: &str) -> String {
    read(text).expect_err("a wrong file").to_string()
}

/// `text` with its one occurrence of `from` replaced.
pub(super) fn with(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

/// A directory of files for one test.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// A new directory of these files; `test` tells it from those of other tests.
    pub(super) fn new(test: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("clearway-scenario-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        for (name, text) in files {
            std::fs::write(path.join(name), text).expect("a file");
        }
        Folder(path)
    }

    /// Reads a file as if it were in the directory.
    pub(super) fn read(&self, text: &str) -> Result<Loaded, ScenarioError> {
        load_text(text, "x.toml", &self.0, &[], None)
    }

    /// The messages about a wrong file, without the directory's path.
    pub(super) fn said(&self, text: &str) -> String {
        let said = self.read(text).expect_err("a wrong file").to_string();
        said.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the system's temporary directory does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A JSON object as one line of TOML a key: tables inline, which TOML allows anywhere.
pub(super) fn toml(table: &serde_json::Value) -> String {
    fn value(json: &serde_json::Value) -> String {
        match json {
            serde_json::Value::Object(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, json)| format!("{key} = {}", value(json))).collect();
                format!("{{ {} }}", entries.join(", "))
            }
            serde_json::Value::Array(items) => {
                format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }
    let entries = table.as_object().expect("an object");
    let lines: Vec<String> = entries.iter().map(|(key, json)| format!("{key} = {}", value(json))).collect();
    lines.join("\n")
}
