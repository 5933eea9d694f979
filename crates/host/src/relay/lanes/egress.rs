//! The sending side of a port: when the link is free for what waits.

use clearway_proto::pfc::frame::PfcFrame;
use clearway_proto::units::{Bytes, Rate, Span, Time};

use crate::relay::figures::PortFigures;

/// A port that was late makes up for this much, at once: timers of hosts are not as exact as frames are short.
const MADE_UP: Span = Span::from_us(200);
/// What waits has at least one part in this many of the link, whatever the kernel passes on: priorities of switches have shares, too.
const SHARES: u64 = 8;

/// The sending side of a port.
#[derive(Debug)]
pub(super) struct Egress {
    pub(super) source: [u8; 6],
    rate: Rate,
    /// The time at which the link has sent all that it was given.
    pub(super) free_at: Time,
    /// The time at which the kernel last told what it has passed.
    told_at: Time,
    /// The lane whose turn it is.
    pub(super) next: usize,
    /// A PFC frame for all lanes, before the relay leaves.
    pub(super) farewell: Option<PfcFrame>,
    pub(super) figures: PortFigures,
}

impl Egress {
    pub(super) fn new(source: [u8; 6], rate: Rate) -> Egress {
        let figures = PortFigures::default();
        Egress { source, rate, free_at: Time::ZERO, told_at: Time::ZERO, next: 0, farewell: None, figures }
    }

    /// A frame was sent.
    pub(super) fn sent(&mut self, size: Bytes, now: Time) {
        let from = self.free_at.max(Time::from_ps(now.as_ps().saturating_sub(MADE_UP.as_ps())));
        self.free_at = from + self.rate.transmission(size);
    }

    /// The kernel has passed this many bytes since it last told.
    pub(super) fn passed(&mut self, size: Bytes, now: Time) {
        let most = now.since(self.told_at) / SHARES * (SHARES - 1);
        self.free_at = self.free_at.max(self.told_at) + self.rate.transmission(size).min(most);
        self.told_at = now;
    }
}
