//! The fault isolator (Fastpass §6): which link has failed, from what endpoints say of lost packets, and when it is whole again.
//!
//! The paper leaves the search for failed links to a service of its own; the rules here are ours. An endpoint reports of each
//! path how many packets it sent and how many did not arrive ([`PathReport`]). As it is known which links are on which path,
//! every report counts for the links of its path. (The names in code style are parameters, [`IsolatorParams`], or files.)
//!
//! 1. `evidence` keeps what was reported in the last `window`: packets by link, losses by source, destination and path.
//! 2. `verdict` looks for the link whose fault would be the likeliest reason for the losses, takes what passed it as accounted
//!    for, and looks again. A link that merely shares packets with the failed one carries others as well, which arrive.
//! 3. One endpoint's word counts as long as what others sent over the same link does not contradict it: so an endpoint that says
//!    what is not true can have a link avoided that nobody else uses, and no other. No endpoint can claim more packets than
//!    there were slots, or take more than its share of the memory.
//! 4. The link between an endpoint and its rack's switch cannot be avoided: it is named and nothing else. So it is with a link
//!    without which some rack could not reach another (`reachability`); of several the one that loses least stays in use.
//! 5. All other failed links get no packets. Each is *tried* every `trial_interval`: the driver sends a packet over it for which
//!    nobody waits. Once [`IsolatorParams::trials`] of them in a row have arrived it is used again. What nobody can try, as no
//!    endpoint is there to answer, gets live packets after `probation`.
//!
//! Where two links carry the same packets, such as an uplink and a downlink between two racks without a third, both are suspects
//! and neither is used, until one is tried in vain while the other is not on the way: then the other is used again, once it has
//! answered a trial itself. Where two links lose packets, a third one that both share may be the likeliest reason: when it has
//! answered more trials than it would at that rate of loss, it is *proven*, and for a second the others are suspected before it.
//!
//! To weigh the reports takes time in proportion to the losses reported (at most 16,384 entries), once for each link considered
//! (at most 32); without losses it takes none. No memory is allocated once the isolator is made.

mod evidence;
mod likelihood;
mod links;
mod params;
mod reachability;
mod record;
mod verdict;

use crate::units::{Span, Time};

use super::fcp::{Address, Path, PathReport};
pub use super::paths::Link;
use super::paths::{FatTreeShape, PathError, Racks};
use evidence::{Evidence, Loss};
use links::{Links, Route};
pub use params::IsolatorParams;
use reachability::Reachability;
use record::Record;
pub use record::Silence;
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
    /// Times that a link between switches failed.
    pub failed: u64,
    /// Times that links were used again at once that had been suspected with one that was tried in vain.
    pub acquitted: u64,
    /// Times that a failed link stayed in use, as some rack could not have reached another without it.
    pub last_path: u64,
    /// Times that a failed link was used again: tried often enough, or after its probation.
    pub readmitted: u64,
}

/// Finds failed links, and says which to avoid.
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
/// assert!(isolator.poll_changed());
/// assert_eq!(isolator.avoided().collect::<Vec<_>>(), [Link::FromRack { rack: 0, switch: 1 }]);
/// assert!(isolator.is_avoided(1, 4, 1) && !isolator.is_avoided(2, 4, 1));
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
    /// The record of each link that can be avoided.
    records: Box<[Record]>,
    /// The links that have failed, those with the highest rate of loss first.
    failed: Vec<usize>,
    reachability: Reachability,
    /// Links that are suspected together, while they are gathered.
    suspects: Vec<usize>,
    /// The number of the last links that were suspected together.
    group: u64,
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
        Isolator {
            params,
            evidence: [evidence(), evidence()],
            began: Time::ZERO,
            next: Time::NEVER,
            verdict: Verdict::new(&links),
            records: vec![Record::default(); links.avoidable()].into_boxed_slice(),
            failed: Vec::with_capacity(links.avoidable()),
            reachability: Reachability::new(&links),
            suspects: Vec::with_capacity(links.avoidable()),
            group: 0,
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
        let loss = Loss { source, destination, path, sent: sent.into(), lost: lost.into() };
        if !self.evidence[0].note(route.iter(), loss) {
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

    /// Weighs the reports, and lets links in again that nobody can try, where it is time for either.
    pub fn handle_timeout(&mut self, now: Time) {
        for i in (0..self.failed.len()).rev() {
            let link = self.failed[i];
            if self.records[link].ends_probation(now, &self.params) {
                self.readmit(link);
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
        let records = &self.records;
        let known = |link: usize| records.get(link).is_some_and(Record::has_failed);
        let proven = |link: usize| records.get(link).is_some_and(|record| record.is_proven(now));
        self.verdict.weigh(&self.params, &self.links, &self.evidence, known, proven);
        let found = self.verdict.failed();
        self.endpoints.clear();
        let avoidable = self.links.avoidable();
        self.endpoints.extend(found.iter().filter(|&&link| link >= avoidable).take(MOST_ENDPOINTS));
        let before = self.failed.len();
        for i in 0..found.len() {
            let link = self.verdict.failed()[i];
            if link < avoidable {
                self.accuse(now, link);
            }
        }
        if self.failed.len() > before {
            self.avoid_again();
        }
        self.drop_explained();
    }

    /// Drops the losses of which failed links are the reason: when one is used again, they are no evidence against its
    /// neighbours.
    fn drop_explained(&mut self) {
        let Isolator { links, records, evidence, .. } = self;
        let has_failed = |link: usize| records.get(link).is_some_and(Record::has_failed);
        for period in evidence {
            period.drop_explained(links, has_failed);
        }
    }

    /// Chooses anew which of the failed links to avoid: those with the highest rate of loss first, as long as every rack can
    /// reach every other.
    fn avoid_again(&mut self) {
        let Isolator { records, failed, reachability, links, counters, .. } = self;
        failed.sort_unstable_by(|&a, &b| records[b].loss().total_cmp(&records[a].loss()).then(a.cmp(&b)));
        reachability.open_all();
        for &link in failed.iter().filter(|&&link| records[link].is_dead()) {
            reachability.close(links.link(link));
        }
        for &link in &*failed {
            let avoided = records[link].is_dead() || reachability.close_if_spared(links.link(link));
            counters.last_path += u64::from(!avoided && records[link].is_new());
            records[link].set_avoided(avoided);
        }
        self.changed = true;
    }

    /// A link is used again.
    fn readmit(&mut self, link: usize) {
        self.failed.retain(|&failed| failed != link);
        self.counters.readmitted += 1;
        self.avoid_again();
    }

    /// Returns when [`Isolator::handle_timeout`] is wanted next.
    pub fn poll_timeout(&self) -> Time {
        self.failed.iter().map(|&link| self.records[link].probation_ends()).fold(self.next, Time::min)
    }

    /// Returns when a failed link is to be tried next; [`Time::NEVER`] if there is none.
    pub fn poll_trial(&self) -> Time {
        self.failed.iter().map(|&link| self.records[link].next_trial()).fold(Time::NEVER, Time::min)
    }

    /// A failed link that is to be tried now, which the isolator asks for again after `trial_interval`.
    pub fn take_trial(&mut self, now: Time) -> Option<Link> {
        let due = |&link: &usize| self.records[link].next_trial() <= now;
        let link = self.failed.iter().copied().find(due)?;
        self.records[link].ask_again(now + self.params.trial_interval);
        Some(self.links.link(link))
    }

    /// Takes note that a link is being tried on a way on which nothing else has failed.
    pub fn handle_trial_sent(&mut self, now: Time, link: Link) {
        self.records[self.links.number(link)].note_trial(now);
    }

    /// Takes word that a trial over a link was answered in time.
    pub fn handle_answered(&mut self, now: Time, link: Link) {
        let number = self.links.number(link);
        if self.records[number].hear_answer(now) {
            self.readmit(number);
        } else {
            self.acquit(self.records[number].group());
        }
    }

    /// Takes word that a trial of a link was not answered in time.
    pub fn handle_unanswered(&mut self, link: Link, silence: Silence) {
        let number = self.links.number(link);
        if self.records[number].hear_silence(silence) {
            self.acquit(self.records[number].group());
        }
    }

    /// A link has failed, or one of those that are as good a reason for the same losses and not proven to be whole: all of them
    /// are suspects until trials tell, or only those that are known to lose some packets.
    fn accuse(&mut self, now: Time, link: usize) {
        if self.records[link].has_failed() {
            // It is a suspect with another one that was found.
            return;
        }
        let Isolator { verdict, params, links, evidence, suspects, records, .. } = self;
        let rate = verdict.rate(link);
        suspects.clear();
        suspects.push(link);
        verdict.alike(link, params, links, evidence, |other| {
            if !records[other].has_failed() && !records[other].is_proven(now) {
                suspects.push(other);
            }
        });
        let loses_some = |&link: &usize| records[link].loses_some(now);
        if suspects.iter().any(loses_some) {
            suspects.retain(loses_some);
        }
        self.group += 1;
        for &suspect in suspects.iter() {
            records[suspect].fail(now, rate, self.group, params);
        }
        self.failed.extend_from_slice(suspects);
        self.counters.failed += 1;
    }

    /// Lets links be used again that were suspected of the same losses as one that is dead. Those that have been tried and do not
    /// answer either stay suspects: what is dead may be another one than was thought.
    fn acquit(&mut self, group: Option<u64>) {
        let Isolator { failed, records, counters, .. } = self;
        if !failed.iter().any(|&link| records[link].is_dead() && records[link].group() == group) {
            return;
        }
        let before = failed.len();
        failed.retain(|&link| {
            let record = &mut records[link];
            let innocent = record.group() == group && !record.is_dead() && record.may_be_whole();
            if innocent {
                record.acquit();
            }
            !innocent
        });
        counters.acquitted += u64::from(failed.len() < before);
        self.avoid_again();
    }

    /// Returns whether the links to avoid have changed since this was last asked.
    pub fn poll_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The links that no packet should pass, all between switches. Every rack can reach every other without them.
    pub fn avoided(&self) -> impl Iterator<Item = Link> + '_ {
        self.failed.iter().filter(|&&link| self.records[link].is_avoided()).map(|&link| self.links.link(link))
    }

    /// Returns whether a packet on this path would pass a link to avoid.
    pub fn is_avoided(&self, source: Address, destination: Address, path: Path) -> bool {
        let avoided = |link: usize| self.records.get(link).is_some_and(Record::is_avoided);
        self.links.route(source, destination, path).is_some_and(|route| route.iter().any(avoided))
    }

    /// The failed links that a packet on this path would pass.
    pub fn failed_on(
        &self,
        source: Address,
        destination: Address,
        path: Path,
    ) -> impl Iterator<Item = Link> + '_ {
        let failed = |&link: &usize| self.records.get(link).is_some_and(Record::has_failed);
        let route = self.links.route(source, destination, path);
        route.into_iter().flat_map(Route::into_links).filter(failed).map(|link| self.links.link(link))
    }

    /// The links that have failed, avoided or not: those between switches first.
    pub fn failed(&self) -> impl Iterator<Item = Link> + '_ {
        self.failed.iter().chain(&self.endpoints).map(|&link| self.links.link(link))
    }

    /// Returns what became of reports.
    pub fn counters(&self) -> &IsolatorCounters {
        &self.counters
    }
}
