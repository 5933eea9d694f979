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

/// Returns how long the threads of this process, all together, have been ready to run while the processors had other work; `None`
/// where the system does not count it.
pub fn waited_time() -> Option<Span> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let files = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok());
    // Time on a processor, time ready and waiting, and turns.
    let waited = |file: String| file.split_whitespace().nth(1)?.parse::<u64>().ok();
    let times: Vec<u64> = files.filter_map(waited).collect();
    (!times.is_empty()).then(|| Span::from_ns(times.iter().sum()))
}

fn read(clock: ClockId) -> Span {
    let time = clock_gettime(clock);
    Span::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_are_more_than_the_processors_wait_for_each_other() {
        let Some(before) = waited_time() else { return };
        let many = 1 + 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let busy = || {
            while thread_time() < Span::from_ms(20) {}
            waited_time().expect("it was counted before")
        };
        let threads: Vec<_> = (0..many).map(|_| std::thread::spawn(busy)).collect();
        let after = threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap();
        // A thread that has ended is no longer counted, and one of the last has waited for its turns among all.
        assert!(after > before + Span::from_ms(5), "{before:?} {after:?}");
    }
}
