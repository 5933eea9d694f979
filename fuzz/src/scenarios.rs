//! Scenarios: any text is one, and then says so of itself, or is refused with a place.

use std::path::Path;
use std::sync::Once;

use clearway_sim::check::{estimate_bytes, load_text, Loaded};
use clearway_sim::scenario::{Override, ScenarioError};
use std::cell::RefCell;

use crate::folder::{Folder, Texts};
use crate::toml;

/// What messages call the scenario.
const NAME: &str = "scenario.toml";

/// Files that a scenario can name, as those of the repository do, and some that are refused.
const BESIDE: &[(&str, &str)] = &[
    ("topologies/ring.toml", include_str!("../../scenarios/topologies/ring.toml")),
    ("networks/odd_rates.toml", include_str!("../../crates/sim/tests/networks/odd_rates.toml")),
    ("trace.csv", include_str!("../../scenarios/trace.csv")),
    ("sizes.txt", "1000 50\n20000 100\n"),
    ("empty", ""),
];

/// A scenario for overrides to change: a bit of everything.
const BASE: &str = include_str!("base.toml");

/// Any text is a scenario or is refused.
///
/// A refusal says what is wrong and where. A scenario that is read gives the same again when it is written down as
/// resolved, and its memory can be estimated; it is not run.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let files: Texts = BESIDE.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    check(text, &files, &[]);
}

/// Any lines are overrides of a scenario, or are refused: each is a path, an equals sign and a value, or a path to remove.
pub fn overrides(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let sets: Vec<Override> = text
        .split('\n')
        .map(|line| match line.split_once('=') {
            Some((path, value)) => (path.to_string(), Some(value.replace('\r', "\n"))),
            None => (line.to_string(), None),
        })
        .collect();
    let files: Texts = BESIDE.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    check(BASE, &files, &sets);
}

/// Reads a scenario and checks what comes of it.
pub(crate) fn check(text: &str, files: &Texts, sets: &[Override]) -> Option<Loaded> {
    match load(text, files, sets) {
        Ok(loaded) => {
            check_loaded(&loaded, files);
            Some(loaded)
        }
        Err(error) => {
            check_refused(&error, |file| if file == NAME { Some(text) } else { text_beside(file, files) });
            let label = |(path, value): &Override| match value {
                Some(value) => format!("--set {path}={value}"),
                None => format!("--unset {path}"),
            };
            let shown: Vec<String> = sets.iter().map(label).collect();
            let of_sets = error.problems.iter().filter_map(|problem| problem.set.as_ref());
            assert!(of_sets.into_iter().all(|set| shown.contains(set)), "{error}");
            None
        }
    }
}

/// Reads a scenario that may name these files.
fn load(text: &str, files: &Texts, sets: &[Override]) -> Result<Loaded, ScenarioError> {
    thread_local!(static FOLDER: RefCell<Folder> = RefCell::new(Folder::new()));
    bound_memory();
    FOLDER.with_borrow_mut(|folder| {
        folder.hold(files);
        load_text(text, NAME, &folder.path, sets, None)
    })
}

/// What a run may take does not depend on the machine's memory.
fn bound_memory() {
    static SET: Once = Once::new();
    SET.call_once(|| std::env::set_var("CLEARWAY_MEMORY_LIMIT", "200MB"));
}

fn check_loaded(loaded: &Loaded, files: &Texts) {
    assert!(estimate_bytes(&loaded.scenario) <= 200_000_000, "more memory than there may be");
    assert!(loaded.warnings.iter().all(|warning| !warning.is_empty()));
    let resolved = loaded.resolved.as_object().expect("a table");
    let again = toml::file(resolved);
    match load(&again, files, &[]) {
        Ok(second) => {
            assert_eq!(second.scenario, loaded.scenario, "as resolved it is another scenario:\n{again}");
            assert_eq!(second.resolved, loaded.resolved, "as resolved it resolves to something else");
            assert_eq!(second.warnings, loaded.warnings, "as resolved it has other warnings");
        }
        Err(error) => panic!("as resolved it is refused: {error}\n{again}"),
    }
}

/// Each problem says something, of a file that was read, and of a line in it, an override or a key. `text_of` gives the text of a
/// file by the name that messages have for it.
pub(crate) fn check_refused<'a>(error: &ScenarioError, text_of: impl Fn(&str) -> Option<&'a str>) {
    assert!(!error.problems.is_empty(), "refused, and nothing is wrong");
    for problem in &error.problems {
        assert!(!problem.message.is_empty() && !problem.to_string().is_empty());
        let text = text_of(&problem.file).unwrap_or_else(|| panic!("a problem of another file: {problem:?}"));
        let has_line = problem.line.is_some();
        let has_place = has_line || problem.set.is_some() || !problem.key.is_empty();
        assert!(has_place, "a problem without a place: {problem:?}");
        assert!(has_line || problem.column.is_none(), "a column of no line: {problem:?}");
        assert!(!has_line || problem.set.is_none(), "a line of an override: {problem:?}");
        let Some(line) = problem.line else { continue };
        let found = text.split('\n').nth((line as usize).wrapping_sub(1));
        let columns = found.unwrap_or_else(|| panic!("no such line: {problem:?}")).chars().count() + 1;
        let within = problem.column.is_none_or(|column| (1..=columns).contains(&(column as usize)));
        assert!(within, "no such column: {problem:?}");
    }
}

/// The text of one of the files beside the scenario, which messages call by its whole path.
fn text_beside<'a>(file: &str, files: &Texts<'a>) -> Option<&'a str> {
    let (_, bytes) = files.iter().find(|(name, _)| Path::new(file).ends_with(name))?;
    Some(std::str::from_utf8(bytes).expect("only text has lines"))
}
