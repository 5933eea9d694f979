//! The network: nodes and links, the routes through them, and the ports that feed links.

mod backlog;
pub mod counters;
mod distances;
mod frames;
mod graph;
pub mod ideal;
pub mod loss;
pub mod lossless;
pub mod marking;
pub mod memory;
pub mod pfc;
mod plain;
pub mod port;
pub mod ports;
pub mod relay;
pub mod relays;
pub mod routes;
pub mod routing;
pub mod ruled;
pub mod rules;
pub mod scheduling;
pub mod served;
pub mod shape;
mod switch;
pub mod switches;
pub mod timeslots;
pub mod topology;
