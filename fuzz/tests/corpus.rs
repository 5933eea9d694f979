//! Every input that the fuzzer starts from, every one that it found worth keeping, and every one that once showed a fault,
//! through the same checks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clearway_fuzz::CHECKS;

const FOLDERS: [&str; 3] = ["seeds", "corpus", "faults"];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The paths in a folder, in order; none where there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Hands each file of a target's seeds, corpus and past faults to its check.
fn replay(target: &str) {
    let (_, check) = CHECKS.iter().find(|(name, _)| *name == target).expect("a check of this name");
    let paths: Vec<PathBuf> = FOLDERS.iter().flat_map(|kind| entries(&folder(kind).join(target))).collect();
    assert!(paths.len() >= 20, "{target} has a corpus of {} files", paths.len());
    for path in paths {
        let bytes = fs::read(&path).expect("a file");
        let handled = std::panic::catch_unwind(|| check(&bytes));
        assert!(handled.is_ok(), "{} shows a fault; see above", path.display());
    }
}

/// One test for each check, so that they run side by side.
macro_rules! replays {
    ($($(#[$attribute:meta])* $target:ident),* $(,)?) => {
        $($(#[$attribute])* #[test] fn $target() { replay(stringify!($target)); })*

        #[test]
        fn every_check_and_every_folder_is_replayed() {
            let replayed = BTreeSet::from([$($(#[$attribute])* stringify!($target)),*].map(String::from));
            let checks: BTreeSet<String> = CHECKS.iter().map(|(name, _)| (*name).to_string()).collect();
            assert_eq!(checks, replayed);
            for kind in FOLDERS {
                for path in entries(&folder(kind)) {
                    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                    assert!(checks.contains(&name) || !cfg!(target_os = "linux"), "nothing replays {}", path.display());
                }
            }
        }
    };
}

replays! {
    scenario,
    overrides,
    topology,
    trace,
    sizes,
    goal,
    fcp,
    #[cfg(target_os = "linux")]
    header,
    #[cfg(target_os = "linux")]
    datagram,
    #[cfg(target_os = "linux")]
    message,
    #[cfg(target_os = "linux")]
    control,
    #[cfg(target_os = "linux")]
    plan,
    #[cfg(target_os = "linux")]
    ends,
    #[cfg(target_os = "linux")]
    relay,
}
