//! Who is the primary arbiter (§5): watchdogs, takeover in the order of ranks, and stepping down.
//!
//! A *term* is the time of one primary. Its number says whose it is: terms `rank + 1`, `rank + 1 + arbiters` and so on are
//! those of one arbiter, so that no two arbiters ever have the same. The newest term wins.

use crate::fastpass::fcp::{Address, Watchdog};
use crate::units::Time;

use super::params::ArbiterParams;

/// What an arbiter is at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It answers requests.
    Primary,
    /// It waits for the primary to fall silent.
    Standby,
}

/// A term is not believed to be this much newer than one's own.
const MOST_NEWER: u32 = 1 << 16;

/// What an arbiter knows of the others.
#[derive(Clone, Debug)]
pub(super) struct Succession {
    pub(super) role: Role,
    /// This arbiter's own term if it is the primary, otherwise the newest that it knows of.
    pub(super) term: u32,
    /// When a primary was last heard, or silence began to count.
    heard_at: Time,
    /// Until when at least two endpoints have shown that the primary goes on sending allocations.
    alive_at: Time,
    /// Which endpoint showed it last, and when.
    alive_by: (Address, Time),
    /// When this arbiter became the primary.
    since: Time,
    /// When the next watchdog is to leave.
    pub(super) watchdog_at: Time,
    /// Up to which slot the primary had allocated when it was last heard, by its own word, and when that was.
    pub(super) horizon: Option<(u64, Time)>,
    /// A newer term that one endpoint claims to follow.
    claim: Option<(u32, Address)>,
    /// Whether this primary has granted nothing for a while because of such a claim.
    doubted: bool,
}

/// What a term is to an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TermOrder {
    /// Its own.
    Own,
    /// Older, or none.
    Older,
    /// Newer.
    Newer,
    /// Too new to be true.
    Absurd,
}

impl Succession {
    /// An arbiter that knows of terms up to `term` and is not the primary.
    pub(super) fn standby(now: Time, term: u32) -> Succession {
        Succession {
            role: Role::Standby,
            term,
            heard_at: now,
            alive_at: Time::ZERO,
            alive_by: (0, Time::ZERO),
            since: now,
            watchdog_at: Time::NEVER,
            horizon: None,
            claim: None,
            doubted: false,
        }
    }

    /// Returns what a term is to this arbiter.
    pub(super) fn term_order(&self, term: u32) -> TermOrder {
        match term.checked_sub(self.term) {
            None => TermOrder::Older,
            Some(0) => TermOrder::Own,
            Some(newer) if newer > MOST_NEWER => TermOrder::Absurd,
            Some(_) => TermOrder::Newer,
        }
    }

    /// Becomes the primary of the next term that is this arbiter's own. Returns `false` if there is none.
    pub(super) fn take_over(&mut self, now: Time, params: &ArbiterParams) -> bool {
        let arbiters = u32::from(params.arbiters);
        let delta = (u32::from(params.rank) + arbiters - self.term % arbiters) % arbiters;
        let Some(term) = self.term.checked_add(1 + delta) else { return false };
        *self = Succession { role: Role::Primary, watchdog_at: now, ..Succession::standby(now, term) };
        if params.arbiters == 1 {
            self.watchdog_at = Time::NEVER;
        }
        true
    }

    /// Returns when a standby takes over if it hears nothing: the first rank after `T_d`, each further one a `T_w` later. (The
    /// rank of the primary that fell silent does not count.)
    pub(super) fn takeover_at(&self, params: &ArbiterParams) -> Option<Time> {
        let primary = self.term.checked_sub(1).map(|term| term % u32::from(params.arbiters));
        let gone = primary.is_some_and(|primary| primary < u32::from(params.rank));
        let place = u64::from(params.rank) - u64::from(gone);
        (self.role == Role::Standby).then(|| self.heard_at + params.takeover + params.watchdog * place)
    }

    /// Notes that an endpoint has shown that the primary goes on sending allocations. It counts when another has, too, as one
    /// may be wrong.
    pub(super) fn see_alive(&mut self, now: Time, source: Address) {
        let (other, at) = self.alive_by;
        if other != source {
            self.alive_at = at;
        }
        self.alive_by = (source, now);
    }

    /// Waits on if the primary only seems to be silent: endpoints still speak of new allocations after the time at which a
    /// watchdog is missing. Half a `T_w` is allowed for the time that their word takes, so that one that has died is not
    /// taken for alive.
    pub(super) fn waits_on(&mut self, params: &ArbiterParams) -> bool {
        let lag = params.watchdog / 2;
        let alive = self.alive_at > self.heard_at + params.watchdog + lag;
        if alive {
            self.heard_at = Time::from_ps(self.alive_at.since(Time::ZERO + lag).as_ps());
        }
        alive
    }

    /// Returns whether an endpoint that follows no term as new as this one may have been served by another primary until now: it
    /// has had longer than a takeover takes to hear of this one.
    pub(super) fn may_have_rival(&self, now: Time, params: &ArbiterParams) -> bool {
        now > self.since + params.takeover
    }

    /// Returns when the watchdog after one that leaves now follows: sooner at the beginning of a term, so that a rival learns of
    /// it.
    pub(super) fn next_watchdog(&self, now: Time, params: &ArbiterParams) -> Time {
        let new = now < self.since + params.watchdog;
        now + if new { params.watchdog / 4 } else { params.watchdog }
    }

    /// Steps down, or follows another primary: silence counts from now.
    pub(super) fn follow(&mut self, now: Time, term: u32) {
        *self = Succession { horizon: self.horizon, ..Succession::standby(now, term) };
    }

    /// Returns whether a watchdog can be true: of another arbiter, and of a term that is its own.
    pub(super) fn is_true(&self, watchdog: &Watchdog, params: &ArbiterParams) -> bool {
        let owner = watchdog.term.checked_sub(1).map(|term| term % u32::from(params.arbiters));
        owner == Some(u32::from(watchdog.rank))
            && watchdog.rank != params.rank
            && self.term_order(watchdog.term) != TermOrder::Absurd
    }

    /// Returns whether this arbiter has missed its time by more than it can unless it stood still: its time to send a watchdog as
    /// the primary, or to take over as a standby.
    pub(super) fn is_late(&self, now: Time, params: &ArbiterParams) -> bool {
        let missed = match self.takeover_at(params) {
            Some(at) => at + params.watchdog,
            None => self.watchdog_at + params.takeover.saturating_sub(params.watchdog),
        };
        now > missed
    }

    /// Returns whether a claim that nobody else has made is the first that this primary hears in its term.
    pub(super) fn begins_to_doubt(&mut self) -> bool {
        self.role == Role::Primary && !std::mem::replace(&mut self.doubted, true)
    }

    /// Takes an endpoint's word that it follows a newer term. Believed is what two endpoints say, as one may be wrong: the
    /// older of the terms that the last two of them follow.
    pub(super) fn claim(&mut self, term: u32, source: Address) -> Option<u32> {
        match self.claim {
            Some((other, by)) if by != source && other > self.term => Some(other.min(term)),
            _ => {
                self.claim = Some((term, source));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_arbiters_have_a_term_in_common_and_terms_do_not_wrap() {
        for arbiters in 1..5 {
            for rank in 0..arbiters {
                let params = ArbiterParams { rank, arbiters, ..ArbiterParams::default() };
                for term in 0..20 {
                    let mut succession = Succession::standby(Time::ZERO, term);
                    assert!(succession.take_over(Time::ZERO, &params));
                    let step = succession.term - term;
                    assert!((1..=u32::from(arbiters)).contains(&step));
                    assert_eq!((succession.term - 1) % u32::from(arbiters), u32::from(rank));
                }
                let mut last = Succession::standby(Time::ZERO, u32::MAX);
                assert!(!last.take_over(Time::ZERO, &params));
                assert_eq!(last.role, Role::Standby);
            }
        }
    }
}
