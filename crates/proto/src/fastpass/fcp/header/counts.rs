//! Destinations with cumulative counts: a list of either kind of packet.

use super::super::list::List;
use super::super::message::{Address, Demand, Granted};
use super::bytes::{length, Reader, Writer};
use super::error::DecodeError;

/// An entry of such a list.
pub(super) trait Count: Copy + Default {
    fn new(destination: Address, count: u32) -> Self;
    fn destination(&self) -> Address;
    fn count(&self) -> u32;
}

impl Count for Demand {
    fn new(destination: Address, demanded: u32) -> Demand {
        Demand { destination, demanded }
    }

    fn destination(&self) -> Address {
        self.destination
    }

    fn count(&self) -> u32 {
        self.demanded
    }
}

impl Count for Granted {
    fn new(destination: Address, granted: u32) -> Granted {
        Granted { destination, granted }
    }

    fn destination(&self) -> Address {
        self.destination
    }

    fn count(&self) -> u32 {
        self.granted
    }
}

/// Bytes of each count, 1 to 4: as many as the largest needs.
pub(super) fn count_length<T: Count>(list: &[T]) -> usize {
    length(u64::from(list.iter().fold(0, |all, entry| all | entry.count())))
}

/// Writes a list whose counts have `len` bytes.
pub(super) fn put<T: Count>(to: &mut Writer, list: &[T], len: usize) {
    match len {
        1 => put_as::<T, 1>(to, list),
        2 => put_as::<T, 2>(to, list),
        3 => put_as::<T, 3>(to, list),
        _ => put_as::<T, 4>(to, list),
    }
}

fn put_as<T: Count, const LEN: usize>(to: &mut Writer, list: &[T]) {
    for (bytes, entry) in to.room(list.len() * (2 + LEN)).chunks_exact_mut(2 + LEN).zip(list) {
        bytes[..2].copy_from_slice(&entry.destination().to_be_bytes());
        bytes[2..].copy_from_slice(&entry.count().to_be_bytes()[4 - LEN..]);
    }
}

/// Reads a list of `count` entries whose counts have `len` bytes. No destination may be in it twice, and no shorter counts
/// may do.
pub(super) fn take<T: Count, const N: usize>(
    from: &mut Reader,
    list: &mut List<T, N>,
    count: usize,
    len: usize,
) -> Result<(), DecodeError> {
    let bytes = from.slice(count * (2 + len))?;
    let list = list.resized(count);
    match len {
        1 => take_as::<T, 1>(bytes, list),
        2 => take_as::<T, 2>(bytes, list),
        3 => take_as::<T, 3>(bytes, list),
        _ => take_as::<T, 4>(bytes, list),
    }
    if count_length(list) != len {
        return Err(DecodeError::Longer(7));
    }
    match repeated(list) {
        Some(destination) => Err(DecodeError::Repeated(destination)),
        None => Ok(()),
    }
}

fn take_as<T: Count, const LEN: usize>(bytes: &[u8], list: &mut [T]) {
    for (bytes, entry) in bytes.chunks_exact(2 + LEN).zip(list) {
        let count = bytes[2..].iter().fold(0, |count, &byte| count << 8 | u32::from(byte));
        *entry = T::new(u16::from_be_bytes([bytes[0], bytes[1]]), count);
    }
}

/// A destination that is listed twice, if there is one among at most 16.
#[inline]
pub(super) fn repeated<T: Count>(list: &[T]) -> Option<Address> {
    // Destinations seldom have the same eight lowest bits; only then is each compared with each.
    let (mut seen, mut shared) = ([0_u64; 4], 0);
    for entry in list {
        let destination = entry.destination();
        let bits = &mut seen[usize::from(destination >> 6 & 3)];
        shared |= *bits >> (destination & 63) & 1;
        *bits |= 1 << (destination & 63);
    }
    if shared == 0 {
        None
    } else {
        compare(list)
    }
}

#[cold]
fn compare<T: Count>(list: &[T]) -> Option<Address> {
    let mut destinations = (0..).zip(list).map(|(i, entry)| (i, entry.destination()));
    let twice = destinations.find(|&(i, destination): &(usize, Address)| {
        list[..i].iter().any(|before| before.destination() == destination)
    });
    twice.map(|(_, destination)| destination)
}
