//! Sorting what happens in a window.

use super::event::TIME_AT;

/// Something that happens in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its place among all that happens at a node in the window: see [`super::event::Event::order_since`].
    pub order: u64,
    /// Data that goes with it; sorting does not look at it.
    pub tag: u64,
}

/// The order in which items stand before they are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Each is near its place.
    Near,
    /// They are in no order, in a window of this length in picoseconds.
    Length(u64),
}

/// Sorts items by their order; `spare` is room to work in.
#[inline(always)]
pub fn sort(items: &mut Vec<Item>, spare: &mut Vec<Item>, known: Known) {
    match known {
        Known::Near => settle(items),
        Known::Length(length) => sort_any(items, spare, length),
    }
}

/// Sorts items of which nothing is known, in a window of this length.
#[inline(never)]
fn sort_any(items: &mut Vec<Item>, spare: &mut Vec<Item>, length: u64) {
    spare.resize(items.len(), Item::default());
    if items.len() <= INPUTS {
        sort_by_network(items, spare);
    } else if items.len() <= FEW {
        count(items, spare);
    } else {
        deal_by_time(items, spare, length);
    }
    std::mem::swap(items, spare);
    if items.len() > FEW {
        settle(items);
    }
}

/// Copies things to the beginning of `to`, group by group; those of one group keep their order.
#[inline(always)]
pub(super) fn deal<T: Copy, const GROUPS: usize>(things: &[T], to: &mut [T], group: impl Fn(&T) -> usize) {
    let mut ends = [0_u32; GROUPS];
    for thing in things {
        ends[group(thing)] += 1;
    }
    let mut from = 0;
    for end in &mut ends {
        from += std::mem::replace(end, from);
    }
    for thing in things {
        let end = &mut ends[group(thing)];
        let at = *end as usize;
        *end += 1;
        if let Some(place) = to.get_mut(at) {
            *place = *thing;
        }
    }
}

/// Groups into which items are dealt out by time.
const GROUPS: usize = 128;

/// Deals items out by time, which leaves them nearly in order.
fn deal_by_time(items: &[Item], to: &mut [Item], length: u64) {
    let bits = (u64::BITS - length.leading_zeros()).saturating_sub(GROUPS.trailing_zeros());
    deal::<_, GROUPS>(items, to, |item| (item.order >> (TIME_AT + bits)) as usize % GROUPS);
}

/// Sorts items that are nearly in order by moving each the few places to where it belongs; where that turns out to be
/// far, as any others.
fn settle(items: &mut [Item]) {
    let mut moves = items.len() * 4;
    // Of the items so far, which are in order.
    let mut largest = 0;
    let mut is_late = |item: &Item| {
        let late = item.order < largest;
        largest = largest.max(item.order);
        late
    };
    let mut next = 0;
    while let Some(in_order) = items[next..].iter().position(&mut is_late) {
        next += in_order;
        let places = move_back(items, next);
        if places > moves {
            items.sort_by_key(|item| item.order);
            return;
        }
        moves -= places;
        next += 1;
    }
}

/// Moves an item to where it belongs among those before it, which are in order. Returns how many places that is. Apart from
/// [`settle`], whose loop then needs few registers for the items that are in order: most of them.
#[inline(never)]
pub(super) fn move_back(items: &mut [Item], from: usize) -> usize {
    let item = items[from];
    let mut at = from;
    while at > 0 && items[at - 1].order > item.order {
        items[at] = items[at - 1];
        at -= 1;
    }
    items[at] = item;
    from - at
}

/// The most items that are sorted by a sorting network.
const INPUTS: usize = 8;

/// Puts the contents of each of these pairs of places in order, one pair after the other. Written out pair by pair, all places
/// are registers.
macro_rules! exchange {
    ($orders:ident: $($one:literal $other:literal),*) => {$(
        let (a, b) = ($orders[$one], $orders[$other]);
        ($orders[$one], $orders[$other]) = (a.min(b), a.max(b));
    )*};
}

/// Copies at most [`INPUTS`] items, whose orders are less than 2^59, to their places. No comparison decides where the program
/// goes on, as in [`count`]. The network is the one with the fewest comparisons for eight inputs (Knuth, The Art of Computer
/// Programming, volume 3, section 5.3.4).
fn sort_by_network(items: &[Item], to: &mut [Item]) {
    let mut orders = [u64::MAX; INPUTS];
    for (number, (numbered, item)) in orders.iter_mut().zip(items).enumerate() {
        *numbered = item.order << NUMBER_BITS | number as u64;
    }
    exchange!(orders: 0 2, 1 3, 4 6, 5 7);
    exchange!(orders: 0 4, 1 5, 2 6, 3 7);
    exchange!(orders: 0 1, 2 3, 4 5, 6 7);
    exchange!(orders: 2 4, 3 5);
    exchange!(orders: 1 4, 3 6);
    exchange!(orders: 1 2, 3 4, 5 6);
    for (place, &numbered) in to.iter_mut().zip(&orders) {
        let tag = items[numbered as usize % (1 << NUMBER_BITS)].tag;
        *place = Item { order: numbered >> NUMBER_BITS, tag };
    }
}

/// Up to this many items are sorted by counting.
pub const FEW: usize = 24;
/// The bits that tell that many apart.
const NUMBER_BITS: u32 = 5;

/// Copies at most [`FEW`] items, whose orders are less than 2^59, to their places, which are found by counting for each how
/// many come before it.
///
/// It takes as many comparisons as there are pairs, but none of them decides where the program goes on, and a processor that
/// guesses wrong there loses more time than many comparisons take.
fn count(items: &[Item], to: &mut [Item]) {
    // Each item's order and its number, so that no two are equal; then only the largest number, in whole fours, so that the
    // loop over them mostly ends where it ended the time before.
    let mut orders = [u64::MAX; FEW];
    for (number, (numbered, item)) in orders.iter_mut().zip(items.iter()).enumerate() {
        *numbered = item.order << NUMBER_BITS | number as u64;
    }
    let orders = &orders[..items.len().next_multiple_of(4)];
    for (&own, &Item { tag, .. }) in orders.iter().zip(items.iter()) {
        let place: usize = orders.iter().map(|&other| usize::from(other < own)).sum();
        to[place] = Item { order: own >> NUMBER_BITS, tag };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Entity, Stream};

    /// A network that sorts all zeros and ones sorts everything (Knuth, section 5.3.4, theorem Z).
    #[test]
    fn the_network_sorts_all_zeros_and_ones() {
        for count in 0..=INPUTS {
            for pattern in 0_u64..1 << count {
                let items: Vec<Item> =
                    (0..count as u64).map(|tag| Item { order: pattern >> tag & 1, tag }).collect();
                let mut sorted = vec![Item::default(); count];
                sort_by_network(&items, &mut sorted);
                let mut expected = items;
                expected.sort_by_key(|item| item.order);
                assert_eq!(sorted, expected);
            }
        }
    }

    #[test]
    fn as_a_stable_sort() {
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        let mut spare = Vec::new();
        for round in 0..2000 {
            let length = [1, 3, 1_005_120, 1 << 24][round % 4];
            let kinds = [1, 5][round % 2];
            let count = [FEW as u64 + 1, 300][round / 2 % 2];
            let mut items: Vec<Item> = (0..stream.below(count))
                .map(|tag| Item { order: stream.below(length) << TIME_AT | stream.below(kinds), tag })
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.order);
            let known = if round % 5 == 0 { Known::Near } else { Known::Length(length) };
            sort(&mut items, &mut spare, known);
            assert_eq!(items, expected);
        }
    }
}
