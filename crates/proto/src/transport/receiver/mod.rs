//! How a receiver takes packets and acknowledges them. One file a way.

mod contract;
mod in_order;
mod selective;

pub use contract::{Arrival, Header, Receiver};
pub use in_order::InOrderReceiver;
pub use selective::{AckPolicy, SelectiveReceiver};
