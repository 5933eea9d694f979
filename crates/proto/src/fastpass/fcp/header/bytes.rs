//! Bytes written and read from front to back, with numbers as short as they can be.

use super::error::DecodeError;

/// Bytes of the buffer that a packet is written into; no packet has as many.
pub const MAX_BYTES: usize = 1024;
/// The offset of the checksum, in every packet.
pub(super) const CHECKSUM: usize = 2;

/// Bytes that the shortest form of a number takes: 1 to 8.
#[inline]
pub(super) fn length(number: u64) -> usize {
    (71 - (number | 1).leading_zeros() as usize) / 8
}

/// The form of a signed number: 0 to 3, in 1, 2, 4 or 8 bytes of two's complement.
#[inline]
pub(super) fn signed_form(number: i64) -> u8 {
    match 64 - (number ^ number >> 63).leading_zeros() {
        0..8 => 0,
        8..16 => 1,
        16..32 => 2,
        _ => 3,
    }
}

/// The Internet checksum (RFC 1071) of a packet, in which its checksum field counts as zero. A packet has no byte sequence
/// of zeros only, so the sum is never zero and the checksum never 2^16 - 1: each packet has one checksum.
pub(super) fn checksum(packet: &[u8]) -> u16 {
    // The sum does not depend on the order of the bytes in a word, as long as it is the same everywhere.
    let (words, rest) = packet.split_at(packet.len() & !3);
    let mut sum: u64 = words.chunks_exact(4).map(|word| u64::from(le32(word))).sum();
    sum += rest.iter().zip([0, 8, 16]).map(|(&byte, shift)| u64::from(byte) << shift).sum::<u64>();
    sum -= u64::from(le32(words) & 0xffff_0000);
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16).swap_bytes()
}

/// The first four bytes.
#[inline]
fn le32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// A packet that is being written.
pub(super) struct Writer<'a> {
    buffer: &'a mut [u8; MAX_BYTES],
    len: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(buffer: &'a mut [u8; MAX_BYTES]) -> Writer<'a> {
        Writer { buffer, len: 0 }
    }

    #[inline]
    pub(super) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.buffer[self.len..self.len + N].copy_from_slice(&bytes);
        self.len += N;
    }

    /// The next `len` bytes, to be written.
    #[inline]
    pub(super) fn room(&mut self, len: usize) -> &mut [u8] {
        self.len += len;
        &mut self.buffer[self.len - len..self.len]
    }

    /// Writes the lowest `len` bytes, 1 to 8, of a number; the buffer has room for 8 in any case.
    #[inline]
    pub(super) fn number(&mut self, number: u64, len: usize) {
        self.put((number << (64 - 8 * len)).to_be_bytes());
        self.len -= 8 - len;
    }

    /// Writes a signed number in its shortest form.
    pub(super) fn signed(&mut self, number: i64) {
        self.number(number as u64, 1 << signed_form(number));
    }

    /// Writes the checksum into its place. Returns how long the packet is.
    pub(super) fn finish(self) -> usize {
        let checksum = checksum(&self.buffer[..self.len]);
        self.buffer[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
        self.len
    }
}

/// A packet that is being read.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads from offset `at` on.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Reader<'a> {
        Reader { bytes, at }
    }

    /// The offset of the next byte.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next `len` bytes.
    #[inline]
    pub(super) fn slice(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let bytes = self.bytes.get(self.at..self.at + len).ok_or(DecodeError::Truncated(self.bytes.len()))?;
        self.at += len;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.slice(N).map(|bytes| bytes.try_into().expect("as many bytes"))
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.take().map(u8::from_be_bytes)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, DecodeError> {
        self.take().map(u16::from_be_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.take().map(u32::from_be_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, DecodeError> {
        self.take().map(u64::from_be_bytes)
    }

    /// Reads a number of `len` bytes, 1 to 8.
    #[inline]
    pub(super) fn number(&mut self, len: usize) -> Result<u64, DecodeError> {
        if let Some(eight) = self.bytes.get(self.at..self.at + 8) {
            self.at += len;
            return Ok(u64::from_be_bytes(eight.try_into().expect("eight bytes")) >> (64 - 8 * len));
        }
        Ok(self.slice(len)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Reads a number of `len` bytes, 1 to 8, and refuses it if fewer bytes would do.
    #[inline]
    pub(super) fn shortest(&mut self, len: usize) -> Result<u64, DecodeError> {
        let number = self.number(len)?;
        if length(number) == len {
            Ok(number)
        } else {
            Err(DecodeError::Longer(self.at - len))
        }
    }

    /// A signed number of a form, 0 to 3, refused if a shorter one would do.
    // Two's complement is meant to wrap.
    #[allow(clippy::cast_possible_wrap)]
    pub(super) fn signed(&mut self, form: u8) -> Result<i64, DecodeError> {
        let (at, len) = (self.at, 1 << form);
        let unused = 64 - 8 * len;
        let number = (self.number(len)? << unused) as i64 >> unused;
        if signed_form(number) == form {
            Ok(number)
        } else {
            Err(DecodeError::Longer(at))
        }
    }

    /// Returns an error if bytes follow.
    pub(super) fn end(&self) -> Result<(), DecodeError> {
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(DecodeError::Excess(self.at))
        }
    }
}
