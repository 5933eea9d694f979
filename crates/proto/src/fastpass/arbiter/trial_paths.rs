//! The paths of trials: over one link that has failed, and otherwise over links that are in use.
//!
//! A trial goes from the arbiter to an endpoint and comes back, with the link on one of these two legs. Or it goes to an
//! endpoint, from there over the link to another, a *neighbour*, and comes back from that one: so a link can be tried as well
//! whose every path to the arbiter has something else that has failed.

use crate::fastpass::fcp::{Address, Path};
use crate::fastpass::isolator::{Isolator, Link};
use crate::fastpass::paths::Racks;

/// The racks of a network, and what joins them.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) racks: Racks,
    pub(super) racks_per_pod: usize,
    pub(super) switches: usize,
    /// Core switches of each aggregation switch, or 1.
    pub(super) cores: usize,
}

/// Finds paths of trials.
#[derive(Clone, Debug)]
pub(super) struct TrialPathFinder {
    /// The host at which the arbiter is.
    own: Address,
    switches: usize,
    cores: usize,
    endpoints: usize,
    neighbours: Neighbours,
}

/// How a link is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TrialPath {
    /// The endpoint that the trial is sent to, and by which path.
    pub(super) to: Address,
    pub(super) out: Path,
    /// The endpoint that this one sends it on to, and by which path.
    pub(super) on: Option<(Address, Path)>,
    /// The path of the answer.
    pub(super) back: Path,
}

impl TrialPath {
    /// The endpoint that answers.
    pub(super) fn last(&self) -> Address {
        self.on.map_or(self.to, |(next, _)| next)
    }
}

/// Endpoints of a rack that send others trials, and are sent them.
const OF_RACK: usize = 3;

/// Which endpoints send each other trials: the first three of each rack and those of the next rack of the same pod, and of the
/// same rack in the next pod.
#[derive(Clone, Debug)]
pub struct Neighbours {
    racks_per_pod: usize,
    rack_of: Racks,
    /// The first endpoints of each rack.
    first: Box<[Vec<Address>]>,
}

impl Neighbours {
    /// Returns the neighbours of endpoints in these racks, `racks_per_pod` of which are a pod.
    pub fn new(racks: &Racks, racks_per_pod: usize) -> Neighbours {
        let mut first = vec![Vec::new(); racks.racks()].into_boxed_slice();
        for endpoint in 0..racks.endpoints() {
            let members: &mut Vec<Address> = &mut first[racks.rack_of(endpoint)];
            if members.len() < OF_RACK {
                members.push(endpoint as Address);
            }
        }
        Neighbours { racks_per_pod, rack_of: racks.clone(), first }
    }

    /// The endpoints of the next racks to which this one sends trials, and which send trials to it.
    pub fn next(&self, endpoint: Address) -> impl Iterator<Item = Address> + '_ {
        (0..2 * OF_RACK).filter_map(move |number| self.of(endpoint, number))
    }

    /// An endpoint with which this one exchanges trials, by number: below [`NEIGHBOURS`]. The first half are those of the next
    /// racks.
    fn of(&self, endpoint: Address, number: usize) -> Option<Address> {
        let rack = self.rack_of.rack_of(endpoint.into());
        if !self.first[rack].contains(&endpoint) {
            return None;
        }
        let (kind, place) = (number / OF_RACK, number % OF_RACK);
        let (far, backwards) = (kind % 2 == 1, kind >= 2);
        let (pod, within) = (rack / self.racks_per_pod, rack % self.racks_per_pod);
        let round = if far { self.first.len() / self.racks_per_pod } else { self.racks_per_pod };
        let steps = if backwards { round - 1 } else { 1 };
        let other = if far {
            (pod + steps) % round * self.racks_per_pod + within
        } else {
            pod * self.racks_per_pod + (within + steps) % round
        };
        self.first[other].get(place).copied().filter(|_| other != rack)
    }
}

/// Endpoints with which one exchanges trials, at most.
const NEIGHBOURS: usize = 4 * OF_RACK;
/// Kinds of trial paths by each endpoint: with the link on the way out, on the way back, and on that to each neighbour.
const KINDS: usize = 2 + NEIGHBOURS;
/// Trial paths that are looked at in one search.
const MOST_SEARCHED: usize = 1024;

impl TrialPathFinder {
    /// Returns a finder for an arbiter at the link of the endpoint `own`.
    pub(super) fn new(surroundings: &Surroundings, own: Address) -> TrialPathFinder {
        let Surroundings { racks, racks_per_pod, switches, cores } = surroundings;
        TrialPathFinder {
            own,
            switches: *switches,
            cores: *cores,
            endpoints: racks.endpoints(),
            neighbours: Neighbours::new(racks, *racks_per_pod),
        }
    }

    /// Paths between two racks, at most.
    fn paths(&self) -> usize {
        self.switches * self.cores
    }

    /// The failed links on a way.
    pub(super) fn failed_on<'a>(
        &self,
        way: &TrialPath,
        isolator: &'a Isolator,
    ) -> impl Iterator<Item = Link> + 'a {
        let last = way.last();
        let on = way.on.into_iter().flat_map({
            let to = way.to;
            move |(next, path)| isolator.failed_on(to, next, path)
        });
        isolator
            .failed_on(self.own, way.to, way.out)
            .chain(on)
            .chain(isolator.failed_on(last, self.own, way.back))
    }

    /// The next way over a link on which nothing else has failed, from `next` on, or if there is none any other; as far as one
    /// search goes. The next search begins behind it.
    pub(super) fn search(
        &self,
        link: Link,
        next: &mut usize,
        isolator: &Isolator,
        is_there: impl Fn(Address) -> bool,
    ) -> Option<TrialPath> {
        let all = self.endpoints * KINDS * self.paths();
        let mut other = None;
        for at in (0..all.min(MOST_SEARCHED)).map(|i| (*next + i) % all) {
            // The two legs of the arbiter before neighbours, kind by kind, and then all of it with other paths on the other legs.
            let (kind, to) = (at / self.endpoints % KINDS, (at % self.endpoints) as Address);
            if !is_there(to) || to == self.own {
                continue;
            }
            let Some(way) = self.trial_over(link, kind, to, at / (self.endpoints * KINDS) + at, isolator)
            else {
                continue;
            };
            if !is_there(way.last()) {
                continue;
            }
            if self.failed_on(&way, isolator).count() == 1 {
                *next = at + 1;
                return Some(way);
            }
            other = other.or(Some((at, way)));
        }
        *next = other.map_or(*next + MOST_SEARCHED.min(all), |(at, _)| at + 1) % all;
        other.map(|(_, way)| way)
    }

    /// The way over a link of this kind and by this endpoint. Its other legs take turns by `turn`, as a link on one of them may
    /// have failed that nobody has missed.
    fn trial_over(
        &self,
        link: Link,
        kind: usize,
        to: Address,
        turn: usize,
        isolator: &Isolator,
    ) -> Option<TrialPath> {
        let own = self.own;
        let clear = |from: Address, to: Address| {
            let paths = self.paths();
            let turns = (0..paths).map(|i| ((turn + i) % paths) as Path);
            turns.min_by_key(|&path| isolator.failed_on(from, to, path).count())
        };
        match kind {
            0 => {
                let back = self.path_over(link, to, own, isolator)?;
                Some(TrialPath { to, out: clear(own, to)?, on: None, back })
            }
            1 => {
                let out = self.path_over(link, own, to, isolator)?;
                Some(TrialPath { to, out, on: None, back: clear(to, own)? })
            }
            _ => {
                let next = self.neighbours.of(to, kind - 2).filter(|&next| next != own)?;
                let path = self.path_over(link, to, next, isolator)?;
                let (out, back) = (clear(own, to)?, clear(next, own)?);
                Some(TrialPath { to, out, on: Some((next, path)), back })
            }
        }
    }

    /// A path over a link: the one with the fewest links besides that have failed.
    fn path_over(&self, link: Link, from: Address, to: Address, isolator: &Isolator) -> Option<Path> {
        let over = |&path: &Path| isolator.failed_on(from, to, path).any(|failed| failed == link);
        self.paths_of(link).filter(over).min_by_key(|&path| isolator.failed_on(from, to, path).count())
    }

    /// The paths that can have a link on them.
    fn paths_of(&self, link: Link) -> impl Iterator<Item = Path> {
        let cores = self.cores;
        let range = match link {
            Link::FromRack { switch, .. } | Link::ToRack { switch, .. } => {
                switch * cores..(switch + 1) * cores
            }
            Link::ToCore { aggregation, core, .. } | Link::FromCore { aggregation, core, .. } => {
                aggregation * cores + core..aggregation * cores + core + 1
            }
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => 0..0,
        };
        range.map(|path| path as Path)
    }
}
