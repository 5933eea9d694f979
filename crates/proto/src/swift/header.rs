//! The bytes behind an IPv4 and a UDP header (appendix B adds remote queuing and the hop count to the paper's own
//! format, which it does not print). With 20 B of IPv4 and 8 B of UDP an acknowledgement is 64 B.
//!
//! | offset | bytes | in a data packet | in an acknowledgement |
//! |-------:|------:|------------------|-----------------------|
//! | 0 | 1 | version 1 (high four bits), type 1 | version 1, type 2 |
//! | 1 | 1 | flags: bit 0 ends a message | flags: bit 1 congestion experienced |
//! | 2 | 1 | zero | switches on the forward path |
//! | 3 | 1 | zero | zero |
//! | 4 | 4 | flow | flow |
//! | 8 | 4 | packet | packet that caused it |
//! | 12 | 4 | bytes of payload | first packet that has not arrived |
//! | 16 | 8 | time of sending, ps | the same, echoed |
//! | 24 | 8 | zero | arrivals above, bit 0 for the second packet not below |
//! | 32 | 4 | zero | remote queuing, us |
//!
//! Numbers are in network byte order. A data packet's congestion mark and hops are in its IP header.

use std::fmt;

use crate::transport::{Ack, Data};
use crate::units::Time;

/// Length of the header, in bytes, of data and acknowledgement alike.
pub const HEADER_BYTES: u32 = 36;

const LEN: usize = HEADER_BYTES as usize;
const DATA: u8 = 0x11;
const ACK: u8 = 0x12;
const LAST: u8 = 0b01;
const CONGESTION_EXPERIENCED: u8 = 0b10;

/// Where each field begins.
mod offset {
    pub const VERSION_AND_TYPE: usize = 0;
    pub const FLAGS: usize = 1;
    pub const HOPS: usize = 2;
    pub const RESERVED: usize = 3;
    pub const FLOW: usize = 4;
    pub const SEQ: usize = 8;
    pub const PAYLOAD_OR_CUMULATIVE: usize = 12;
    pub const TIME: usize = 16;
    pub const SACK: usize = 24;
    pub const REMOTE_QUEUING_US: usize = 32;
}

/// What a header says, beside the flow that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Data; the payload follows the header.
    Data(Data),
    /// An acknowledgement.
    Ack(Ack),
}

/// Why bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// This number of bytes, which is fewer than a header has.
    Truncated(usize),
    /// The first byte is of no known version and type.
    VersionOrType(u8),
    /// A bit is set that must be zero; the offset of its byte.
    Reserved(usize),
    /// A packet number that no flow reaches.
    Sequence(u32),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Truncated(len) => write!(f, "{len} bytes where a header has {HEADER_BYTES}"),
            HeaderError::VersionOrType(byte) => write!(f, "unknown version and type {byte:#04x}"),
            HeaderError::Reserved(offset) => write!(f, "a reserved bit is set in byte {offset}"),
            HeaderError::Sequence(seq) => write!(f, "no flow has a packet {seq}"),
        }
    }
}

impl std::error::Error for HeaderError {}

/// Bytes long enough for a header, by field.
struct Fields<B>(B);

impl<B: AsRef<[u8]>> Fields<B> {
    fn u8(&self, offset: usize) -> u8 {
        self.0.as_ref()[offset]
    }

    fn u32(&self, offset: usize) -> u32 {
        self.0.as_ref()[offset..offset + 4].iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
    }

    fn u64(&self, offset: usize) -> u64 {
        u64::from(self.u32(offset)) << 32 | u64::from(self.u32(offset + 4))
    }

    /// Bytes `from..to` must be zero.
    fn zero(&self, from: usize, to: usize) -> Result<(), HeaderError> {
        match self.0.as_ref()[from..to].iter().position(|&byte| byte != 0) {
            Some(at) => Err(HeaderError::Reserved(from + at)),
            None => Ok(()),
        }
    }

    /// The flags, of which only `known` may be set.
    fn flags(&self, known: u8) -> Result<u8, HeaderError> {
        let flags = self.u8(offset::FLAGS);
        if flags & !known == 0 {
            Ok(flags)
        } else {
            Err(HeaderError::Reserved(offset::FLAGS))
        }
    }

    /// The packet number: a flow ends before the highest, which stands for "never".
    fn seq(&self) -> Result<u32, HeaderError> {
        match self.u32(offset::SEQ) {
            u32::MAX => Err(HeaderError::Sequence(u32::MAX)),
            seq => Ok(seq),
        }
    }

    fn data(&self) -> Result<Data, HeaderError> {
        self.zero(offset::HOPS, offset::FLOW)?;
        self.zero(offset::SACK, LEN)?;
        Ok(Data {
            seq: self.seq()?,
            payload: self.u32(offset::PAYLOAD_OR_CUMULATIVE),
            last: self.flags(LAST)? != 0,
            sent: Time::from_ps(self.u64(offset::TIME)),
        })
    }

    fn ack(&self) -> Result<Ack, HeaderError> {
        self.zero(offset::RESERVED, offset::FLOW)?;
        Ok(Ack {
            seq: self.seq()?,
            cumulative: self.u32(offset::PAYLOAD_OR_CUMULATIVE),
            sack: self.u64(offset::SACK),
            echo: Time::from_ps(self.u64(offset::TIME)),
            congestion_experienced: self.flags(CONGESTION_EXPERIENCED)? != 0,
            hops: self.u8(offset::HOPS),
            remote_queuing_us: self.u32(offset::REMOTE_QUEUING_US),
        })
    }
}

impl Fields<&mut [u8]> {
    fn set<const N: usize>(&mut self, offset: usize, bytes: [u8; N]) {
        self.0[offset..offset + N].copy_from_slice(&bytes);
    }
}

impl Packet {
    /// Writes the header into the first [`HEADER_BYTES`] bytes of `buffer`. Panics when it is shorter, and on
    /// packet number 2^32 - 1, which no flow has.
    pub fn encode(&self, flow: u32, buffer: &mut [u8]) {
        let mut fields = Fields(&mut buffer[..LEN]);
        fields.set(0, [0; LEN]);
        fields.set(offset::FLOW, flow.to_be_bytes());
        let seq = match self {
            Packet::Data(data) => {
                fields.set(offset::VERSION_AND_TYPE, [DATA, u8::from(data.last) * LAST]);
                fields.set(offset::PAYLOAD_OR_CUMULATIVE, data.payload.to_be_bytes());
                fields.set(offset::TIME, data.sent.as_ps().to_be_bytes());
                data.seq
            }
            Packet::Ack(ack) => {
                let flags = u8::from(ack.congestion_experienced) * CONGESTION_EXPERIENCED;
                fields.set(offset::VERSION_AND_TYPE, [ACK, flags, ack.hops]);
                fields.set(offset::PAYLOAD_OR_CUMULATIVE, ack.cumulative.to_be_bytes());
                fields.set(offset::TIME, ack.echo.as_ps().to_be_bytes());
                fields.set(offset::SACK, ack.sack.to_be_bytes());
                fields.set(offset::REMOTE_QUEUING_US, ack.remote_queuing_us.to_be_bytes());
                ack.seq
            }
        };
        assert!(seq < u32::MAX, "a packet that no flow has");
        fields.set(offset::SEQ, seq.to_be_bytes());
    }

    /// Reads the header at the beginning of `bytes`, and the flow it belongs to. What follows the header is not
    /// looked at.
    ///
    /// ```
    /// use clearway_proto::swift::header::{HeaderError, Packet, HEADER_BYTES};
    /// use clearway_proto::transport::Data;
    /// use clearway_proto::units::Time;
    ///
    /// let packet = Packet::Data(Data { seq: 7, payload: 4096, last: true, sent: Time::from_ps(20) });
    /// let mut bytes = [0; HEADER_BYTES as usize];
    /// packet.encode(3, &mut bytes);
    /// assert_eq!(Packet::decode(&bytes), Ok((3, packet)));
    /// assert_eq!(Packet::decode(&bytes[..20]), Err(HeaderError::Truncated(20)));
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<(u32, Packet), HeaderError> {
        let fields = Fields(bytes.get(..LEN).ok_or(HeaderError::Truncated(bytes.len()))?);
        let packet = match fields.u8(offset::VERSION_AND_TYPE) {
            DATA => Packet::Data(fields.data()?),
            ACK => Packet::Ack(fields.ack()?),
            other => return Err(HeaderError::VersionOrType(other)),
        };
        Ok((fields.u32(offset::FLOW), packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field of its own bytes, so that two fields that change places are seen.
    #[test]
    fn fields_are_where_the_table_says() {
        let ack = Packet::Ack(Ack {
            seq: 0x0809_0a0b,
            cumulative: 0x0c0d_0e0f,
            sack: 0x1819_1a1b_1c1d_1e1f,
            echo: Time::from_ps(0x1011_1213_1415_1617),
            congestion_experienced: true,
            hops: 0x02,
            remote_queuing_us: 0x2021_2223,
        });
        let mut bytes = [0xff; LEN];
        ack.encode(0x0405_0607, &mut bytes);
        let mut expected: [u8; LEN] = std::array::from_fn(|at| at as u8);
        (expected[0], expected[1], expected[3]) = (0x12, 0b10, 0);
        assert_eq!(bytes, expected);

        let data = Packet::Data(Data {
            seq: 0x0809_0a0b,
            payload: 0x0c0d_0e0f,
            last: true,
            sent: Time::from_ps(0x1011_1213_1415_1617),
        });
        data.encode(0x0405_0607, &mut bytes);
        (expected[0], expected[1], expected[2]) = (0x11, 0b01, 0);
        expected[24..].fill(0);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn an_acknowledgement_with_its_headers_is_64_bytes() {
        assert_eq!(20 + 8 + HEADER_BYTES, 64);
    }
}
