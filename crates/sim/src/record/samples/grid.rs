//! The instants at which one kind of samples is taken.

use clearway_proto::units::{Span, Time};

/// A time grid; without a step it has no instants.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) step: Option<Span>,
    pub(super) next: Time,
}

impl Grid {
    pub(super) fn new(step: Option<Span>) -> Grid {
        Grid { step, next: step.map_or(Time::NEVER, |step| Time::ZERO + step) }
    }

    /// Returns whether `now` is on the grid; if so, moves on.
    pub(super) fn strikes(&mut self, now: Time) -> bool {
        match self.step {
            Some(step) if now >= self.next => {
                self.next = self.next + step;
                true
            }
            _ => false,
        }
    }
}
