//! Failed links (§6): the isolator's word for them, and which switches are to be avoided.
//!
//! In a fat tree the link between an aggregation switch and a core switch is avoided by leaving out that aggregation switch, in
//! every pod: what the others then carry is as simple as with racks alone.

use crate::fastpass::fcp::{Address, PathReport};
use crate::fastpass::isolator::{Isolator, IsolatorParams, Link};
use crate::fastpass::paths::{PathError, PathSet};
use crate::units::Time;

use super::params::{ArbiterParams, PathParams};

/// Finds failed links, where there is more than one path.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    isolator: Option<Box<Isolator>>,
    /// Switches of the middle, of which one is on each path out of a rack.
    switches: usize,
    cores: usize,
    /// When the isolator wants to weigh what it knows; it is asked no more often than that may change.
    next: Time,
}

impl Faults {
    pub(super) fn new(params: &ArbiterParams) -> Result<Faults, PathError> {
        let of = IsolatorParams { slot: params.timeslots.length(), ..params.isolator };
        let (isolator, switches, cores) = match &params.paths {
            PathParams::Single => (None, 1, 0),
            PathParams::LeafSpine { racks, paths } => {
                (Some(Isolator::leaf_spine(&of, racks.clone(), *paths)?), *paths, 0)
            }
            PathParams::FatTree { racks, shape } => {
                (Some(Isolator::fat_tree(&of, racks.clone(), *shape)?), shape.aggregation, shape.cores)
            }
        };
        Ok(Faults { isolator: isolator.map(Box::new), switches, cores, next: Time::NEVER })
    }

    /// Takes a report of an endpoint.
    pub(super) fn handle_report(&mut self, now: Time, source: Address, report: PathReport) {
        if let Some(isolator) = &mut self.isolator {
            isolator.handle_report(now, source, &report);
            if self.next == Time::NEVER {
                self.next = isolator.poll_timeout();
            }
        }
    }

    /// When [`Self::handle_timeout`] is wanted next; [`Time::NEVER`] while nothing is reported.
    pub(super) fn timeout(&self) -> Time {
        self.next
    }

    /// Weighs the reports if it is time for it. The switches to avoid from now on, if they have changed.
    pub(super) fn handle_timeout(&mut self, now: Time) -> Option<PathSet> {
        if self.next > now {
            return None;
        }
        let isolator = self.isolator.as_mut()?;
        isolator.handle_timeout(now);
        self.next = isolator.poll_timeout();
        let changed = isolator.poll_changed();
        changed.then(|| self.avoided())
    }

    /// The switches to avoid; not all of them.
    fn avoided(&self) -> PathSet {
        let Some(isolator) = &self.isolator else { return PathSet::EMPTY };
        let of_racks = isolator.excluded();
        let of_cores = (0..self.switches)
            .filter(|&switch| self.cores > 0 && !isolator.excluded_cores(switch).is_empty());
        let all = of_cores.fold(of_racks, PathSet::with);
        if all.len() < self.switches {
            all
        } else {
            of_racks
        }
    }

    /// The links that have failed.
    pub(super) fn failed(&self) -> impl Iterator<Item = Link> + '_ {
        self.isolator.iter().flat_map(|isolator| isolator.failed())
    }
}
