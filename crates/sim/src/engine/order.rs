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
    if items.len() <= FEW {
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
