//! Walks a table key by key. The same walk, run without a table, lists the keys: the schema is what is read.
//!
//! A reading function takes a [`Section`] and asks it for each key. Where the file is wrong the section notes the
//! problem and answers with a placeholder that is in range, so that one pass finds all problems; checks that
//! compare keys run only in a [`Section::sound`] section. A [`Section::choice`] decides which keys follow.
//! [`describe`] runs the function once for every combination of choices.

mod section;
mod tables;
mod unknown;

pub(super) use section::{describe, read, Section};
