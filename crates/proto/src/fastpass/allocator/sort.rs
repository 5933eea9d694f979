//! The order of minimum flow completion time: a queue sorted by what its pairs wait for.

use super::pair::Pair;

/// Bits by which the queue is sorted at once.
const DIGIT: u32 = 8;

/// Sorts a queue by what its pairs wait for; those that wait for equally many keep their order. `spare` has room for as many
/// pairs as there can be in the queue.
pub(super) fn sort(queue: &mut [Pair], spare: &mut Vec<Pair>) {
    let most = queue.iter().fold(0, |most, pair| most | pair.remaining());
    sort_by_digit(queue, spare, 0);
    if most >> DIGIT != 0 {
        sort_by_digit(queue, spare, DIGIT);
    }
}

/// Sorts a queue by eight bits of what its pairs wait for, from bit `shift` on.
fn sort_by_digit(queue: &mut [Pair], spare: &mut Vec<Pair>, shift: u32) {
    let digit = |pair: Pair| usize::from(pair.remaining() >> shift) % (1 << DIGIT);
    let mut ends = [0; 1 << DIGIT];
    for &pair in &*queue {
        ends[digit(pair)] += 1;
    }
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    spare.clear();
    spare.extend_from_slice(queue);
    for &pair in &*spare {
        let end = &mut ends[digit(pair)];
        queue[*end] = pair;
        *end += 1;
    }
}
