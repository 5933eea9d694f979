//! Payload and what goes over the wire for it: a slot is time of a link, in which full-size frames leave.

use clearway_proto::units::{Rate, Span};

/// Bytes that a frame takes on an Ethernet link beside its IP packet: a header of 14, a checksum of 4, a preamble of 8 and a gap of
/// 12.
const ETHERNET: u64 = 38;
/// The headers of IPv4 (20 bytes) and of TCP with timestamps (32), until a socket has told its own.
const HEADERS: u16 = 52;
/// The least payload that a segment is taken to have: with less a socket is no measure of the others.
const LEAST_PAYLOAD: u16 = 88;
const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A full-size segment of TCP: the payload that it carries, and the bytes of its IP and TCP headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    payload: u16,
    headers: u16,
}

impl Segment {
    /// A segment with this payload, in bytes, and the usual headers.
    pub(super) fn usual(payload: u32) -> Segment {
        Segment::new(u16::try_from(payload).unwrap_or(u16::MAX), HEADERS)
    }

    /// A segment of a socket that tells its payload and headers, in bytes.
    pub(super) fn new(payload: u16, headers: u16) -> Segment {
        Segment { payload: payload.max(LEAST_PAYLOAD), headers }
    }

    /// Its payload, in bytes.
    pub(super) fn payload(self) -> u64 {
        u64::from(self.payload)
    }

    fn wire(self) -> u128 {
        u128::from(self.payload) + u128::from(self.headers) + u128::from(ETHERNET)
    }

    /// The payload of full-size frames that take `wire` bytes on the wire.
    pub(super) fn payload_of_wire(self, wire: u64) -> u64 {
        (u128::from(wire) * u128::from(self.payload) / self.wire()) as u64
    }

    /// Bytes of the wire that full-size frames with `payload` bytes in all take.
    pub(super) fn wire_of_payload(self, payload: u64) -> u64 {
        u64::try_from(u128::from(payload) * self.wire() / u128::from(self.payload)).unwrap_or(u64::MAX)
    }

    /// The time that a link of this rate takes for `payload` bytes in full-size frames.
    pub(super) fn link_time(self, payload: u64, rate: Rate) -> Span {
        let bits = u128::from(payload) * 8 * self.wire();
        let ps = bits * PS_PER_SECOND / (u128::from(self.payload) * u128::from(rate.as_bps()));
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Bytes of payload a second that leave if the link is used for `used` of each `of`.
    pub(super) fn payload_rate(self, used: Span, of: Span, rate: Rate) -> u64 {
        let bits = u128::from(used.as_ps()) * u128::from(rate.as_bps()) / u128::from(of.as_ps().max(1));
        u64::try_from(bits * u128::from(self.payload) / (self.wire() * 8)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_of_1448_bytes_takes_1538_on_the_wire() {
        let (segment, gigabit) = (Segment::usual(1448), Rate::from_gbps(1));
        assert_eq!(segment.link_time(1448, gigabit), Span::from_ns(1538 * 8));
        // 1448 / 1538 of 125 MB/s, rounded down.
        assert_eq!(segment.payload_rate(Span::from_ms(1), Span::from_ms(1), gigabit), 117_685_305);
        assert_eq!(segment.payload_rate(Span::from_ms(1), Span::from_ms(10), gigabit), 11_768_530);
        assert_eq!((segment.payload_of_wire(3076), segment.wire_of_payload(2896)), (2896, 3076));
    }

    #[test]
    fn headers_of_ipv6_cost_20_bytes_more() {
        let segment = Segment::new(1428, 72);
        assert_eq!(segment.link_time(1428, Rate::from_gbps(1)), Span::from_ns(1538 * 8));
    }
}
