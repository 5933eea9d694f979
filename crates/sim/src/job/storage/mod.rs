//! Storage jobs as operations of ranks: clients that read and write objects in closed loops, servers that hold them as replicas or as
//! erasure-coded stripes, and the rebuilding of what dead servers held.

mod draw;
mod program;
mod rebuilding;
mod request;
#[cfg(test)]
mod tests;
mod workload;

pub use program::{most_operations, program};
pub use workload::{Erasure, Rebuild, Redundancy, Storage, WritePath};
