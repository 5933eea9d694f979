//! A lossless network in software: switches, the links between them, and the network adapters of hosts, with priority flow control
//! (IEEE 802.1Qbb), in real time.
//!
//! Hosts and relays are outside: each has a TAP device, from which the network takes its frames and to which it gives them. In between
//! all is [`network`], a discrete-event simulation that runs by the clock ([`work`]): each event has its own exact time, and is handled
//! when that has come, so that a thread that wakes late delays frames and never slows a link down. Thresholds, PAUSE and headroom
//! are those of [`clearway_proto::pfc`], as in the simulator.

pub mod figures;
pub mod network;
pub mod plan;
pub mod port;
pub mod routes;
pub mod work;
