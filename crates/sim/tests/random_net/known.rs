//! The digests that the first scenarios had when they were last looked at: a change of results that no other check
//! calls wrong shows here, and may be meant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::random_net::coverage::features_of;
use crate::random_net::draw;

/// Seeds from 1 to this have their digests in `expected.txt`.
pub const KNOWN: u64 = 300;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random_net/expected.txt")
}

/// Panics, naming what the scenarios have in common, where the digests of seeds are other than they were. With
/// `CLEARWAY_UPDATE_DIGESTS` set, a run of all of them writes them anew instead.
pub fn compare(found: &BTreeMap<u64, String>) {
    let found: Vec<(u64, &String)> = found.range(1..=KNOWN).map(|(seed, digest)| (*seed, digest)).collect();
    let line = |(seed, digest): &(u64, &String)| format!("{seed} {digest}");
    if std::env::var_os("CLEARWAY_UPDATE_DIGESTS").is_some() && found.len() as u64 == KNOWN {
        let lines: Vec<String> = found.iter().map(line).collect();
        fs::write(file(), lines.join("\n") + "\n").expect("the file can be written");
    }
    let expected = fs::read_to_string(file()).unwrap_or_default();
    let expected: BTreeSet<&str> = expected.lines().collect();
    let changed = found.iter().filter(|one| !expected.contains(line(one).as_str()));
    let changed: Vec<u64> = changed.map(|(seed, _)| *seed).collect();
    assert!(
        changed.is_empty(),
        "results have changed for the seeds {changed:?}, which all have: {}.\nIf that is meant, say why in the commit \
         and run\nCLEARWAY_UPDATE_DIGESTS=1 cargo test --release -p clearway-sim --test all random_net",
        in_common(&changed)
    );
}

/// The features that the scenarios of all these seeds have.
fn in_common(seeds: &[u64]) -> String {
    let features: Vec<_> = seeds.iter().map(|seed| features_of(&draw::case(*seed))).collect();
    let Some((first, others)) = features.split_first() else { return String::new() };
    let common = first.iter().filter(|feature| others.iter().all(|other| other.contains(feature)));
    common.copied().collect::<Vec<_>>().join(", ")
}
