//! Which packets left in which slots, until it is known what became of them.

use std::collections::{BTreeMap, VecDeque};

use clearway_proto::fastpass::fcp::Address;

/// A packet that left in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed {
    /// The slot's number, as its header had it.
    number: u32,
    /// The sending end.
    pub end: u32,
    /// The packet's sequence number.
    pub seq: u32,
    /// Whether it had been sent before.
    pub again: bool,
}

/// The packets of a host whose slots are not settled, by destination and in the order in which they left.
#[derive(Debug, Default)]
pub struct Receipts {
    departed: BTreeMap<Address, VecDeque<Departed>>,
}

impl Receipts {
    /// A packet left in the slot of this number for a destination.
    pub fn note(&mut self, destination: Address, number: u32, end: u32, seq: u32, again: bool) {
        let packets = self.departed.entry(destination).or_default();
        packets.push_back(Departed { number, end, seq, again });
    }

    /// The next packet that left in the slot of this number, which is the oldest that is not settled. To be asked until there is
    /// none.
    pub fn settle(&mut self, destination: Address, number: u32) -> Option<Departed> {
        let packets = self.departed.get_mut(&destination)?;
        packets.front().filter(|departed| departed.number == number)?;
        packets.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_settled_with_all_that_left_in_it() {
        let mut receipts = Receipts::default();
        for (number, seq) in [(8, 1), (8, 2), (9, 3), (11, 4)] {
            receipts.note(5, number, 70, seq, false);
        }
        receipts.note(6, 8, 71, 1, true);
        let settled = |receipts: &mut Receipts, destination, number| -> Vec<u32> {
            std::iter::from_fn(|| receipts.settle(destination, number)).map(|packet| packet.seq).collect()
        };
        assert_eq!(settled(&mut receipts, 5, 8), [1, 2]);
        assert_eq!(settled(&mut receipts, 5, 10), [0; 0], "nothing but acknowledgements left in it");
        assert_eq!(settled(&mut receipts, 5, 9), [3]);
        assert_eq!(receipts.settle(6, 8), Some(Departed { number: 8, end: 71, seq: 1, again: true }));
        assert_eq!((receipts.settle(6, 9), receipts.settle(7, 1)), (None, None));
    }
}
