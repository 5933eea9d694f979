//! The clock of a run: the host's monotonic one, which nobody can set.

use rustix::time::{clock_gettime, ClockId};

/// Nanoseconds of the host's monotonic clock (`CLOCK_MONOTONIC`), which counts from the host's start.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
