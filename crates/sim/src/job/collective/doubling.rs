//! Exchanges between partners at distances that are powers of two.

use super::group::{Cut, Group};

/// A step: the distance to the partner, and for how many parts of the array each of the two has data for the other.
pub(super) type Step = (u32, u32);

/// Recursive halving of an array of `size` parts: half of it to a partner far away, a quarter to one half as far, and so on.
pub(super) fn halves(size: u32) -> Vec<Step> {
    let mut steps = doubles(size);
    steps.reverse();
    steps
}

/// Recursive doubling: a part to the neighbour, two to a partner twice as far, and so on.
pub(super) fn doubles(size: u32) -> Vec<Step> {
    distances(size).map(|distance| (distance, distance)).collect()
}

/// Halving, by which each member has a part of the sum, and doubling, by which all have all parts.
pub(super) fn halves_and_doubles(size: u32) -> Vec<Step> {
    halves(size).into_iter().chain(doubles(size)).collect()
}

/// The whole array in each step.
pub(super) fn whole(size: u32) -> Vec<Step> {
    distances(size).map(|distance| (distance, size)).collect()
}

fn distances(size: u32) -> impl Iterator<Item = u32> {
    (0..32).map(|bit| 1 << bit).take_while(move |&distance: &u32| distance < size)
}

/// Each member exchanges with its partner of each step, chunk by chunk, what the step before has brought it.
pub(super) fn exchange(group: &mut Group, cut: Cut, steps: fn(u32) -> Vec<Step>) {
    let size = group.size();
    let steps = steps(size);
    for member in 0..size {
        for chunk in 0..cut.chunks {
            let mut received = None;
            for &(distance, parts) in &steps {
                let partner = member ^ distance;
                let bytes = cut.chunk(0, size / parts, chunk);
                let send = group.send(member, partner, chunk, bytes);
                group.rank(member).require_all(send, received);
                received = Some(group.receive(member, partner, chunk, bytes));
            }
        }
    }
}

/// In each round a member tells another at twice the distance that it has come, and waits for one that tells it
/// (Hensgen, Finkel and Manber 1988).
pub(super) fn dissemination(group: &mut Group) {
    let size = group.size();
    for member in 0..size {
        let mut received = None;
        for (distance, round) in distances(size).zip(0..) {
            let send = group.send(member, (member + distance) % size, round, 0);
            group.rank(member).require_all(send, received);
            let receive = group.receive(member, (member + size - distance) % size, round, 0);
            // The rounds of one member go in order, as it says in each that all before have told it.
            group.rank(member).require_all(receive, received);
            received = Some(receive);
        }
    }
}
