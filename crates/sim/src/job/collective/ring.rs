//! Rings: each member sends to the next only, so that every link carries as much.

use super::group::{Cut, Group};

/// Goes round `rounds` times less a step each time: one round scatters the sums or gathers the parts, two do both. In step s, member
/// m sends part m - s, which it received in the step before.
pub(super) fn rounds(group: &mut Group, cut: Cut, rounds: u32) {
    let size = group.size();
    let steps = rounds * (size - 1);
    let sizes = |chunk| (0..size).map(|part| cut.chunk(part, size, chunk)).collect();
    let sizes: Vec<Vec<u64>> = (0..cut.chunks).map(sizes).collect();
    for member in 0..size {
        let (next, before) = ((member + 1) % size, (member + size - 1) % size);
        group.rank(member).reserve(2 * steps as usize * sizes.len());
        for (chunk, sizes) in (0..).zip(&sizes) {
            let (mut received, mut part) = (None, member);
            for _ in 0..steps {
                let send = group.send(member, next, chunk, sizes[part as usize]);
                if let Some(received) = received {
                    group.rank(member).require(send, received);
                }
                part = part.checked_sub(1).unwrap_or(size - 1);
                received = Some(group.receive(member, before, chunk, sizes[part as usize]));
            }
        }
    }
}

/// Every member passes chunks on to the next one as they come: from the first to the last, or back if sums are made on the way.
pub(super) fn chain(group: &mut Group, cut: Cut, back: bool) {
    let size = group.size();
    let at = |place: u32| if back { size - 1 - place } else { place };
    for place in 0..size {
        for chunk in 0..cut.chunks {
            let bytes = cut.chunk(0, 1, chunk);
            let received = (place > 0).then(|| group.receive(at(place), at(place - 1), chunk, bytes));
            if place + 1 < size {
                let send = group.send(at(place), at(place + 1), chunk, bytes);
                group.rank(at(place)).require_all(send, received);
            }
        }
    }
}
