//! What is known of a scenario's network before anything runs: the paths between hosts, base round trips, how a new flow
//! begins, and what the known traffic will ask of each link.

mod load;
mod pair;
mod ways;

pub use load::{expected, Expected, LinkLoad};
pub use pair::{pair, Beginning, Pair};
pub use ways::{extremes, Between, Way};
