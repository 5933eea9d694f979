//! What the processor has spent.

use clearway_proto::units::Span;
use rustix::time::{clock_gettime, ClockId};

/// Processor time that this process has used.
pub fn process_time() -> Span {
    read(ClockId::ProcessCPUTime)
}

/// Processor time that this thread has used.
pub fn thread_time() -> Span {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Span {
    let time = clock_gettime(clock);
    Span::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
