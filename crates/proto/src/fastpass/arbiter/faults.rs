//! Failed links (§6): the isolator's word for them, which links are to be avoided, and which paths control packets take.
//!
//! In a fat tree the link between an aggregation switch and a core switch is avoided by leaving out that aggregation switch, in
//! every pod: what the others then carry is as simple as with racks alone.

use std::sync::Arc;

use crate::fastpass::fcp::{Address, Path, PathReport, Trial};
use crate::fastpass::isolator::{Isolator, IsolatorParams, Link};
use crate::fastpass::paths::{DeadLinks, FatTreeShape, PathError};
use crate::units::{Span, Time};

use super::capacity::dead_links;
use super::params::{ArbiterParams, PathParams};
use super::trials::{Surroundings, Trials};

/// Finds failed links, where there is more than one path, and tries them.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// Whether reports are taken at all: without any, no link fails.
    takes_reports: bool,
    isolator: Option<Box<Isolator>>,
    /// None where the arbiter is at no endpoint's link, so that no path leads to it.
    trials: Option<Box<Trials>>,
    /// The endpoint at whose link the arbiter is.
    own: Option<Address>,
    trial_timeout: Span,
    /// The path whose turn it is.
    turn: Path,
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
        let trials = params.address.zip(surroundings);
        Ok(Faults {
            takes_reports: params.fault_isolation,
            isolator: isolator.map(Box::new),
            trials: trials.map(|(own, surroundings)| Box::new(Trials::new(surroundings, own))),
            own: params.address,
            trial_timeout: of.trial_timeout,
            turn: 0,
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

    /// The path of the next packet to an endpoint, each in its turn, but none over links to avoid; none where there is but one way, or
    /// the arbiter is at no endpoint's link.
    pub(super) fn next_path(&mut self, to: Address) -> Option<Path> {
        let paths = self.trials.as_ref()?.paths() as Path;
        let first = self.turn % paths;
        let path =
            (0..paths).map(|i| (first + i) % paths).find(|&path| !self.avoids(to, path)).unwrap_or(first);
        self.turn = (path + 1) % paths;
        Some(path)
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

    /// Whether a trial is to leave.
    pub(super) fn has_trial(&self) -> bool {
        self.trials.as_ref().is_some_and(|trials| trials.is_ready())
    }

    /// The next trial to leave, and its path.
    pub(super) fn take_trial(&mut self) -> Option<(Trial, Path)> {
        self.trials.as_mut()?.take()
    }

    /// Whether a packet on this path between the arbiter and an endpoint would pass a link to avoid, in either direction.
    fn avoids(&self, endpoint: Address, path: Path) -> bool {
        let (Some(isolator), Some(own)) = (&self.isolator, self.own) else { return false };
        isolator.is_avoided(own, endpoint, path) || isolator.is_avoided(endpoint, own, path)
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
