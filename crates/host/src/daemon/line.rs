//! Places in TOML files, as messages name them.

use std::ops::Range;

/// The start of a message about a place in `text`: `line N: `, or nothing where the place is not known.
pub fn place(text: &str, span: Option<Range<usize>>) -> String {
    let line = |span: Range<usize>| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1;
    span.map_or(String::new(), |span| format!("line {}: ", line(span)))
}
