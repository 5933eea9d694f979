//! What the far relay is told of the switch's PAUSEs: as much time as the switch allowed, though the process is late.
//!
//! The distance between PAUSE and RESUME is the message. A process that stands still while a RESUME waits for it tells the far relay later
//! than the switch let go, and so of less time; what is missing is missing from the queue that waits here, for good. So the time that the
//! switch allowed, by the kernel's stamps, is held against the time that the far relay was told of: a PAUSE goes on later by what is missing,
//! and a RESUME by what was too much.

use clearway_proto::units::{Span, Time};

/// A difference that is not worth a signal of its own.
const NEGLIGIBLE: i128 = 1_000_000;

/// The time that the switch allowed for a lane, and what the far relay has been told of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling {
    is_allowed: bool,
    is_told: bool,
    /// Time that was allowed less time that was told, in picoseconds, at the time `at`.
    owed: i128,
    at: Time,
    /// When the switch paused.
    paused_at: Time,
    /// What its last PAUSE asks for.
    quanta: u16,
}

impl Telling {
    /// The switch allows to send, and the far relay knows it.
    pub(super) fn from(now: Time) -> Telling {
        Telling { is_allowed: true, is_told: true, owed: 0, at: now, paused_at: now, quanta: 0 }
    }

    /// The switch has allowed to send, or with quanta not, at the time `arrived`. Nothing is told more than `at_most` late. Returns whether
    /// this repeats what has been said: then it goes on at once.
    pub(super) fn hear(&mut self, quanta: u16, arrived: Time, now: Time, at_most: Span) -> bool {
        self.advance(now);
        let is_allowed = quanta == 0;
        self.quanta = quanta;
        if is_allowed == self.is_allowed {
            return self.is_told == is_allowed;
        }
        let read_late = i128::from(now.since(arrived).as_ps());
        let at_most = i128::from(at_most.as_ps());
        self.owed = (self.owed + if is_allowed { read_late } else { -read_late }).clamp(-at_most, at_most);
        self.is_allowed = is_allowed;
        if !is_allowed {
            self.paused_at = arrived;
        }
        false
    }

    /// Returns the quanta of the PAUSE that goes on now, 0 for a RESUME; none: nothing is to be said.
    pub(super) fn poll(&mut self, now: Time, at_most: Span) -> Option<u16> {
        self.advance(now);
        let in_time = now.since(self.paused_at) < at_most;
        let wanted =
            if self.is_allowed { self.owed > -NEGLIGIBLE } else { self.owed >= NEGLIGIBLE && in_time };
        if wanted == self.is_told {
            return None;
        }
        self.is_told = wanted;
        Some(if wanted { 0 } else { self.quanta })
    }

    /// Returns when there may be something to say, if nothing is heard before.
    pub(super) fn poll_timeout(&self, at_most: Span) -> Time {
        if self.is_told == self.is_allowed {
            return Time::NEVER;
        }
        let level = self.at + Span::from_ps(self.owed.unsigned_abs() as u64);
        if self.is_allowed {
            level
        } else {
            level.min(self.paused_at + at_most)
        }
    }

    fn advance(&mut self, now: Time) {
        let since = i128::from(now.since(self.at).as_ps());
        self.owed += since * (i128::from(self.is_allowed) - i128::from(self.is_told));
        self.at = self.at.max(now);
    }
}
