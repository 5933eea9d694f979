//! Which links account for the losses: the one first whose fault explains most, then, without what that one explains, the next;
//! as long as a fault is a likelier reason than chance.
//!
//! How much the fault of a link explains is a likelihood ratio ([`likelihood`]): the same losses explain more on a link that few
//! packets passed than on one that many passed which arrived.
//!
//! What one source alone says counts as long as nothing speaks against it: if as many packets of others passed the link as should
//! have lost some at the rate that this source reports, and they did not, it is not this link.

use super::evidence::{Evidence, Loss};
use super::likelihood;
use super::links::{Links, Route};
use super::params::IsolatorParams;
use crate::fastpass::fcp::Address;

/// Links that are considered each time that the reports are weighed.
const MOST_CONSIDERED: usize = 32;

/// A link, with what is known of it while the reports are weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinkState {
    /// Nothing yet.
    #[default]
    Unknown,
    /// It accounts for the losses of what passed it.
    Failed,
    /// It does not, whatever the losses.
    RuledOut,
}

/// The losses on a link of which no failed link is the reason.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    all: u64,
    /// The packets that went the same ways since the first of them.
    sent: u64,
    /// The losses of the source that has the most, and which source that is.
    most: u64,
    by: Address,
    /// The losses of the source whose losses are being counted.
    part: u64,
}

/// Losses that others should have had, at the rate that one source reports, before it means something that they had less than a
/// quarter of them.
const EXPECTED: u64 = 8;

impl Lost {
    /// Ends the count of a source.
    fn end_part(&mut self, source: Address) {
        let part = std::mem::take(&mut self.part);
        if part > self.most {
            (self.most, self.by) = (part, source);
        }
    }

    /// Returns whether what the others sent, of the `sent` packets on the link, speaks against what the source with most losses
    /// says. Of that one it is only known how much it sent on all links: `own`.
    fn is_contradicted(self, sent: u64, own: u64) -> bool {
        let own = own.min(sent).max(1);
        let expected = (sent - own.min(sent)) * self.most / own;
        expected >= EXPECTED && 4 * (self.all - self.most) < expected
    }

    /// Returns whether too many of the `sent` packets on the link went where nothing was lost, for the rate of loss where
    /// something was: then it is rather some other link that the lost packets have in common.
    fn is_uneven(self, sent: u64) -> bool {
        sent.saturating_sub(self.sent) * self.all >= EXPECTED * self.sent
    }
}

/// What weighing needs, reused from time to time.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    state: Box<[LinkState]>,
    lost: Box<[Lost]>,
    /// All losses, by source and path.
    losses: Vec<Loss>,
    /// Links of the source whose losses are being counted.
    touched: Vec<usize>,
    failed: Vec<usize>,
    /// The losses that each of those is the reason for, and the packets that went the same ways since the first of them.
    found: Vec<(u64, u64)>,
}

impl Verdict {
    pub(super) fn new(links: &Links) -> Verdict {
        Verdict {
            state: vec![LinkState::Unknown; links.count()].into_boxed_slice(),
            lost: vec![Lost::default(); links.count()].into_boxed_slice(),
            losses: Vec::with_capacity(2 * Evidence::most_losses(links.endpoints())),
            touched: Vec::with_capacity(links.count()),
            failed: Vec::with_capacity(MOST_CONSIDERED),
            found: Vec::with_capacity(MOST_CONSIDERED),
        }
    }

    /// Finds the links that account for the losses reported in two periods. What passed a link of `known` is accounted for
    /// already. A `proven` link is the reason only for what no other link is that loses alike wherever packets go from it: else
    /// it would be the likeliest reason for the losses of two that share it.
    pub(super) fn weigh(
        &mut self,
        params: &IsolatorParams,
        links: &Links,
        evidence: &[Evidence; 2],
        known: impl Fn(usize) -> bool,
        proven: impl Fn(usize) -> bool,
    ) {
        self.failed.clear();
        self.found.clear();
        if !self.gather(evidence, known) {
            return;
        }
        for _ in 0..MOST_CONSIDERED {
            self.count(links);
            let Some(mut worst) = self.worst(params, evidence, |_| true) else { break };
            if proven(worst) {
                let even = |link: usize| !self.lost[link].is_uneven(sent(evidence, link));
                let other = self.worst(params, evidence, |link| !proven(link) && even(link));
                worst = other.unwrap_or(worst);
            }
            let lost = self.lost[worst];
            let own = evidence.iter().map(|period| u64::from(period.of_source(lost.by))).sum();
            let one_alone = worst >= links.first_to_endpoint() && lost.all == lost.most;
            if one_alone || lost.is_contradicted(sent(evidence, worst), own) {
                self.state[worst] = LinkState::RuledOut;
            } else {
                self.state[worst] = LinkState::Failed;
                self.failed.push(worst);
                self.found.push((lost.all, lost.sent));
            }
        }
        self.drop_superfluous(params, links, evidence);
    }

    /// Puts the losses of two periods in order. Returns whether there are any.
    fn gather(&mut self, evidence: &[Evidence; 2], known: impl Fn(usize) -> bool) -> bool {
        self.losses.clear();
        self.losses.extend(evidence.iter().flat_map(Evidence::losses).copied());
        self.losses.sort_unstable_by_key(|loss| loss.source);
        for (link, state) in self.state.iter_mut().enumerate() {
            *state = if known(link) { LinkState::Failed } else { LinkState::Unknown };
        }
        !self.losses.is_empty()
    }

    /// The other links that can be avoided whose faults explain nearly as well what the fault of this one does, which has been
    /// found: nine tenths of its losses are on them, too, and the odds are not clearly against them.
    pub(super) fn alike(
        &mut self,
        found: usize,
        params: &IsolatorParams,
        links: &Links,
        evidence: &[Evidence; 2],
        mut give: impl FnMut(usize),
    ) {
        self.state[found] = LinkState::Unknown;
        self.count(links);
        let all = self.lost[found].all;
        self.lost.fill(Lost::default());
        for loss in &self.losses {
            let Some(route) = links.route(loss.source, loss.destination, loss.path) else { continue };
            if self.is_explained(&route) || !route.iter().any(|link| link == found) {
                continue;
            }
            for link in route.iter() {
                self.lost[link].all += u64::from(loss.lost);
            }
        }
        let bits = |link: usize, lost: u64| likelihood::bits(lost, sent(evidence, link), params.background);
        let enough = bits(found, all).saturating_sub(params.bits.into());
        for link in
            (0..links.avoidable()).filter(|&link| link != found && self.state[link] == LinkState::Unknown)
        {
            let lost = self.lost[link].all;
            if lost > 0 && 10 * lost >= 9 * all && bits(link, lost) >= enough {
                give(link);
            }
        }
        self.state[found] = LinkState::Failed;
    }

    /// The links that [`Verdict::weigh`] has found.
    pub(super) fn failed(&self) -> &[usize] {
        &self.failed
    }

    /// Returns, for a link that has been found, the packets lost on it of which no other link is the reason, and the packets that
    /// went the same ways since the first of these: what passed the link before it failed is not among them.
    pub(super) fn rate(&self, link: usize) -> (u64, u64) {
        self.failed.iter().position(|&failed| failed == link).map_or((0, 0), |at| self.found[at])
    }

    fn is_explained(&self, route: &Route) -> bool {
        route.iter().any(|link| self.state[link] == LinkState::Failed)
    }

    /// Counts the losses that no failed link accounts for, source by source.
    fn count(&mut self, links: &Links) {
        self.lost.fill(Lost::default());
        for i in 0..self.losses.len() {
            let loss = self.losses[i];
            if let Some(before) = i.checked_sub(1).map(|before| self.losses[before].source) {
                if before != loss.source {
                    self.end_source(before);
                }
            }
            let Some(route) = links.route(loss.source, loss.destination, loss.path) else { continue };
            if self.is_explained(&route) {
                continue;
            }
            for link in route.iter() {
                let lost = &mut self.lost[link];
                if lost.part == 0 {
                    self.touched.push(link);
                }
                lost.all += u64::from(loss.lost);
                lost.sent += u64::from(loss.sent);
                lost.part += u64::from(loss.lost);
            }
        }
        if let Some(last) = self.losses.last().map(|loss| loss.source) {
            self.end_source(last);
        }
    }

    /// Ends the count of a source on all links that it has losses on.
    fn end_source(&mut self, source: Address) {
        for link in self.touched.drain(..) {
            self.lost[link].end_part(source);
        }
    }

    /// Returns, of the links that may be considered, the one whose fault explains most, if it explains enough; of several the one
    /// with the lowest number.
    fn worst(
        &self,
        params: &IsolatorParams,
        evidence: &[Evidence; 2],
        is_considered: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut worst: Option<(usize, u64)> = None;
        for link in 0..self.lost.len() {
            if self.lost[link].all == 0 || self.state[link] != LinkState::Unknown || !is_considered(link) {
                continue;
            }
            let bits = self.explains(params, evidence, link);
            if bits > worst.map_or(0, |(_, most)| most) {
                worst = Some((link, bits));
            }
        }
        worst.map(|(link, _)| link)
    }

    /// Returns by how many bits a fault of the link is likelier than chance; 0 if it is not likely enough.
    fn explains(&self, params: &IsolatorParams, evidence: &[Evidence; 2], link: usize) -> u64 {
        let (lost, sent) = (self.lost[link].all, sent(evidence, link));
        if !params.is_lossy(lost, sent) {
            return 0;
        }
        let bits = likelihood::bits(lost, sent, params.background);
        if bits >= u64::from(params.bits) {
            bits
        } else {
            0
        }
    }

    /// Drops links whose losses the others account for.
    fn drop_superfluous(&mut self, params: &IsolatorParams, links: &Links, evidence: &[Evidence; 2]) {
        for i in (0..self.failed.len()).rev() {
            let link = self.failed[i];
            self.state[link] = LinkState::Unknown;
            self.count(links);
            if self.explains(params, evidence, link) == 0 {
                self.failed.remove(i);
                self.found.remove(i);
            } else {
                self.state[link] = LinkState::Failed;
            }
        }
    }
}

/// Packets that passed a link in both periods.
fn sent(evidence: &[Evidence; 2], link: usize) -> u64 {
    evidence.iter().map(|period| period.sent(link)).sum()
}
