//! From a TOML file to a [`Scenario`](crate::model::Scenario): read, checked, resolved before anything runs.
//!
//! Every key is defined once, where it is read; the schema is made by the same functions. See `reader`.

pub(crate) mod arbiter;
mod cards;
pub(crate) mod class;
mod collective;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod experiment;
mod fault;
mod file_readers;
pub(crate) mod files;
mod flow_numbers;
pub(crate) mod form;
pub(crate) mod host;
mod host_interrupts;
mod host_queue;
mod hosts;
mod job;
pub(crate) mod key;
mod link;
pub(crate) mod names;
pub(crate) mod network;
pub(crate) mod node;
pub(crate) mod operations;
mod packets;
mod parameters;
mod pfc;
pub(crate) mod probe;
pub(crate) mod reader;
mod replay;
mod routing;
pub(crate) mod schema;
mod series;
pub(crate) mod shape;
mod sizes;
pub(crate) mod source;
mod storage;
pub(crate) mod suggest;
pub(crate) mod switch;
pub(crate) mod text;
mod topology_file;
mod trace;
pub(crate) mod traffic;
mod training;
pub(crate) mod transport;
mod trimming;
pub(crate) mod units;

use std::path::Path;

use source::Source;

pub use error::{Problem, ScenarioError};
pub use file_readers::{read_sizes, read_topology, read_trace};
pub use text::Override;

/// The JSON Schema (draft 2020-12) of a scenario file.
///
/// Beside the standard words every key carries `x-unit`, and quantities `x-min` and `x-max`, as a file spells them.
pub fn schema() -> serde_json::Value {
    let source = Source::new("", Vec::new());
    let variants = reader::describe(&source, &|r| experiment::read(r, Path::new(""), &|_, _| true));
    schema::document(&variants, "Clearway scenario")
}
