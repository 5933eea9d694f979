//! The safety net: random whole scenarios, each of which must be accepted, run to its end, pass its audit, and give the
//! same outcome however it is run and however it is written.
//!
//! A scenario is drawn as plain data (`case`), written as TOML and run as a file would be. One that fails is made as
//! small as it can be (`shrink`) and printed, with the files it needs and the seed it was drawn from, so that the
//! command `clearway run` can be given it. Of the first scenarios the digests are known too (`expected.txt`), so that a
//! change of results that breaks no rule is seen.
//!
//! A new way to run a scenario is a line of `checks::RUN_MODES`, a new way to write one a line of `rewriting::REWRITINGS`, a
//! new key a line where its table is drawn (`draw`) and one in `coverage::FEATURES`.
//!
//! Drawn scenarios with odd values are refused or run, too (`edges`).
//!
//! `CLEARWAY_RANDOM_SCENARIOS` sets how many scenarios there are and `CLEARWAY_RANDOM_SEED` the seed of the first; each
//! of the others has the next seed. For a long run with its table of what was met, `make random-net COUNT=20000 SEED=1`.

mod case;
mod checks;
mod coverage;
mod draw;
mod edges;
mod explained;
mod known;
mod outcomes;
mod rewriting;
mod series;
mod shrink;

use std::collections::BTreeMap;

use case::Case;
use checks::{Failure, Verdict};
use clearway_sim::check::load_text;
use coverage::Coverage;

use crate::cases::{cases, setting};

/// Scenarios after which every pair of features that can be combined has been met.
const ENOUGH_FOR_PAIRS: u64 = 6000;

/// Failing scenarios after which there is no need to look for more.
const MOST_FAILURES: usize = 20;

#[test]
fn random_scenarios_are_accepted_and_run_and_say_the_same_in_every_way() {
    let scenarios = cases("CLEARWAY_RANDOM_SCENARIOS", 60, known::KNOWN);
    let first = setting("CLEARWAY_RANDOM_SEED", 1);
    let mut coverage = Coverage::new();
    let (mut refused, mut given_up, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut digests, mut packet_hops) = (BTreeMap::new(), 0);
    for seed in first..first + scenarios {
        let case = draw::case(seed);
        match checks::check(&case) {
            Ok(Verdict::Ran(outcome)) => {
                coverage.count_case(&case);
                coverage.count_outcome(&case, &outcome);
                packet_hops += outcome.packet_hops;
                digests.insert(seed, outcome.digest);
            }
            Ok(Verdict::Refused(why)) => refused.push((seed, why)),
            Ok(Verdict::TooLong) => given_up.push(seed),
            Err(failure) => {
                show(seed, &case, &failure, &failed);
                failed.push((seed, failure));
            }
        }
        if failed.len() == MOST_FAILURES {
            break;
        }
    }
    let ran = scenarios - (refused.len() + given_up.len() + failed.len()) as u64;
    println!(
        "{scenarios} scenarios from seed {first}: {ran} ran, {} were refused, {} given up, {} failed; {packet_hops} \
         packet-hops",
        refused.len(),
        given_up.len(),
        failed.len()
    );
    for (seed, why) in &refused {
        println!("seed {seed} is refused: {why}");
    }
    for seed in &given_up {
        println!("seed {seed} takes too long");
    }
    report(&coverage);
    assert!(failed.is_empty(), "these seeds fail: {failed:#?}");
    assert!(refused.len() as u64 * 100 <= scenarios, "too many are refused");
    assert!(given_up.len() as u64 * 100 <= scenarios, "too many take too long");
    assert_covered(&coverage, ran);
    known::compare(&digests);
}

/// Prints a failing case as small as it can be made, if it is the first in which its check fails.
fn show(seed: u64, case: &Case, failure: &Failure, before: &[(u64, Failure)]) {
    if before.iter().any(|(_, other)| other.check == failure.check) {
        return;
    }
    let (smallest, failure) = shrink::shrink(case.clone(), failure.clone(), &checks::check);
    println!("seed {seed} fails: {}: {}\n\n{}", failure.check, failure.says, smallest.printed());
}

fn report(coverage: &Coverage) {
    for (name, count) in coverage.counts() {
        println!("{count:>8}  {name}");
    }
    let pairs = coverage.pairs();
    let met = pairs.iter().filter(|(_, count)| *count > 0).count();
    println!("{met} of {} pairs of features were met", pairs.len());
}

/// A hundred scenarios meet every feature, and enough of them every pair.
fn assert_covered(coverage: &Coverage, scenarios: u64) {
    let never = coverage.counts().into_iter().filter(|(_, count)| *count == 0);
    let never: Vec<&str> = never.map(|(name, _)| name).collect();
    assert!(scenarios < 250 || never.is_empty(), "never met in {scenarios} scenarios: {never:?}");
    let never: Vec<_> = coverage.pairs().into_iter().filter(|(_, count)| *count == 0).collect();
    assert!(scenarios < ENOUGH_FOR_PAIRS || never.is_empty(), "never met together: {never:?}");
    let together: Vec<_> = coverage.pairs_apart().into_iter().filter(|(_, count)| *count > 0).collect();
    assert!(together.is_empty(), "said to exclude each other and met together: {together:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes 10 s in debug builds: make test-release runs it")]
fn every_pair_of_features_is_drawn_and_accepted() {
    let mut coverage = Coverage::new();
    let mut accepted = 0;
    for seed in 1.. {
        let case = draw::case(seed);
        let folder = case::Folder::of(&case);
        if load_text(&case.text(), "scenario.toml", folder.path(), &[], None).is_ok() {
            coverage.count_case(&case);
            accepted += 1;
        }
        if accepted == ENOUGH_FOR_PAIRS {
            break;
        }
    }
    assert_eq!(coverage.pairs().into_iter().filter(|(_, count)| *count == 0).collect::<Vec<_>>(), []);
}

/// Most of what happens in this one happens in the first of seven domains: its progress is reported as far more than the
/// packet-hops after which a run is given up.
#[test]
fn a_run_whose_first_thread_does_most_of_the_work_is_not_given_up() {
    assert!(matches!(checks::check(&draw::case(3641)), Ok(Verdict::Ran(_))));
}

/// Enough scenarios have to end by themselves for the check of that to say something.
#[test]
fn some_scenarios_have_to_end() {
    let must_end = (1..=known::KNOWN).filter(|seed| checks::must_end(&draw::case(*seed))).count();
    assert!(must_end > 30, "only {must_end} have to end");
}

#[test]
fn a_seed_draws_one_scenario_and_another_seed_another() {
    assert_eq!(draw::case(1), draw::case(1));
    assert_ne!(draw::case(1).text(), draw::case(2).text());
}

#[test]
#[ignore = "prints the scenario of CLEARWAY_RANDOM_SEED"]
fn show_a_scenario() {
    println!("{}", draw::case(setting("CLEARWAY_RANDOM_SEED", 1)).printed());
}
