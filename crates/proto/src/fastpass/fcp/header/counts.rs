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
    for entry in list {
        to.number(u64::from(entry.destination()) << (8 * len) | u64::from(entry.count()), 2 + len);
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
    let list = list.resized(count);
    for entry in list.iter_mut() {
        let both = from.number(2 + len)?;
        *entry = T::new((both >> (8 * len)) as u16, (both & ((1 << (8 * len)) - 1)) as u32);
    }
    if count_length(list) != len {
        return Err(DecodeError::Longer(7));
    }
    match repeated(list) {
        Some(destination) => Err(DecodeError::Repeated(destination)),
        None => Ok(()),
    }
}

/// A destination that is listed twice, if there is one.
#[inline]
pub(super) fn repeated<T: Count>(list: &[T]) -> Option<Address> {
    // Destinations seldom have the same ten lowest bits; only then is each compared with each.
    let (mut seen, mut shared) = ([0_u64; 16], 0);
    for entry in list {
        let destination = entry.destination();
        let bits = &mut seen[usize::from(destination >> 6 & 15)];
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
