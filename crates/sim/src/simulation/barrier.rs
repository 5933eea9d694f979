//! Where the threads of a run meet between two windows.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::available_parallelism;

/// Returns how often one of `threads` looks whether the others have come before it goes to sleep. On a machine with a core for
/// each thread they mostly come while it looks; where a neighbour has taken a core, sleeping gives this one to the
/// thread that all wait for. Where threads outnumber cores, that thread may need this very core: it sleeps at once. On
/// the machine where the number was tried, that many looks take 19 us, and a thread takes 15 us to wake up.
fn looks_of(threads: usize, cores: usize) -> u32 {
    if threads <= cores {
        2000
    } else {
        0
    }
}

/// A meeting place of a fixed number of threads, for as many meetings as they like.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: usize,
    /// See [`looks_of`].
    looks: u32,
    /// Threads that have come to this meeting.
    here: AtomicUsize,
    /// Meetings held.
    meetings: AtomicUsize,
    /// A thread has panicked: it will never come.
    broken: AtomicBool,
    /// Threads that sleep, or are about to.
    asleep: AtomicUsize,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Barrier {
    /// Returns a barrier for `threads` threads.
    pub(super) fn new(threads: usize) -> Barrier {
        let cores = available_parallelism().map_or(1, NonZero::get);
        Barrier {
            threads,
            looks: looks_of(threads, cores),
            here: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            lock: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Returns how often a thread that waits for another looks whether it has come, before it goes to sleep.
    pub(super) fn looks(&self) -> u32 {
        self.looks
    }

    /// Waits until all threads have come. Panics when one of them has panicked.
    pub(super) fn meet(&self) {
        let meeting = self.meetings.load(SeqCst);
        if self.here.fetch_add(1, SeqCst) + 1 == self.threads {
            self.here.store(0, SeqCst);
            self.meetings.store(meeting + 1, SeqCst);
            self.ring();
        } else {
            self.wait(meeting);
        }
        assert!(!self.broken.load(SeqCst), "another thread of the run has panicked");
    }

    fn is_over(&self, meeting: usize) -> bool {
        self.meetings.load(SeqCst) != meeting || self.broken.load(SeqCst)
    }

    fn wait(&self, meeting: usize) {
        for _ in 0..self.looks {
            if self.is_over(meeting) {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, SeqCst);
        while !self.is_over(meeting) {
            guard = self.bell.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, SeqCst);
    }

    /// Wakes who sleeps.
    fn ring(&self) {
        if self.asleep.load(SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }

    /// This thread will never come again, since it panics.
    pub(super) fn break_up(&self) {
        self.broken.store(true, SeqCst);
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_leaves_before_all_have_come() {
        for threads in [1, 2, 3, 7] {
            let barrier = Barrier::new(threads);
            let steps: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
            std::thread::scope(|scope| {
                for me in 0..threads {
                    let (barrier, steps) = (&barrier, &steps);
                    scope.spawn(move || {
                        for step in 1..=2000 {
                            steps[me].store(step, SeqCst);
                            barrier.meet();
                            assert!(steps.iter().all(|other| other.load(SeqCst) >= step));
                            barrier.meet();
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn a_thread_looks_before_it_sleeps_only_where_each_has_a_core() {
        assert!(looks_of(2, 2) > 0);
        assert_eq!(looks_of(3, 2), 0);
    }

    #[test]
    fn who_waits_for_a_thread_that_panics_panics_too() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.meet());
            barrier.break_up();
            assert!(waits.join().is_err());
        });
    }
}
