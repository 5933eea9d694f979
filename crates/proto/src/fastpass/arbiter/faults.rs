//! Failed links (§6): the isolator's word for them, and what the arbiter does about it. Their paths get no packets, and the
//! racks' links carry less: so fewer packets are granted, and still none queues.
//!
//! In a fat tree the link between an aggregation switch and a core switch is avoided by leaving out that aggregation switch, in
//! every pod: what the others then carry is as simple as with racks alone.

use crate::fastpass::allocator::{AllocatorParams, Capacities, Node, Rack};
use crate::fastpass::fcp::{Address, Path, PathReport, Trial};
use crate::fastpass::isolator::{Isolator, IsolatorParams, Link};
use crate::fastpass::paths::{FatTreeShape, PathError, PathSet, Racks};
use crate::units::{Span, Time};

use super::params::{ArbiterParams, PathParams};
use super::trials::{Surroundings, Trials};

/// Finds failed links, where there is more than one path, and tries them.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    isolator: Option<Box<Isolator>>,
    /// None where the arbiter is at no endpoint's link, so that no path leads to it.
    trials: Option<Box<Trials>>,
    /// The endpoint at whose link the arbiter is.
    own: Option<Address>,
    trial_timeout: Span,
    /// Switches of the middle, of which one is on each path out of a rack.
    switches: usize,
    /// When something is to be done; not asked of the isolator every time, as only reports, trials and time itself change it.
    next: Time,
}

impl Faults {
    pub(super) fn new(params: &ArbiterParams) -> Result<Faults, PathError> {
        let of = IsolatorParams { slot: params.timeslots.length(), ..params.isolator };
        let (isolator, surroundings) = match &params.paths {
            PathParams::Single => (None, None),
            PathParams::LeafSpine { racks, paths } => {
                let (racks_per_pod, switches, cores) = (racks.racks(), *paths, 1);
                let surroundings = Surroundings { racks: racks.clone(), racks_per_pod, switches, cores };
                (Some(Isolator::leaf_spine(&of, racks.clone(), *paths)?), Some(surroundings))
            }
            PathParams::FatTree { racks, shape } => {
                let FatTreeShape { racks_per_pod, aggregation: switches, cores } = *shape;
                let surroundings = Surroundings { racks: racks.clone(), racks_per_pod, switches, cores };
                (Some(Isolator::fat_tree(&of, racks.clone(), *shape)?), Some(surroundings))
            }
        };
        let trials = params.address.zip(surroundings.clone());
        Ok(Faults {
            isolator: isolator.map(Box::new),
            trials: trials.map(|(own, surroundings)| Box::new(Trials::new(surroundings, own))),
            own: params.address,
            trial_timeout: of.trial_timeout,
            switches: surroundings.map_or(1, |surroundings| surroundings.switches),
            next: Time::NEVER,
        })
    }

    /// Takes a report of an endpoint.
    pub(super) fn handle_report(&mut self, now: Time, source: Address, report: PathReport) {
        if let Some(isolator) = &mut self.isolator {
            isolator.handle_report(now, source, &report);
            if self.next == Time::NEVER {
                self.look_ahead();
            }
        }
    }

    /// Takes the answer to a trial.
    pub(super) fn handle_answer(&mut self, now: Time, token: u32) {
        if let (Some(isolator), Some(trials)) = (&mut self.isolator, &mut self.trials) {
            trials.handle_answer(now, token, isolator);
            // Whether the links to avoid have changed is seen in the next timeout.
            self.next = now;
        }
    }

    /// When [`Self::handle_timeout`] is wanted next; [`Time::NEVER`] while nothing is reported.
    pub(super) fn timeout(&self) -> Time {
        self.next
    }

    fn look_ahead(&mut self) {
        let Some(isolator) = &self.isolator else { return };
        let of_trials = self.trials.as_ref().map_or(Time::NEVER, |trials| {
            isolator.poll_trial().min(trials.times_out(self.trial_timeout))
        });
        self.next = isolator.poll_timeout().min(of_trials);
    }

    /// Weighs the reports if it is time for it, and tries failed links by endpoints that are there. The switches to avoid from now
    /// on, if they have changed.
    pub(super) fn handle_timeout(
        &mut self,
        now: Time,
        rank: u8,
        is_there: impl Fn(Address) -> bool,
    ) -> Option<PathSet> {
        if self.next > now {
            return None;
        }
        let isolator = self.isolator.as_mut()?;
        isolator.handle_timeout(now);
        if let Some(trials) = &mut self.trials {
            trials.handle_timeout(now, rank, self.trial_timeout, isolator, is_there);
        }
        let changed = isolator.poll_changed();
        self.look_ahead();
        changed.then(|| self.avoided())
    }

    /// Whether a trial is to leave.
    pub(super) fn has_trial(&self) -> bool {
        self.trials.as_ref().is_some_and(|trials| trials.is_ready())
    }

    /// The next trial to leave, and its path.
    pub(super) fn take_trial(&mut self) -> Option<(Trial, Path)> {
        self.trials.as_mut()?.take()
    }

    /// Whether a packet on this path between the arbiter and an endpoint would pass a link to avoid, in either direction.
    pub(super) fn avoids(&self, endpoint: Address, path: Path) -> bool {
        let (Some(isolator), Some(own)) = (&self.isolator, self.own) else { return false };
        isolator.is_avoided(own, endpoint, path) || isolator.is_avoided(endpoint, own, path)
    }

    /// The switches to avoid; not all of them.
    fn avoided(&self) -> PathSet {
        let Some(isolator) = &self.isolator else { return PathSet::EMPTY };
        let all = isolator.avoided().fold(PathSet::EMPTY, |set, link| match link {
            Link::FromRack { switch, .. } | Link::ToRack { switch, .. } => set.with(switch),
            Link::ToCore { aggregation, .. } | Link::FromCore { aggregation, .. } => set.with(aggregation),
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => set,
        });
        if all.len() < self.switches { all } else { PathSet::EMPTY }
    }

    /// The links that have failed.
    pub(super) fn failed(&self) -> impl Iterator<Item = Link> + '_ {
        self.isolator.iter().flat_map(|isolator| isolator.failed())
    }
}

/// The allocator's parameters where racks reach each other over all switches but those avoided.
pub(super) fn with_less_capacity(params: &ArbiterParams, avoided: PathSet) -> AllocatorParams {
    let (racks, switches) = match &params.paths {
        PathParams::Single => return params.allocator.clone(),
        PathParams::LeafSpine { racks, paths } => (racks, *paths),
        PathParams::FatTree { racks, shape } => (racks, shape.aggregation),
    };
    if avoided.is_empty() {
        return params.allocator.clone();
    }
    let mut capacities = params.allocator.capacities.clone().unwrap_or_else(|| unlimited(racks));
    let left = switches - avoided.len();
    for rack in &mut capacities.racks {
        *rack = Rack { up: rack.up.of_links(left, switches), down: rack.down.of_links(left, switches) };
    }
    AllocatorParams { capacities: Some(capacities), ..params.allocator.clone() }
}

/// Racks whose links carry what all their endpoints can send.
fn unlimited(racks: &Racks) -> Capacities {
    let mut sizes = vec![0_u16; racks.racks()];
    let mut nodes = Vec::with_capacity(racks.endpoints());
    for endpoint in 0..racks.endpoints() {
        let rack = racks.rack_of(endpoint);
        sizes[rack] += 1;
        nodes.push(Node::endpoint(rack));
    }
    let racks = sizes.into_iter().map(|size| Rack::whole(size.max(1), size.max(1))).collect();
    Capacities { nodes, racks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::allocator::{Carries, PerSlot};

    #[test]
    fn racks_carry_less_without_a_switch() {
        let racks = Racks::uniform(3, 4).expect("racks");
        let params = ArbiterParams {
            allocator: AllocatorParams { nodes: 12, ..AllocatorParams::default() },
            paths: PathParams::LeafSpine { racks, paths: 4 },
            ..ArbiterParams::default()
        };
        assert_eq!(with_less_capacity(&params, PathSet::EMPTY).capacities, None);
        let capacities = with_less_capacity(&params, PathSet::EMPTY.with(2)).capacities.expect("a limit");
        let three = Carries { links: 3, each: PerSlot::new(1, 1) };
        assert_eq!(capacities.racks, [Rack { up: three, down: three }; 3]);
        assert_eq!((capacities.nodes[3], capacities.nodes[4]), (Node::endpoint(0), Node::endpoint(1)));
    }
}
