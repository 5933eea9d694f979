//! What must hold of any bytes that a person or a network can bring to Clearway: one check for each reader of files and
//! each decoder of datagrams.
//!
//! Each check takes bytes and panics when something is wrong with what the code under it makes of them. The targets in
//! `fuzz_targets` hand a check to libFuzzer; the test in `tests` hands it every file of the corpus.

mod bytes;
#[cfg(target_os = "linux")]
mod datagrams;
#[cfg(target_os = "linux")]
mod ends;
mod fcp;
mod files;
mod folder;
mod goal;
#[cfg(target_os = "linux")]
mod relay;
mod scenarios;
#[cfg(target_os = "linux")]
mod testbed;
mod toml;

#[cfg(target_os = "linux")]
pub use datagrams::{datagram, header, message};
#[cfg(target_os = "linux")]
pub use ends::ends;
pub use fcp::fcp;
pub use files::{sizes, topology, trace};
pub use goal::goal;
#[cfg(target_os = "linux")]
pub use relay::relay;
pub use scenarios::{overrides, scenario};
#[cfg(target_os = "linux")]
pub use testbed::{control, plan};

/// A check: panics when the bytes are handled wrongly.
pub type Check = fn(&[u8]);

/// Every check, by the name of its target and of the folder of its corpus.
pub const CHECKS: &[(&str, Check)] = &[
    ("scenario", scenario),
    ("overrides", overrides),
    ("topology", topology),
    ("trace", trace),
    ("sizes", sizes),
    ("goal", goal),
    ("fcp", fcp),
    #[cfg(target_os = "linux")]
    ("header", header),
    #[cfg(target_os = "linux")]
    ("datagram", datagram),
    #[cfg(target_os = "linux")]
    ("message", message),
    #[cfg(target_os = "linux")]
    ("control", control),
    #[cfg(target_os = "linux")]
    ("plan", plan),
    #[cfg(target_os = "linux")]
    ("ends", ends),
    #[cfg(target_os = "linux")]
    ("relay", relay),
];
