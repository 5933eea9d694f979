//! The fault isolator (Fastpass §6): which link has failed, from what endpoints say of lost packets.
//!
//! The paper leaves the search for failed links to a service of its own; the rules here are ours. An endpoint reports of each path
//! how many packets it sent and how many did not arrive ([`PathReport`]). As it is known which links are on which path, every
//! report counts for the links of its path. (The names in code style are parameters, [`IsolatorParams`], or files.)
//!
//! 1. `evidence` keeps what was reported in the last `window`: packets by link, losses by source, destination and path.
//! 2. `verdict` looks for the link with the highest rate of loss, takes what passed it as accounted for, and looks again. The
//!    failed link has a higher rate than any link that merely shares packets with it, as those others carry others as well.
//! 3. The rate is that **without the losses of the one source that reports most of them**, and a link whose rate is below one in
//!    `one_in` has not failed: whatever a single endpoint says, true or false, excludes no path. And no endpoint can claim more
//!    packets than there were slots, or take more than its share of the memory.
//! 4. The link between an endpoint and its rack's switch is told from the others by losses on more than one path. No path avoids
//!    it, so it is named and nothing else.
//! 5. For all racks the paths are excluded that pass the switch of a failed link: its spine switch; in a fat tree the aggregation
//!    switches of its number, in every pod, or for a link to the core its core switch. They get packets again after `probation`:
//!    they are tried with live traffic. If the link fails again, they are excluded for twice as long.
//!
//! Where two links carry the same packets, such as an uplink and a downlink between two racks without a third, the one that
//! comes first is named: the one nearer to the source. The path excluded is the same.
//!
//! To weigh the reports takes time in proportion to the losses reported (at most 16,384 entries), once for each link considered
//! (at most 32); without losses it takes none. No memory is allocated once the isolator is made.

mod evidence;
mod links;
mod params;
mod verdict;

use crate::units::{Span, Time};

use super::fcp::{Address, PathReport};
pub use super::paths::Link;
use super::paths::{FatTreeShape, PathError, PathSet, Racks};
use evidence::{Evidence, Loss};
use links::Links;
pub use params::IsolatorParams;
use verdict::Verdict;

/// What became of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IsolatorCounters {
    /// Reports taken into account.
    pub reports: u64,
    /// Reports of an endpoint or a path that there is not, or of packets from an endpoint to itself.
    pub unknown: u64,
    /// Reports of more losses than packets.
    pub more_lost_than_sent: u64,
    /// Reports of more packets than a source can have sent.
    pub more_than_slots: u64,
    /// Reports whose losses had no room, as their source had reported too many others.
    pub no_room: u64,
    /// Paths excluded.
    pub excluded: u64,
    /// Times that the path of a failed link was not excluded, as it was the last.
    pub last_path: u64,
    /// Paths that got packets again.
    pub readmitted: u64,
}

/// A link that can be avoided.
#[derive(Clone, Copy, Debug)]
struct Avoided {
    /// Until when its path is excluded, if it is.
    until: Option<Time>,
    /// For how long it was excluded the last time; zero if never.
    span: Span,
    /// Until when a failure counts as the same one again.
    remembered: Time,
}

/// Finds failed links and says which paths avoid them.
///
/// ```
/// use clearway_proto::fastpass::fcp::PathReport;
/// use clearway_proto::fastpass::isolator::{Isolator, IsolatorParams, Link};
/// use clearway_proto::fastpass::paths::Racks;
/// use clearway_proto::units::{Span, Time};
///
/// // Three racks of two endpoints, and two spine switches. Both endpoints of rack 0 lose what they send through spine 1.
/// let racks = Racks::uniform(3, 2).unwrap();
/// let mut isolator = Isolator::leaf_spine(&IsolatorParams::default(), racks, 2).unwrap();
/// let now = Time::ZERO + Span::from_ms(5);
/// for (source, destination) in [(0, 2), (0, 4), (1, 2), (1, 4)] {
///     isolator.handle_report(now, source, &PathReport { destination, path: 0, sent: 50, lost: 0 });
///     isolator.handle_report(now, source, &PathReport { destination, path: 1, sent: 50, lost: 50 });
/// }
/// isolator.handle_timeout(isolator.poll_timeout());
/// assert_eq!(isolator.failed().collect::<Vec<_>>(), [Link::FromRack { rack: 0, switch: 1 }]);
/// assert!(isolator.poll_changed());
/// assert_eq!(isolator.excluded().iter().collect::<Vec<_>>(), [1]);
/// ```
#[derive(Clone, Debug)]
pub struct Isolator {
    params: IsolatorParams,
    links: Links,
    /// The evidence of this half of the window, and of the one before.
    evidence: [Evidence; 2],
    /// When this half of the window began.
    began: Time,
    /// When the reports are weighed next; [`Time::NEVER`] if there are none.
    next: Time,
    verdict: Verdict,
    avoided: Box<[Avoided]>,
    /// Links of endpoints that failed when last weighed.
    endpoints: Vec<usize>,
    changed: bool,
    counters: IsolatorCounters,
}

/// Links of endpoints that are named at a time.
const MOST_ENDPOINTS: usize = 32;

impl Isolator {
    /// An isolator for a leaf-spine network, of which nothing is known yet.
    ///
    /// Errors: [`PathError::Paths`].
    pub fn leaf_spine(params: &IsolatorParams, racks: Racks, paths: usize) -> Result<Isolator, PathError> {
        Links::leaf_spine(racks, paths).map(|links| Isolator::new(params, links))
    }

    /// An isolator for a fat tree, of which nothing is known yet.
    ///
    /// Errors: [`PathError::RacksPerPod`], [`PathError::Paths`].
    pub fn fat_tree(
        params: &IsolatorParams,
        racks: Racks,
        shape: FatTreeShape,
    ) -> Result<Isolator, PathError> {
        Links::fat_tree(racks, shape).map(|links| Isolator::new(params, links))
    }

    fn new(params: &IsolatorParams, links: Links) -> Isolator {
        let params = IsolatorParams { probation: params.probation.max(params.window), ..*params };
        let evidence = || Evidence::new(links.count(), links.endpoints());
        let avoided = Avoided { until: None, span: Span::ZERO, remembered: Time::ZERO };
        Isolator {
            params,
            evidence: [evidence(), evidence()],
            began: Time::ZERO,
            next: Time::NEVER,
            verdict: Verdict::new(&links),
            avoided: vec![avoided; links.avoidable()].into_boxed_slice(),
            endpoints: Vec::with_capacity(MOST_ENDPOINTS),
            changed: false,
            counters: IsolatorCounters::default(),
            links,
        }
    }

    /// Takes a report that `source` has sent.
    pub fn handle_report(&mut self, now: Time, source: Address, report: &PathReport) {
        let PathReport { destination, path, sent, lost } = *report;
        let Some(route) = self.links.route(source, destination, path) else {
            self.counters.unknown += 1;
            return;
        };
        if lost > sent {
            self.counters.more_lost_than_sent += 1;
            return;
        }
        self.turn(now);
        // A half of the window, and as much again for packets whose fate was not known at once.
        let slots = self.params.window.as_ps() / self.params.slot.as_ps().max(1);
        if u64::from(self.evidence[0].of_source(source)) + u64::from(sent) > slots {
            self.counters.more_than_slots += 1;
            return;
        }
        self.counters.reports += 1;
        let loss = Loss { source, destination, path, lost: u32::from(lost) };
        if !self.evidence[0].note(route.iter(), u32::from(sent), loss) {
            self.counters.no_room += 1;
        }
        self.next = self.next.min(now + self.params.interval);
    }

    /// Begins another half of the window where one is over.
    fn turn(&mut self, now: Time) {
        let half = Span::from_ps(self.params.window.as_ps() / 2);
        if now < self.began + half {
            return;
        }
        self.evidence.swap(0, 1);
        if now >= self.began + half + half {
            self.evidence[1].clear();
        }
        self.evidence[0].clear();
        self.began = now;
    }

    /// Weighs the reports, and lets paths in again, where it is time for either.
    pub fn handle_timeout(&mut self, now: Time) {
        for avoided in &mut self.avoided {
            if avoided.until.is_some_and(|until| until <= now) {
                avoided.until = None;
                avoided.remembered = now + Span::from_ps(avoided.span.as_ps().saturating_mul(10));
                self.counters.readmitted += 1;
                self.changed = true;
            }
        }
        if now < self.next {
            return;
        }
        self.turn(now);
        self.weigh(now);
        let idle = self.evidence.iter().all(Evidence::is_empty);
        self.next = if idle { Time::NEVER } else { now + self.params.interval };
    }

    fn weigh(&mut self, now: Time) {
        let avoided = &self.avoided;
        let known = |link: usize| avoided.get(link).is_some_and(|avoided| avoided.until.is_some());
        self.verdict.weigh(&self.params, &self.links, &self.evidence, known);
        let failed = self.verdict.failed();
        self.endpoints.clear();
        let avoidable = self.links.avoidable();
        self.endpoints.extend(failed.iter().filter(|&&link| link >= avoidable).take(MOST_ENDPOINTS));
        for i in 0..failed.len() {
            let failed = self.verdict.failed()[i];
            if failed < avoidable {
                self.avoid(now, failed);
            }
        }
    }

    /// Excludes the path of a failed link, unless it is the last.
    fn avoid(&mut self, now: Time, link: usize) {
        let avoided = self.avoided[link];
        let again = avoided.span > Span::ZERO && now < avoided.remembered;
        let twice = Span::from_ps(avoided.span.as_ps().saturating_mul(2));
        let span = if again { twice.min(self.params.longest) } else { self.params.probation };
        self.avoided[link] = Avoided { until: Some(now + span), span, ..avoided };
        if self.leaves_no_path() {
            self.avoided[link] = avoided;
            self.counters.last_path += 1;
        } else {
            self.counters.excluded += 1;
            self.changed = true;
        }
    }

    fn leaves_no_path(&self) -> bool {
        self.excluded().len() == self.links.switches()
    }

    /// When [`Isolator::handle_timeout`] is wanted next.
    pub fn poll_timeout(&self) -> Time {
        self.avoided.iter().filter_map(|avoided| avoided.until).fold(self.next, Time::min)
    }

    /// Whether the excluded paths have changed since this was last asked.
    pub fn poll_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The spine switches that no packet should pass, or in a fat tree the aggregation switches: those of a failed link, and
    /// those of which all core switches are excluded. Not all of them.
    pub fn excluded(&self) -> PathSet {
        let of_links = self.failed_links().fold(PathSet::EMPTY, |set, link| match self.links.link(link) {
            Link::FromRack { switch, .. } | Link::ToRack { switch, .. } => set.with(switch),
            _ => set,
        });
        let cores = self.links.cores();
        (0..self.links.switches())
            .filter(|&aggregation| cores > 0 && self.failed_cores(aggregation).len() == cores)
            .fold(of_links, PathSet::with)
    }

    /// The core switches that no packet should pass, of those that aggregation switches of this number reach. Never all of
    /// them: then it is the aggregation switch that is excluded.
    pub fn excluded_cores(&self, aggregation: usize) -> PathSet {
        let failed = self.failed_cores(aggregation);
        if failed.len() == self.links.cores() {
            PathSet::EMPTY
        } else {
            failed
        }
    }

    fn failed_cores(&self, of: usize) -> PathSet {
        self.failed_links().fold(PathSet::EMPTY, |set, link| match self.links.link(link) {
            Link::ToCore { aggregation, core, .. } | Link::FromCore { aggregation, core, .. }
                if aggregation == of =>
            {
                set.with(core)
            }
            _ => set,
        })
    }

    fn failed_links(&self) -> impl Iterator<Item = usize> + '_ {
        let excluded = |&(_, avoided): &(usize, &Avoided)| avoided.until.is_some();
        self.avoided.iter().enumerate().filter(excluded).map(|(link, _)| link)
    }

    /// The links that have failed: those whose path is excluded, and those of endpoints.
    pub fn failed(&self) -> impl Iterator<Item = Link> + '_ {
        self.failed_links().chain(self.endpoints.iter().copied()).map(|link| self.links.link(link))
    }

    /// What became of reports.
    pub fn counters(&self) -> &IsolatorCounters {
        &self.counters
    }
}
