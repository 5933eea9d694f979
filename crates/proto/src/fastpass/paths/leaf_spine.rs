//! Path selection in a leaf-spine network.

use super::balancer::Balancer;
use super::dead_links::DeadLinks;
use super::error::PathError;
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
    paths: usize,
    balancer: Balancer,
}

impl LeafSpine {
    /// A network in which `paths` spine switches join the racks, all in use.
    ///
    /// Errors: [`PathError::Paths`].
    pub fn new(racks: Racks, paths: usize) -> Result<LeafSpine, PathError> {
        let balancer = Balancer::new(racks.racks(), racks.endpoints(), paths)?;
        Ok(LeafSpine { racks, paths, balancer })
    }

    /// From now on no packet takes a dead link of `dead`, and any other link may be taken, whatever was avoided before. Here
    /// memory is allocated.
    ///
    /// Errors: [`PathError::OtherNetwork`]; then nothing has changed.
    pub fn avoid(&mut self, dead: &DeadLinks) -> Result<(), PathError> {
        if (dead.racks(), dead.paths, dead.cores) != (self.racks.racks(), self.paths, 0) {
            return Err(PathError::OtherNetwork);
        }
        self.balancer.avoid(dead.above_racks(), None);
        Ok(())
    }

    /// Does what [`Self::avoid`] does when no link is dead.
    pub fn avoid_none(&mut self) {
        let none = DeadLinks::leaf_spine(&self.racks, self.paths).expect("it was made for this network");
        self.balancer.avoid(none.above_racks(), None);
    }

    /// From now on the paths in use are taken in an order that begins with another one: with `by` the number of the slot, each
    /// is first in turn.
    ///
    /// A rack with fewer packets than paths leaves some idle. Without this it would be the same ones in every slot, and what
    /// travels beside scheduled packets, such as requests, would find the others full.
    pub fn turn(&mut self, by: u64) {
        self.balancer.turn(by);
    }

    /// The path of each packet of a slot, in their order; [`super::BYPASS`] for one that stays within its rack, and
    /// [`super::BLOCKED`] for one that no path has room for.
    ///
    /// While no link is dead, no path has more of the packets that leave a rack, nor of those that come in, than their number
    /// divided by the number of paths, rounded up; nor, where that is a power of two, fewer than the same rounded down; and
    /// no packet is blocked. With dead links, a dead one has none, and a living one no more than the same rounded up, or
    /// than what it carries ([`DeadLinks::carrying`]) if that is more. That holds for any list of pairs, a matching or not.
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
