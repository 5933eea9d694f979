//! What the living links between pods and the core carry, while packets are given aggregation switches.
//!
//! An aggregation switch with a dead link to the core cannot take as many packets out of its pod, or into it, as come from its
//! racks. So another aggregation switch takes them, in exchange for packets that stay in the pod if need be.

use super::dead_links::DeadLinks;
use super::seats::Seats;

/// The limits of a fat tree's aggregation switches that dead links make.
#[derive(Clone, Debug)]
pub(super) struct Pods {
    racks_per_pod: usize,
    limits: Box<[Limit]>,
    /// What all aggregation switches of a pod can send to the core in a slot, and get from it.
    carried: Box<[[usize; 2]]>,
    aggregation: u8,
}

/// What an aggregation switch can send to the core in a slot, or get from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pod: usize,
    /// Whether the packets come into the pod.
    inward: bool,
    pub(super) aggregation: u8,
    most: usize,
}

impl Limit {
    /// Returns the limit for the same pod and direction at another aggregation switch.
    pub(super) fn at(self, aggregation: u8) -> Limit {
        Limit { aggregation, ..self }
    }
}

impl Pods {
    /// The limits of dead links; `None` if all links to the core live.
    pub(super) fn new(dead: &DeadLinks, racks_per_pod: usize) -> Option<Pods> {
        let mut limits = vec![];
        let mut carried = vec![[0; 2]; dead.racks() / racks_per_pod];
        for aggregation in 0..dead.paths {
            for (pod, both) in dead.above(aggregation).enumerate() {
                for (inward, links) in [false, true].into_iter().zip(both) {
                    let most = (dead.cores - links.dead.len()) * usize::from(links.carries);
                    carried[pod][usize::from(inward)] += most;
                    let limit = Limit { pod, inward, aggregation: aggregation as u8, most };
                    limits.extend((!links.dead.is_empty()).then_some(limit));
                }
            }
        }
        (!limits.is_empty()).then(|| Pods {
            racks_per_pod,
            limits: limits.into_boxed_slice(),
            carried: carried.into_boxed_slice(),
            aggregation: dead.paths as u8,
        })
    }

    /// The limit of a number, counted from 0.
    pub(super) fn limit(&self, number: usize) -> Option<Limit> {
        self.limits.get(number).copied()
    }

    /// The packets that a limit counts.
    pub(super) fn packets<'a>(&'a self, limit: Limit, seats: &'a Seats) -> impl Iterator<Item = u16> + 'a {
        let racks = limit.pod * self.racks_per_pod..(limit.pod + 1) * self.racks_per_pod;
        let nodes = racks.map(move |rack| if limit.inward { seats.receiver(rack) } else { rack });
        let passing = nodes.flat_map(move |node| seats.on(node, limit.aggregation.into()));
        passing.filter(move |&edge| {
            let [from, to] = seats.racks(edge);
            from / self.racks_per_pod != to / self.racks_per_pod
        })
    }

    /// Packets that a limit does not allow.
    pub(super) fn excess_of(&self, limit: Limit, seats: &Seats) -> usize {
        self.packets(limit, seats).count().saturating_sub(limit.most)
    }

    /// Returns whether a limit does not allow some packets that other aggregation switches of its pod could take.
    pub(super) fn can_relieve(&self, limit: Limit, seats: &Seats) -> bool {
        let excess = self.excess_of(limit, seats);
        let of_all = |aggregation| self.packets(limit.at(aggregation), seats).count();
        let passing = || (0..self.aggregation).map(of_all).sum::<usize>();
        // Elsewhere in the pod there can be an excess too: then this says yes in vain.
        excess > 0 && excess > passing().saturating_sub(self.carried[limit.pod][usize::from(limit.inward)])
    }

    /// Packets that the limits do not allow.
    pub(super) fn excess(&self, seats: &Seats) -> usize {
        self.limits.iter().map(|&limit| self.excess_of(limit, seats)).sum()
    }
}
