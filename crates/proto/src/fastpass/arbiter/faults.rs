//! Failed links (§6): the isolator's word for them, which links are to be avoided, and which paths control packets take.
//!
//! In a fat tree the link between an aggregation switch and a core switch is avoided by leaving out that aggregation switch, in
//! every pod: what the others then carry is as simple as with racks alone.

use std::sync::Arc;

use crate::fastpass::fcp::{Address, Path, PathReport, Trial};
use crate::fastpass::isolator::{Isolator, IsolatorParams, Link};
use crate::fastpass::paths::{DeadLinks, FatTreeShape, PathError};
use crate::units::{Span, Time};

use super::batch::Slot;
use super::capacity::dead_links;
use super::own_links::OwnLinks;
use super::params::{ArbiterParams, PathParams};
use super::trial_paths::{Surroundings, TrialPathFinder};
use super::trials::Trials;

/// The paths of a packet to an endpoint and of its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ControlPaths {
    /// The path of the packet; `None` leaves it to the driver.
    pub(super) out: Option<Path>,
    /// The path that answers are to take; `None` for the same.
    pub(super) back: Option<Path>,
}

/// One in this many packets to an endpoint may take a path on which there is hardly any room: the others may have failed, and
/// nobody has missed anything yet.
const BY_ANY_PATH: u32 = 16;

/// Finds failed links, where there is more than one path, and tries them.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// Whether reports are taken at all: without any, no link fails.
    takes_reports: bool,
    isolator: Option<Box<Isolator>>,
    /// The trials; `None` where the arbiter is at no endpoint's link, so that no path leads to it.
    trials: Option<Box<Trials>>,
    /// The endpoint at whose link the arbiter is.
    own: Option<Address>,
    trial_timeout: Span,
    /// Paths between two racks, at most.
    paths: Path,
    /// The arbiter's own links; `None` where it is at no endpoint's link.
    own_links: Option<Box<OwnLinks>>,
    /// Packets to each endpoint: whose turn it is.
    turns: Box<[u32]>,
    /// The network with no link to avoid.
    none: Option<DeadLinks>,
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
        let around = params.address.zip(surroundings);
        let paths = around.as_ref().map_or(1, |(_, around)| around.switches * around.cores) as Path;
        let own_links = around.as_ref().map(|(own, around)| Box::new(OwnLinks::new(around, *own)));
        let trials = around.map(|(own, around)| Box::new(Trials::new(TrialPathFinder::new(&around, own))));
        Ok(Faults {
            takes_reports: params.fault_isolation,
            isolator: isolator.map(Box::new),
            trials,
            paths,
            own_links,
            own: params.address,
            trial_timeout: of.trial_timeout,
            turns: (0..params.allocator.nodes).map(|endpoint| endpoint as u32).collect(),
            none: dead_links(params)?,
            next: Time::NEVER,
        })
    }

    /// Takes a report of an endpoint.
    pub(super) fn handle_report(&mut self, now: Time, source: Address, report: PathReport) {
        if let (true, Some(isolator)) = (self.takes_reports, &mut self.isolator) {
            isolator.handle_report(now, source, &report);
            if self.next == Time::NEVER {
                self.look_ahead();
            }
        }
    }

    /// Takes word of what became of an allocation that was sent to an endpoint on this path.
    pub(super) fn handle_allocation_fate(&mut self, now: Time, to: Address, path: Path, lost: bool) {
        if let Some(own) = self.own {
            let report = PathReport { destination: to, path, sent: 1, lost: lost.into() };
            self.handle_report(now, own, report);
        }
    }

    /// Counts the packets of a batch for which links were avoided.
    pub(super) fn count_packets(&mut self, slots: &[Slot]) {
        if let Some(own_links) = &mut self.own_links {
            own_links.count(slots);
        }
    }

    /// Returns the paths of the next packet to an endpoint and of its answers: each path in its turn, or while links are avoided
    /// those over none of them by which the arbiter's rack has most room. Both are `None` where there is but one path, or the
    /// arbiter is at no endpoint's link.
    pub(super) fn next_paths(&mut self, to: Address) -> ControlPaths {
        let (Some(own_links), Some(isolator), Some(own)) = (&self.own_links, &self.isolator, self.own) else {
            return ControlPaths::default();
        };
        let paths = self.paths;
        let turn = &mut self.turns[usize::from(to)];
        *turn = turn.wrapping_add(1);
        // Those that go by any path begin with another one each time.
        let first = ((*turn + *turn / BY_ANY_PATH) % u32::from(paths)) as Path;
        let by_any = *turn % BY_ANY_PATH == 0;
        if isolator.avoided().next().is_none() {
            return ControlPaths { out: Some(first), back: None };
        }
        let find =
            |suits: &dyn Fn(Path) -> bool| (0..paths).map(|i| (first + i) % paths).find(|&path| suits(path));
        let leads = |path: Path| !isolator.is_avoided(own, to, path);
        let returns = |path: Path| !isolator.is_avoided(to, own, path);
        let out = find(&|path| leads(path) && (by_any || own_links.has_room_out(path)));
        let back = find(&|path| returns(path) && (by_any || own_links.has_room_back(path)));
        let out = out.or_else(|| find(&leads)).unwrap_or(first);
        let back = back.or_else(|| find(&returns)).unwrap_or(out);
        ControlPaths { out: Some(out), back: (back != out).then_some(back) }
    }

    /// Takes the answer to a trial.
    pub(super) fn handle_answer(&mut self, now: Time, token: u32) {
        if let (Some(isolator), Some(trials)) = (&mut self.isolator, &mut self.trials) {
            trials.handle_answer(now, token, isolator);
            // Whether the links to avoid have changed is seen in the next timeout.
            self.next = now;
        }
    }

    /// Returns when [`Self::handle_timeout`] is wanted next; [`Time::NEVER`] while nothing is reported.
    pub(super) fn timeout(&self) -> Time {
        self.next
    }

    fn look_ahead(&mut self) {
        let Some(isolator) = &self.isolator else { return };
        let of_trials = self
            .trials
            .as_ref()
            .map_or(Time::NEVER, |trials| isolator.poll_trial().min(trials.times_out(self.trial_timeout)));
        self.next = isolator.poll_timeout().min(of_trials);
    }

    /// Weighs the reports if it is time for it, and tries failed links by endpoints that are there. The links to avoid from now
    /// on, if they have changed.
    pub(super) fn handle_timeout(
        &mut self,
        now: Time,
        rank: u8,
        is_there: impl Fn(Address) -> bool,
    ) -> Option<Arc<DeadLinks>> {
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

    /// Returns whether a trial is to leave.
    pub(super) fn has_trial(&self) -> bool {
        self.trials.as_ref().is_some_and(|trials| trials.is_ready())
    }

    /// The next trial to leave, and its path.
    pub(super) fn take_trial(&mut self) -> Option<(Trial, Path)> {
        self.trials.as_mut()?.take()
    }

    /// The links to avoid.
    fn avoided(&self) -> Arc<DeadLinks> {
        let (Some(isolator), Some(none)) = (&self.isolator, &self.none) else {
            unreachable!("there are paths")
        };
        let mut dead = none.clone();
        for link in isolator.avoided() {
            dead.set(link, true).expect("a link of the same network");
        }
        Arc::new(dead)
    }

    /// The links that have failed.
    pub(super) fn failed(&self) -> impl Iterator<Item = Link> + '_ {
        self.isolator.iter().flat_map(|isolator| isolator.failed())
    }
}
