//! Acknowledgements that may wait for more packets.

use crate::units::{Span, Time};

/// A receiver whose acknowledgements may wait; the fields are those of [`AckPolicy::Delayed`](super::AckPolicy::Delayed).
#[derive(Debug)]
pub(super) struct Delayed {
    pub every: u32,
    pub delay: Span,
    pub marked_at_once: bool,
    pub any_order: bool,
    /// When what is pending goes out at the latest.
    pub deadline: Time,
    /// Packets since the last acknowledgement.
    pub pending: u32,
}

/// What makes a receiver speak at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reasons {
    /// The packet is out of order, or came before.
    pub disorder: bool,
    /// The packet is the first, ends a message, or came before.
    pub news: bool,
    /// The packet has a congestion mark.
    pub mark: bool,
}

impl Delayed {
    /// Takes a packet. Returns whether it is acknowledged at once.
    pub fn note(&mut self, now: Time, reasons: Reasons) -> bool {
        self.pending += 1;
        if self.pending == 1 {
            self.deadline = now + self.delay;
        }
        let at_once = if self.any_order { reasons.news } else { reasons.disorder };
        self.pending >= self.every || at_once || self.marked_at_once && reasons.mark
    }
}
