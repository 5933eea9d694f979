//! Sorting a few things that are in no order at all.

/// So few are sorted by counting.
pub const FEW: usize = 24;
/// The bits that tell that many apart.
const NUMBER_BITS: u32 = 5;

/// A few things by the place that each has among them.
///
/// A thing's place is the number of those before it. To find it takes as many comparisons as there are pairs, but none of
/// them decides where the program goes on, and a processor that guesses wrong there loses more time than many comparisons
/// take.
#[derive(Debug)]
pub struct Few {
    /// Each thing's order, and its number, so that no two are equal; then only the largest number, in whole fours, so that
    /// the loop over them mostly ends where it ended the time before.
    orders: [u64; FEW],
    padded: usize,
}

impl Few {
    /// At most [`FEW`] things of these orders, which are less than 2^59; those that are equal keep theirs.
    #[inline(always)]
    pub fn new(orders: impl ExactSizeIterator<Item = u64>) -> Few {
        let padded = orders.len().next_multiple_of(4);
        let mut few = Few { orders: [u64::MAX; FEW], padded };
        for (number, (place, order)) in few.orders.iter_mut().zip(orders).enumerate() {
            *place = order << NUMBER_BITS | number as u64;
        }
        few
    }

    /// The order and the place of thing `number`.
    #[inline(always)]
    pub fn place(&self, number: usize) -> (u64, usize) {
        let own = self.orders[number];
        let before = self.orders[..self.padded].iter().map(|&other| usize::from(other < own)).sum();
        (own >> NUMBER_BITS, before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Entity, Stream};

    #[test]
    fn as_a_stable_sort() {
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        for round in 0..1000 {
            let range = [3, 1 << 59][round % 2];
            let things: Vec<(u64, usize)> =
                (0..round % (FEW + 1)).map(|number| (stream.below(range), number)).collect();
            let few = Few::new(things.iter().map(|thing| thing.0));
            let mut expected = things.clone();
            expected.sort();
            for &(order, number) in &things {
                let (found, place) = few.place(number);
                assert_eq!((found, expected[place]), (order, (order, number)));
            }
        }
    }
}
