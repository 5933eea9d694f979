//! From a TOML file to a [`Scenario`]: read, checked, resolved before anything runs.

pub mod types;

pub use types::*;
