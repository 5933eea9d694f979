//! The first part of a split: cycles of four edges, taken out with word-wide operations.
//!
//! Two racks that send to the same two racks make a cycle of four edges. Whichever way round it is split, all four racks
//! have as many edges in one half as in the other. Two rows of the table show all their cycles at once: where both have a
//! bit is a receiver of both, and any two of those are a cycle. A word holds several rows (lanes) of a small network, and
//! all of them are handled at once.

/// Takes cycles of four edges out of `edges`, and puts those edges of them into `picked` that fall to half one.
///
/// `edges` and `picked` are planes of a table with a side of `1 << SHIFT`.
pub(super) fn cancel<const SHIFT: u32>(edges: &mut [u64], picked: &mut [u64]) {
    assert_eq!(edges.len(), picked.len());
    within_words::<SHIFT>(edges, picked);
    between_words::<SHIFT>(edges, picked);
}

/// Bits of a lane: a row, or half a row of the largest table.
const fn lane_bits(shift: u32) -> u32 {
    if shift < 6 {
        1 << shift
    } else {
        64
    }
}

/// A word whose lanes have their lowest `bits` bits set.
const fn in_each_lane(shift: u32, bits: u32) -> u64 {
    let lane = lane_bits(shift);
    let one = u64::MAX >> (64 - bits);
    let (mut word, mut at) = (0, 0);
    while at < 64 {
        word |= one << at;
        at += lane;
    }
    word
}

/// Of each lane of `common`, an even number of bits, the first result; and every second of them, the second.
#[inline(always)]
fn alternate<const SHIFT: u32>(common: u64) -> (u64, u64) {
    let lane = lane_bits(SHIFT);
    // Whether the number of bits from this one up to the lane's highest is odd.
    let mut odd = common;
    let mut step = 1;
    while step < lane {
        odd ^= odd >> step & in_each_lane(SHIFT, lane - step);
        step *= 2;
    }
    // In a lane with an odd number of bits the lowest is left out: it is what survives an addition of one to the lane's
    // complement. Such a lane is not empty, so that nothing is carried into the next.
    let odd_lanes = odd & in_each_lane(SHIFT, 1);
    let even = common & !(common & (!common).wrapping_add(odd_lanes));
    (even, even & odd)
}

/// Lanes of the same word, whose numbers differ in one bit.
#[inline(always)]
fn within_words<const SHIFT: u32>(edges: &mut [u64], picked: &mut [u64]) {
    let mut distance = lane_bits(SHIFT);
    while distance < 64 {
        // The lower lane of each two.
        let mut lower = 0;
        let mut at = 0;
        while at < 64 {
            lower |= (u64::MAX >> (64 - distance)) << at;
            at += 2 * distance;
        }
        for (edges, picked) in edges.iter_mut().zip(&mut *picked) {
            let (even, first) = alternate::<SHIFT>(*edges & *edges >> distance & lower);
            *edges ^= even | even << distance;
            *picked |= first | (even ^ first) << distance;
        }
        distance *= 2;
    }
}

/// Different words, lane for lane, after the second word's lanes have been rotated: rounds in which each word has another
/// partner.
#[inline(always)]
fn between_words<const SHIFT: u32>(edges: &mut [u64], picked: &mut [u64]) {
    // The largest table's rows have two words, which differ in the lowest bit of their numbers.
    let step = if SHIFT == 7 { 2 } else { 1 };
    let lane = lane_bits(SHIFT);
    let mut round = 0;
    let mut partner = step;
    while partner < edges.len() {
        let mut rotation = 0;
        while rotation < 64 {
            if round == rounds(SHIFT) {
                return;
            }
            round += 1;
            one_round::<SHIFT>(edges, picked, partner, rotation);
            rotation += lane;
        }
        partner += step;
    }
}

/// Rounds that pay: each leaves fewer cycles for the next, and in the end it is cheaper to follow the edges that are left.
/// Measured, by side of the table.
const fn rounds(shift: u32) -> usize {
    match shift {
        4..=6 => 12,
        _ => 6,
    }
}

#[inline(always)]
fn one_round<const SHIFT: u32>(edges: &mut [u64], picked: &mut [u64], partner: usize, rotation: u32) {
    // Each two words once: those without the partner's highest bit.
    let highest = 1 << partner.ilog2();
    for a in 0..edges.len() {
        if a & highest != 0 {
            continue;
        }
        let b = a ^ partner;
        let (even, first) = alternate::<SHIFT>(edges[a] & edges[b].rotate_left(rotation));
        edges[a] ^= even;
        picked[a] |= first;
        edges[b] ^= even.rotate_right(rotation);
        picked[b] |= (even ^ first).rotate_right(rotation);
    }
}
