//! The time in which a lane's port may send, kept to though the process is late.
//!
//! A process stands still now and then, and wakes some 50 us after a RESUME. The relay at the other end of the long link counts what it
//! grants; what is not sent of that is missing from the queue that waits there, and nothing makes up for it. So an allowance goes by when
//! PAUSE and RESUME came, as the kernel stamped them: what was not sent in time is sent after the PAUSE, and what was sent too much is
//! taken off the next allowance. No more is sent than was granted, and nothing later than a PAUSE may take to work.

use clearway_proto::units::{Span, Time};

use super::egress::before;

/// What had become of an allowance when PAUSE was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// When the link has sent all that it was given.
    pub(super) free_at: Time,
    /// Whether frames wait.
    pub(super) waits: bool,
}

/// The allowance of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowance {
    /// The time at which the lane's port was paused; none: it may send.
    paused_at: Option<Time>,
    /// The time at which the PAUSE runs out.
    until: Time,
    /// The time from which on what waits may have left: the start of the allowance, with what the one before has left or has used of it.
    since: Time,
    /// The start of the allowance alone.
    resumed_at: Time,
    /// The end of the last frame that was sent.
    used_until: Time,
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
        // One that came before an earlier PAUSE ran out, and is read after that, ends no spell.
        let is_again = at < self.resumed_at;
        let at = at.max(self.resumed_at);
        self.paused_at = Some(at);
        if used.waits && !is_again {
            self.owed = at.since(used.free_at.max(self.since)).min(at_most);
        }
        self.overdrawn = self.used_until.max(self.since).since(at);
    }

    /// The port may send again from `at` on.
    pub(super) fn resume(&mut self, at: Time) {
        if self.paused_at.take().is_some() {
            let (owed, overdrawn) = (std::mem::take(&mut self.owed), std::mem::take(&mut self.overdrawn));
            self.since = before(at + overdrawn, owed);
            self.resumed_at = at;
        }
    }

    /// The first frame that waits came no earlier than `at`.
    pub(super) fn begin(&mut self, at: Time) {
        self.since = self.since.max(at);
    }

    /// Returns the time from which on what waits may have left.
    pub(super) fn since(&self) -> Time {
        self.since
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

    /// A frame was sent that takes this long, up to `until`.
    pub(super) fn sent(&mut self, lasts: Span, until: Time) {
        if self.paused_at.is_some() {
            self.overdrawn += lasts.saturating_sub(self.owed);
            self.owed = self.owed.saturating_sub(lasts);
        }
        self.used_until = until;
    }
}
