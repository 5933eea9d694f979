//! Priority flow control (IEEE 802.1Qbb, "PFC"): a port that has received much of a class in which nothing may be dropped tells
//! the other end of its link to PAUSE that class, and later to RESUME.
//!
//! A switch has an [`account`] for each of its links and each lossless class: the bytes that have come over the link in that class
//! and have not left the switch yet, each frame from the arrival of its last bit until its last bit has left. [`headroom`] says
//! how much comes after the account has crossed its threshold, [`quanta`] how long a PAUSE lasts, and [`hold`] what a port does
//! that receives one; [`frame`] is the bytes of both. Switches, hosts and relays of the simulator, [`crate::swing::relay`] and [`crate::swing::plan`] all use these.

pub mod account;
pub mod frame;
pub mod headroom;
pub mod hold;
pub mod quanta;
