//! Where in the list of an allocation's destinations each of them stands.

use super::super::message::{Address, Granted, MOST_GRANTED};

/// The numbers of destinations in a list, from 1 on.
pub(super) struct Places<'a> {
    granted: &'a [Granted],
    /// The number of the last destination with these eight lowest bits; 0 where there is none.
    numbers: [u8; 256],
    /// The destination of each number; none at number 0.
    destinations: [u32; MOST_GRANTED + 1],
}

impl<'a> Places<'a> {
    pub(super) fn new(granted: &'a [Granted]) -> Places<'a> {
        let mut places = Places { granted, numbers: [0; 256], destinations: [u32::MAX; MOST_GRANTED + 1] };
        for ((number, entry), destination) in (1..).zip(granted).zip(&mut places.destinations[1..]) {
            places.numbers[usize::from(entry.destination & 255)] = number;
            *destination = u32::from(entry.destination);
        }
        places
    }

    /// A number, and whether it is that of the destination.
    #[inline]
    pub(super) fn guess(&self, destination: Address) -> (u8, bool) {
        let number = self.numbers[usize::from(destination & 255)];
        (number, self.destinations[usize::from(number & 15)] == u32::from(destination))
    }

    /// The number of a destination; none if it is not listed.
    pub(super) fn number(&self, destination: Address) -> Option<u8> {
        if let (number, true) = self.guess(destination) {
            return Some(number);
        }
        let found = self.granted.iter().position(|entry| entry.destination == destination)?;
        Some(found as u8 + 1)
    }
}
