//! Hosts on Linux: the machines that the simulator drives in virtual time, driven in real time.
//!
//! [`daemon`] is Swift over UDP, the program `clearwayd`, and [`testbed`] the traffic of a scenario between hosts. `tcp`, a feature, gives Swift to the kernel's TCP. [`arbiter`] runs
//! Fastpass's allocation and path selection on two threads.

#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod agent;
pub mod arbiter;
// Elsewhere there is only what works anywhere, so that the simulator beside it builds. Without the feature there is the
// arbiter alone.
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod control;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod controller;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod daemon;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod datagram;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod fabric;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod fastpass;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod keys;
#[cfg(target_os = "linux")]
pub mod processor;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod realtime;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod relay;
#[cfg(all(target_os = "linux", feature = "daemon"))]
mod tap;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod tcp;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod testbed;
#[cfg(all(target_os = "linux", feature = "daemon"))]
pub mod transfer;
