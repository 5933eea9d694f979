//! The edge of the network: the ends of flows, the hosts that they share, and agents.

pub mod agent;
pub mod clock;
pub mod ends;
pub mod interrupts;
pub mod message;
pub mod pauses;
pub mod prober;
pub mod processor;
pub mod processors;
pub mod round;
pub mod snap;
pub mod transport;
