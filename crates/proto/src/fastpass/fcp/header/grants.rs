//! The slots that an allocation grants: one byte each, and 0, 1, 2, 4, 8 or 16 bits for the path, as many as the packet's
//! highest path needs.
//!
//! | byte | meaning |
//! |------|---------|
//! | `dg`, d = 1 to 15 | a grant to the d-th destination listed, g = 0 to 15 slots after the grant before it |
//! | `0q`, q = 1 to 14 | 16 q slots more before the next grant |
//! | `0f`, then 8 bytes | 16 times that number of slots more, which is at least 15 |
//!
//! The first grant is of the base slot itself.

use super::super::message::{Address, Grant, Granted, Path};
use super::bytes::{Reader, Writer};
use super::error::{DecodeError, EncodeError};
use super::places::Places;

/// From this number of 16 slots on a gap takes eight bytes.
const LONG: u64 = 15;

/// Bits that a path takes, by the number that stands in byte 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathWidth(u8);

impl PathWidth {
    /// The least that the paths of these grants need.
    pub(super) fn of(grants: &[Grant]) -> PathWidth {
        let all = grants.iter().fold(0, |all, grant| all | grant.path);
        PathWidth(match Path::BITS - all.leading_zeros() {
            bits @ 0..3 => bits,
            3..5 => 3,
            5..9 => 4,
            _ => 5,
        } as u8)
    }

    pub(super) fn from_number(number: u8) -> Option<PathWidth> {
        (number <= 5).then_some(PathWidth(number))
    }

    pub(super) fn number(self) -> u8 {
        self.0
    }

    /// Bits of each path.
    fn bits(self) -> usize {
        1 << self.0 >> 1
    }

    /// Bytes of the paths of so many grants.
    pub(super) fn bytes(self, grants: usize) -> usize {
        (grants * self.bits()).div_ceil(8)
    }

    /// Whether a narrower width would not do for these paths, all of which are written so.
    fn is_least(self, paths: &[u8]) -> bool {
        // The bits that a path of half as many would not have.
        let upper = [0, 0xffff, 0xaaaa, 0xcccc, 0xf0f0, 0x00ff_u16][usize::from(self.0)];
        let pairs = paths.chunks_exact(2);
        let last = pairs.remainder().first().map_or(0, |&byte| u16::from(byte));
        let all = pairs.fold(last, |all, pair| all | u16::from_le_bytes([pair[0], pair[1]]));
        self.0 == 0 || all & upper != 0
    }
}

/// Bytes that the slots and destinations take.
pub(super) fn slot_bytes(grants: &[Grant]) -> usize {
    let skips = grants.windows(2).map(|pair| match pair[1].slot.saturating_sub(pair[0].slot) >> 4 {
        0 => 0,
        1..LONG => 1,
        _ => 9,
    });
    grants.len() + skips.sum::<usize>()
}

pub(super) fn put_paths(to: &mut Writer, grants: &[Grant], width: PathWidth) {
    let bytes = to.room(width.bytes(grants.len()));
    match width.bits() {
        0 => {}
        1 => put_narrow::<1, 8>(bytes, grants),
        2 => put_narrow::<2, 4>(bytes, grants),
        4 => put_narrow::<4, 2>(bytes, grants),
        8 => put_narrow::<8, 1>(bytes, grants),
        _ => {
            for (bytes, grant) in bytes.chunks_exact_mut(2).zip(grants) {
                bytes.copy_from_slice(&grant.path.to_be_bytes());
            }
        }
    }
}

/// `EACH` paths a byte, the first in the highest bits.
fn put_narrow<const BITS: usize, const EACH: usize>(bytes: &mut [u8], grants: &[Grant]) {
    let byte =
        |some: &[Grant]| some.iter().fold(0, |byte: u8, grant| (u16::from(byte) << BITS | grant.path) as u8);
    let whole = grants.chunks_exact(EACH);
    let rest = whole.remainder();
    if let (Some(last), 1..) = (bytes.last_mut(), rest.len()) {
        *last = byte(rest) << (BITS * (EACH - rest.len()));
    }
    for (place, some) in bytes.iter_mut().zip(whole) {
        *place = byte(some);
    }
}

pub(super) fn put_slots(to: &mut Writer, granted: &[Granted], grants: &[Grant]) -> Result<(), EncodeError> {
    let places = Places::new(granted);
    let mut slot = grants.first().map_or(0, |grant| grant.slot);
    let eights = grants.chunks_exact(8);
    let rest = eights.remainder();
    for eight in eights {
        let eight: &[Grant; 8] = eight.try_into().expect("eight grants");
        match close(&places, slot, eight) {
            Some(bytes) => to.put(bytes),
            None => put_each(to, &places, slot, eight)?,
        }
        slot = eight[7].slot;
    }
    put_each(to, &places, slot, rest)
}

/// The bytes of eight grants, if there is no skip among them and each destination is found at first sight.
#[inline]
fn close(places: &Places, before: u64, grants: &[Grant; 8]) -> Option<[u8; 8]> {
    let (mut gaps, mut found, mut slot) = (0, true, before);
    let bytes = grants.map(|grant| {
        let gap = grant.slot.wrapping_sub(slot);
        slot = grant.slot;
        gaps |= gap;
        let (number, right) = places.guess(grant.destination);
        found &= right;
        number << 4 | (gap & 15) as u8
    });
    (gaps < 16 && found).then_some(bytes)
}

/// Writes grants one by one, after one of slot `slot`.
fn put_each(to: &mut Writer, places: &Places, mut slot: u64, grants: &[Grant]) -> Result<(), EncodeError> {
    for grant in grants {
        let gap = grant.slot.checked_sub(slot).ok_or(EncodeError::Order(grant.slot))?;
        slot = grant.slot;
        match gap >> 4 {
            0 => {}
            skip @ 1..LONG => to.put([skip as u8]),
            skip => {
                to.put([LONG as u8]);
                to.put(skip.to_be_bytes());
            }
        }
        let number = places.number(grant.destination).ok_or(EncodeError::Destination(grant.destination))?;
        to.put([number << 4 | (gap & 15) as u8]);
    }
    Ok(())
}

/// Takes `count` grants, at least one, of which the first is of slot `base`.
pub(super) fn take(
    from: &mut Reader,
    granted: &[Granted],
    base: u64,
    width: PathWidth,
    grants: &mut [Grant],
) -> Result<(), DecodeError> {
    let paths = from.slice(width.bytes(grants.len()))?;
    let unused = 8 * paths.len() - grants.len() * width.bits();
    if paths.last().is_some_and(|last| u32::from(*last) & ((1 << unused) - 1) != 0) {
        return Err(DecodeError::Reserved(from.at() - 1));
    }
    if !width.is_least(paths) {
        return Err(DecodeError::Longer(7));
    }
    let mut destinations = [0; 16];
    for (place, entry) in destinations[1..].iter_mut().zip(granted) {
        *place = entry.destination;
    }
    let begin = from.at();
    let slots = Slots { bytes: from.bytes(), at: begin, slot: base, destinations, listed: granted.len() };
    let end = match width.bits() {
        0 => slots.take(grants, |_| 0),
        1 => slots.take(grants, narrow::<1>(paths)),
        2 => slots.take(grants, narrow::<2>(paths)),
        4 => slots.take(grants, narrow::<4>(paths)),
        8 => slots.take(grants, narrow::<8>(paths)),
        _ => slots.take(grants, |i| u16::from_be_bytes([paths[2 * i], paths[2 * i + 1]])),
    }?;
    from.slice(end - begin)?;
    if grants[0].slot == base {
        Ok(())
    } else {
        Err(DecodeError::Longer(begin))
    }
}

/// The `i`-th of several paths a byte.
#[inline]
fn narrow<const BITS: usize>(paths: &[u8]) -> impl Fn(usize) -> Path + '_ {
    |i| {
        let (byte, place) = (paths[i / (8 / BITS)], i % (8 / BITS));
        Path::from(byte >> (8 - BITS - BITS * place)) & ((1 << BITS) - 1)
    }
}

/// The grants of a packet, as they stand in it.
struct Slots<'a> {
    /// The packet.
    bytes: &'a [u8],
    /// Where the next grant stands.
    at: usize,
    /// The slot of the grant before; the base slot at first.
    slot: u64,
    /// Destinations by their number, which is 1 for the first.
    destinations: [Address; 16],
    /// How many there are.
    listed: usize,
}

/// Eight bytes with the value 1.
const ONES: u64 = u64::from_ne_bytes([1; 8]);

impl Slots<'_> {
    /// Reads grants into all of `grants`. Where they end.
    #[inline]
    fn take(mut self, grants: &mut [Grant], path: impl Fn(usize) -> Path) -> Result<usize, DecodeError> {
        let mut eights = grants.chunks_exact_mut(8);
        let mut done = 0;
        for eight in eights.by_ref() {
            let eight: &mut [Grant; 8] = eight.try_into().expect("eight grants");
            if !self.take_close(eight, |i| path(done + i)) {
                self.take_each(eight, |i| path(done + i))?;
            }
            done += 8;
        }
        self.take_each(eights.into_remainder(), |i| path(done + i))?;
        Ok(self.at)
    }

    /// Reads eight grants at once, if nothing is unusual about them.
    #[inline]
    fn take_close(&mut self, grants: &mut [Grant; 8], path: impl Fn(usize) -> Path) -> bool {
        let Some(bytes) = self.bytes.get(self.at..self.at + 8) else { return false };
        let bytes = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let (gaps, numbers) = (bytes & 15 * ONES, bytes >> 4 & 15 * ONES);
        // The highest bit of a byte shows a number that is 0, and one that is above those listed.
        let zero = numbers.wrapping_sub(ONES);
        let high = numbers + (127 - self.listed as u64) * ONES;
        // Byte `i` is the sum of the gaps up to `i`.
        let sums = gaps.wrapping_mul(ONES);
        let Some(last) = self.slot.checked_add(sums >> 56) else { return false };
        if (zero | high) & 128 * ONES != 0 {
            return false;
        }
        for (i, grant) in grants.iter_mut().enumerate() {
            let slot = self.slot + (sums >> (8 * i) & 255);
            let destination = self.destinations[(numbers >> (8 * i) & 15) as usize];
            *grant = Grant { slot, destination, path: path(i) };
        }
        self.at += 8;
        self.slot = last;
        true
    }

    /// Reads grants one by one.
    fn take_each(&mut self, grants: &mut [Grant], path: impl Fn(usize) -> Path) -> Result<(), DecodeError> {
        for (i, grant) in grants.iter_mut().enumerate() {
            if self.byte()? < 16 {
                self.skip()?;
            }
            let byte = self.byte()?;
            let number = usize::from(byte >> 4);
            if !(1..=self.listed).contains(&number) {
                return Err(DecodeError::Destination(self.at));
            }
            self.slot = self.slot.checked_add(u64::from(byte & 15)).ok_or(DecodeError::Slot(self.at))?;
            self.at += 1;
            *grant = Grant { slot: self.slot, destination: self.destinations[number], path: path(i) };
        }
        Ok(())
    }

    #[inline]
    fn byte(&self) -> Result<u8, DecodeError> {
        self.bytes.get(self.at).copied().ok_or(DecodeError::Truncated(self.bytes.len()))
    }

    /// Skips the slots of the skip that stands next. A second one is then a grant to a destination that is not listed.
    fn skip(&mut self) -> Result<(), DecodeError> {
        let mut from = Reader::new(self.bytes, self.at);
        let short = u64::from(from.u8()?);
        let skip = if short == LONG { from.u64()? } else { short };
        if skip < short.max(1) {
            return Err(DecodeError::Longer(self.at));
        }
        let slots = skip.checked_mul(16).and_then(|slots| self.slot.checked_add(slots));
        self.slot = slots.ok_or(DecodeError::Slot(self.at))?;
        self.at = from.at();
        Ok(())
    }
}
