//! How busy the links above the arbiter's own rack are with packets in timeslots, while links are avoided.
//!
//! Packets in slots leave a hundredth of each link to control packets. All that the arbiter says and hears passes its rack's
//! links, which is more than that; but its host sends nothing else, so the links together have room. While no link is avoided
//! they are alike. While some are, racks whose links are all whole make little use of some paths and all of others.

use crate::fastpass::fcp::{Address, Path};
use crate::fastpass::paths::Racks;

use super::batch::Slot;
use super::trial_paths::Surroundings;

/// The packets of late on the links between the arbiter's rack and the switches above it.
#[derive(Clone, Debug)]
pub(super) struct OwnLinks {
    racks: Racks,
    own: usize,
    /// Paths that begin or end with the same link of a rack.
    paths_a_link: usize,
    /// Packets of each link, out of the rack and into it: halved with each batch.
    loads: Box<[[u32; 2]]>,
    /// Slots, halved with each batch.
    slots: u32,
}

impl OwnLinks {
    /// For an arbiter at the link of the endpoint `own`.
    pub(super) fn new(surroundings: &Surroundings, own: Address) -> OwnLinks {
        let Surroundings { racks, switches, cores, .. } = surroundings;
        OwnLinks {
            own: racks.rack_of(own.into()),
            racks: racks.clone(),
            paths_a_link: *cores,
            loads: vec![[0; 2]; *switches].into_boxed_slice(),
            slots: 0,
        }
    }

    /// Counts the packets of a batch.
    pub(super) fn count(&mut self, slots: &[Slot]) {
        for load in self.loads.iter_mut().flatten() {
            *load /= 2;
        }
        self.slots = self.slots / 2 + slots.len() as u32;
        for slot in slots {
            for (&(source, destination), &path) in slot.pairs.iter().zip(&slot.paths) {
                let [from, to] = [source, destination].map(|endpoint| self.racks.rack_of(endpoint.into()));
                if from != to && (from == self.own || to == self.own) {
                    self.add(path, usize::from(to == self.own));
                }
            }
        }
    }

    /// Adds to the load of a path's link; a packet without a path has none.
    fn add(&mut self, path: Path, direction: usize) {
        if let Some(loads) = self.loads.get_mut(usize::from(path) / self.paths_a_link) {
            loads[direction] += 1;
        }
    }

    /// Returns whether the link by which a path leaves the rack has room for control packets.
    pub(super) fn has_room_out(&self, path: Path) -> bool {
        self.has_room(path, 0)
    }

    /// Returns whether the link by which a path comes into the rack has room for control packets.
    pub(super) fn has_room_back(&self, path: Path) -> bool {
        self.has_room(path, 1)
    }

    fn has_room(&self, path: Path, direction: usize) -> bool {
        let load = self.loads[usize::from(path) / self.paths_a_link][direction];
        u64::from(load) * 16 <= u64::from(self.slots) * 15
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::arbiter::BLOCKED;

    #[test]
    fn what_the_own_rack_sends_and_receives_takes_room() {
        let racks = Racks::uniform(4, 2).expect("racks");
        let around = Surroundings { racks, racks_per_pod: 2, switches: 2, cores: 2 };
        let mut links = OwnLinks::new(&around, 3);
        // Out by path 3, in by path 0; within the rack, between others, without a path.
        let pairs = vec![(2, 6), (0, 3), (2, 3), (4, 6), (2, 5)];
        let full = Slot { number: 0, pairs, paths: vec![3, 0, 0, 1, BLOCKED] };
        let batch: Vec<_> = (0..16).map(|_| full.clone()).collect();
        links.count(&batch);
        let rooms =
            |links: &OwnLinks| [0, 1, 2, 3].map(|path| (links.has_room_out(path), links.has_room_back(path)));
        // Two paths a link.
        assert_eq!(rooms(&links), [(true, false), (true, false), (false, true), (false, true)]);
        let mut less = batch.clone();
        less[3].pairs.clear();
        less[3].paths.clear();
        for _ in 0..8 {
            links.count(&less);
        }
        assert_eq!(rooms(&links), [(true, true); 4], "fifteen of sixteen");
    }
}
