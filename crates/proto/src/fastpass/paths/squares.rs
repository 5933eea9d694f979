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

/// The lanes of a word: rows, or halves of a row of the largest table.
struct Lanes<const SHIFT: u32>;

impl<const SHIFT: u32> Lanes<SHIFT> {
    /// Bits of a lane.
    const BITS: u32 = if SHIFT < 6 { 1 << SHIFT } else { 64 };
    /// The lowest bit of each lane.
    const LOWEST: u64 = every(Self::BITS, 1);
    /// Masks by a number's logarithm: all bits of each lane but that many at the top.
    const BUT_TOP: [u64; 6] = {
        let mut masks = [0; 6];
        let mut log = 0;
        while 1 << log < Self::BITS {
            masks[log] = every(Self::BITS, Self::BITS - (1 << log));
            log += 1;
        }
        masks
    };
}

/// A word in which the lowest `bits` of every `stride` bits are set.
const fn every(stride: u32, bits: u32) -> u64 {
    let (mut word, mut at) = (0, 0);
    while at < 64 {
        word |= u64::MAX >> (64 - bits) << at;
        at += stride;
    }
    word
}

/// Masks by a number of bits' logarithm: the lower of every two neighbours of that many bits.
const LOWER: [u64; 6] = [every(2, 1), every(4, 2), every(8, 4), every(16, 8), every(32, 16), every(64, 32)];

/// The first result has the bits of each lane of `common`, without the lowest where their number is odd. The second has
/// every second of these, beginning with the highest.
#[inline(always)]
fn alternate<const SHIFT: u32>(common: u64) -> (u64, u64) {
    // Whether the number of bits from this one up to the lane's highest is odd.
    let mut odd = common;
    for log in 0..SHIFT.min(6) {
        odd ^= odd >> (1 << log) & Lanes::<SHIFT>::BUT_TOP[log as usize];
    }
    // In a lane with an odd number of bits the lowest is left out: it is what survives an addition of one to the lane's
    // complement. Such a lane is not empty, so that nothing is carried into the next.
    let odd_lanes = odd & Lanes::<SHIFT>::LOWEST;
    let even = common & !(common & (!common).wrapping_add(odd_lanes));
    (even, even & odd)
}

/// Lanes of the same word, whose numbers differ in one bit.
fn within_words<const SHIFT: u32>(edges: &mut [u64], picked: &mut [u64]) {
    for log in SHIFT..6 {
        let distance = 1 << log;
        for (edges, picked) in edges.iter_mut().zip(&mut *picked) {
            let common = *edges & *edges >> distance & LOWER[log as usize];
            let (even, first) = alternate::<SHIFT>(common);
            *edges ^= even | even << distance;
            *picked |= first | (even ^ first) << distance;
        }
    }
}

/// Different words, lane for lane, after the second word's lanes have been rotated: rounds in which each word has another
/// partner.
fn between_words<const SHIFT: u32>(edges: &mut [u64], picked: &mut [u64]) {
    // The largest table's rows have two words, which differ in the lowest bit of their numbers.
    let step = if SHIFT == 7 { 2 } else { 1 };
    let rotations = 64 / Lanes::<SHIFT>::BITS;
    for round in 0..rounds(SHIFT) {
        let partner = (round / rotations + 1) as usize * step;
        if partner < edges.len() {
            one_round::<SHIFT>(edges, picked, partner, round % rotations * Lanes::<SHIFT>::BITS);
        }
    }
}

/// Rounds that pay: each leaves fewer cycles for the next, and in the end it is cheaper to follow the edges that are left.
/// Measured, by side of the table: `docs/PERFORMANCE_TRIED.md`.
const fn rounds(shift: u32) -> u32 {
    match shift {
        5 | 6 => 4,
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
