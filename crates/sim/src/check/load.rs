//! Reads one scenario: its text, the overrides, the checks, and the warnings.

use std::path::Path;

use super::{memory, warnings, whole};
use crate::model::Scenario;
use crate::scenario::document::Place;
use crate::scenario::error::{Misread, ScenarioError};
use crate::scenario::source::Source;
use crate::scenario::text::{root, Override};
use crate::scenario::{experiment, files, reader};

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
        Some(root) => reader::read(&source, &root, &|r| {
            let scenario = experiment::read(r, base_dir, &memory::network_fits)?;
            whole::check(r, &scenario);
            Some(scenario)
        }),
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
