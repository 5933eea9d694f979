//! A port: the queue and the transmitter at the start of a link, and what all links of a kind have in common.

use clearway_proto::units::{Bytes, Rate, Span};

use crate::engine::event::{id_of, key, Kind};

/// One cache line: all that a frame touches on its way through a plain port.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Port {
    /// When all that was sent or, at a plain port, has joined the queue has left, in picoseconds.
    pub busy_until: u64,
    /// Bytes sent; at a plain port with those that wait.
    pub(super) sent_bytes: u64,
    /// The lower part of the sum over frames that waited of size times wait, in byte picoseconds.
    waited_low: u64,
    /// Frames sent; at a plain port with those that wait. Not beside `sent_bytes`: compilers then add to both as to one
    /// vector, which takes more instructions than it saves.
    pub(super) sent_frames: u64,
    /// The upper part of that sum: the integral of the bytes waiting.
    waited_high: u32,
    /// The frames of a plain port that wait, behind the one in transmission; see [`super::plain`].
    pub(super) backlog: super::backlog::Backlog,
    /// Most bytes held at once, with the frame in transmission, seen when a frame had to wait; 0 where none has.
    pub peak: u32,
    /// The key of an arrival over the link that it feeds.
    pub arrival_key: u32,
    /// The node at the link's end, as its domain knows it.
    pub node: u32,
    /// Index of its [`PortKind`].
    pub kind: u16,
    /// The port's flags; see the constants below.
    pub flags: u8,
}

/// What ports have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortKind {
    /// Rate of the link.
    pub rate: Rate,
    /// Delay of the link, one way.
    pub delay: Span,
    /// Bytes that may be at the port, with the frame in transmission.
    pub capacity: u32,
    /// ECN-capable frames that find more bytes at the port are marked.
    pub mark_above: u32,
    /// ECN-capable frames behind which more bytes wait as they begin to leave are marked.
    pub mark_behind: u32,
    /// Picoseconds that a byte takes; 0 where that is no whole number.
    byte_time: u32,
}

impl PortKind {
    /// The ports of links of this rate and delay, with room for `capacity` bytes, that mark nothing.
    pub fn new(rate: Rate, delay: Span, capacity: u32) -> PortKind {
        let byte_time = byte_time(rate);
        PortKind { rate, delay, capacity, mark_above: u32::MAX, mark_behind: u32::MAX, byte_time }
    }

    /// Returns these ports with links of another rate.
    #[must_use]
    pub fn at_rate(&self, rate: Rate) -> PortKind {
        PortKind { rate, byte_time: byte_time(rate), ..self.clone() }
    }

    /// Returns whether they mark frames as these begin to leave.
    #[inline(always)]
    pub fn marks_behind(&self) -> bool {
        self.mark_behind != u32::MAX
    }

    /// Returns whether they mark frames.
    pub fn marks(&self) -> bool {
        self.marks_behind() || self.mark_above != u32::MAX
    }

    /// Returns how long a frame of `size` bytes takes on the wire, in picoseconds.
    #[inline(always)]
    pub fn transmission(&self, size: u32) -> u64 {
        match u64::from(self.byte_time) * u64::from(size) {
            0 => self.uneven_transmission(size),
            time => time,
        }
    }

    /// Does what [`Self::transmission`] does, where a byte takes no whole number of picoseconds.
    #[cold]
    #[inline(never)]
    fn uneven_transmission(&self, size: u32) -> u64 {
        self.rate.transmission(Bytes::new(u64::from(size))).as_ps()
    }
}

impl Port {
    /// The port has rules beyond one queue with a buffer of its own; see [`super::ruled`].
    pub const RULED: u8 = 1;
    /// It is a host's: when its queue is empty, flows are asked.
    pub const NIC: u8 = 2;
    /// It is in the list of [`super::backlog::Departures::marking`].
    pub(super) const LISTED: u8 = 4;
    /// It is ruled, and the end of its transmission is an event to come.
    pub const ARMED: u8 = 8;
    /// It is in the list of those that are to catch up when the window ends.
    pub const BEHIND: u8 = 16;

    /// It is ruled, and a transmission is under way, or has ended and the port has not caught up.
    pub(super) const TRANSMITS: u8 = 64;
    /// It is plain, and marks frames that wait.
    pub(super) const MARKS: u8 = 32;
    /// It is a ruled NIC of a host that looks at it before anything else happens there, so that no end of a transmission is an event.
    pub const CATCHES_UP: u8 = 128;

    /// An idle port of this kind at the start of `link`.
    pub fn new(kind: u16, link: u32, flags: u8) -> Port {
        Port {
            busy_until: 0,
            sent_bytes: 0,
            waited_low: 0,
            sent_frames: 0,
            waited_high: 0,
            backlog: super::backlog::Backlog::EMPTY,
            peak: 0,
            arrival_key: key(Kind::Arrival, link),
            node: u32::MAX,
            kind,
            flags,
        }
    }

    /// The number of the link that it feeds.
    #[inline(always)]
    pub fn link(&self) -> u32 {
        id_of(self.arrival_key)
    }

    /// Returns whether a ruled port transmits, or has not caught up with the end of a transmission.
    #[inline(always)]
    pub fn transmits(&self) -> bool {
        self.intersects(Port::TRANSMITS)
    }

    /// Returns whether any of `flags` is set.
    #[inline]
    pub fn intersects(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Counts a frame of `size` bytes that waits, or has waited, for `wait` picoseconds.
    #[inline(always)]
    pub(super) fn count_wait(&mut self, wait: u64, size: u32) {
        let product = u128::from(wait) * u128::from(size);
        let (low, carry) = self.waited_low.overflowing_add(product as u64);
        self.waited_low = low;
        self.waited_high += (product >> 64) as u32 + u32::from(carry);
    }

    /// The sum over frames that waited of size times wait, in byte picoseconds.
    pub(super) fn waited(&self) -> u128 {
        u128::from(self.waited_high) << 64 | u128::from(self.waited_low)
    }
}

/// Picoseconds that a byte takes at `rate`; 0 where that is no whole number.
fn byte_time(rate: Rate) -> u32 {
    const BITS_PS: u64 = 8_000_000_000_000;
    let bps = rate.as_bps();
    if BITS_PS % bps == 0 {
        u32::try_from(BITS_PS / bps).unwrap_or(0)
    } else {
        0
    }
}

/// What a port has sent and what waits at it, at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortFigures {
    /// Bytes whose transmission has begun.
    pub sent_bytes: u64,
    /// Frames whose transmission has begun.
    pub sent_frames: u64,
    /// Bytes waiting, without the frame in transmission.
    pub waiting_bytes: u32,
    /// Frames waiting, without the frame in transmission.
    pub waiting_frames: u64,
    /// The integral of the bytes waiting so far, in byte picoseconds.
    pub waited: u128,
    /// When the frame in transmission, if any, has left, in picoseconds.
    pub busy_until: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_cache_line() {
        assert_eq!(size_of::<Port>(), 64);
    }

    #[test]
    fn a_transmission_is_what_the_rate_says() {
        for bps in [100_000_000_000, 40_000_000_000, 3_000_000_000, 7, 123_456_789_123] {
            let rate = Rate::from_bps(bps);
            let kind = PortKind::new(rate, Span::from_us(1), u32::MAX);
            for size in [1, 64, 4000, 65_535] {
                let exact = rate.transmission(Bytes::new(u64::from(size))).as_ps();
                assert_eq!(kind.transmission(size), exact);
            }
        }
    }
}
