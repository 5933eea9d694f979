//! Which algorithms there are, and the operations of each.

use super::group::{Cut, Group};
use super::{all_to_all, doubling, ring, tree};
use crate::job::GraphBuilder;
use crate::model::CollectiveKind;

/// How a collective is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Neighbours of a ring pass on what they have: all-reduce, reduce-scatter, all-gather; for broadcast and reduce a chain.
    Ring,
    /// Recursive halving, and doubling after it; ranks are a power of two (Rabenseifner 2004).
    HalvingDoubling,
    /// Partners at distances 1, 2, 4, ... exchange all that they have; ranks are a power of two.
    RecursiveDoubling,
    /// Two binary trees, each with half of the array; no rank is inside both (Sanders, Speck and Träff 2009).
    DoubleTree,
    /// A binomial tree.
    Binomial,
    /// Each rank sends to all others, with up to `window` messages under way.
    Direct {
        /// Messages of a rank that may be under way.
        window: u32,
    },
    /// One partner after the other, all ranks in step.
    Pairwise,
    /// Rounds at distances 1, 2, 4, ...
    Dissemination,
}

/// One collective of some ranks.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The kind of the collective.
    pub kind: CollectiveKind,
    /// The algorithm that does it.
    pub algorithm: Algorithm,
    /// The size of the whole array in bytes.
    pub bytes: u64,
    /// Chunks into which each part of the array is cut; at least one.
    pub chunks: u32,
}

/// Returns whether the algorithm needs a number of ranks that is a power of two.
pub fn needs_power_of_two(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::HalvingDoubling | Algorithm::RecursiveDoubling)
}

/// Returns how many operations a collective of `size` ranks is at most.
pub fn most_operations(plan: &Plan, size: u32) -> u64 {
    let (size, chunks) = (u64::from(size), u64::from(plan.chunks));
    let log = u64::from(size.next_power_of_two().ilog2());
    let chunked = |each: u64| size.saturating_mul(chunks).saturating_mul(each);
    match plan.algorithm {
        Algorithm::Ring if matches!(plan.kind, CollectiveKind::Broadcast | CollectiveKind::Reduce) => {
            chunked(2)
        }
        Algorithm::Ring => chunked(4 * size),
        Algorithm::HalvingDoubling | Algorithm::RecursiveDoubling => chunked(4 * log),
        Algorithm::DoubleTree => chunked(8),
        Algorithm::Binomial => chunked(2),
        Algorithm::Direct { .. } => size.saturating_mul(2 * size),
        Algorithm::Pairwise => size.saturating_mul(4 * size),
        Algorithm::Dissemination => size.saturating_mul(2 * log),
    }
}

/// Returns how many messages follow each other in a collective of `size` ranks, of which none has more than one chunk; in one by
/// `Direct` it is the messages of a rank.
pub fn steps(kind: CollectiveKind, algorithm: Algorithm, size: u32) -> u32 {
    let log = size.next_power_of_two().ilog2();
    match (kind, algorithm) {
        (CollectiveKind::AllReduce, Algorithm::Ring) => 2 * (size - 1),
        (CollectiveKind::AllReduce, Algorithm::HalvingDoubling | Algorithm::DoubleTree) => 2 * log,
        (_, Algorithm::Ring | Algorithm::Direct { .. } | Algorithm::Pairwise) => size - 1,
        (
            _,
            Algorithm::HalvingDoubling
            | Algorithm::RecursiveDoubling
            | Algorithm::DoubleTree
            | Algorithm::Binomial
            | Algorithm::Dissemination,
        ) => log,
    }
}

/// Adds the operations of a collective to those of a group's ranks, of which there are at least two. Panics where the kind cannot be done by the
/// algorithm.
pub fn add(builder: &mut GraphBuilder, group: &[u32], plan: &Plan) {
    let mut group = Group { builder, members: group };
    let Plan { kind, algorithm, bytes, chunks } = *plan;
    let cut = Cut { bytes, chunks };
    let size = group.size();
    assert!(!needs_power_of_two(algorithm) || size.is_power_of_two(), "{algorithm:?} of {size} ranks");
    match (kind, algorithm) {
        (CollectiveKind::AllReduce, Algorithm::Ring) => ring::rounds(&mut group, cut, 2),
        (CollectiveKind::ReduceScatter | CollectiveKind::AllGather, Algorithm::Ring) => {
            ring::rounds(&mut group, cut, 1);
        }
        (CollectiveKind::Broadcast, Algorithm::Ring) => ring::chain(&mut group, cut, false),
        (CollectiveKind::Reduce, Algorithm::Ring) => ring::chain(&mut group, cut, true),
        (CollectiveKind::AllReduce, Algorithm::HalvingDoubling) => {
            doubling::exchange(&mut group, cut, doubling::halves_and_doubles);
        }
        (CollectiveKind::ReduceScatter, Algorithm::HalvingDoubling) => {
            doubling::exchange(&mut group, cut, doubling::halves);
        }
        (CollectiveKind::AllGather, Algorithm::HalvingDoubling) => {
            doubling::exchange(&mut group, cut, doubling::doubles);
        }
        (CollectiveKind::AllReduce, Algorithm::RecursiveDoubling) => {
            doubling::exchange(&mut group, cut, doubling::whole);
        }
        (CollectiveKind::AllReduce, Algorithm::DoubleTree) => tree::double(&mut group, cut),
        (CollectiveKind::Broadcast, Algorithm::Binomial) => tree::broadcast(&mut group, cut),
        (CollectiveKind::Reduce, Algorithm::Binomial) => tree::reduce(&mut group, cut),
        (CollectiveKind::AllToAll, Algorithm::Direct { window }) => {
            all_to_all::direct(&mut group, bytes, window);
        }
        (CollectiveKind::AllToAll, Algorithm::Pairwise) => all_to_all::pairwise(&mut group, bytes),
        (CollectiveKind::Barrier, Algorithm::Dissemination) => doubling::dissemination(&mut group),
        (kind, algorithm) => unreachable!("{kind:?} cannot be done by {algorithm:?}"),
    }
}
