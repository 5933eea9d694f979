//! Where in the list of an allocation's destinations each of them stands.

use super::super::message::{Address, Granted, MOST_GRANTED};
use super::counts;

/// The numbers of destinations in a list, from 1 on.
pub(super) struct Places<'a> {
    granted: &'a [Granted],
    /// The number of the last destination with these eight lowest bits; 0 where there is none.
    numbers: [u8; 256],
    /// Whether two destinations have the same eight lowest bits.
    shared: bool,
    /// The destination of each number; none at number 0.
    destinations: [u32; MOST_GRANTED + 1],
}

impl<'a> Places<'a> {
    pub(super) fn new(granted: &'a [Granted]) -> Places<'a> {
        let mut places =
            Places { granted, numbers: [0; 256], shared: false, destinations: [u32::MAX; MOST_GRANTED + 1] };
        let destinations = places.destinations[1..].iter_mut();
        for ((number, entry), destination) in (1..).zip(granted).zip(destinations) {
            let place = &mut places.numbers[usize::from(entry.destination & 255)];
            places.shared |= *place != 0;
            *place = number;
            *destination = u32::from(entry.destination);
        }
        places
    }

    /// A destination that is listed twice, if there is one.
    pub(super) fn repeated(&self) -> Option<Address> {
        if self.shared {
            counts::repeated(self.granted)
        } else {
            None
        }
    }

    /// A number, and zero if it is that of the destination.
    #[inline]
    pub(super) fn guess(&self, destination: Address) -> (u8, u32) {
        let number = self.numbers[usize::from(destination & 255)];
        (number, self.destinations[usize::from(number & 15)] ^ u32::from(destination))
    }

    /// The number of a destination; none if it is not listed.
    pub(super) fn number(&self, destination: Address) -> Option<u8> {
        if let (number, 0) = self.guess(destination) {
            return Some(number);
        }
        let found = self.granted.iter().position(|entry| entry.destination == destination)?;
        Some(found as u8 + 1)
    }
}
