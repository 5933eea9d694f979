//! A testbed: the traffic of a scenario between agents on real hosts.
//!
//! The [controller](crate::controller) reads a [plan](crate::controller::plan) and tells each [agent](crate::agent) its part of it on a
//! [control channel](crate::control). Here is what both know: what they [say](message), the [carriers](carrier), and the [clock].

pub mod carrier;
pub mod clock;
pub mod message;
pub mod parameters;
