//! The time in which a lane's port may send, kept to though the process is late.
//!
//! A process stands still now and then, and wakes some 50 us after a RESUME. The relay at the other end of the long link counts what it
//! grants; what is not sent of that is missing from the queue that waits there, and nothing makes up for it. So an allowance goes by when
//! PAUSE and RESUME came, as the kernel stamped them: what was not sent in time is sent after the PAUSE, and what was sent too much is
//! taken off the next allowance. No more is sent than was granted, and nothing later than a PAUSE may take to work.

use clearway_proto::units::{Span, Time};

/// What had become of an allowance when PAUSE was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// When the link has sent all that it was given.
    pub(super) free_at: Time,
    /// Whether frames wait.
    pub(super) waits: bool,
    /// Whether the last frame that the link was given is of this lane.
    pub(super) sent_last: bool,
}

/// The allowance of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowance {
    /// The time at which the lane's port was paused; none: it may send.
    paused_at: Option<Time>,
    /// The time at which the PAUSE runs out.
    until: Time,
    /// The start of the allowance, with what the one before has left.
    since: Time,
    /// The time that the port may send for though it is paused.
    owed: Span,
    /// The time that it has sent for too long.
    overdrawn: Span,
}

impl Allowance {
    /// The port is paused from `at` on. `at_most` is what may be made up for.
    pub(super) fn pause(&mut self, at: Time, until: Time, used: Used, at_most: Span) {
        self.until = until;
        if self.paused_at.is_some() {
            return;
        }
        self.paused_at = Some(at);
        if used.waits {
            self.owed = at.since(used.free_at.max(self.since)).min(at_most);
        }
        if used.sent_last {
            self.overdrawn = used.free_at.since(at);
        }
    }

    /// The port may send again from `at` on. Returns from when on it is taken to have been free for this lane; none if it was not paused.
    pub(super) fn resume(&mut self, at: Time) -> Option<Time> {
        self.paused_at.take()?;
        let later = at + std::mem::take(&mut self.overdrawn);
        let owed = std::mem::take(&mut self.owed);
        self.since = Time::from_ps(later.as_ps().saturating_sub(owed.as_ps()));
        Some(self.since)
    }

    /// Returns until when the port is paused; a time that has passed: it is not.
    pub(super) fn paused_until(&self) -> Time {
        self.paused_at.map_or(Time::ZERO, |_| self.until)
    }

    /// Returns whether a frame may begin: the port is not paused, or something is owed.
    pub(super) fn may_begin(&self, now: Time, at_most: Span) -> bool {
        self.paused_until() <= now
            || self.owed > Span::ZERO && self.paused_at.is_some_and(|at| now.since(at) < at_most)
    }

    /// A frame was sent that takes this long.
    pub(super) fn sent(&mut self, lasts: Span) {
        self.owed = self.owed.saturating_sub(lasts);
    }
}
