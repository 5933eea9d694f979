//! A port: the queue and the transmitter at the start of a link, and what all links of a kind have in common.

use clearway_proto::units::{Bytes, Rate, Span};

use crate::engine::queue::{EventQueue, LaneId};

/// No node of the queue's pool.
pub const NO_NODE: u32 = u32::MAX;

/// One cache line: all that a frame touches on its way through.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Port {
    /// Sum over frames that waited of size times wait, in byte picoseconds: the integral of the bytes waiting.
    pub waited: u128,
    /// When the frame in transmission, if any, has left, in picoseconds.
    pub busy_until: u64,
    /// Bytes whose transmission has begun.
    pub sent_bytes: u64,
    /// Frames whose transmission has begun.
    pub sent_frames: u64,
    /// The frames that wait; with classes each has a queue of its own instead.
    pub fifo: Fifo,
    /// Bytes waiting, without the frame in transmission.
    pub waiting: u32,
    /// Most bytes held at once, with the frame in transmission, seen when a frame had to wait; 0 where none has.
    pub peak: u32,
    /// Size of the frame in transmission.
    pub in_transmission: u32,
    /// Index of its [`PortKind`].
    pub kind: u16,
    /// See the constants below.
    pub flags: u8,
}

/// Frames in the order in which they came, as a list in a common pool.
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    /// First frame.
    pub head: u32,
    /// Last frame; meaningless without a first.
    pub tail: u32,
}

impl Fifo {
    /// No frame.
    pub const EMPTY: Fifo = Fifo { head: NO_NODE, tail: NO_NODE };

    /// Whether there is no frame.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.head == NO_NODE
    }
}

/// What ports have in common.
#[derive(Clone, Debug)]
pub struct PortKind {
    /// Rate, delay and lanes of the link.
    pub link: LinkKind,
    /// Bytes that may be at the port, with the frame in transmission.
    pub capacity: u32,
    /// ECN-capable frames that find more bytes at the port are marked.
    pub mark_above: u32,
}

impl Port {
    /// A wake is to come at `busy_until`.
    pub const ARMED: u8 = 1;
    /// It takes its room from a buffer shared by its switch: the end of every transmission is an event.
    pub const SHARED: u8 = 2;
    /// It marks with a probability.
    pub const RED: u8 = 4;
    /// Its link loses frames at some time.
    pub const FAULTY: u8 = 8;
    /// It is a host's: when its queue is empty, flows are asked.
    pub const NIC: u8 = 16;
    /// Frames wait in a queue for each class.
    pub const CLASSED: u8 = 32;

    /// An idle port of kind `kind`.
    pub fn new(kind: u16, flags: u8) -> Port {
        Port {
            waited: 0,
            busy_until: 0,
            sent_bytes: 0,
            sent_frames: 0,
            fifo: Fifo::EMPTY,
            waiting: 0,
            peak: 0,
            in_transmission: 0,
            kind,
            flags,
        }
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Nothing is in transmission and nothing waits.
    #[inline]
    pub fn is_idle(&self, now: u64) -> bool {
        self.busy_until <= now && self.waiting == 0
    }

    /// Bytes here, with the frame in transmission until its last bit has left.
    #[inline]
    pub fn held(&self, now: u64) -> u32 {
        self.waiting + if self.busy_until > now { self.in_transmission } else { 0 }
    }
}

/// What a port counts beside the line that every frame touches: only frames lost or marked come here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames for which there was no room.
    pub dropped_frames: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Frames marked.
    pub marked_frames: u64,
    /// Frames lost on the link.
    pub lost_frames: u64,
    /// Their bytes.
    pub lost_bytes: u64,
}

/// Frame sizes of a kind of link that have lanes of their own.
const COMMON_SIZES: usize = 4;

/// Rate and delay, with the transmission times of common frame sizes and the event lanes that belong to them.
#[derive(Clone, Debug)]
pub struct LinkKind {
    rate: Rate,
    delay: u64,
    /// Zero where there are fewer sizes.
    sizes: [u32; COMMON_SIZES],
    transmissions: [Transmission; COMMON_SIZES],
}

/// How long a frame takes, and the lanes of its two events.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// On the wire, in picoseconds.
    pub time: u64,
    /// Of the arrival at the link's end, the transmission and the link's delay from now.
    pub arrival: LaneId,
    /// Of the wake at the transmission's end.
    pub wake: LaneId,
}

impl LinkKind {
    /// A kind of link, with lanes in `queue` for the first few of `common` frame sizes.
    pub fn new(rate: Rate, delay: Span, common: &[u32], queue: &mut EventQueue) -> LinkKind {
        let odd = Transmission { time: 0, arrival: LaneId::NONE, wake: LaneId::NONE };
        let mut kind = LinkKind {
            rate,
            delay: delay.as_ps(),
            sizes: [0; COMMON_SIZES],
            transmissions: [odd; COMMON_SIZES],
        };
        for (at, &size) in common.iter().take(COMMON_SIZES).enumerate() {
            let time = rate.transmission(Bytes::new(u64::from(size))).as_ps();
            kind.sizes[at] = size;
            kind.transmissions[at] =
                Transmission { time, arrival: queue.lane(time + kind.delay), wake: queue.lane(time) };
        }
        kind
    }

    /// One way, in picoseconds.
    #[inline]
    pub fn delay(&self) -> u64 {
        self.delay
    }

    /// Speed.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The transmission of a frame of `size` bytes.
    #[inline]
    pub fn transmission(&self, size: u32) -> Transmission {
        for (at, &common) in self.sizes.iter().enumerate() {
            if common == size {
                return self.transmissions[at];
            }
        }
        let time = self.rate.transmission(Bytes::new(u64::from(size))).as_ps();
        Transmission { time, arrival: LaneId::NONE, wake: LaneId::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_cache_line() {
        assert_eq!(size_of::<Port>(), 64);
    }

    #[test]
    fn an_odd_size_takes_as_long_as_its_rate_says() {
        let kind = LinkKind::new(Rate::from_gbps(100), Span::from_us(1), &[4000, 64], &mut EventQueue::new());
        assert_eq!(kind.transmission(4000).time, 320_000);
        assert_eq!(kind.transmission(1).time, 80);
        assert_eq!(kind.transmission(1).arrival, LaneId::NONE);
    }
}
