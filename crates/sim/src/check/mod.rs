//! Scenarios as a person gives them: read, checked against the network that they describe, and looked over for what is unlikely to be
//! meant. The readers in [`crate::scenario`] know one table at a time; what needs the network, the traffic or the plan of a run is
//! asked here.

mod arbiter;
mod arbiter_warnings;
mod classes;
mod empty_path;
mod fault_warnings;
mod late_grants;
mod load;
mod memory;
mod operations;
mod pfc_warnings;
mod rdma_warnings;
mod relays;
mod replay;
mod series;
mod traffic_warnings;
mod warnings;
mod whole;

#[cfg(test)]
mod tests;

pub use load::{load, load_text, Loaded};
pub use memory::{estimate_bytes, limit as memory_limit};
pub use replay::page_bytes as replay_page_bytes;
