//! Time since an instant, by the wall clock or as a thread had it.

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use clearway_proto::units::Span;

#[cfg(target_os = "linux")]
use crate::processor;

/// A clock that runs from when it was made.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// Time that passes.
    Wall(Instant),
    /// Processor time of the thread that made it, which alone may ask.
    #[cfg(target_os = "linux")]
    Thread(Span),
}

impl Clock {
    /// The wall clock.
    #[allow(clippy::disallowed_methods)]
    pub fn wall() -> Clock {
        Clock::Wall(Instant::now())
    }

    /// The processor time of this thread; where the system does not tell, the wall clock.
    pub fn of_thread() -> Clock {
        #[cfg(target_os = "linux")]
        return Clock::Thread(processor::thread_time());
        #[cfg(not(target_os = "linux"))]
        Clock::wall()
    }

    /// The time since the clock was made.
    pub fn elapsed(&self) -> Duration {
        match self {
            Clock::Wall(started) => started.elapsed(),
            #[cfg(target_os = "linux")]
            Clock::Thread(started) => {
                let since = processor::thread_time().as_ps() - started.as_ps();
                Duration::from_nanos(since / 1000)
            }
        }
    }
}

/// Returns how long the threads of this process have waited for a processor that had other work, so far; zero where the system
/// does not tell.
pub fn waited() -> Duration {
    #[cfg(target_os = "linux")]
    return Duration::from_nanos(processor::waited_time().map_or(0, |time| time.as_ps() / 1000));
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn who_sleeps_has_no_processor_time() {
        let (wall, thread) = (Clock::wall(), Clock::of_thread());
        std::thread::sleep(Duration::from_millis(20));
        assert!(wall.elapsed() >= Duration::from_millis(20));
        assert!(cfg!(not(target_os = "linux")) || thread.elapsed() < Duration::from_millis(10));
        let before = thread.elapsed();
        while thread.elapsed() == before {}
    }
}
