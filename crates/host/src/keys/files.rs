//! The files of certificates, and the names that are in all of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name that every certificate has beside its own, for who asks for any peer.
pub const ANY_PEER: &str = "peer.clearway";
/// The name of the authority's files.
pub(super) const AUTHORITY: &str = "ca";

/// The file of a name's certificate (`pem`) or key (`key`).
pub(super) fn path(directory: &Path, name: &str, kind: &str) -> PathBuf {
    directory.join(format!("{name}.{kind}"))
}

/// The names that have a certificate and a key in a directory, in order.
pub(super) fn names_in(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let file = entry?.path();
        let name = file.file_stem().and_then(|stem| stem.to_str()).filter(|name| *name != AUTHORITY);
        let is_certificate = file.extension().is_some_and(|kind| kind == "pem");
        names
            .extend(name.filter(|_| is_certificate && file.with_extension("key").exists()).map(String::from));
    }
    names.sort_unstable();
    Ok(names)
}
