//! Path selection in a leaf-spine network.

use super::balancer::Balancer;
use super::error::PathError;
use super::path_set::PathSet;
use super::racks::Racks;
use super::slot::Pair;

/// Selects the spine switch of each packet of a slot.
///
/// ```
/// use clearway_proto::fastpass::paths::{LeafSpine, Racks, BYPASS};
///
/// // Two racks of two hosts with an uplink for each: of the two packets to rack 1, and of the two out of rack 0, each has
/// // its own spine switch. The packet from host 3 to host 2 stays within rack 1.
/// let mut network = LeafSpine::new(Racks::uniform(2, 2).unwrap(), 2).unwrap();
/// let paths = network.select(&[(0, 3), (1, 2), (3, 0)]).unwrap();
/// assert_ne!(paths[0], paths[1]);
/// assert_eq!(network.select(&[(3, 2)]).unwrap(), [BYPASS]);
/// ```
#[derive(Clone, Debug)]
pub struct LeafSpine {
    racks: Racks,
    balancer: Balancer,
}

impl LeafSpine {
    /// A network in which `paths` spine switches join the racks, all in use.
    ///
    /// Errors: [`PathError::Paths`].
    pub fn new(racks: Racks, paths: usize) -> Result<LeafSpine, PathError> {
        let balancer = Balancer::new(racks.racks(), racks.endpoints(), paths)?;
        Ok(LeafSpine { racks, balancer })
    }

    /// From now on the paths of `failed` are not used, and all others are, whatever was excluded before. A path is excluded
    /// for all racks: that of a link that has failed for one rack is one, too.
    ///
    /// Errors: [`PathError::UnknownPath`], [`PathError::NoPathLeft`]; then nothing has changed.
    pub fn exclude(&mut self, failed: PathSet) -> Result<(), PathError> {
        self.balancer.exclude(failed)
    }

    /// From now on the paths in use are taken in an order that begins with another one: with `by` the number of the slot, each
    /// is first in turn.
    ///
    /// A rack with fewer packets than paths leaves some idle. Without this it would be the same ones in every slot, and what
    /// travels beside scheduled packets, such as requests, would find the others full.
    pub fn turn(&mut self, by: u64) {
        self.balancer.turn(by);
    }

    /// The path of each packet of a slot, in their order; [`super::BYPASS`] for one that stays within its rack.
    ///
    /// No path has more of the packets that leave a rack, nor of those that come in, than their number divided by the number
    /// of paths in use, rounded up; nor, where that is a power of two, fewer than the same rounded down. That holds for
    /// any list of pairs, a matching or not.
    ///
    /// Errors: [`PathError::TooManyPairs`], [`PathError::UnknownEndpoint`].
    pub fn select(&mut self, slot: &[Pair]) -> Result<&[u8], PathError> {
        if slot.len() > self.racks.endpoints() {
            return Err(PathError::TooManyPairs(slot.len()));
        }
        self.racks.check(slot)?;
        Ok(self.balancer.balance(slot.iter().copied().map(self.racks.lookup())))
    }
}
