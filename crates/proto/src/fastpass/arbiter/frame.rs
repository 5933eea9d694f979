//! The clock by which slots are counted: the arbiter's own, moved so that it agrees with most endpoints'.

use crate::fastpass::timeslots::Timeslots;
use crate::units::Time;

/// The arbiter's count of slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) timeslots: Timeslots,
    /// Slots by which the count is ahead of the arbiter's clock.
    pub(super) ahead: i64,
}

impl Frame {
    /// The slot of now.
    pub(super) fn slot(&self, now: Time) -> u64 {
        self.timeslots.of(now).saturating_add_signed(self.ahead)
    }

    /// Returns when a slot begins by the arbiter's clock; the clock's zero for one that began before.
    pub(super) fn start(&self, slot: u64) -> Time {
        self.timeslots.start(slot.saturating_add_signed(-self.ahead))
    }
}
