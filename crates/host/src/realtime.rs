//! What a thread needs that sends at instants: a real-time priority, and the time for which it polls the clock.
//!
//! A sleep ends late by what the kernel takes to wake a thread, some 15 us and now and then 100. So the driver sleeps until a
//! little before an instant ([`SPIN`]) and polls the clock for the rest. With a real-time priority ([`prepare`]) other work of the
//! host does not come between.

use std::num::NonZeroU64;

use clearway_proto::units::Span;
use rustix::thread::set_current_timer_slack;
use thread_priority::{
    set_thread_priority_and_policy, thread_native_id, RealtimeThreadSchedulePolicy, ThreadPriority,
    ThreadPriorityValue, ThreadSchedulePolicy,
};

/// The time before an instant at which sleep ends and polling begins. Default: 30 us, twice what the kernel usually takes.
pub const SPIN: Span = Span::from_us(30);
/// The real-time priority of an endpoint's thread, of 1 to 99: above nothing but what has none.
pub const OF_ENDPOINTS: u8 = 10;
/// The real-time priority of an arbiter's thread. All endpoints wait for it, so that none on the same host goes before.
pub const OF_ARBITERS: u8 = 20;
/// The real-time priority of a relay's thread, and of a software network's: while it stands still a link may have to drop frames.
pub const OF_RELAYS: u8 = 30;

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
