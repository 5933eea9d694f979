//! Which links account for the losses: the one with the highest rate of loss first, then, without what passed that one, the
//! next; as long as the rate is above what single bits make of it.
//!
//! The rate that counts is that without the losses that one source reports, whichever source has the most. So what several
//! sources agree on comes first, and what only one says does not come at all. For the link from an endpoint, about which only
//! that endpoint reports, it is the rate without the losses on one path: the link is on all of its paths.

use super::evidence::{Evidence, Loss};
use super::links::{Links, Route};
use super::params::IsolatorParams;

/// Links that are considered each time that the reports are weighed.
const MOST_CONSIDERED: usize = 32;

/// A link, with what is known of it while the reports are weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// Nothing yet.
    #[default]
    Open,
    /// It accounts for the losses of what passed it.
    Failed,
    /// It does not, whatever the rate.
    Ruled,
}

/// The losses on a link that no failed link accounts for.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    all: u64,
    /// Those of the source that has the most; for the link from an endpoint, of the path.
    most: u64,
    /// Those of the source, or path, whose losses are being counted.
    part: u64,
}

impl Lost {
    /// Ends the count of a source or path.
    fn end_part(&mut self) {
        self.most = self.most.max(self.part);
        self.part = 0;
    }

    /// The losses that do not hang on one source or path.
    fn agreed(self) -> u64 {
        self.all - self.most
    }
}

/// What weighing needs, reused from time to time.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    standing: Box<[Standing]>,
    lost: Box<[Lost]>,
    /// All losses, by source and path.
    losses: Vec<Loss>,
    /// Links of the source whose losses are being counted.
    touched: Vec<usize>,
    failed: Vec<usize>,
}

impl Verdict {
    pub(super) fn new(links: &Links) -> Verdict {
        Verdict {
            standing: vec![Standing::Open; links.count()].into_boxed_slice(),
            lost: vec![Lost::default(); links.count()].into_boxed_slice(),
            losses: Vec::with_capacity(2 * Evidence::most_losses(links.endpoints())),
            // An endpoint's own link comes again with each path.
            touched: Vec::with_capacity(links.count() + Links::MOST_PATHS),
            failed: Vec::with_capacity(MOST_CONSIDERED),
        }
    }

    /// Finds the links that account for the losses reported in two periods. What passed a link of `known` is accounted for
    /// already.
    pub(super) fn weigh(
        &mut self,
        params: &IsolatorParams,
        links: &Links,
        evidence: &[Evidence; 2],
        known: impl Fn(usize) -> bool,
    ) {
        self.failed.clear();
        self.losses.clear();
        self.losses.extend(evidence.iter().flat_map(Evidence::losses).copied());
        if self.losses.is_empty() {
            return;
        }
        self.losses.sort_unstable_by_key(|loss| (loss.source, loss.path));
        for (link, standing) in self.standing.iter_mut().enumerate() {
            *standing = if known(link) { Standing::Failed } else { Standing::Open };
        }
        for _ in 0..MOST_CONSIDERED {
            self.count(links);
            let Some(worst) = self.worst(params, evidence) else { break };
            if worst < links.first_to_endpoint() || self.on_many_paths(params, links, evidence, worst) {
                self.standing[worst] = Standing::Failed;
                self.failed.push(worst);
            } else {
                self.standing[worst] = Standing::Ruled;
            }
        }
        self.drop_superfluous(params, links);
    }

    /// The links that [`Verdict::weigh`] has found.
    pub(super) fn failed(&self) -> &[usize] {
        &self.failed
    }

    fn is_explained(&self, route: &Route) -> bool {
        route.iter().any(|link| self.standing[link] == Standing::Failed)
    }

    /// Counts the losses that no failed link accounts for, source by source.
    fn count(&mut self, links: &Links) {
        self.lost.fill(Lost::default());
        for i in 0..self.losses.len() {
            let loss = self.losses[i];
            let own = links.leaving(loss.source);
            match i.checked_sub(1).map(|before| self.losses[before]) {
                Some(before) if before.source != loss.source => self.end_source(),
                Some(before) if before.path != loss.path => self.lost[own].end_part(),
                _ => {}
            }
            let Some(route) = links.route(loss.source, loss.destination, loss.path) else { continue };
            if self.is_explained(&route) {
                continue;
            }
            for link in route.iter() {
                let lost = &mut self.lost[link];
                lost.all += u64::from(loss.lost);
                // Within the rack there is one path only, so that the losses do not hang on it.
                if link == own && !route.leaves_rack() {
                    continue;
                }
                if lost.part == 0 {
                    self.touched.push(link);
                }
                lost.part += u64::from(loss.lost);
            }
        }
        self.end_source();
    }

    /// Ends the count of a source on all links that it has losses on.
    fn end_source(&mut self) {
        for link in self.touched.drain(..) {
            self.lost[link].end_part();
        }
    }

    /// The link with the highest rate of agreed loss, if that is high enough; of several the one with the most losses, then
    /// the lowest number.
    fn worst(&self, params: &IsolatorParams, evidence: &[Evidence; 2]) -> Option<usize> {
        let mut worst: Option<(usize, Lost, u64)> = None;
        for (link, &lost) in self.lost.iter().enumerate() {
            if lost.all < u64::from(params.least_lost) || self.standing[link] != Standing::Open {
                continue;
            }
            let sent = sent(evidence, link);
            if !params.is_lossy(lost.agreed(), sent) {
                continue;
            }
            let higher = worst.is_none_or(|(_, other, other_sent)| {
                let (rate, other_rate) = (lost.agreed() * other_sent, other.agreed() * sent);
                rate > other_rate || rate == other_rate && lost.all > other.all
            });
            if higher {
                worst = Some((link, lost, sent));
            }
        }
        worst.map(|(link, ..)| link)
    }

    /// Whether the losses on the link to an endpoint do not hang on one path.
    fn on_many_paths(
        &self,
        params: &IsolatorParams,
        links: &Links,
        evidence: &[Evidence; 2],
        link: usize,
    ) -> bool {
        let mut of_path = [0_u64; Links::MOST_PATHS];
        for loss in &self.losses {
            let Some(route) = links.route(loss.source, loss.destination, loss.path) else { continue };
            if route.leaves_rack() && !self.is_explained(&route) && route.iter().any(|other| other == link) {
                of_path[usize::from(loss.path)] += u64::from(loss.lost);
            }
        }
        let most = of_path.iter().copied().max().unwrap_or(0);
        params.is_lossy(self.lost[link].all - most, sent(evidence, link))
    }

    /// Drops links whose losses the others account for.
    fn drop_superfluous(&mut self, params: &IsolatorParams, links: &Links) {
        for i in (0..self.failed.len()).rev() {
            let link = self.failed[i];
            self.standing[link] = Standing::Open;
            self.count(links);
            if self.lost[link].all < u64::from(params.least_lost) {
                self.failed.remove(i);
            } else {
                self.standing[link] = Standing::Failed;
            }
        }
    }
}

/// Packets that passed a link in both periods.
fn sent(evidence: &[Evidence; 2], link: usize) -> u64 {
    evidence.iter().map(|period| period.sent(link)).sum()
}
