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

/// Bits that a path takes, by the number that stands in byte 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathWidth(u8);

impl PathWidth {
    /// The least that the paths of these grants need.
    pub(super) fn of(grants: &[Grant]) -> PathWidth {
        PathWidth::of_highest(grants.iter().fold(0, |all, grant| all | grant.path))
    }

    /// The least that this path needs.
    fn of_highest(path: Path) -> PathWidth {
        PathWidth(match Path::BITS - path.leading_zeros() {
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

/// Writes the paths, several a byte with the first in the highest bits.
pub(super) fn put_paths(to: &mut Writer, grants: &[Grant], width: PathWidth) {
    let bytes = to.room(width.bytes(grants.len()));
    match width.bits() {
        0 => {}
        1 => put_narrow::<1>(bytes, grants),
        2 => put_narrow::<2>(bytes, grants),
        4 => put_narrow::<4>(bytes, grants),
        8 => put_narrow::<8>(bytes, grants),
        _ => {
            for (bytes, grant) in bytes.chunks_exact_mut(2).zip(grants) {
                bytes.copy_from_slice(&grant.path.to_be_bytes());
            }
        }
    }
}

/// Eight paths are `BITS` bytes.
fn put_narrow<const BITS: usize>(bytes: &mut [u8], grants: &[Grant]) {
    let eights = grants.chunks_exact(8);
    let rest = eights.remainder();
    let (whole, last) = bytes.split_at_mut(eights.len() * BITS);
    for (bytes, eight) in whole.chunks_exact_mut(BITS).zip(eights) {
        let eight: &[Grant; 8] = eight.try_into().expect("eight grants");
        let all = eight.iter().fold(0, |all, grant| all << BITS | u64::from(grant.path));
        bytes.copy_from_slice(&all.to_be_bytes()[8 - BITS..]);
    }
    if !rest.is_empty() {
        let all = rest.iter().fold(0, |all, grant| all << BITS | u64::from(grant.path));
        let bytes = (all << (BITS * (8 - rest.len()))).to_be_bytes();
        last.copy_from_slice(&bytes[8 - BITS..][..last.len()]);
    }
}

/// Writes the grants. The width of their paths.
pub(super) fn put_slots(
    to: &mut Writer,
    granted: &[Granted],
    grants: &[Grant],
) -> Result<PathWidth, EncodeError> {
    let places = Places::new(granted);
    if let Some(destination) = places.repeated() {
        return Err(EncodeError::Repeated(destination));
    }
    let mut slot = grants.first().map_or(0, |grant| grant.slot);
    let mut paths = 0;
    let eights = grants.chunks_exact(8);
    let rest = eights.remainder();
    for eight in eights {
        let eight: &[Grant; 8] = eight.try_into().expect("eight grants");
        if put_close(to, &places, slot, eight) {
            paths |= eight.iter().fold(0, |all, grant| all | grant.path);
        } else {
            paths |= put_each(to, &places, slot, eight)?;
        }
        slot = eight[7].slot;
    }
    paths |= put_each(to, &places, slot, rest)?;
    Ok(PathWidth::of_highest(paths))
}

/// Writes eight grants at once, if there is no skip among them and each destination is found at first sight.
#[inline]
fn put_close(to: &mut Writer, places: &Places, before: u64, grants: &[Grant; 8]) -> bool {
    let bytes: &mut [u8; 8] = to.room(8).try_into().expect("eight bytes");
    let (mut gaps, mut wrong, mut slot) = (0, 0_u64, before);
    for (byte, grant) in bytes.iter_mut().zip(grants) {
        let gap = grant.slot.wrapping_sub(slot);
        slot = grant.slot;
        gaps |= gap;
        let (number, difference) = places.guess(grant.destination);
        wrong += u64::from(difference);
        *byte = number << 4 | gap as u8;
    }
    let close = gaps < 16 && wrong == 0;
    if !close {
        to.withdraw(8);
    }
    close
}

/// Writes grants one by one, after one of slot `slot`. All bits that are set in any path.
fn put_each(to: &mut Writer, places: &Places, mut slot: u64, grants: &[Grant]) -> Result<Path, EncodeError> {
    let mut paths = 0;
    for grant in grants {
        let gap = grant.slot.checked_sub(slot).ok_or(EncodeError::Order(grant.slot))?;
        slot = grant.slot;
        paths |= grant.path;
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
    Ok(paths)
}

/// Reads grants into all of `grants`, of which there is at least one; the first is of slot `base`. They and their paths are
/// the rest of the packet.
pub(super) fn take(
    from: &Reader,
    granted: &[Granted],
    base: u64,
    width: PathWidth,
    grants: &mut [Grant],
) -> Result<(), DecodeError> {
    let (bytes, begin) = (from.bytes(), from.at());
    let end =
        bytes.len().checked_sub(width.bytes(grants.len())).ok_or(DecodeError::Truncated(bytes.len()))?;
    let (bytes, paths) = bytes.split_at(end);
    let unused = 8 * paths.len() - grants.len() * width.bits();
    if paths.last().is_some_and(|last| u32::from(*last) & ((1 << unused) - 1) != 0) {
        return Err(DecodeError::Reserved(end + paths.len() - 1));
    }
    if !width.is_least(paths) {
        return Err(DecodeError::Longer(8));
    }
    let mut destinations = [0; 16];
    for (place, entry) in destinations[1..].iter_mut().zip(granted) {
        *place = entry.destination;
    }
    let slots = Slots { bytes, at: begin, slot: base, destinations, listed: granted.len() };
    match width.bits() {
        0 => slots.take::<0>(grants, paths),
        1 => slots.take::<1>(grants, paths),
        2 => slots.take::<2>(grants, paths),
        4 => slots.take::<4>(grants, paths),
        8 => slots.take::<8>(grants, paths),
        _ => slots.take::<16>(grants, paths),
    }?;
    if grants[0].slot == base {
        Ok(())
    } else {
        Err(DecodeError::Longer(begin))
    }
}

/// The `i`-th path of eight or fewer.
#[inline]
fn path<const BITS: usize>(eight: &[u8], i: usize) -> Path {
    match BITS {
        0 => 0,
        16 => u16::from_be_bytes([eight[2 * i], eight[2 * i + 1]]),
        _ => {
            let (byte, place) = (eight[i * BITS / 8], i * BITS % 8);
            Path::from(byte >> (8 - BITS - place)) & ((1 << BITS) - 1)
        }
    }
}

/// The grants of a packet, as they stand in it.
struct Slots<'a> {
    /// The packet without its paths.
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
    /// Reads grants with paths of `BITS` bits into all of `grants`, and nothing may remain.
    fn take<const BITS: usize>(mut self, grants: &mut [Grant], paths: &[u8]) -> Result<(), DecodeError> {
        for (done, some) in grants.chunks_mut(8).enumerate() {
            let paths = &paths[done * BITS..paths.len().min((done + 1) * BITS)];
            let close = <&mut [Grant; 8]>::try_from(&mut *some)
                .is_ok_and(|eight| self.take_close::<BITS>(eight, paths));
            if !close {
                self.take_each::<BITS>(some, paths)?;
            }
        }
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(DecodeError::Excess(self.at))
        }
    }

    /// Reads eight grants at once, if nothing is unusual about them.
    #[inline]
    fn take_close<const BITS: usize>(&mut self, grants: &mut [Grant; 8], paths: &[u8]) -> bool {
        let (Some(bytes), true) = (self.bytes.get(self.at..self.at + 8), paths.len() == BITS) else {
            return false;
        };
        let bytes = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let (gaps, numbers) = (bytes & (15 * ONES), bytes >> 4 & (15 * ONES));
        // The highest bit of a byte shows a number that is 0, and one that is above those listed.
        let zero = numbers.wrapping_sub(ONES);
        let high = numbers + (127 - self.listed as u64) * ONES;
        // Byte `i` is the sum of the gaps up to `i`.
        let sums = gaps.wrapping_mul(ONES);
        let Some(last) = self.slot.checked_add(sums >> 56) else { return false };
        if (zero | high) & (128 * ONES) != 0 {
            return false;
        }
        for (i, grant) in grants.iter_mut().enumerate() {
            let slot = self.slot + (sums >> (8 * i) & 255);
            let destination = self.destinations[(numbers >> (8 * i) & 15) as usize];
            *grant = Grant { slot, destination, path: path::<BITS>(paths, i) };
        }
        self.at += 8;
        self.slot = last;
        true
    }

    /// Reads grants one by one.
    fn take_each<const BITS: usize>(
        &mut self,
        grants: &mut [Grant],
        paths: &[u8],
    ) -> Result<(), DecodeError> {
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
            *grant = Grant {
                slot: self.slot,
                destination: self.destinations[number],
                path: path::<BITS>(paths, i),
            };
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
