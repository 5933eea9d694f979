//! Scenario files, good and bad, from text to result.

mod classes;
mod keys;
mod rules;
mod warnings;

use std::path::{Path, PathBuf};

use super::{load_text, Loaded, ScenarioError};
use crate::model::Scenario;

/// A file that uses most of what there is.
const FULL: &str = r#"format = 1
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
const SMALL: &str = r#"format = 1
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

fn read(text: &str) -> Result<Loaded, ScenarioError> {
    load_text(text, "x.toml", Path::new(""), &[], None)
}

fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|error| panic!("{error}")).scenario
}

fn set(text: &str, sets: &[(&str, &str)]) -> Result<Loaded, ScenarioError> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| ((*path).to_string(), (*value).to_string())).collect();
    load_text(text, "x.toml", Path::new(""), &sets, None)
}

/// All that is said of a wrong file.
fn said(text: &str) -> String {
    read(text).expect_err("a wrong file").to_string()
}

/// `text` with its one occurrence of `from` replaced.
fn with(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

/// A directory of files for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("clearway-scenario-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        for (name, text) in files {
            std::fs::write(path.join(name), text).expect("a file");
        }
        Folder(path)
    }

    fn read(&self, text: &str) -> Result<Loaded, ScenarioError> {
        load_text(text, "x.toml", &self.0, &[], None)
    }

    /// What is said of a wrong file, without the directory's path.
    fn said(&self, text: &str) -> String {
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
