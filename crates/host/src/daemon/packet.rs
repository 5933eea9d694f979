//! What two processes say to each other: the bytes of a UDP datagram.
//!
//! Every datagram begins with the connection, 8 bytes that its sender drew at random, and the 36 bytes of a header.
//! Data and acknowledgements have Swift's own header ([`clearway_proto::swift::header`]); what opens and closes a
//! connection has the same length and the same first byte:
//!
//! | offset | bytes | open | accept | finish | finished | close |
//! |-------:|------:|------|--------|--------|----------|-------|
//! | 0 | 8 | connection | connection | connection | connection | connection |
//! | 8 | 1 | version 1 (high four bits), type 3 | type 4 | type 5 | type 6 | type 7 |
//! | 9 | 1 | zero | zero | zero | verdict | reason |
//! | 10 | 2 | zero | zero | zero | zero | zero |
//! | 12 | 4 | largest payload, bytes | zero | zero | zero | zero |
//! | 16 | 4 | flows | zero | zero | zero | zero |
//! | 20 | 4 | reach, packets | zero | zero | zero | zero |
//! | 24 | 8 | operations | zero | packets sent | packets that arrived | zero |
//! | 32 | 8 | bytes of each | zero | digest | digest | zero |
//! | 40 | 4 | zero | zero | zero | zero | zero |
//!
//! Numbers are in network byte order. Behind the header stands a data packet's payload and nothing else; an open is
//! filled up to the length of a full data packet, so that a path that carries the one carries the other.

use std::fmt;

use clearway_proto::swift::header::{HeaderError, Packet, HEADER_BYTES};

use crate::daemon::layout::Layout;

/// The length of everything before the payload, in bytes.
pub const PREFIX_BYTES: usize = 8 + HEADER_BYTES as usize;
/// What IPv6 and UDP add to a datagram, in bytes; IPv4 adds 20 bytes less.
pub const IP_UDP_BYTES: usize = 48;

const VERSION: u8 = 1;
const TYPE_BITS: u32 = 4;
const OPEN: u8 = 0x13;
const ACCEPT: u8 = 0x14;
const FINISH: u8 = 0x15;
const FINISHED: u8 = 0x16;
const CLOSE: u8 = 0x17;

/// The offset of each field.
mod offset {
    pub const CONNECTION: usize = 0;
    pub const VERSION_AND_TYPE: usize = 8;
    pub const CODE: usize = 9;
    pub const RESERVED: usize = 10;
    pub const MTU: usize = 12;
    pub const FLOWS: usize = 16;
    pub const REACH: usize = 20;
    pub const FIRST: usize = 24;
    pub const SECOND: usize = 32;
    pub const TAIL: usize = 40;
}

/// The meaning of a datagram, without a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The number of the connection that the datagram belongs to.
    pub connection: u64,
    /// What the datagram says.
    pub body: Body,
}

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// The sender announces what follows.
    Open(Open),
    /// The receiver accepts.
    Accept,
    /// Data or an acknowledgement of one flow.
    Flow(u32, Packet),
    /// The sender has everything acknowledged.
    Finish(Finish),
    /// The receiver reports the result.
    Finished(Finished),
    /// Either end closes the connection.
    Close(Reason),
}

/// What a sender announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The operations, and the packets that they are sent in.
    pub layout: Layout,
    /// How far ahead of the lowest unacknowledged packet each flow may be, in packets.
    pub reach: u32,
}

/// What a sender has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finish {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// The digest of all payload and its positions.
    pub digest: u64,
}

/// What a receiver has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Whether what was received is what was sent.
    pub verdict: Verdict,
    /// Data packets that arrived, duplicates included.
    pub arrived: u64,
    /// The digest of what it has received, for the sender to check.
    pub digest: u64,
}

/// Whether what was received is what was sent. THE ORDER IS THAT OF THE NUMBERS ON THE WIRE, FROM ZERO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte that was received is what was sent.
    Whole,
    /// Some bytes that were received differ from what was sent.
    Differs,
    /// The receiver could not store what it received.
    NotKept,
}

/// Why a connection ends, before it is finished or after. THE ORDER IS THAT OF THE NUMBERS ON THE WIRE, FROM ZERO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The transfer is complete: the answer to [`Body::Finished`].
    Done,
    /// The receiver is busy with another sender.
    Busy,
    /// The receiver does not accept this amount of data, or packets of this size.
    Layout,
    /// The peer could not read or write its file.
    File,
    /// The peer was interrupted.
    Interrupted,
}

/// Why bytes are not a valid datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// There are only this many bytes, which is fewer than every datagram has.
    Truncated(usize),
    /// The bytes are of this other version of the protocol.
    Version(u8),
    /// The header in the bytes is invalid.
    Header(HeaderError),
    /// There are this many bytes behind the header, and it says otherwise.
    Payload(usize),
    /// A field has an invalid value; this is the offset of its first byte.
    Field(usize),
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::Truncated(len) => write!(f, "{len} bytes where a datagram has {PREFIX_BYTES}"),
            PacketError::Version(version) => write!(f, "version {version} where {VERSION} is spoken"),
            PacketError::Header(error) => write!(f, "{error}"),
            PacketError::Payload(len) => write!(f, "{len} bytes behind a header that says otherwise"),
            PacketError::Field(offset) => write!(f, "a value in byte {offset} that no field has"),
        }
    }
}

impl std::error::Error for PacketError {}

impl Datagram {
    /// Writes everything before the payload into the first [`PREFIX_BYTES`] of `buffer`. Panics when it is shorter.
    pub fn encode(&self, buffer: &mut [u8]) {
        let bytes = &mut buffer[..PREFIX_BYTES];
        bytes.fill(0);
        set(bytes, offset::CONNECTION, self.connection.to_be_bytes());
        let (kind, code) = match self.body {
            Body::Flow(flow, packet) => {
                packet.encode(flow, &mut bytes[offset::VERSION_AND_TYPE..]);
                return;
            }
            Body::Open(Open { layout, reach }) => {
                set(bytes, offset::MTU, layout.mtu.to_be_bytes());
                set(bytes, offset::FLOWS, layout.flows.to_be_bytes());
                set(bytes, offset::REACH, reach.to_be_bytes());
                set(bytes, offset::FIRST, layout.operations.to_be_bytes());
                set(bytes, offset::SECOND, layout.size.to_be_bytes());
                (OPEN, 0)
            }
            Body::Accept => (ACCEPT, 0),
            Body::Finish(Finish { sent, digest }) => {
                set(bytes, offset::FIRST, sent.to_be_bytes());
                set(bytes, offset::SECOND, digest.to_be_bytes());
                (FINISH, 0)
            }
            Body::Finished(Finished { verdict, arrived, digest }) => {
                set(bytes, offset::FIRST, arrived.to_be_bytes());
                set(bytes, offset::SECOND, digest.to_be_bytes());
                (FINISHED, verdict as u8)
            }
            Body::Close(reason) => (CLOSE, reason as u8),
        };
        set(bytes, offset::VERSION_AND_TYPE, [kind, code]);
    }

    /// Decodes a datagram, and returns it with what follows its header: a payload of the length that the header says,
    /// or the padding of an open.
    pub fn decode(bytes: &[u8]) -> Result<(Datagram, &[u8]), PacketError> {
        let (prefix, rest) =
            bytes.split_at_checked(PREFIX_BYTES).ok_or(PacketError::Truncated(bytes.len()))?;
        let (version, kind) =
            (prefix[offset::VERSION_AND_TYPE] >> TYPE_BITS, prefix[offset::VERSION_AND_TYPE]);
        if version != VERSION {
            return Err(PacketError::Version(version));
        }
        let body = match kind {
            OPEN => open(prefix)?,
            ACCEPT => accept(prefix)?,
            FINISH => finish(prefix)?,
            FINISHED => finished(prefix)?,
            CLOSE => close(prefix)?,
            _ => return flow(prefix, rest),
        };
        zero(prefix, offset::TAIL, PREFIX_BYTES)?;
        if !rest.is_empty() && kind != OPEN {
            return Err(PacketError::Payload(rest.len()));
        }
        Ok((Datagram { connection: number(prefix, offset::CONNECTION), body }, rest))
    }
}

fn flow<'a>(prefix: &[u8], rest: &'a [u8]) -> Result<(Datagram, &'a [u8]), PacketError> {
    let (flow, packet) = Packet::decode(&prefix[offset::VERSION_AND_TYPE..]).map_err(PacketError::Header)?;
    let payload = match packet {
        Packet::Data(data) => data.payload as usize,
        Packet::Ack(_) => 0,
    };
    if rest.len() != payload {
        return Err(PacketError::Payload(rest.len()));
    }
    let connection = number(prefix, offset::CONNECTION);
    Ok((Datagram { connection, body: Body::Flow(flow, packet) }, rest))
}

fn open(prefix: &[u8]) -> Result<Body, PacketError> {
    zero(prefix, offset::CODE, offset::MTU)?;
    let layout = Layout {
        mtu: word(prefix, offset::MTU),
        flows: word(prefix, offset::FLOWS),
        operations: number(prefix, offset::FIRST),
        size: number(prefix, offset::SECOND),
    };
    Ok(Body::Open(Open { layout, reach: word(prefix, offset::REACH) }))
}

fn accept(prefix: &[u8]) -> Result<Body, PacketError> {
    zero(prefix, offset::CODE, offset::TAIL)?;
    Ok(Body::Accept)
}

fn finish(prefix: &[u8]) -> Result<Body, PacketError> {
    zero(prefix, offset::CODE, offset::FIRST)?;
    let (sent, digest) = (number(prefix, offset::FIRST), number(prefix, offset::SECOND));
    Ok(Body::Finish(Finish { sent, digest }))
}

fn finished(prefix: &[u8]) -> Result<Body, PacketError> {
    zero(prefix, offset::RESERVED, offset::FIRST)?;
    let verdict = code(prefix, [Verdict::Whole, Verdict::Differs, Verdict::NotKept])?;
    let (arrived, digest) = (number(prefix, offset::FIRST), number(prefix, offset::SECOND));
    Ok(Body::Finished(Finished { verdict, arrived, digest }))
}

fn close(prefix: &[u8]) -> Result<Body, PacketError> {
    zero(prefix, offset::RESERVED, offset::TAIL)?;
    let known = [Reason::Done, Reason::Busy, Reason::Layout, Reason::File, Reason::Interrupted];
    Ok(Body::Close(code(prefix, known)?))
}

/// The one of `known`, which stand in the order of their numbers, that the code stands for.
fn code<T: Copy, const N: usize>(prefix: &[u8], known: [T; N]) -> Result<T, PacketError> {
    known.get(usize::from(prefix[offset::CODE])).copied().ok_or(PacketError::Field(offset::CODE))
}

/// Checks that the bytes `from..to` are zero.
fn zero(prefix: &[u8], from: usize, to: usize) -> Result<(), PacketError> {
    match prefix[from..to].iter().position(|&byte| byte != 0) {
        Some(at) => Err(PacketError::Field(from + at)),
        None => Ok(()),
    }
}

fn set<const N: usize>(bytes: &mut [u8], offset: usize, field: [u8; N]) {
    bytes[offset..offset + N].copy_from_slice(&field);
}

fn number(bytes: &[u8], offset: usize) -> u64 {
    bytes[offset..offset + 8].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

fn word(bytes: &[u8], offset: usize) -> u32 {
    bytes[offset..offset + 4].iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_table_says() {
        let layout = Layout {
            mtu: 0x0c0d_0e0f,
            flows: 0x1011_1213,
            operations: 0x1819_1a1b_1c1d_1e1f,
            size: 0x2021_2223_2425_2627,
        };
        let open = Body::Open(Open { layout, reach: 0x1415_1617 });
        let mut bytes = [0xff; PREFIX_BYTES];
        Datagram { connection: 0x0001_0203_0405_0607, body: open }.encode(&mut bytes);
        let mut expected: [u8; PREFIX_BYTES] = std::array::from_fn(|at| at as u8);
        expected[8] = 0x13;
        expected[9..12].fill(0);
        expected[40..].fill(0);
        assert_eq!(bytes, expected);

        let (arrived, digest) = (0x1819_1a1b_1c1d_1e1f, 0x2021_2223_2425_2627);
        let finished = Body::Finished(Finished { verdict: Verdict::NotKept, arrived, digest });
        Datagram { connection: 0x0001_0203_0405_0607, body: finished }.encode(&mut bytes);
        (expected[8], expected[9]) = (0x16, 2);
        expected[12..24].fill(0);
        assert_eq!(bytes, expected);
    }
}
