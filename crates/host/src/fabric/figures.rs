//! What a software network counts.

use clearway_proto::histogram::Histogram;
use serde::Serialize;

/// The bytes of a [`Sample`].
pub const SAMPLE_BYTES: usize = 52;

/// The counts of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkFigures {
    /// Frames sent, PFC frames not among them.
    pub frames: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Bytes on the wire of the frames that have come to the link's end.
    pub received: u64,
    /// The most bytes that ever waited for the link, the frame in transmission among them.
    pub waiting_peak: u64,
    /// Frames of lossless priorities for which the receiving switch had no room.
    pub overflows: u64,
    /// Frames of other priorities for which the sending node had no room.
    pub drops: u64,
    /// Frames for no host, dropped at the receiving switch.
    pub strays: u64,
    /// PAUSEs sent over the link.
    pub pauses: u64,
    /// RESUMEs sent over the link.
    pub resumes: u64,
    /// The most bytes of one priority that the link ever had at the receiving switch.
    pub account_peak: u64,
    /// The most of these beyond XOFF.
    pub headroom_peak: u64,
    /// How long the link was paused, in nanoseconds: the priority that was for the longest.
    pub paused_ns: u64,
    /// How often the link began to be paused.
    pub pauses_begun: u64,
    /// How often a PAUSE for the link ran out.
    pub ran_out: u64,
}

/// The state of a link at a time: a row of the file of samples, of integers with the lowest byte first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The time, by the monotonic clock of the host, in nanoseconds.
    pub at_ns: u64,
    /// The number of the link.
    pub link: u32,
    /// Frames sent so far: [`LinkFigures::frames`].
    pub frames: u64,
    /// Bytes sent so far: [`LinkFigures::bytes`].
    pub bytes: u64,
    /// Bytes on the wire of the frames that have come to the link's end so far.
    pub received: u64,
    /// Bytes that wait for the link.
    pub waiting: u64,
    /// Frames lost at either end so far.
    pub lost: u64,
}

impl Sample {
    /// The row.
    pub fn to_bytes(self) -> [u8; SAMPLE_BYTES] {
        let mut bytes = [0; SAMPLE_BYTES];
        bytes[..8].copy_from_slice(&self.at_ns.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.link.to_le_bytes());
        let counts = [self.frames, self.bytes, self.received, self.waiting, self.lost];
        for (place, count) in bytes[12..].chunks_exact_mut(8).zip(counts) {
            place.copy_from_slice(&count.to_le_bytes());
        }
        bytes
    }
}

/// The counts of a network, at its end.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// How long it ran, in nanoseconds.
    pub elapsed_ns: u64,
    /// How late events were handled.
    pub lateness: Lateness,
    /// Frames that a device did not take.
    pub send_errors: u64,
    /// The links, by number.
    pub links: Vec<LinkFigures>,
}

/// How late events were handled, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Lateness {
    /// Half of them were handled sooner after their time.
    pub p50_ns: u64,
    /// 99 of 100 were handled sooner after their time.
    pub p99_ns: u64,
    /// The latest.
    pub max_ns: u64,
}

impl Lateness {
    /// The figures of a histogram of times.
    pub fn of(seen: &Histogram) -> Lateness {
        let at = |fraction| seen.quantile(fraction).unwrap_or(0) / 1000;
        Lateness { p50_ns: at(0.5), p99_ns: at(0.99), max_ns: at(1.0) }
    }
}
