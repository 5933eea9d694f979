//! The receiver of one flow that grants credit: what the sender has asked for, and what it was granted (for RCCC
//! ultraethernet/uet-htsim, `htsim/sim/uec.cpp`, `UecSink`, whose functions are named here).
//!
//! NDP's receivers grant the same way, but no faster than packets arrive ([`PullTerms::by_arrival`]).

use crate::transport::{Ask, PullTerms};

/// Demand and grants of one flow, in quanta from the flow's beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    terms: PullTerms,
    /// The most that the sender has asked for (`_highest_pull_target`).
    target: u64,
    /// The most that it may be granted by now: all that was asked for, or no more of it than packets have arrived.
    allowed: u64,
    /// What it was granted (`_latest_pull`).
    granted: u64,
}

impl Demand {
    /// Nothing is asked for yet, and nothing granted.
    pub fn new(terms: PullTerms) -> Demand {
        Demand { terms, target: 0, allowed: 0, granted: 0 }
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
        if self.terms.by_arrival {
            return self.handle_arrival(ask.again, cut);
        }
        self.allowed = self.target;
        more || cut || ask.again
    }

    /// A packet brings one quantum (NDP §3.2: a PULL joins the pull queue for every header or packet), but none that the sender has
    /// no use for. What was cut is to be sent again, which its sender did not know when it asked. A sender that asks again has lost
    /// packets, and with each of them the quantum that it would have brought.
    fn handle_arrival(&mut self, again: bool, cut: bool) -> bool {
        self.target += u64::from(cut);
        self.allowed = if again { self.target } else { self.target.min(self.allowed + 1) };
        self.is_open() || again
    }

    /// Returns whether more may be granted than was (`backlog`).
    pub fn is_open(&self) -> bool {
        self.allowed > self.granted
    }

    /// Returns whether more may be granted than was asked for (`slowCredit`).
    pub fn may_run_ahead(&self) -> bool {
        self.granted.saturating_sub(self.target) < self.terms.ahead
    }

    /// Grants credit, no more than was asked for (`pull`). Returns what the flow was granted since it began, and how much of that is new.
    pub fn grant(&mut self) -> (u64, u64) {
        let more = self.allowed.saturating_sub(self.granted).min(self.terms.each);
        self.granted += more;
        (self.granted, more)
    }

    /// Does what [`Self::grant`] does, with credit that nobody has asked for.
    pub fn grant_ahead(&mut self) -> (u64, u64) {
        self.granted += self.terms.each;
        (self.granted, self.terms.each)
    }
}
