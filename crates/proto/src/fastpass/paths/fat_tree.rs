//! Path selection in a fat tree.
//!
//! A rack's switch has an uplink to each aggregation switch of its pod, and aggregation switch `a` of each pod has one to
//! each core switch of group `a`. So a packet's aggregation switch has the same number in both pods. The packets between
//! racks are coloured for the aggregation switches; then, for each of those, the packets between pods are coloured for the
//! cores of its group.

use super::balancer::Balancer;
use super::dead_links::DeadLinks;
use super::error::PathError;
use super::pods::Pods;
use super::racks::Racks;
use super::shape::FatTreeShape;
use super::slot::{Pair, BLOCKED, BYPASS};

/// The way of a packet through a fat tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatTreePath {
    /// The aggregation switch, in both pods; [`BYPASS`] within a rack, [`BLOCKED`] if there is no way.
    pub aggregation: u8,
    /// The core switch, of those that the aggregation switch reaches; [`BYPASS`] within a pod, [`BLOCKED`] if
    /// there is no way.
    pub core: u8,
}

impl FatTreePath {
    /// No way over living links has room for the packet, so that it must not be sent in this slot.
    pub const BLOCKED: FatTreePath = FatTreePath { aggregation: BLOCKED, core: BLOCKED };
}

/// Selects the switches of each packet of a slot.
#[derive(Clone, Debug)]
pub struct FatTree {
    racks: Racks,
    shape: FatTreeShape,
    /// Whether a link is dead.
    some_dead: bool,
    aggregation: Balancer,
    /// The group of each aggregation switch.
    cores: Box<[Balancer]>,
    /// Number of the first packet of each group's in `grouped`, and where the last ends.
    starts: Box<[usize]>,
    /// The packets that leave their racks, group by group: their numbers in the slot and their pods.
    grouped: Box<[Grouped]>,
    paths: Box<[FatTreePath]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Grouped {
    packet: u16,
    pods: (u8, u8),
}

impl FatTree {
    /// A fat tree of which all switches are in use.
    ///
    /// Errors: [`PathError::RacksPerPod`], [`PathError::Paths`].
    pub fn new(racks: Racks, shape: FatTreeShape) -> Result<FatTree, PathError> {
        let FatTreeShape { racks_per_pod, aggregation, cores } = shape;
        if racks_per_pod == 0 || racks.racks() % racks_per_pod != 0 {
            return Err(PathError::RacksPerPod(racks_per_pod));
        }
        let endpoints = racks.endpoints();
        let pods = racks.racks() / racks_per_pod;
        let balancer = Balancer::new(racks.racks(), endpoints, aggregation)?;
        let groups: Result<_, _> = (0..aggregation).map(|_| Balancer::new(pods, endpoints, cores)).collect();
        Ok(FatTree {
            racks,
            shape,
            some_dead: false,
            aggregation: balancer,
            cores: groups?,
            starts: vec![0; aggregation + 1].into_boxed_slice(),
            grouped: vec![Grouped::default(); endpoints].into_boxed_slice(),
            paths: vec![FatTreePath { aggregation: BYPASS, core: BYPASS }; endpoints].into_boxed_slice(),
        })
    }

    /// From now on no packet takes a dead link of `dead`, and any other link may be taken, whatever was avoided before. Here
    /// memory is allocated.
    ///
    /// Errors: [`PathError::OtherNetwork`]; then nothing has changed.
    pub fn avoid(&mut self, dead: &DeadLinks) -> Result<(), PathError> {
        if !dead.is_of(self.racks.racks(), self.shape) {
            return Err(PathError::OtherNetwork);
        }
        self.some_dead = !dead.is_empty();
        self.aggregation.avoid(dead.above_racks(), Pods::new(dead, self.shape.racks_per_pod));
        for (aggregation, cores) in self.cores.iter_mut().enumerate() {
            cores.avoid(dead.above(aggregation), None);
        }
        Ok(())
    }

    /// Does what [`Self::avoid`] does when no link is dead.
    pub fn avoid_none(&mut self) {
        let none = DeadLinks::fat_tree(&self.racks, self.shape).expect("it was made for this network");
        self.avoid(&none).expect("links of the same network");
    }

    /// From now on aggregation switches, and core switches of each, are taken in an order that begins with another one, as
    /// [`super::LeafSpine::turn`] does: with `by` the number of the slot, each pair of them is first in turn.
    pub fn turn(&mut self, by: u64) {
        self.aggregation.turn(by);
        let groups = self.cores.len() as u64;
        self.cores.iter_mut().for_each(|cores| cores.turn(by / groups));
    }

    /// The way of each packet of a slot, in their order.
    ///
    /// The law of [`super::LeafSpine::select`] holds for racks and aggregation switches, and for pods and the core switches
    /// of each group. A packet that no way has room for is [`FatTreePath::BLOCKED`].
    ///
    /// An allocator that knows racks alone can grant a pod more packets to other pods than its living links to the core
    /// carry: in a slot of full load, one is blocked for each dead link there.
    ///
    /// Errors: [`PathError::TooManyPairs`], [`PathError::UnknownEndpoint`].
    pub fn select(&mut self, slot: &[Pair]) -> Result<&[FatTreePath], PathError> {
        self.select_aggregation(slot)?;
        self.group(slot);
        for (group, cores) in self.cores.iter_mut().enumerate() {
            let packets = &self.grouped[self.starts[group]..self.starts[group + 1]];
            let chosen = cores.balance(packets.iter().map(|packet| packet.pods));
            for (packet, &core) in packets.iter().zip(chosen) {
                self.paths[usize::from(packet.packet)].core = core;
            }
        }
        if self.some_dead {
            let blocked = |path: &&mut FatTreePath| path.aggregation == BLOCKED || path.core == BLOCKED;
            self.paths[..slot.len()].iter_mut().filter(blocked).for_each(|path| *path = FatTreePath::BLOCKED);
        }
        Ok(&self.paths[..slot.len()])
    }

    /// Colours the graph of racks.
    fn select_aggregation(&mut self, slot: &[Pair]) -> Result<(), PathError> {
        if slot.len() > self.racks.endpoints() {
            return Err(PathError::TooManyPairs(slot.len()));
        }
        self.racks.check(slot)?;
        let chosen = self.aggregation.balance(slot.iter().copied().map(self.racks.lookup()));
        for (path, &aggregation) in self.paths.iter_mut().zip(chosen) {
            *path = FatTreePath { aggregation, core: BYPASS };
        }
        Ok(())
    }

    /// Sorts the packets by aggregation switch: the edges of the graphs of pods.
    fn group(&mut self, slot: &[Pair]) {
        self.starts.fill(0);
        let paths = &self.paths[..slot.len()];
        let racks = self.racks.lookup();
        let groups = || paths.iter().map(|path| usize::from(path.aggregation));
        // Each group's number of packets stands at its successor, then their sum at each group, then where the next packet
        // goes: at the end, that is where the next group starts, and all are moved up by one.
        for group in groups().filter(|&group| group < self.cores.len()) {
            self.starts[group + 1] += 1;
        }
        for group in 1..self.starts.len() {
            self.starts[group] += self.starts[group - 1];
        }
        for (packet, group) in groups().enumerate().filter(|&(_, group)| group < self.cores.len()) {
            let (row, column) = racks(slot[packet]);
            let pods = [row, column].map(|rack| (usize::from(rack) / self.shape.racks_per_pod) as u8);
            self.grouped[self.starts[group]] = Grouped { packet: packet as u16, pods: (pods[0], pods[1]) };
            self.starts[group] += 1;
        }
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }
}
