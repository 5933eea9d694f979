//! The sending side of a port: when the link is free for what waits.

use clearway_proto::pfc::frame::PfcFrame;
use clearway_proto::units::{Bytes, Rate, Span, Time};

use crate::relay::figures::PortFigures;

/// A frame that comes when nothing waits finds the link to have been free for this long: timers of hosts are not as exact as frames are short.
const FREE_BEFORE: Span = Span::from_us(200);
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
    /// The time from which on the link was last taken to be free.
    free_since: Time,
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
            made_up: made_up.max(FREE_BEFORE),
            free_at: Time::ZERO,
            free_since: Time::ZERO,
            told_at: Time::ZERO,
            next: 0,
            farewell: None,
            figures: PortFigures::default(),
        }
    }

    /// The first frame came.
    pub(super) fn begins(&mut self, now: Time) {
        self.is_free_from(before(now, FREE_BEFORE));
    }

    /// Nothing that waits may have left before.
    pub(super) fn is_free_from(&mut self, from: Time) {
        if self.free_at < from {
            (self.free_at, self.free_since) = (from, from);
        }
    }

    /// A frame was sent. Returns how long it takes.
    pub(super) fn sent(&mut self, size: Bytes, now: Time) -> Span {
        let lasts = self.rate.transmission(size);
        self.free_at = self.free_at.max(before(now, self.made_up)) + lasts;
        lasts
    }

    /// The kernel has passed this many bytes since it last told.
    pub(super) fn passed(&mut self, size: Bytes, now: Time) {
        let most = now.since(self.told_at.max(self.free_since)) / SHARES * (SHARES - 1);
        self.free_at = self.free_at + self.rate.transmission(size).min(most);
        self.told_at = now;
    }
}

fn before(now: Time, by: Span) -> Time {
    Time::from_ps(now.as_ps().saturating_sub(by.as_ps()))
}
