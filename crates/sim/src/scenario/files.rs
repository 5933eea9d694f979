//! Files that a scenario names: topology, trace, flow sizes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::{Misread, Problem};

/// What some editors and spreadsheets put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The largest file that is read, in bytes: a limit, so that reading is bounded.
pub(crate) const MAX_BYTES: u64 = 1 << 30;

/// A path, as the schema describes it.
pub(crate) fn schema() -> Json {
    json!({ "type": "string", "minLength": 1, "x-unit": "file" })
}

/// The path that a value holds, as written.
pub(crate) fn name(node: &Node) -> Result<String, Misread> {
    match &node.value {
        Value::Text(name) if !name.is_empty() => Ok(name.clone()),
        _ => Err(Misread::expected("a path relative to this file")),
    }
}

/// The path as a message shows it.
pub(crate) fn shown(base: &Path, name: &str) -> String {
    base.join(name).display().to_string()
}

/// Reads a file of text.
pub(crate) fn read(base: &Path, name: &str) -> Result<String, Misread> {
    read_text(&base.join(name)).map_err(Misread::Says)
}

/// Reads a file of text; the error says why that failed.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {}", path.display(), reason(&error));
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(format!("cannot read {}: not a file", path.display()));
    }
    // Not by that size alone: what a system's own files say of theirs is not what comes.
    let mut bytes = Vec::new();
    if about.len() <= MAX_BYTES {
        File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
    }
    if about.len().max(bytes.len() as u64) > MAX_BYTES {
        return Err(format!("cannot read {}: longer than {MAX_BYTES} bytes", path.display()));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("cannot read {}: not UTF-8 at byte {at}", path.display())
    })
}

/// Returns what the operating system said, without its number.
fn reason(error: &std::io::Error) -> String {
    let said = error.to_string();
    said.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// A problem in a line of a file that is not TOML.
pub(crate) fn problem(file: &str, line: usize, found: &str, message: impl Into<String>) -> Problem {
    Problem {
        file: file.into(),
        line: Some(line as u32),
        column: None,
        set: None,
        key: String::new(),
        found: Some(found.into()),
        expected: None,
        nearest: None,
        message: message.into(),
    }
}
