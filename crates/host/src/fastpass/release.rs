//! The clock of releases: it waits until an instant, as exactly as Linux allows to a thread, or until something can be read.
//!
//! A sleep ends late by what the kernel takes to wake a thread, some 15 us and now and then 100. So it sleeps until a little
//! before the instant and polls the clock for the rest. With a real-time priority ([`prepare`]) other work of the host does not
//! come between.

use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

use clearway_proto::histogram::Histogram;
use clearway_proto::units::{Span, Time};
use rustix::event::{poll, PollFd, Timespec};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use thread_priority::{
    set_thread_priority_and_policy, thread_native_id, RealtimeThreadSchedulePolicy, ThreadPriority,
    ThreadPriorityValue, ThreadSchedulePolicy,
};

use crate::datagram::clock::Clock;

/// The time before an instant at which sleep ends and polling begins. Default: 30 us, twice what the kernel usually takes.
pub const SPIN: Span = Span::from_us(30);
/// The real-time priority of an endpoint's thread, of 1 to 99: above nothing but what has none.
pub const OF_ENDPOINTS: u8 = 10;
/// The real-time priority of an arbiter's thread. All endpoints wait for it, so that none on the same host goes before.
pub const OF_ARBITERS: u8 = 20;

/// Makes the calling thread one that wakes punctually: no timer slack, and `SCHED_FIFO` with this priority. Returns whether the
/// latter is so: it needs `CAP_SYS_NICE` or a limit on real-time priorities (`ulimit -r`) of at least as much. Without it
/// releases are as punctual as the host is idle.
pub fn prepare(priority: u8) -> bool {
    // Where this fails sleeps are longer by 50 us, no more.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriorityValue::try_from(priority).map(ThreadPriority::Crossplatform);
    priority
        .is_ok_and(|priority| set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok())
}

/// Why a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The instant has come.
    Due,
    /// One of the files can be read, or whatever was asked of it.
    Ready,
}

/// Waits, and notes how late the waits ended.
#[derive(Clone, Debug)]
pub struct Release {
    spin: Span,
    lateness: Histogram,
}

impl Default for Release {
    fn default() -> Release {
        Release::new(SPIN)
    }
}

impl Release {
    /// Polls the clock for the last `spin` before each instant.
    pub fn new(spin: Span) -> Release {
        Release { spin, lateness: Histogram::default() }
    }

    /// Waits until the clock shows `until`, or one of `files` is ready, which is not looked at in the last [`SPIN`]. The files'
    /// answers are in them if this says so. [`Time::NEVER`] waits for files alone. Fails only as poll(2) does.
    pub fn wait(&mut self, clock: &Clock, until: Time, files: &mut [PollFd<'_>]) -> io::Result<Woken> {
        loop {
            let left = until.since(clock.now());
            if left <= self.spin {
                break;
            }
            let sleep = Duration::from_nanos((left - self.spin).as_ps() / 1000);
            // A time that the kernel cannot hold is for ever.
            let timeout = if until == Time::NEVER { None } else { Timespec::try_from(sleep).ok() };
            match poll(files, timeout.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(Woken::Ready),
                Err(error) => return Err(error.into()),
            }
        }
        let mut now = clock.now();
        while now < until {
            std::hint::spin_loop();
            now = clock.now();
        }
        // An instant that was past before it was waited for is its caller's lateness, and counts, too.
        self.lateness.record(now.since(until));
        Ok(Woken::Due)
    }

    /// How late waits for instants ended.
    pub fn lateness(&self) -> &Histogram {
        &self.lateness
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::driver::Waker;
    use rustix::event::PollFlags;

    #[test]
    fn a_wait_ends_at_its_instant_and_not_before() {
        let (clock, mut release) = (Clock::start(), Release::default());
        let waker = Waker::new().unwrap();
        for _ in 0..5 {
            let until = clock.now() + Span::from_us(500);
            let files = &mut [PollFd::new(&waker, PollFlags::IN)];
            assert_eq!(release.wait(&clock, until, files).unwrap(), Woken::Due);
            assert!(clock.now() >= until);
        }
        let past = Time::ZERO;
        assert_eq!(release.wait(&clock, past, &mut []).unwrap(), Woken::Due);
        assert_eq!(release.lateness().count(), 6);
    }

    #[test]
    fn what_can_be_read_ends_it_before() {
        let (clock, mut release) = (Clock::start(), Release::default());
        let waker = Waker::new().unwrap();
        waker.wake();
        let woken = release.wait(&clock, Time::NEVER, &mut [PollFd::new(&waker, PollFlags::IN)]).unwrap();
        assert_eq!((woken, release.lateness().count()), (Woken::Ready, 0));
    }
}
