//! Trials of failed links (§6): packets that the arbiter sends to endpoints over links that are avoided, which these answer. They
//! cost nobody a packet or a timeslot; when enough have been answered, the isolator lets the link in again.
//!
//! A trial goes one way over the link and the other way over links that are in use. Every link between switches is on some path
//! between the arbiter and an endpoint: one of the arbiter's own rack or pod on those to the others.

use std::collections::VecDeque;

use crate::fastpass::fcp::{Address, Path, Trial};
use crate::fastpass::isolator::{Isolator, Link};
use crate::fastpass::paths::Racks;
use crate::units::{Span, Time};

/// The network around an arbiter.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) racks: Racks,
    pub(super) racks_per_pod: usize,
    pub(super) switches: usize,
    /// Core switches of each aggregation switch, or 1.
    pub(super) cores: usize,
}

/// Trials under way.
#[derive(Clone, Debug)]
pub(super) struct Trials {
    surroundings: Surroundings,
    /// The host at which the arbiter is.
    own: Address,
    token: u32,
    /// Oldest first.
    under_way: VecDeque<UnderWay>,
    /// Who answers for each link that is being tried.
    chosen: Vec<(Link, Address)>,
    /// The failed links that an answer has come over.
    whole: Vec<Link>,
    /// Trials that are to leave, with their paths.
    outbox: VecDeque<(Trial, Path)>,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    token: u32,
    link: Link,
    way: Way,
    at: Time,
}

/// How a link is tried: by a packet to an endpoint on one path and its answer on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    to: Address,
    out: Path,
    back: Path,
    /// Whether no other failed link is on it.
    alone: bool,
}

impl Trials {
    pub(super) fn new(surroundings: Surroundings, own: Address) -> Trials {
        Trials {
            surroundings,
            own,
            token: 0,
            under_way: VecDeque::new(),
            chosen: Vec::new(),
            whole: Vec::new(),
            outbox: VecDeque::new(),
        }
    }

    /// Begins the trials that are due, to endpoints that are there, and gives up those that nobody has answered in time.
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
            isolator.handle_unanswered(now, trial.link, trial.way.alone);
            // Another endpoint may be there.
            self.move_on(trial.link);
        }
        while let Some(link) = isolator.take_trial(now) {
            let Some(way) = self.way(link, isolator, &is_there) else { continue };
            self.token = self.token.wrapping_add(1);
            isolator.handle_trial_sent(now, link);
            self.under_way.push_back(UnderWay { token: self.token, link, way, at: now });
            let trial = Trial { to: way.to, rank, back: way.back, token: self.token };
            self.outbox.push_back((trial, way.out));
        }
    }

    /// When the oldest trial counts as lost; [`Time::NEVER`] if none is under way.
    pub(super) fn times_out(&self, timeout: Span) -> Time {
        self.under_way.front().map_or(Time::NEVER, |trial| trial.at + timeout)
    }

    /// Takes an answer.
    pub(super) fn handle_answer(&mut self, now: Time, token: u32, isolator: &mut Isolator) {
        if let Some(at) = self.under_way.iter().position(|trial| trial.token == token) {
            let trial = self.under_way.remove(at).expect("a place in the queue");
            // All links on its way are whole.
            let Way { to, out, back, .. } = trial.way;
            let on_way = isolator.failed_on(self.own, to, out).chain(isolator.failed_on(to, self.own, back));
            self.whole.clear();
            self.whole.extend(on_way);
            for &link in &self.whole {
                isolator.handle_answered(now, link);
            }
        }
    }

    /// Paths between two racks, at most.
    pub(super) fn paths(&self) -> usize {
        self.surroundings.switches * self.surroundings.cores
    }

    /// Whether a trial is to leave.
    pub(super) fn is_ready(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The next trial to leave, and its path.
    pub(super) fn take(&mut self) -> Option<(Trial, Path)> {
        self.outbox.pop_front()
    }

    /// How to try a link; none if no endpoint is there for it.
    fn way(&mut self, link: Link, isolator: &Isolator, is_there: impl Fn(Address) -> bool) -> Option<Way> {
        self.chosen.retain(|(chosen, _)| isolator.failed().any(|failed| failed == *chosen));
        let known = self.chosen.iter().position(|(chosen, _)| *chosen == link);
        let first = known.map_or(0, |at| self.chosen[at].1);
        let count = self.surroundings.racks.endpoints();
        let found = (0..count)
            .map(|i| ((usize::from(first) + i) % count) as Address)
            .filter(|&to| self.suits(link, to) && is_there(to))
            .find_map(|to| self.way_to(link, to, isolator))?;
        match known {
            Some(at) => self.chosen[at].1 = found.to,
            None => self.chosen.push((link, found.to)),
        }
        Some(found)
    }

    /// Has another endpoint answer for a link from now on.
    fn move_on(&mut self, link: Link) {
        let count = self.surroundings.racks.endpoints();
        for (chosen, to) in &mut self.chosen {
            if *chosen == link {
                *to = ((usize::from(*to) + 1) % count) as Address;
            }
        }
    }

    /// Whether the link may be on a path between the arbiter and an endpoint: it is of the endpoint's rack or pod, or of the
    /// arbiter's and the endpoint is elsewhere.
    fn suits(&self, link: Link, to: Address) -> bool {
        let Surroundings { racks, racks_per_pod, .. } = &self.surroundings;
        let (own, far) = (racks.rack_of(self.own.into()), racks.rack_of(to.into()));
        match link {
            Link::FromRack { rack, .. } | Link::ToRack { rack, .. } => (own == rack) != (far == rack),
            Link::ToCore { pod, .. } | Link::FromCore { pod, .. } => {
                (own / racks_per_pod == pod) != (far / racks_per_pod == pod)
            }
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => false,
        }
    }

    /// A way over the link to this endpoint and back, without other failed links if there is one.
    fn way_to(&self, link: Link, to: Address, isolator: &Isolator) -> Option<Way> {
        let own = self.own;
        let paths = self.paths();
        let clear = |from, to| (0..paths as Path).find(|&path| !isolator.is_avoided(from, to, path));
        let over = |from, to, alone: bool| {
            self.paths_of(link).find(|&path| {
                let mut failed = isolator.failed_on(from, to, path);
                failed.any(|failed| failed == link)
                    && (!alone || isolator.failed_on(from, to, path).count() == 1)
            })
        };
        let there_and_back = |alone: bool| {
            over(to, own, alone).and_then(|back| Some(Way { to, out: clear(own, to)?, back, alone })).or_else(
                || over(own, to, alone).and_then(|out| Some(Way { to, out, back: clear(to, own)?, alone })),
            )
        };
        there_and_back(true).or_else(|| there_and_back(false))
    }

    /// The paths that can have a link on them.
    fn paths_of(&self, link: Link) -> impl Iterator<Item = Path> {
        let cores = self.surroundings.cores;
        let range = match link {
            Link::FromRack { switch, .. } | Link::ToRack { switch, .. } => {
                switch * cores..(switch + 1) * cores
            }
            Link::ToCore { aggregation, core, .. } | Link::FromCore { aggregation, core, .. } => {
                aggregation * cores + core..aggregation * cores + core + 1
            }
            Link::FromEndpoint(_) | Link::ToEndpoint(_) => 0..0,
        };
        range.map(|path| path as Path)
    }
}
