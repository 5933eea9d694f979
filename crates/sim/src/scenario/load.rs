//! Reads one scenario: its text, the overrides, the checks, and the warnings.

use std::path::Path;

use super::document::{self, Place, Table};
use super::error::{Misread, ScenarioError};
use super::source::Source;
use super::{experiment, files, reader, warnings};
use crate::model::Scenario;

/// The longest scenario that is read, in bytes; topologies and traces have files of their own.
const MAX_SCENARIO: usize = 16 << 20;

/// A scenario that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What the simulator runs.
    pub scenario: Scenario,
    /// The file as resolved: overrides applied, every default filled in, values with their units. Written back to
    /// TOML beside the original it gives the same scenario. Files that it names are still named, not included.
    pub resolved: serde_json::Value,
    /// A sentence for each thing that can be run but is unlikely to be meant.
    pub warnings: Vec<String>,
}

/// A change of what a file says: a dotted path, and the value that it has from then on, read as TOML if it is any and
/// else as a string. None removes the key or the table.
pub type Override = (String, Option<String>);

/// Reads a scenario with these overrides, the first one first; `seed` replaces its seed.
pub fn load(path: &Path, sets: &[Override], seed: Option<u64>) -> Result<Loaded, ScenarioError> {
    let name = path.display().to_string();
    let text = files::read_text(path).map_err(|message| {
        let source = Source::new(&name, Vec::new());
        source.report(Place::File, "", None, Misread::Says(message));
        ScenarioError { problems: source.into_problems() }
    })?;
    load_text(&text, &name, path.parent().unwrap_or(Path::new("")), sets, seed)
}

/// Reads a scenario from its text. Messages call it `name`; paths in it are relative to `base_dir`.
pub fn load_text(
    text: &str,
    name: &str,
    base_dir: &Path,
    sets: &[Override],
    seed: Option<u64>,
) -> Result<Loaded, ScenarioError> {
    let label = |(path, value): &Override| match value {
        Some(value) => format!("--set {path}={value}"),
        None => format!("--unset {path}"),
    };
    let mut labels: Vec<String> = sets.iter().map(label).collect();
    labels.extend(seed.map(|seed| format!("--seed {seed}")));
    let source = Source::new(name, labels);
    let (scenario, resolved) = match root(text, name, &source, sets, seed) {
        Some(root) => reader::read(&source, &root, &|r| experiment::read(r, base_dir)),
        None => (None, serde_json::Map::new()),
    };
    let scenario = scenario.flatten();
    let loaded = scenario.map(|scenario| {
        let warnings = warnings::of(&scenario);
        Loaded { scenario, resolved: resolved.into(), warnings }
    });
    loaded.ok_or_else(|| {
        let problems = source.into_problems();
        assert!(!problems.is_empty(), "a scenario that cannot be read has a problem");
        ScenarioError { problems }
    })
}

/// The file's tree with the overrides applied; `None` where a problem was noted.
fn root(text: &str, name: &str, source: &Source, sets: &[Override], seed: Option<u64>) -> Option<Table> {
    if text.len() > MAX_SCENARIO {
        let message =
            format!("longer than {MAX_SCENARIO} bytes; put lists of links or flows into files of their own");
        source.report(Place::File, "", None, Misread::Says(message));
        return None;
    }
    let mut root = match document::parse(text, name) {
        Ok(root) => root,
        Err(problem) => {
            source.note(*problem);
            return None;
        }
    };
    if let Some(entry) = root.get("node") {
        source.report(entry.place, "node", None, Misread::Says(of_a_topology(&root)));
        return None;
    }
    let seed = seed.map(|seed| ("seed".to_string(), Some(seed.to_string())));
    for (i, (path, value)) in sets.iter().chain(&seed).enumerate() {
        let applied = match value {
            Some(text) => document::apply(&mut root, i, path, text),
            None => document::remove(&mut root, path),
        };
        if let Err(message) = applied {
            source.report(Place::Set(i), path, value.clone(), Misread::Says(message));
        }
    }
    (source.count() == 0).then_some(root)
}

/// Returns what to do about nodes that are listed in a scenario, or in a file that was taken for one.
fn of_a_topology(root: &Table) -> String {
    let what = match root.get("network") {
        Some(_) => "nodes and links are listed in a topology file, not in a scenario",
        None => "this is a topology file, not a scenario",
    };
    format!("{what}; a scenario names one by topology = \"file\" and file = \"...\" under [network]")
}

/// The JSON Schema (draft 2020-12) of a scenario file.
///
/// Beside the standard words every key carries `x-unit`, and quantities `x-min` and `x-max`, as a file spells them.
pub fn schema() -> serde_json::Value {
    let source = Source::new("", Vec::new());
    let variants = reader::describe(&source, &|r| experiment::read(r, Path::new("")));
    super::schema::document(&variants, "Clearway scenario")
}
