//! Swing's relay between two network interfaces: L to the switch, R to the long link.
//!
//! The kernel passes frames from one port to the other ([`kernel`], `bpf/relay.bpf.c`) as long as none has to wait. A PFC frame that
//! pauses a priority closes its lane in the kernel at once; what comes in then is stored here ([`lanes`]), in the machine that the
//! simulator has, until all of it has left. So there is one order: a frame overtakes none of its lane.

pub mod classes;
#[cfg(feature = "tcp")]
pub mod device;
#[cfg(feature = "tcp")]
pub mod drivers;
pub mod figures;
#[cfg(feature = "tcp")]
pub mod filters;
#[cfg(feature = "tcp")]
pub mod handle;
pub mod handover;
#[cfg(feature = "tcp")]
pub mod kernel;
pub mod lanes;
#[cfg(feature = "tcp")]
pub mod page;
#[cfg(feature = "tcp")]
pub mod predecessor;
pub mod probe;
pub mod settings;
#[cfg(feature = "tcp")]
pub mod sockets;
#[cfg(feature = "tcp")]
pub mod status;
#[cfg(feature = "tcp")]
pub mod succession;
#[cfg(feature = "tcp")]
pub mod watch;
#[cfg(feature = "tcp")]
pub mod work;
