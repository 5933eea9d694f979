//! Trials of failed links (§6): packets that the arbiter sends to endpoints over links that are avoided, and that come back. They
//! cost nobody a packet or a timeslot; when enough have come back, the isolator lets the link in again.
//!
//! Which paths a trial can take stands in `trial_paths`. A trial that does not come back says little of the link that it was
//! meant for as long as something else on its way may have failed, so the next one takes another way.

use std::collections::VecDeque;

use crate::fastpass::fcp::{Address, Path, Trial};
use crate::fastpass::isolator::{Isolator, Link, Silence};
use crate::units::{Span, Time};

use super::trial_paths::{TrialPath, TrialPathFinder};

/// Trials under way.
#[derive(Clone, Debug)]
pub(super) struct Trials {
    finder: TrialPathFinder,
    token: u32,
    /// Oldest first.
    under_way: VecDeque<UnderWay>,
    /// The links that are being tried.
    tried: Vec<Tried>,
    /// The failed links that an answer has come over.
    whole: Vec<Link>,
    /// Trials that are to leave, with their paths.
    outbox: VecDeque<(Trial, Path)>,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    token: u32,
    link: Link,
    way: TrialPath,
    /// Whether nothing else that has failed was on the way.
    alone: bool,
    at: Time,
}

/// A link that is being tried.
#[derive(Clone, Copy, Debug)]
struct Tried {
    link: Link,
    /// How its trials go, if a way is known.
    way: Option<TrialPath>,
    /// Whether one of them was answered.
    answered: bool,
    /// Where the search for a way goes on.
    next: usize,
}

impl Trials {
    pub(super) fn new(finder: TrialPathFinder) -> Trials {
        Trials {
            finder,
            token: 0,
            under_way: VecDeque::new(),
            tried: Vec::new(),
            whole: Vec::new(),
            outbox: VecDeque::new(),
        }
    }

    /// Begins the trials that are due, by endpoints that are there, and gives up those that have not come back in time.
    pub(super) fn handle_timeout(
        &mut self,
        now: Time,
        rank: u8,
        timeout: Span,
        isolator: &mut Isolator,
        is_there: impl Fn(Address) -> bool,
    ) {
        while let Some(trial) = self.under_way.front().copied().filter(|trial| trial.at + timeout <= now) {
            self.under_way.pop_front();
            self.give_up(&trial, isolator);
        }
        while let Some(link) = isolator.take_trial(now) {
            let Some((way, alone)) = self.way(link, isolator, &is_there) else { continue };
            self.token = self.token.wrapping_add(1);
            if alone {
                isolator.handle_trial_sent(now, link);
            }
            self.under_way.push_back(UnderWay { token: self.token, link, way, alone, at: now });
            let trial = Trial { to: way.to, rank, on: way.on, back: way.back, token: self.token };
            self.outbox.push_back((trial, way.out));
        }
    }

    /// A trial has not come back. Others on the same way may still do so, but count for nothing if they do not.
    fn give_up(&mut self, trial: &UnderWay, isolator: &mut Isolator) {
        let tried = self.tried.iter_mut().find(|tried| tried.link == trial.link);
        if let Some(tried) = tried.filter(|tried| tried.way == Some(trial.way)) {
            tried.way = None;
            let silence = Silence { alone: trial.alone, answered_before: tried.answered };
            isolator.handle_unanswered(trial.link, silence);
        }
    }

    /// Returns when the oldest trial counts as lost; [`Time::NEVER`] if none is under way.
    pub(super) fn times_out(&self, timeout: Span) -> Time {
        self.under_way.front().map_or(Time::NEVER, |trial| trial.at + timeout)
    }

    /// Takes the answer to a trial.
    pub(super) fn handle_answer(&mut self, now: Time, token: u32, isolator: &mut Isolator) {
        if let Some(at) = self.under_way.iter().position(|trial| trial.token == token) {
            let trial = self.under_way.remove(at).expect("a place in the queue");
            for tried in self.tried.iter_mut().filter(|tried| tried.way == Some(trial.way)) {
                tried.answered = true;
            }
            // All links on its way are whole.
            self.whole.clear();
            self.whole.extend(self.finder.failed_on(&trial.way, isolator));
            for &link in &self.whole {
                isolator.handle_answered(now, link);
            }
        }
    }

    /// Returns whether a trial is to leave.
    pub(super) fn is_ready(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The next trial to leave, and its path.
    pub(super) fn take(&mut self) -> Option<(Trial, Path)> {
        self.outbox.pop_front()
    }

    /// Returns how to try a link, and whether nothing else that has failed is on the way: as before, or else on another way. None
    /// if no endpoint is there for it, as far as was searched.
    fn way(
        &mut self,
        link: Link,
        isolator: &Isolator,
        is_there: impl Fn(Address) -> bool,
    ) -> Option<(TrialPath, bool)> {
        let Trials { finder, tried, .. } = self;
        tried.retain(|tried| isolator.failed().any(|failed| failed == tried.link));
        let at = tried.iter().position(|tried| tried.link == link).unwrap_or_else(|| {
            tried.push(Tried { link, way: None, answered: false, next: 0 });
            tried.len() - 1
        });
        let tried = &mut tried[at];
        let usual = tried.way.filter(|way| is_there(way.to) && is_there(way.last()));
        let alone = |way: &TrialPath| finder.failed_on(way, isolator).count() == 1;
        if let Some(way) = usual.filter(&alone) {
            return Some((way, true));
        }
        // The way is kept, though something else on it has failed meanwhile, if there is none without.
        let found = finder.search(link, &mut tried.next, isolator, &is_there);
        let way = found.filter(&alone).or(usual).or(found);
        tried.answered &= way == tried.way;
        tried.way = way;
        tried.way.map(|way| (way, alone(&way)))
    }
}
