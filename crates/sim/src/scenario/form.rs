//! How keys are described: what the walk that lists them notes, and what the schema is made from.

use serde_json::{Map, Value as Json};

/// Names that tables and groups can be given.
pub(super) const NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// Whether `text` matches [`NAME_PATTERN`].
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A key as the schema shows it.
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether it must be given.
    pub(super) required: bool,
    /// What it may hold.
    pub(super) schema: Map<String, Json>,
}

/// The keys of a table under one combination of its choices.
pub(super) struct Variant {
    /// Key and value of every choice.
    pub(super) choices: Vec<(&'static str, &'static str)>,
    /// All keys, the choices among them.
    pub(super) fields: Vec<Field>,
    /// What any other key may hold, where there may be keys of the file's own.
    pub(super) others: Option<Map<String, Json>>,
}

/// How a key with a grammar of its own is described; see [`Section::parsed`].
pub(super) struct Form {
    /// Its name.
    pub(super) name: &'static str,
    /// What it means.
    pub(super) doc: &'static str,
    /// Whether it must be given.
    pub(super) required: bool,
    /// What holds when it is not given, in words.
    pub(super) otherwise: &'static str,
    /// Type, pattern and unit.
    pub(super) schema: Json,
}
