//! The edge of the network: the ends of flows, the hosts that they share, and agents.

pub mod agent;
pub mod arbiter;
pub mod clock;
pub mod endpoint;
pub mod ends;
pub mod interrupts;
pub mod message;
pub mod pauses;
pub mod prober;
pub mod processor;
pub mod processors;
pub mod pulls;
pub mod receipts;
pub mod round;
pub mod slots;
pub mod snap;
pub mod transport;
