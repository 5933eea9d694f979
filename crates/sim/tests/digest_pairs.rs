//! What the scenarios of `tests/digests` join: each two features that can meet do so in one of them at least, so that
//! a change of how two features work together changes a digest.
//!
//! `tests/digests/README.md` lists the features of each scenario; `CLEARWAY_UPDATE_DIGESTS=1` writes it anew.

use std::fs;

use crate::digests::{folder, scenarios, Known};
use crate::experiment::{figure, Outcome};

/// Something that a scenario can have.
struct Feature {
    name: &'static str,
    /// How a line begins in the file of a scenario that has it.
    line: &'static str,
    /// Whether it does something there. A feature that does nothing meets no other.
    acts: fn(&Outcome) -> bool,
}

const fn feature(name: &'static str, line: &'static str, acts: fn(&Outcome) -> bool) -> Feature {
    Feature { name, line, acts }
}

/// The topologies, of which a scenario has one.
const TOPOLOGIES: &[Feature] = &[
    feature("star", "topology = \"star\"", always),
    feature("dumbbell", "topology = \"dumbbell\"", always),
    feature("leaf_spine", "topology = \"leaf_spine\"", always),
    feature("fat_tree", "topology = \"fat_tree\"", always),
    feature("topology file", "topology = \"file\"", always),
];

/// What can be joined with any topology and with each other.
const FEATURES: &[Feature] = &[
    feature("swift", "protocol = \"swift\"", always),
    feature("dctcp", "protocol = \"dctcp\"", always),
    feature("gcn", "protocol = \"gcn\"", always),
    feature("cubic", "protocol = \"cubic\"", always),
    feature("reno", "protocol = \"reno\"", always),
    feature("none", "protocol = \"none\"", always),
    feature("go_back_n", "protocol = \"go_back_n\"", always),
    feature("roce", "protocol = \"roce\"", always),
    feature("irn", "protocol = \"irn\"", always),
    feature("snap", "model = \"snap\"", |outcome| figure(outcome, "host_drops") > 0.0),
    feature("interrupts", "model = \"interrupts\"", always),
    feature("classes", "[class.", always),
    feature("shared buffers", "sharing = \"shared\"", |outcome| figure(outcome, "drops") > 0.0),
    feature("step", "ecn = \"step\"", |outcome| figure(outcome, "marks") > 0.0),
    feature("RED", "ecn = \"red\"", |outcome| figure(outcome, "marks") > 0.0),
    feature("lossy link", "kind = \"loss\"", |outcome| figure(outcome, "fault_losses") > 0.0),
    feature("link down", "kind = \"down\"", |outcome| figure(outcome, "fault_losses") > 0.0),
    feature("delayed acknowledgements", "ack_every = ", always),
    feature("poisson", "pattern = \"poisson\"", always),
    feature("trace", "pattern = \"trace\"", always),
    feature("closed loop", "pattern = \"closed_loop\"", |outcome| figure(outcome, "operations") > 0.0),
    feature("open loop", "pattern = \"open_loop\"", |outcome| figure(outcome, "operations") > 0.0),
    feature("deadline", "deadline = ", |outcome| figure(outcome, "failed_operations") > 0.0),
    feature("stop_when_complete", "stop_when_complete = true", ends_on_the_grid),
];

fn always(_: &Outcome) -> bool {
    true
}

/// A run that ends with its flows ends on a grid of 10 us, and those here go on for 20 ms if they do not.
fn ends_on_the_grid(outcome: &Outcome) -> bool {
    let us = figure(outcome, "simulated_us");
    us % 10.0 == 0.0 && us < 20_000.0
}

/// A scenario's name, and the names of what it has that acts.
type Joined = (&'static str, Vec<&'static str>);

/// Returns what each scenario joins, in the order of their names.
fn joined() -> Vec<Joined> {
    let join = |Known { name, text, outcome }: &'static Known| {
        let has = |feature: &&Feature| {
            text.lines().any(|line| line.starts_with(feature.line)) && (feature.acts)(outcome)
        };
        let features = TOPOLOGIES.iter().chain(FEATURES).filter(has).map(|feature| feature.name).collect();
        (name.as_str(), features)
    };
    scenarios().iter().map(join).collect()
}

#[test]
fn each_two_features_meet_in_a_scenario() {
    let scenarios = joined();
    let meet = |one, other| {
        scenarios.iter().any(|(_, features)| features.contains(&one) && features.contains(&other))
    };
    let mut apart = Vec::new();
    for (at, one) in FEATURES.iter().enumerate() {
        for other in TOPOLOGIES.iter().chain(&FEATURES[at + 1..]) {
            if !meet(one.name, other.name) {
                apart.push((one.name, other.name));
            }
        }
    }
    assert_eq!(apart, [], "no scenario has both");
}

#[test]
fn the_list_of_features_is_up_to_date() {
    let row = |(name, features): Joined| format!("| `{name}` | {} |\n", features.join(", "));
    let list: String = std::iter::once(HEAD.to_string()).chain(joined().into_iter().map(row)).collect();
    let file = folder().join("README.md");
    if std::env::var_os("CLEARWAY_UPDATE_DIGESTS").is_some() {
        fs::write(&file, &list).expect("the file can be written");
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(written, list, "write it anew with CLEARWAY_UPDATE_DIGESTS=1");
}

const HEAD: &str = "# Scenarios with known digests

`expected.txt` holds the digest that each scenario has had since it was added; `tests/digests.rs` runs them and compares.
A digest that changes means that results change. Add a scenario where two features are joined for the first time: the
table says which features do something in which scenario, and `tests/digest_pairs.rs` sees to it that each two of them
meet in one at least. Both files are written by

    CLEARWAY_UPDATE_DIGESTS=1 cargo test -p clearway-sim --test all digest

after which only lines that were meant to change may differ. Topology files and traces are in `tests/networks`.

| scenario | features |
|---|---|
";
