//! The frames that go through a node in a window, in the order in which they arrive.

use super::order::{Few, FEW};

/// The bits of an order below its time.
const LINK_BITS: u32 = 28;
/// Groups into which a window's frames are dealt out before they are sorted.
const GROUPS: usize = 128;

/// A frame that goes through a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Time since the window began, and then the link of arrival.
    order: u64,
    /// The slot of its arrival, and in the lower half the port over which it goes on.
    way: u64,
}

impl Hop {
    /// A frame in `slot`, that arrived over `link`, `since` picoseconds (less than 2^36) after the window began, and
    /// goes on over `port`.
    #[inline(always)]
    pub fn new(since: u64, link: u32, slot: u32, port: u32) -> Hop {
        Hop { order: since << LINK_BITS | u64::from(link), way: u64::from(slot) << 32 | u64::from(port) }
    }

    /// The slot of its arrival.
    #[inline(always)]
    pub fn slot(self) -> u32 {
        (self.way >> 32) as u32
    }

    /// The port over which it goes on.
    #[inline(always)]
    pub fn port(self) -> u32 {
        self.way as u32
    }
}

/// Sorts frames by time and then by link, when they arrived; `length` is the window's. `spare` is room to work in.
///
/// The frames are dealt out by time into groups, which leaves them nearly in order, and then each moves the few places
/// to where it belongs.
pub fn sort(hops: &mut Vec<Hop>, spare: &mut Vec<Hop>, length: u64) {
    if hops.len() <= FEW {
        let few = Few::new(hops.iter().map(|hop| hop.order));
        spare.resize(hops.len(), Hop::default());
        for (number, &Hop { way, .. }) in hops.iter().enumerate() {
            let (order, place) = few.place(number);
            spare[place] = Hop { order, way };
        }
        std::mem::swap(hops, spare);
        return;
    }
    let shift = LINK_BITS + (u64::BITS - length.leading_zeros()).saturating_sub(GROUPS.trailing_zeros());
    let group = |hop: &Hop| (hop.order >> shift) as usize % GROUPS;
    let mut ends = [0_u32; GROUPS];
    for hop in &*hops {
        ends[group(hop)] += 1;
    }
    let mut from = 0;
    for end in &mut ends {
        from += std::mem::replace(end, from);
    }
    spare.resize(hops.len(), Hop::default());
    for hop in &*hops {
        let end = &mut ends[group(hop)];
        if let Some(place) = spare.get_mut(*end as usize) {
            *place = *hop;
        }
        *end += 1;
    }
    std::mem::swap(hops, spare);
    settle(hops);
}

/// Sorts frames that are nearly in order; where many arrived at one instant, as any others.
fn settle(hops: &mut [Hop]) {
    let mut moves = hops.len() * 4;
    for next in 1..hops.len() {
        if hops[next - 1].order <= hops[next].order {
            continue;
        }
        let hop = hops[next];
        let mut at = next;
        while at > 0 && hops[at - 1].order > hop.order {
            hops[at] = hops[at - 1];
            at -= 1;
        }
        hops[at] = hop;
        if next - at > moves {
            hops.sort_unstable_by_key(|hop| hop.order);
            return;
        }
        moves -= next - at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Entity, Stream};

    #[test]
    fn they_come_out_as_from_a_plain_sort() {
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        let mut spare = Vec::new();
        for round in 0..2000 {
            let length = [2, 1000, 1_005_120, 1 << 24][round % 4];
            let instants = [1, 3, length][round % 3];
            let mut hops: Vec<Hop> = (0..stream.below(300) as u32)
                .map(|slot| {
                    Hop::new(stream.below(instants).min(length - 1), (1 << 28) - 1 - slot, slot, slot + 1)
                })
                .collect();
            let mut expected = hops.clone();
            expected.sort_by_key(|hop| hop.order);
            sort(&mut hops, &mut spare, length);
            assert_eq!(hops, expected);
        }
    }
}
