//! The bytes of FCP, behind an IPv4 header (§5; ours, after the authors' release, which docs/DEVIATIONS.md compares).
//!
//! A request and an allocation begin alike:
//!
//! | offset | bytes | in a request | in an allocation |
//! |-------:|------:|--------------|------------------|
//! | 0 | 1 | version 1 (high four bits), type 1 | version 1, type 2 |
//! | 1 | 1 | number of demands (high four bits), of reports | bit 7: a path for requests follows; bits 0 to 6: number of grants |
//! | 2 | 2 | checksum | checksum |
//! | 4 | 2 | the endpoint | the endpoint |
//! | 6 | 1 | bytes of four numbers, less 1: two bits each for term, incarnation, packet, heard | the same |
//! | 7 | 1 | bit 7: a mask follows; bits 4 to 6: bytes of the slot, less 1; bits 2 and 3: bytes of *ahead*, 0 to 3 for 0, 1, 2, 4; bits 0 and 1: bytes of a count, less 1 | the same, but for *ahead* 0 to 3 are 1, 2, 4, 8 bytes |
//! | 8 | 0, 1 | | number of destinations (high four bits); bit 3: a grant takes two bytes; bits 0 to 2: width of a path, 0 to 5 for 0, 1, 2, 4, 8, 16 bits |
//!
//! and go on with what is as long as those bytes say:
//!
//! | bytes | what |
//! |------:|------|
//! | 1 to 4 | term |
//! | 1 to 4 | incarnation |
//! | 1 to 4 | number of this packet |
//! | 1 to 4 | highest number heard |
//! | 1 to 8 | slot in which it is sent |
//! | 0, 4 | which numbers before the highest have been heard: a mask, if it is not all of them |
//! | 0, 2 | in an allocation, the path that requests are to take |
//! | 0 to 4 | in a request, *ahead*: by how many slots the arbiter's clock is ahead; two's complement, absent if unknown |
//! | 3 to 6 each | destinations: 2 bytes of address, then the cumulative count of slots demanded or granted; all counts of a packet are as long as the largest |
//! | 8 each | in a request, reports: destination, path, packets sent, packets lost; 2 bytes each |
//! | 1 to 8 | in an allocation with grants, *ahead*: by how many slots the first grant is ahead of the slot in which the packet is sent; two's complement modulo 2^64 |
//! | 1 or 2 each | in an allocation, the grants (see `grants.rs`) |
//! | 0 to 2 each | in an allocation, the paths of the grants: as many bits each as the highest needs, the first in the highest bits, then zero bits up to a whole byte |
//!
//! The others have but fixed offsets:
//!
//! | offset | bytes | in a reset | | offset | bytes | in a watchdog |
//! |-------:|------:|------------|-|-------:|------:|---------------|
//! | 0 | 1 | version 1, type 3 | | 0 | 1 | version 1, type 4 |
//! | 1 | 1 | 1 if requests are to take a path, or 0 | | 1 | 1 | rank |
//! | 2 | 2 | checksum | | 2 | 2 | checksum |
//! | 4 | 2 | the endpoint | | 4 | 4 | term |
//! | 6 | 2 | that path, or zero | | 8 | 8 | horizon |
//! | 8 | 4 | term | | | | |
//! | 12 | 8 | slot in which it is sent | | | | |
//! | 20 | 8 | first slot | | | | |
//!
//! | offset | bytes | in a trial | | offset | bytes | in an answer |
//! |-------:|------:|------------|-|-------:|------:|--------------|
//! | 0 | 1 | version 1, type 5; 7 if it is sent on | | 0 | 1 | version 1, type 6 |
//! | 1 | 1 | rank | | 1 | 1 | rank |
//! | 2 | 2 | checksum | | 2 | 2 | checksum |
//! | 4 | 2 | the endpoint | | 4 | 2 | the endpoint |
//! | 6 | 2 | path of the answer | | 6 | 2 | zero |
//! | 8 | 4 | token | | 8 | 4 | token |
//! | 12 | 0, 2 | the endpoint that it is sent on to | | | | |
//! | 14 | 0, 2 | path to that one | | | | |
//!
//! Numbers are in network byte order. The checksum is that of IP, UDP and TCP (RFC 1071), over the whole packet. Every number
//! and list is in its shortest form, and what is not is refused: a packet is written in one way only.

mod allocation;
mod bytes;
mod counts;
mod error;
mod grants;
mod numbers;
mod request;

use super::message::{Allocation, Answer, Packet, Request, Reset, Trial, Watchdog};
pub use bytes::MAX_BYTES;
use bytes::{checksum, Reader, Writer, CHECKSUM};
pub use error::{DecodeError, EncodeError};

/// The number of FCP as a protocol above IP, that of the authors' release: not assigned to anything else.
pub const IP_PROTOCOL: u8 = 222;

/// Bytes of an IPv4 header.
const IPV4: u32 = 20;
/// The fewest bytes that an Ethernet frame carries; fewer are padded.
const ETHERNET_LEAST: u32 = 46;
/// Bytes of a preamble (8), an Ethernet header (14), a frame check sequence (4) and the gap between frames (12).
const ETHERNET_FRAMING: u32 = 38;

const REQUEST: u8 = 0x11;
const ALLOCATION: u8 = 0x12;
const RESET: u8 = 0x13;
const WATCHDOG: u8 = 0x14;
const TRIAL: u8 = 0x15;
const ANSWER: u8 = 0x16;
/// A trial that an endpoint sends on to another. The type says so, so that no part of it is a trial that is not sent on.
const TRIAL_ON: u8 = 0x17;

/// Fewer bytes have not even a checksum and something to check.
const LEAST_BYTES: usize = 8;
/// The bit that says that a mask of the numbers heard follows.
const MASK: u8 = 0x80;

impl Packet {
    /// Writes the packet to the front of `buffer`. Returns how many bytes it takes.
    ///
    /// ```
    /// use clearway_proto::fastpass::fcp::header::{DecodeError, MAX_BYTES};
    /// use clearway_proto::fastpass::fcp::{Demand, Packet, Request};
    ///
    /// let demands = [Demand { destination: 9, demanded: 300 }].into_iter().collect();
    /// let packet = Packet::Request(Request { source: 4, term: 1, incarnation: 1, seq: 1, demands, ..Request::default() });
    /// let mut buffer = [0; MAX_BYTES];
    /// let len = packet.encode(&mut buffer).unwrap();
    /// assert_eq!((len, packet.bytes(), packet.wire_bytes()), (17, 17, 84));
    /// assert_eq!(Packet::decode(&buffer[..len]), Ok(packet));
    /// assert_eq!(Packet::decode(&buffer[..7]), Err(DecodeError::Truncated(7)));
    /// ```
    ///
    /// Errors: [`EncodeError`]; then the buffer holds anything.
    pub fn encode(&self, buffer: &mut [u8; MAX_BYTES]) -> Result<usize, EncodeError> {
        let mut to = Writer::new(buffer);
        match self {
            Packet::Request(request) => request.encode(to),
            Packet::Allocation(allocation) => allocation.encode(to),
            Packet::Reset(reset) => {
                to.put([RESET, u8::from(reset.back.is_some()), 0, 0]);
                to.put(reset.to.to_be_bytes());
                to.put(reset.back.unwrap_or(0).to_be_bytes());
                to.put(reset.term.to_be_bytes());
                to.put(reset.slot.to_be_bytes());
                to.put(reset.first_slot.to_be_bytes());
                Ok(to.finish())
            }
            Packet::Watchdog(watchdog) => {
                to.put([WATCHDOG, watchdog.rank, 0, 0]);
                to.put(watchdog.term.to_be_bytes());
                to.put(watchdog.horizon.to_be_bytes());
                Ok(to.finish())
            }
            Packet::Trial(trial) => {
                let kind = if trial.on.is_some() { TRIAL_ON } else { TRIAL };
                to.put([kind, trial.rank, 0, 0]);
                to.put(trial.to.to_be_bytes());
                to.put(trial.back.to_be_bytes());
                to.put(trial.token.to_be_bytes());
                if let Some((next, path)) = trial.on {
                    to.put(next.to_be_bytes());
                    to.put(path.to_be_bytes());
                }
                Ok(to.finish())
            }
            Packet::Answer(answer) => {
                to.put([ANSWER, answer.rank, 0, 0]);
                to.put(answer.source.to_be_bytes());
                to.put([0, 0]);
                to.put(answer.token.to_be_bytes());
                Ok(to.finish())
            }
        }
    }

    /// Reads a packet, which is all of `bytes`.
    ///
    /// Errors: [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Packet, DecodeError> {
        let mut packet = Packet::Watchdog(Watchdog::default());
        packet.decode_into(bytes)?;
        Ok(packet)
    }

    /// Reads a packet, which is all of `bytes`, in place of this one: less work than [`Packet::decode`] where this one is of
    /// the same kind, as then its lists are not cleared first.
    ///
    /// Errors: [`DecodeError`]; then this is a packet that nobody has sent.
    pub fn decode_into(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let kind = check(bytes)?;
        match (kind, &mut *self) {
            (REQUEST, Packet::Request(request)) => return request.decode(bytes),
            (ALLOCATION, Packet::Allocation(allocation)) => return allocation.decode(bytes),
            (RESET, _) => *self = Packet::Reset(decode_reset(bytes)?),
            (WATCHDOG, _) => *self = Packet::Watchdog(decode_watchdog(bytes)?),
            (TRIAL | TRIAL_ON, _) => *self = Packet::Trial(decode_trial(bytes)?),
            (ANSWER, _) => *self = Packet::Answer(decode_answer(bytes)?),
            (REQUEST, _) => {
                *self = Packet::Request(Request::default());
                return self.decode_into(bytes);
            }
            _ => {
                *self = Packet::Allocation(Allocation::default());
                return self.decode_into(bytes);
            }
        }
        Ok(())
    }

    /// Bytes behind the IP header, as [`Packet::encode`] writes them.
    pub fn bytes(&self) -> u32 {
        let bytes = match self {
            Packet::Request(request) => request.bytes(),
            Packet::Allocation(allocation) => allocation.bytes(),
            Packet::Reset(_) => 28,
            Packet::Watchdog(_) => 16,
            Packet::Trial(trial) if trial.on.is_some() => 16,
            Packet::Trial(_) | Packet::Answer(_) => 12,
        };
        bytes as u32
    }

    /// Bytes of time that the packet takes on Ethernet: with its IPv4 header, padding up to the shortest frame, the frame's
    /// header and check sequence, preamble and gap.
    pub fn wire_bytes(&self) -> u32 {
        ETHERNET_FRAMING + (IPV4 + self.bytes()).max(ETHERNET_LEAST)
    }
}

/// Checks what all packets have: at least eight bytes, a known version and type, and a checksum. The first byte.
fn check(bytes: &[u8]) -> Result<u8, DecodeError> {
    match bytes.first() {
        None => return Err(DecodeError::Truncated(0)),
        Some(REQUEST..=TRIAL_ON) => {}
        Some(&byte) => return Err(DecodeError::VersionOrType(byte)),
    }
    if bytes.len() < LEAST_BYTES {
        return Err(DecodeError::Truncated(bytes.len()));
    }
    let (found, wanted) = (u16::from_be_bytes([bytes[CHECKSUM], bytes[CHECKSUM + 1]]), checksum(bytes));
    if found == wanted {
        Ok(bytes[0])
    } else {
        Err(DecodeError::Checksum { found, wanted })
    }
}

fn decode_watchdog(bytes: &[u8]) -> Result<Watchdog, DecodeError> {
    let mut from = Reader::new(bytes, 4);
    let watchdog = Watchdog { term: from.u32()?, rank: bytes[1], horizon: from.u64()? };
    from.end()?;
    Ok(watchdog)
}

fn decode_trial(bytes: &[u8]) -> Result<Trial, DecodeError> {
    let mut from = Reader::new(bytes, 4);
    let (to, back, token) = (from.u16()?, from.u16()?, from.u32()?);
    let on = if bytes[0] == TRIAL_ON { Some((from.u16()?, from.u16()?)) } else { None };
    let trial = Trial { rank: bytes[1], to, on, back, token };
    from.end()?;
    Ok(trial)
}

fn decode_answer(bytes: &[u8]) -> Result<Answer, DecodeError> {
    let mut from = Reader::new(bytes, 4);
    let source = from.u16()?;
    for offset in [6, 7] {
        if from.u8()? != 0 {
            return Err(DecodeError::Reserved(offset));
        }
    }
    let answer = Answer { source, rank: bytes[1], token: from.u32()? };
    from.end()?;
    Ok(answer)
}

fn decode_reset(bytes: &[u8]) -> Result<Reset, DecodeError> {
    let mut from = Reader::new(bytes, 4);
    let to = from.u16()?;
    let back = match (bytes[1], from.u16()?) {
        (0, 0) => None,
        (1, path) => Some(path),
        (0, _) => return Err(DecodeError::Reserved(6)),
        _ => return Err(DecodeError::Reserved(1)),
    };
    let reset = Reset { to, term: from.u32()?, slot: from.u64()?, first_slot: from.u64()?, back };
    from.end()?;
    Ok(reset)
}
