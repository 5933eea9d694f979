//! The sending side of a port: when the link is free for what waits.

use clearway_proto::pfc::frame::PfcFrame;
use clearway_proto::units::{Bytes, Rate, Span, Time};

use crate::relay::figures::PortFigures;

/// A frame that comes when nothing waits finds the link to have been free for this long: timers of hosts are not as exact as frames are short.
pub(super) const FREE: Span = Span::from_us(200);
/// What waits has at least one part in this many of the link, whatever the kernel passes on: priorities of switches have shares, too.
const SHARES: u64 = 8;

/// The sending side of a port.
#[derive(Debug)]
pub(super) struct Egress {
    pub(super) source: [u8; 6],
    rate: Rate,
    /// A port that was late with what waited makes up for this much, at once.
    pub(super) made_up: Span,
    /// The time at which the link has sent all that it was given.
    pub(super) free_at: Time,
    /// The time from which on something has waited without a break.
    waits_since: Time,
    /// The time at which the kernel last told what it has passed.
    told_at: Time,
    /// The lane whose turn it is: the one behind that which sent last.
    pub(super) next: usize,
    /// A PFC frame for all lanes, before the relay leaves.
    pub(super) farewell: Option<PfcFrame>,
    pub(super) figures: PortFigures,
}

impl Egress {
    pub(super) fn new(source: [u8; 6], rate: Rate, made_up: Span) -> Egress {
        Egress {
            source,
            rate,
            made_up: made_up.max(FREE),
            free_at: Time::ZERO,
            waits_since: Time::ZERO,
            told_at: Time::ZERO,
            next: 0,
            farewell: None,
            figures: PortFigures::default(),
        }
    }

    /// The first frame of all that wait came.
    pub(super) fn begin(&mut self, now: Time) {
        self.waits_since = before(now, FREE);
    }

    /// Returns when a frame begins that may have left since `since`.
    pub(super) fn begins(&self, since: Time, now: Time) -> Time {
        self.free_at.max(since).max(before(now, self.made_up))
    }

    /// A frame was sent that began at `from`. Returns how long it takes.
    pub(super) fn sent(&mut self, size: Bytes, from: Time) -> Span {
        let lasts = self.rate.transmission(size);
        self.free_at = from + lasts;
        lasts
    }

    /// The kernel has passed this many bytes since it last told.
    pub(super) fn passed(&mut self, size: Bytes, now: Time) {
        let most = now.since(self.told_at.max(self.waits_since)) / SHARES * (SHARES - 1);
        self.free_at = self.free_at.max(self.waits_since) + self.rate.transmission(size).min(most);
        self.told_at = now;
    }
}

/// The time that is this much earlier.
pub(super) fn before(now: Time, by: Span) -> Time {
    Time::from_ps(now.as_ps().saturating_sub(by.as_ps()))
}
