//! What is known of a scenario's network before anything runs: the paths between hosts, base round trips, how a new flow
//! begins, and what the known traffic will ask of each link.

mod load;
mod pair;
mod round_trips;

pub use load::{expected, Expected, LinkLoad};
pub use pair::{pair, Beginning, Pair};
pub use round_trips::{extremes, Between, PathLimits};
