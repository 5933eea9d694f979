//! From a TOML file to a [`Scenario`](crate::model::Scenario): read, checked, resolved before anything runs.
//!
//! Every key is defined once, where it is read; the schema is made by the same functions. See `reader`.

mod arbiter;
mod arbiter_warnings;
mod class;
mod document;
mod empty_path;
mod error;
mod experiment;
mod fault;
mod file_readers;
mod files;
mod form;
mod host;
mod host_interrupts;
mod host_queue;
mod hosts;
mod key;
mod late_grants;
mod link;
mod load;
mod memory;
mod names;
mod network;
mod node;
mod operations;
mod parameters;
mod pfc;
mod pfc_warnings;
mod probe;
mod rdma_warnings;
mod reader;
mod relays;
mod schema;
mod shape;
mod sizes;
mod source;
mod suggest;
mod switch;
mod topology_file;
mod trace;
mod traffic;
mod traffic_warnings;
mod transport;
mod units;
mod warnings;

#[cfg(test)]
mod tests;

pub use error::{Problem, ScenarioError};
pub use file_readers::{read_sizes, read_topology, read_trace};
pub use load::{load, load_text, schema, Loaded, Override};
pub use memory::{estimate_bytes, limit as memory_limit};
