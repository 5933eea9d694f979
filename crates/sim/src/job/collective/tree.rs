//! Trees: from a root to all and back.

use super::group::{share, Cut, Group};

/// A tree of members: the parent of each, and none of the root.
type Parents = Vec<Option<u32>>;

/// Half of the array is summed up and sent out over one tree, the other half over another. A member with children in one has none
/// in the other where the size is even, and so sends and receives as much as any (Sanders, Speck and Träff 2009).
pub(super) fn double(group: &mut Group, cut: Cut) {
    let size = group.size();
    let first = in_order_tree(size);
    let second = other_tree(&first);
    for (half, parents) in [first, second].iter().enumerate() {
        let half = half as u32;
        let halved = Cut { bytes: share(cut.bytes, half, 2), ..cut };
        up_and_down(group, halved, parents, half);
    }
}

/// Sums go up and come down a tree, chunk by chunk. Tags are even in the first tree and odd in the second; where a pair of
/// members is joined in both, messages of the two are told apart.
fn up_and_down(group: &mut Group, cut: Cut, parents: &Parents, tree: u32) {
    let children = children_of(parents);
    for member in 0..group.size() {
        for chunk in 0..cut.chunks {
            let (tag, bytes) = (2 * chunk + tree, share(cut.bytes, chunk, cut.chunks));
            let own = &children[member as usize];
            let sums: Vec<u32> = own.iter().map(|&child| group.receive(member, child, tag, bytes)).collect();
            let result = match parents[member as usize] {
                Some(parent) => {
                    let send = group.send(member, parent, tag, bytes);
                    group.rank(member).require_all(send, sums);
                    vec![group.receive(member, parent, tag, bytes)]
                }
                None => sums,
            };
            for &child in own {
                let send = group.send(member, child, tag, bytes);
                group.rank(member).require_all(send, result.iter().copied());
            }
        }
    }
}

/// A binary tree in which member 0 is above the root of all others and odd members are leaves: the parent of a member is the
/// one of the next lowest power of two beside it.
fn in_order_tree(size: u32) -> Parents {
    let parent = |member: u32| {
        let bit = 1 << member.trailing_zeros();
        let above = (member ^ bit) | bit << 1;
        if above < size {
            above
        } else {
            member ^ bit
        }
    };
    (0..size).map(|member| (member > 0).then(|| parent(member))).collect()
}

/// A tree over the members in another order: mirrored where their number is even, so that leaves and others change
/// places, and else shifted by one.
fn other_tree(parents: &Parents) -> Parents {
    let size = parents.len() as u32;
    let moved = |member: u32| if size % 2 == 0 { size - 1 - member } else { (member + 1) % size };
    let mut other = vec![None; parents.len()];
    for (member, parent) in (0..).zip(parents) {
        other[moved(member) as usize] = parent.map(moved);
    }
    other
}

fn children_of(parents: &Parents) -> Vec<Vec<u32>> {
    let mut children = vec![Vec::new(); parents.len()];
    for (member, parent) in (0..).zip(parents) {
        if let Some(parent) = parent {
            children[*parent as usize].push(member);
        }
    }
    children
}

/// The binomial tree with member 0 as its root: a member's parent is the one without its lowest bit.
fn binomial_tree(size: u32) -> Parents {
    (0..size).map(|member: u32| (member > 0).then(|| member & (member - 1))).collect()
}

/// Chunks go down a binomial tree, to the child with the most below it first.
pub(super) fn broadcast(group: &mut Group, cut: Cut) {
    let parents = binomial_tree(group.size());
    let children = children_of(&parents);
    for member in 0..group.size() {
        for chunk in 0..cut.chunks {
            let bytes = share(cut.bytes, chunk, cut.chunks);
            let received = parents[member as usize].map(|parent| group.receive(member, parent, chunk, bytes));
            for &child in children[member as usize].iter().rev() {
                let send = group.send(member, child, chunk, bytes);
                group.rank(member).require_all(send, received);
            }
        }
    }
}

/// Sums go up a binomial tree.
pub(super) fn reduce(group: &mut Group, cut: Cut) {
    let parents = binomial_tree(group.size());
    let children = children_of(&parents);
    for member in 0..group.size() {
        for chunk in 0..cut.chunks {
            let bytes = share(cut.bytes, chunk, cut.chunks);
            let own = &children[member as usize];
            let sums: Vec<u32> =
                own.iter().map(|&child| group.receive(member, child, chunk, bytes)).collect();
            if let Some(parent) = parents[member as usize] {
                let send = group.send(member, parent, chunk, bytes);
                group.rank(member).require_all(send, sums);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_trees_join_all_and_no_member_of_an_even_number_is_inside_both() {
        for size in 2..70_u32 {
            let trees = [in_order_tree(size), other_tree(&in_order_tree(size))];
            for parents in &trees {
                assert_eq!(parents.iter().filter(|parent| parent.is_none()).count(), 1);
                for member in 0..size {
                    let up = std::iter::successors(Some(member), |&member| parents[member as usize]);
                    let depth = up.take(size as usize + 1).count() as u32;
                    assert!(depth <= size.ilog2() + 2, "{size} members: member {member} is {depth} deep");
                }
                assert!(children_of(parents).iter().all(|children| children.len() <= 2));
            }
            if size % 2 == 0 {
                let [one, other] = trees.map(|parents| children_of(&parents));
                let both = one.iter().zip(&other).any(|(one, other)| !one.is_empty() && !other.is_empty());
                assert!(!both, "{size} members");
            }
        }
    }
}
