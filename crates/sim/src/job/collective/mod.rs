//! Collectives as operations of ranks: a file an algorithm, or a few that are alike.
//!
//! Sizes are those of nccl-tests: `bytes` is the whole array. A rank reduces what it receives in no time. An array is cut into
//! chunks of nearly one size, each of which goes its way by itself: while one is on a link, the next is on the link before.

mod algorithm;
mod all_to_all;
mod doubling;
mod group;
mod ring;
#[cfg(test)]
mod tests;
mod tree;

pub use algorithm::{add, most_operations, needs_power_of_two, steps, Algorithm, Plan};
