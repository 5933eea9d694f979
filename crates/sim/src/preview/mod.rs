//! A description of a scenario's network before anything runs: the paths between hosts, base round trips, the beginning of a new
//! flow, and the load that the known traffic will put on each link.

mod load;
mod pair;
mod round_trips;

pub use load::{expected, Expected, LinkLoad};
pub use pair::{pair, Beginning, Pair};
pub use round_trips::{extremes, Between, PathLimits};
