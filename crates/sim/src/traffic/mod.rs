//! The traffic tables as a list of flows.
//!
//! Everything random is drawn from the stream of the entity it belongs to: a flow's start from the flow's
//! own, arrivals and sizes from their Poisson source's, a permutation from its table's.

mod chosen;
mod flow;
mod generate;
mod issues;
mod on_hosts;
pub mod pattern;
mod sizes;
mod table;
#[cfg(test)]
mod tests;

pub use chosen::{chosen, eligible, most_chosen};
pub use flow::{Demand, FlowSpec, Part};
pub use generate::{expected_flows, generate, most_flows};
pub use issues::Issues;
pub use on_hosts::{on_hosts, Beyond, HostFlow};
pub use table::Table;
