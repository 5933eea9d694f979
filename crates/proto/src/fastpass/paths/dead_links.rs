//! Which links of a network are dead, each direction by itself, and what its racks can still send and receive.

use super::error::PathError;
use super::link::Link;
use super::path_set::PathSet;
use super::racks::Racks;
use super::shape::FatTreeShape;
use super::slot::MAX_PATHS;

/// The dead links of a leaf-spine network or a fat tree. At first there are none.
///
/// ```
/// use clearway_proto::fastpass::paths::{DeadLinks, LeafSpine, Link, Racks};
///
/// // Rack 0 cannot send up to spine switch 1, but can receive from it.
/// let racks = Racks::uniform(2, 2).unwrap();
/// let mut network = LeafSpine::new(racks.clone(), 2).unwrap();
/// let mut dead = DeadLinks::leaf_spine(&racks, 2).unwrap();
/// dead.set(Link::FromRack { rack: 0, switch: 1 }, true).unwrap();
/// network.avoid(&dead).unwrap();
/// assert_eq!(network.select(&[(0, 3)]).unwrap(), [0]);
/// assert_eq!(dead.capacity(0), (1, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLinks {
    /// Racks of a pod; in a leaf-spine network, all of them.
    pub(in crate::fastpass) racks_per_pod: usize,
    /// Spine or aggregation switches that a rack reaches.
    pub(super) paths: usize,
    /// Core switches that an aggregation switch reaches; 0 in a leaf-spine network.
    pub(super) cores: usize,
    /// Packets a slot that all uplinks and all downlinks of a rack carry together while none is dead.
    carried: Box<[[u16; 2]]>,
    /// The switches that a rack cannot send to, and those that cannot send to it.
    of_racks: Box<[[PathSet; 2]]>,
    /// For each pod and aggregation switch, the core switches that it cannot send to, and those that cannot send to it.
    of_cores: Box<[[PathSet; 2]]>,
}

/// The direction from racks to the middle of the network, as an index.
const UP: usize = 0;
/// The direction from the middle of the network to racks, as an index.
const DOWN: usize = 1;

impl DeadLinks {
    /// A leaf-spine network with `paths` spine switches whose links are all alive. A rack's links carry together what its
    /// endpoints send, if [`Self::carrying`] does not say otherwise.
    ///
    /// Errors: [`PathError::Paths`].
    pub fn leaf_spine(racks: &Racks, paths: usize) -> Result<DeadLinks, PathError> {
        DeadLinks::new(racks, racks.racks(), paths, 0)
    }

    /// A fat tree whose links are all alive. A rack's links carry together what its endpoints send, if [`Self::carrying`]
    /// does not say otherwise.
    ///
    /// Errors: [`PathError::RacksPerPod`], [`PathError::Paths`].
    pub fn fat_tree(racks: &Racks, shape: FatTreeShape) -> Result<DeadLinks, PathError> {
        let FatTreeShape { racks_per_pod, aggregation, cores } = shape;
        if racks_per_pod == 0 || racks.racks() % racks_per_pod != 0 {
            return Err(PathError::RacksPerPod(racks_per_pod));
        }
        if !(1..=MAX_PATHS).contains(&cores) {
            return Err(PathError::Paths(cores));
        }
        DeadLinks::new(racks, racks_per_pod, aggregation, cores)
    }

    fn new(racks: &Racks, racks_per_pod: usize, paths: usize, cores: usize) -> Result<DeadLinks, PathError> {
        if !(1..=MAX_PATHS).contains(&paths) {
            return Err(PathError::Paths(paths));
        }
        let mut carried = vec![[0; 2]; racks.racks()].into_boxed_slice();
        for endpoint in 0..racks.endpoints() {
            carried[racks.rack_of(endpoint)].iter_mut().for_each(|packets| *packets += 1);
        }
        let groups = if cores == 0 { 0 } else { racks.racks() / racks_per_pod * paths };
        Ok(DeadLinks {
            racks_per_pod,
            paths,
            cores,
            carried,
            of_racks: vec![[PathSet::EMPTY; 2]; racks.racks()].into_boxed_slice(),
            of_cores: vec![[PathSet::EMPTY; 2]; groups].into_boxed_slice(),
        })
    }

    /// Returns this network with other capacities: `racks` has, rack by rack, the packets a slot that a rack's links carry
    /// together out of it and into it while all are alive, which are fewer than it has endpoints where it is oversubscribed.
    #[must_use]
    pub fn carrying(mut self, racks: impl IntoIterator<Item = (u16, u16)>) -> DeadLinks {
        for (carried, (up, down)) in self.carried.iter_mut().zip(racks) {
            *carried = [up, down];
        }
        self
    }

    /// From now on a link is dead or alive. A link of an endpoint makes no difference, as no path avoids it.
    ///
    /// Errors: [`PathError::UnknownLink`].
    pub fn set(&mut self, link: Link, dead: bool) -> Result<(), PathError> {
        let (paths, cores) = (self.paths, self.cores);
        let (entry, path, paths) = match link {
            Link::FromRack { rack, switch } => (self.of_rack(rack, UP), switch, paths),
            Link::ToRack { rack, switch } => (self.of_rack(rack, DOWN), switch, paths),
            Link::ToCore { pod, aggregation, core } => (self.of_core(pod, aggregation, UP), core, cores),
            Link::FromCore { pod, aggregation, core } => (self.of_core(pod, aggregation, DOWN), core, cores),
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => return Ok(()),
        };
        let entry = entry.filter(|_| path < paths).ok_or(PathError::UnknownLink(link))?;
        *entry = if dead { entry.with(path) } else { entry.without(PathSet::EMPTY.with(path)) };
        Ok(())
    }

    /// From now on all links are alive.
    pub(in crate::fastpass) fn revive_all(&mut self) {
        self.of_racks.fill([PathSet::EMPTY; 2]);
        self.of_cores.fill([PathSet::EMPTY; 2]);
    }

    fn of_rack(&mut self, rack: usize, direction: usize) -> Option<&mut PathSet> {
        self.of_racks.get_mut(rack).map(|entry| &mut entry[direction])
    }

    fn of_core(&mut self, pod: usize, aggregation: usize, direction: usize) -> Option<&mut PathSet> {
        let group = pod.checked_mul(self.paths).filter(|_| aggregation < self.paths)? + aggregation;
        self.of_cores.get_mut(group).map(|entry| &mut entry[direction])
    }

    /// Returns whether no link is dead.
    pub fn is_empty(&self) -> bool {
        self.of_racks.iter().chain(&*self.of_cores).flatten().all(|dead| dead.is_empty())
    }

    /// Returns whether no dead link changes what a rack can send and receive.
    pub fn spares(&self, rack: usize) -> bool {
        let first = rack / self.racks_per_pod * self.paths;
        let of_cores = self.of_cores.iter().skip(first).take(self.paths);
        of_cores.chain([&self.of_racks[rack]]).flatten().all(|dead| dead.is_empty())
    }

    /// Returns whether two racks are of one pod that has a dead link to or from the core: their packets share the others.
    pub fn share_fewer_cores(&self, rack: usize, other: usize) -> bool {
        let pod = rack / self.racks_per_pod;
        let mut of_pod = self.of_cores.iter().skip(pod * self.paths).take(self.paths).flatten();
        pod == other / self.racks_per_pod && of_pod.any(|dead| !dead.is_empty())
    }

    /// Returns whether living links lead from a rack to another.
    ///
    /// Panics if there is no such rack.
    pub fn joins(&self, from: usize, to: usize) -> bool {
        let dead = self.of_racks[from][UP].union(self.of_racks[to][DOWN]);
        let (pod, far) = (from / self.racks_per_pod, to / self.racks_per_pod);
        let reaches = |switch: usize| {
            let core = |pod: usize, direction: usize| self.of_cores[pod * self.paths + switch][direction];
            pod == far || core(pod, UP).union(core(far, DOWN)).len() < self.cores
        };
        from == to || (0..self.paths).any(|switch| !dead.contains(switch) && reaches(switch))
    }

    /// Packets a slot that the living links of a rack carry out of it and into it: what an allocator may grant it. Each link
    /// that has died takes its part away, rounded up; so it is 0 where no link lives.
    ///
    /// In a fat tree the living links between a pod and the core are shared by its racks in equal parts, and a rack has
    /// no more than its part, rounded up, as if all its packets left the pod. A single dead link there changes nothing, then.
    ///
    /// Panics if there is no such rack.
    pub fn capacity(&self, rack: usize) -> (u16, u16) {
        let of = |direction: usize| {
            let carried = usize::from(self.carried[rack][direction]);
            let living = self.paths - self.of_racks[rack][direction].len();
            let of_links = carried * living / self.paths;
            let pod = rack / self.racks_per_pod;
            let dead: usize = self
                .of_cores
                .iter()
                .skip(pod * self.paths)
                .take(self.paths)
                .map(|dead| dead[direction].len())
                .sum();
            if dead == 0 {
                return of_links as u16;
            }
            let all = self.paths * self.cores;
            of_links.min((carried * (all - dead)).div_ceil(all)) as u16
        };
        (of(UP), of(DOWN))
    }

    /// Returns whether these are the links of a fat tree of this shape.
    pub(super) fn is_of(&self, racks: usize, shape: FatTreeShape) -> bool {
        let FatTreeShape { racks_per_pod, aggregation, cores } = shape;
        self.racks() == racks
            && (self.racks_per_pod, self.paths, self.cores) == (racks_per_pod, aggregation, cores)
    }

    /// Number of racks.
    pub(in crate::fastpass) fn racks(&self) -> usize {
        self.of_racks.len()
    }

    /// The links between racks and the switches above them: by rack, out of it and into it.
    pub(super) fn above_racks(&self) -> impl Iterator<Item = [Links; 2]> + Clone + '_ {
        (0..self.racks()).map(|rack| {
            [UP, DOWN].map(|direction| Links {
                dead: self.of_racks[rack][direction],
                carries: self.link_of_rack(rack, direction),
            })
        })
    }

    /// The links between the aggregation switches of one number and the core: by pod, out of it and into it.
    pub(super) fn above(&self, aggregation: usize) -> impl Iterator<Item = [Links; 2]> + Clone + '_ {
        let pods = self.racks() / self.racks_per_pod;
        (0..pods).map(move |pod| {
            let racks = || pod * self.racks_per_pod..(pod + 1) * self.racks_per_pod;
            [UP, DOWN].map(|direction| {
                let carried: usize =
                    racks().map(|rack| usize::from(self.link_of_rack(rack, direction))).sum();
                Links {
                    dead: self.of_cores[pod * self.paths + aggregation][direction],
                    carries: carried.div_ceil(self.cores) as u16,
                }
            })
        })
    }

    /// Packets a slot that one link of a rack carries.
    fn link_of_rack(&self, rack: usize, direction: usize) -> u16 {
        self.carried[rack][direction].div_ceil(self.paths as u16)
    }
}

/// The links of a rack or a pod in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    /// The paths whose link is dead.
    pub(super) dead: PathSet,
    /// Packets a slot that each link carries.
    pub(super) carries: u16,
}
