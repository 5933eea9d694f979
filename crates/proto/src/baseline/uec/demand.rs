//! RCCC's receiver of one flow: what the sender has asked for, and what it was granted (ultraethernet/uet-htsim,
//! `htsim/sim/uec.cpp`, `UecSink`, whose functions are named here).

use crate::transport::{Ask, PullTerms};

/// Demand and grants of one flow, in quanta from the flow's beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    terms: PullTerms,
    /// The most that the sender has asked for (`_highest_pull_target`).
    target: u64,
    /// What it was granted (`_latest_pull`).
    granted: u64,
}

impl Demand {
    /// Nothing is asked for yet, and nothing granted.
    pub fn new(terms: PullTerms) -> Demand {
        Demand { terms, target: 0, granted: 0 }
    }

    /// How the flow is granted credit.
    pub fn terms(&self) -> &PullTerms {
        &self.terms
    }

    /// A packet of the flow has come, whole or `cut` to its header, with what it asks for (`handlePullTarget`). Returns whether the
    /// flow is to have a grant: for more that it asks for, for a packet that it has to send again, or because it may not have heard
    /// the last one.
    pub fn handle_ask(&mut self, ask: &Ask, cut: bool) -> bool {
        let more = ask.target > self.target;
        self.target = self.target.max(ask.target);
        more || cut || ask.again
    }

    /// Returns whether more is asked for than was granted (`backlog`).
    pub fn is_open(&self) -> bool {
        self.target > self.granted
    }

    /// Returns whether more may be granted than was asked for (`slowCredit`).
    pub fn may_run_ahead(&self) -> bool {
        self.granted.saturating_sub(self.target) < self.terms.ahead
    }

    /// Grants credit, no more than was asked for (`pull`). Returns what the flow was granted since it began, and how much of that is new.
    pub fn grant(&mut self) -> (u64, u64) {
        let more = self.target.saturating_sub(self.granted).min(self.terms.each);
        self.granted += more;
        (self.granted, more)
    }

    /// Does what [`Self::grant`] does, with credit that nobody has asked for.
    pub fn grant_ahead(&mut self) -> (u64, u64) {
        self.granted += self.terms.each;
        (self.granted, self.terms.each)
    }
}
