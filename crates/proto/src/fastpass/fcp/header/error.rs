//! Why a packet cannot be written, and why bytes are no packet.

use std::fmt;

use super::super::message::Address;

/// Why a packet has no bytes: it says something that no machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// Two demands, or two cumulative grants, of one destination.
    Repeated(Address),
    /// A grant to a destination of this number, from 1 on, where fewer are listed.
    Destination(u16),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Repeated(address) => write!(f, "destination {address} is listed twice"),
            EncodeError::Destination(number) => {
                write!(f, "a grant to destination number {number} of a list of fewer")
            }
        }
    }
}

impl std::error::Error for EncodeError {}

/// Why bytes are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes, of this number, end before the packet does.
    Truncated(usize),
    /// More follows at this offset, where the packet, or its last grant, ends.
    Excess(usize),
    /// The first byte is of no known version and type.
    VersionOrType(u8),
    /// The checksum is not that of the bytes.
    Checksum {
        /// What stands in the packet.
        found: u16,
        /// What should.
        wanted: u16,
    },
    /// A bit is set that must be zero; the offset of its byte.
    Reserved(usize),
    /// A list, or the width of its entries, is above its limit; the offset of the byte that says so.
    Limit(usize),
    /// What stands here could have been written in fewer bytes or bits; its offset.
    Longer(usize),
    /// A destination is listed twice.
    Repeated(Address),
    /// A grant names a destination beyond those listed; its offset.
    Destination(usize),
    /// A grant of a slot above 2^64 - 1; its offset.
    Slot(usize),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated(len) => write!(f, "the packet goes on after {len} bytes"),
            DecodeError::Excess(offset) => {
                write!(f, "more follows than was announced, from byte {offset} on")
            }
            DecodeError::VersionOrType(byte) => write!(f, "unknown version and type {byte:#04x}"),
            DecodeError::Checksum { found, wanted } => {
                write!(f, "the checksum is {found:#06x} where the bytes have {wanted:#06x}")
            }
            DecodeError::Reserved(offset) => write!(f, "a reserved bit is set in byte {offset}"),
            DecodeError::Limit(offset) => write!(f, "byte {offset} announces more than a packet may have"),
            DecodeError::Longer(offset) => {
                write!(f, "what stands in byte {offset} is not in its shortest form")
            }
            DecodeError::Repeated(address) => write!(f, "destination {address} is listed twice"),
            DecodeError::Destination(offset) => {
                write!(f, "the grant in byte {offset} is to a destination that is not listed")
            }
            DecodeError::Slot(offset) => {
                write!(f, "the grant in byte {offset} is of a slot that no clock reaches")
            }
        }
    }
}

impl std::error::Error for DecodeError {}
