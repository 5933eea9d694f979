//! How keys are described: what the walk that lists them notes, and what the schema is made from.

use serde_json::{Map, Value as Json};

/// The names that tables and groups can be given, as a pattern.
pub(super) const NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// Returns whether `text` matches [`NAME_PATTERN`].
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A key as the schema shows it.
pub(super) struct Field {
    /// The key's name.
    pub(super) name: &'static str,
    /// Whether the key must be given.
    pub(super) required: bool,
    /// What the key may hold.
    pub(super) schema: Map<String, Json>,
}

/// The keys of a table under one combination of its choices.
pub(super) struct Variant {
    /// The key and the value of every choice.
    pub(super) choices: Vec<(&'static str, &'static str)>,
    /// All keys, with those of the choices.
    pub(super) fields: Vec<Field>,
    /// What any other key may hold, where a file may have keys of its own.
    pub(super) others: Option<Map<String, Json>>,
}

/// How a key with a grammar of its own is described; see [`Section::parsed`].
pub(super) struct Form {
    /// The key's name.
    pub(super) name: &'static str,
    /// What the key means.
    pub(super) doc: &'static str,
    /// Whether the key must be given.
    pub(super) required: bool,
    /// What holds when the key is not given, in words.
    pub(super) otherwise: &'static str,
    /// The key's type, pattern and unit.
    pub(super) schema: Json,
}
