//! Determinism: a scenario and a seed give one digest, twice in a row, in debug and release, on every machine.
//!
//! The digests are in `tests/digests/expected.txt`. One that changes means that results change: if that is meant, say
//! why in the commit and rewrite the file with `CLEARWAY_UPDATE_DIGESTS=1 cargo test -p clearway-sim --test all digests::`.
//!
//! What runs each scenario several times is left to release builds: `make test-release`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::experiment::{figure, part_of, run_on, run_seeded, Outcome};

/// A scenario of the folder.
pub struct Known {
    pub name: String,
    pub text: String,
    /// What comes of it with seed 3 on one thread.
    pub outcome: Outcome,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/digests")
}

/// The scenarios, in the order of their names. They are run once, for all tests of them.
pub fn scenarios() -> &'static [Known] {
    static SCENARIOS: LazyLock<Vec<Known>> = LazyLock::new(read_and_run);
    &SCENARIOS
}

fn read_and_run() -> Vec<Known> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let known = |path: &PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("text");
        let outcome = run_seeded(&text, Some(3));
        Known { name, text, outcome }
    };
    paths.iter().map(known).collect()
}

#[test]
fn the_digests_are_the_expected_ones() {
    let line = |Known { name, outcome, .. }: &Known| format!("{name} {}\n", outcome.digest);
    let found: String = scenarios().iter().map(line).collect();
    let file = folder().join("expected.txt");
    if std::env::var_os("CLEARWAY_UPDATE_DIGESTS").is_some() {
        fs::write(&file, &found).expect("the file can be written");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == expected,
        "results have changed.\nexpected:\n{expected}found:\n{found}If that is meant, say why in the commit and run\n\
         CLEARWAY_UPDATE_DIGESTS=1 cargo test -p clearway-sim --test all digests::"
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds: make test-release runs it")]
fn the_same_seed_gives_the_same_outcome_and_another_seed_another() {
    for Known { name, text, outcome } in scenarios() {
        let again = run_seeded(text, Some(3));
        assert_eq!(outcome.digest, again.digest, "{name}");
        assert_eq!(outcome.packet_hops, again.packet_hops, "{name}");
        // Not the outcomes as such: what was not measured is NaN, which equals nothing.
        assert_eq!(format!("{:?}", outcome.summary), format!("{:?}", again.summary), "{name}");
        assert_eq!(format!("{:?}", outcome.tables), format!("{:?}", again.tables), "{name}");
        assert_ne!(outcome.digest, run_seeded(text, Some(8)).digest, "{name}: the seed does nothing");
    }
}

/// A run over several threads, each with a domain of its own, has the outcome of a run on one.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds: make test-release runs it")]
fn any_number_of_threads_gives_the_same_outcome() {
    for Known { name, text, outcome: alone } in scenarios() {
        for threads in [2, 3, 7] {
            let together = run_on(text, Some(3), threads);
            assert_eq!(alone.digest, together.digest, "{name} on {threads} threads");
            assert_eq!(format!("{:?}", alone.summary), format!("{:?}", together.summary), "{name}");
            assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables), "{name}");
        }
    }
}

/// Wherever a run is stopped, what is kept of it passes the audit, and lies within the run.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds: make test-release runs it")]
fn a_part_of_any_scenario_passes_the_audit() {
    for Known { name, text, outcome } in scenarios() {
        let whole = figure(outcome, "simulated_us");
        for (threads, asks) in [(1, 1), (1, 3), (2, 2), (3, 7)] {
            let end = figure(&part_of(text, Some(3), threads, asks), "simulated_us");
            assert!((0.0..=whole).contains(&end), "{name}: {end} of {whole}");
        }
    }
}

/// What the scenarios are there to cover does happen in them.
#[test]
fn the_scenarios_cover_what_can_happen() {
    let happens = |figure_name: &str| {
        let count = |known: &Known| figure(&known.outcome, figure_name);
        scenarios().iter().map(count).filter(|count| *count > 0.0).sum::<f64>()
    };
    for what in
        ["drops", "marks", "fault_losses", "retransmissions", "timeouts_whole", "operations", "completed"]
    {
        assert!(happens(what) > 0.0, "no scenario has {what}");
    }
}
