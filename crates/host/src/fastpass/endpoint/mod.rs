//! An endpoint's process: the machine of `clearway-proto` over FCP's socket, and the [`Carriage`](super::carriage::Carriage) of the
//! host's traffic.

pub mod counts;
pub mod node;
mod open;

pub use open::open_carriage;
