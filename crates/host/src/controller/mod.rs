//! The controller of a testbed: it reads a [`plan`] and the [`hosts`] that it names, tells each agent its part, and writes what they
//! report as [`lines`] of JSON.

mod agents;
mod conduct;
pub mod hosts;
pub mod lines;
mod ping;
pub mod plan;
mod trouble;

pub use conduct::{conduct, Ending};
