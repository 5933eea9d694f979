//! What is at the edge of the network: the ends of flows, the hosts that they share, and agents.

pub mod ends;
pub mod processor;
pub mod round;
pub mod transport;
