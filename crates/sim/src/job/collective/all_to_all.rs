//! All-to-alls: each member has a part for each other one.

use super::group::{share, Group};

/// Each member sends to the one after it, the one after that, and so on, with up to `window` messages under way: the next leaves
/// when one before is acknowledged.
pub(super) fn direct(group: &mut Group, bytes: u64, window: u32) {
    let size = group.size();
    for member in 0..size {
        let mut sends = Vec::new();
        for distance in 1..size {
            let to = (member + distance) % size;
            let send = group.send(member, to, 0, share(bytes, to, size));
            if let Some(before) = sends.len().checked_sub(window as usize) {
                group.rank(member).require(send, sends[before]);
            }
            sends.push(send);
            group.receive(member, (member + size - distance) % size, 0, share(bytes, member, size));
        }
    }
}

/// Each member exchanges with one other at a time: in step s it sends s ahead and receives from s behind, and goes on when both
/// are done.
pub(super) fn pairwise(group: &mut Group, bytes: u64) {
    let size = group.size();
    for member in 0..size {
        let mut before = Vec::new();
        for distance in 1..size {
            let to = (member + distance) % size;
            let send = group.send(member, to, 0, share(bytes, to, size));
            let from = (member + size - distance) % size;
            let receive = group.receive(member, from, 0, share(bytes, member, size));
            for operation in [send, receive] {
                group.rank(member).require_all(operation, before.iter().copied());
            }
            before = vec![send, receive];
        }
    }
}
