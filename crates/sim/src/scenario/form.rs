//! How keys are described: what the walk that lists them notes, and what the schema is made from.

use serde_json::{Map, Value as Json};

/// The names that tables and groups can be given, as a pattern.
pub(crate) const NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// Returns whether `text` matches [`NAME_PATTERN`].
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A key as the schema shows it.
pub(crate) struct Field {
    /// The key's name.
    pub(crate) name: &'static str,
    /// Whether the key must be given.
    pub(crate) required: bool,
    /// What the key may hold.
    pub(crate) schema: Map<String, Json>,
}

/// The keys of a table under one combination of its choices.
pub(crate) struct Variant {
    /// The key and the value of every choice.
    pub(crate) choices: Vec<(&'static str, &'static str)>,
    /// All keys, with those of the choices.
    pub(crate) fields: Vec<Field>,
    /// What any other key may hold, where a file may have keys of its own.
    pub(crate) others: Option<Map<String, Json>>,
}

/// How a key with a grammar of its own is described; see [`Section::parsed`].
pub(crate) struct Form {
    /// The key's name.
    pub(crate) name: &'static str,
    /// What the key means.
    pub(crate) doc: &'static str,
    /// Whether the key must be given.
    pub(crate) required: bool,
    /// What holds when the key is not given, in words.
    pub(crate) otherwise: &'static str,
    /// The key's type, pattern and unit.
    pub(crate) schema: Json,
}
