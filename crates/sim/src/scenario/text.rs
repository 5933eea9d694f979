//! The text of a scenario: parsed, and changed by overrides.

use super::document::{self, Place, Table};
use super::error::Misread;
use super::source::Source;

/// The longest scenario that is read, in bytes; topologies and traces have files of their own.
const MAX_SCENARIO: usize = 16 << 20;

/// A change of what a file says: a dotted path, and the value that it has from then on, read as TOML if it is any and
/// else as a string. None removes the key or the table.
pub type Override = (String, Option<String>);

/// The file's tree with the overrides applied; none where a problem was noted.
pub(crate) fn root(
    text: &str,
    name: &str,
    source: &Source,
    sets: &[Override],
    seed: Option<u64>,
) -> Option<Table> {
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

/// What to do about nodes that are listed in a scenario, or in a file that was taken for one.
fn of_a_topology(root: &Table) -> String {
    let what = match root.get("network") {
        Some(_) => "nodes and links are listed in a topology file, not in a scenario",
        None => "this is a topology file, not a scenario",
    };
    format!("{what}; a scenario names one by topology = \"file\" and file = \"...\" under [network]")
}
