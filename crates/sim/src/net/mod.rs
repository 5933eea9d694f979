//! The network as it runs: the routes of flows through it, and the ports that feed links.

mod backlog;
pub mod counters;
pub mod forwarding;
mod frames;
pub mod ideal;
pub mod link_changes;
pub mod loss;
pub mod lossless;
pub mod marking;
pub mod memory;
pub mod outages;
pub mod pfc;
mod plain;
pub mod port;
pub mod ports;
pub mod relay;
pub mod relays;
pub mod routes;
pub mod ruled;
pub mod rules;
pub mod scheduling;
pub mod served;
mod switch;
pub mod switches;
pub mod timeslots;
pub mod transmission;
pub mod trimming;
