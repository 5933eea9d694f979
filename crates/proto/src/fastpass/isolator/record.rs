//! The record of a link that can be avoided: what trials and losses have shown of it.

use crate::units::{Span, Time};

use super::params::IsolatorParams;

/// For this long after a link was used again a fault counts as the same one: [`IsolatorParams::trials`].
const REMEMBERED: Span = Span::from_secs(1);
/// A link is dead if trials on this many paths in a row were not answered: on one of them something else may have failed that is
/// not known.
const IN_VAIN: u8 = 2;
/// A link that was not tried for this many intervals cannot be tried.
const UNTRIED: u64 = 10;

/// How a trial of a link was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Whether nothing else that has failed was on the way.
    pub alone: bool,
    /// Whether a trial on the same way was answered before: then the link loses some packets, or something new has failed.
    pub answered_before: bool,
}

/// A link that can be avoided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    failure: Option<Failure>,
    /// Until when another failure counts as the last one again.
    remembered: Time,
    /// Whether it answered some trials on a way and others not, before it was used again last.
    loses_some: bool,
    /// Whether it answered all trials before it was used again last, and more than a link would that loses what it was suspected
    /// of.
    proven: bool,
    /// How many trials in a row, or which probation, the last failure asked for.
    trials: u32,
    span: Span,
}

/// A fault that lasts.
#[derive(Clone, Copy, Debug)]
struct Failure {
    /// The share of packets that it lost when it was found.
    loss: f64,
    /// The number of those that were suspected of the same losses.
    group: u64,
    avoided: bool,
    /// Whether it has not been decided yet whether the link is avoided.
    new: bool,
    /// Trials in a row that were answered.
    answered: u32,
    /// Ways in a row on which nothing else had failed and a trial was not answered.
    in_vain: u8,
    /// Whether it answers nothing.
    dead: bool,
    /// How many trials in a row prove that it does not lose what it is suspected of.
    proof: u64,
    next_trial: Time,
    /// When it was tried last, if it was.
    last_trial: Option<Time>,
    /// When the link is used again if nobody can try it.
    probation_ends: Time,
}

impl Record {
    /// Records that the link has failed: of `sent` packets it has lost `lost`.
    pub(super) fn fail(&mut self, now: Time, (lost, sent): (u64, u64), group: u64, params: &IsolatorParams) {
        let again = now < self.remembered;
        (self.loses_some, self.proven) = (false, false);
        let (trials, span) = (params.trials_after((lost, sent)), params.probation);
        let twice = Span::from_ps(self.span.as_ps().saturating_mul(2)).min(params.longest);
        self.trials =
            if again { self.trials.saturating_mul(2).min(params.most_trials).max(trials) } else { trials };
        self.span = if again { span.max(twice) } else { span };
        self.failure = Some(Failure {
            loss: lost as f64 / sent.max(1) as f64,
            group,
            avoided: false,
            new: true,
            answered: 0,
            in_vain: 0,
            dead: false,
            proof: IsolatorParams::proof((lost, sent)),
            next_trial: now + params.trial_interval,
            last_trial: None,
            probation_ends: now + self.span,
        });
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The number of the links that were suspected with this one; `None` if it has not failed.
    pub(super) fn group(&self) -> Option<u64> {
        self.failure.map(|failure| failure.group)
    }

    /// The link has not failed, after all.
    pub(super) fn acquit(&mut self) {
        self.failure = None;
    }

    /// The share of packets that the link lost when it failed.
    pub(super) fn loss(&self) -> f64 {
        self.failure.map_or(0.0, |failure| failure.loss)
    }

    pub(super) fn is_avoided(&self) -> bool {
        self.failure.is_some_and(|failure| failure.avoided)
    }

    /// Returns whether it is to be decided for the first time whether the link is avoided.
    pub(super) fn is_new(&self) -> bool {
        self.failure.is_some_and(|failure| failure.new)
    }

    pub(super) fn set_avoided(&mut self, avoided: bool) {
        if let Some(failure) = &mut self.failure {
            (failure.avoided, failure.new) = (avoided, false);
        }
    }

    /// Returns when the link is to be tried next; [`Time::NEVER`] if it has not failed.
    pub(super) fn next_trial(&self) -> Time {
        self.failure.map_or(Time::NEVER, |failure| failure.next_trial)
    }

    /// Has the link tried at this time.
    pub(super) fn ask_again(&mut self, at: Time) {
        if let Some(failure) = &mut self.failure {
            failure.next_trial = at;
        }
    }

    /// Notes that a trial is under way.
    pub(super) fn note_trial(&mut self, now: Time) {
        if let Some(failure) = &mut self.failure {
            failure.last_trial = Some(now);
        }
    }

    /// Takes word of a trial that was answered. Returns whether the link is whole, and used again.
    pub(super) fn hear_answer(&mut self, now: Time) -> bool {
        let Some(failure) = &mut self.failure else { return false };
        failure.answered += 1;
        (failure.in_vain, failure.dead) = (0, false);
        let whole = failure.answered >= self.trials;
        if whole {
            self.proven = !self.loses_some && u64::from(failure.answered) >= failure.proof;
            self.failure = None;
            self.remembered = now + REMEMBERED;
        }
        whole
    }

    /// Returns whether others are suspected before this one: it was found whole of late, when it was suspected of losing packets.
    pub(super) fn is_proven(&self, now: Time) -> bool {
        self.proven && now < self.remembered
    }

    /// Returns whether the link may be whole although no trial tells: it has answered the last one, or none can be made on which
    /// nothing else has failed.
    pub(super) fn may_be_whole(&self) -> bool {
        self.failure.is_some_and(|failure| failure.answered > 0 || failure.last_trial.is_none())
    }

    /// Takes word of a trial that was not answered. Returns whether the link is dead, which was not known before.
    pub(super) fn hear_silence(&mut self, silence: Silence) -> bool {
        let Some(failure) = &mut self.failure else { return false };
        failure.answered = 0;
        failure.in_vain = failure.in_vain.saturating_add(u8::from(silence.alone));
        self.loses_some |= silence.alone && silence.answered_before;
        let found = failure.in_vain >= IN_VAIN && !failure.dead;
        failure.dead |= found;
        found
    }

    /// Returns whether the link was used again of late though it has answered some trials and others not: it is suspected before
    /// others.
    pub(super) fn loses_some(&self, now: Time) -> bool {
        self.loses_some && now < self.remembered
    }

    /// Returns whether the link answers nothing.
    pub(super) fn is_dead(&self) -> bool {
        self.failure.is_some_and(|failure| failure.dead)
    }

    /// Returns when the link is used again if nobody can try it.
    pub(super) fn probation_ends(&self) -> Time {
        self.failure.map_or(Time::NEVER, |failure| failure.probation_ends)
    }

    /// Ends the probation of a link that nobody can try, or puts it off. Returns whether the link is used again.
    pub(super) fn ends_probation(&mut self, now: Time, params: &IsolatorParams) -> bool {
        let Some(failure) = &mut self.failure else { return false };
        if failure.probation_ends > now {
            return false;
        }
        let recent = Span::from_ps(params.trial_interval.as_ps().saturating_mul(UNTRIED));
        if failure.last_trial.is_some_and(|last| last + recent > now) {
            failure.probation_ends = now + self.span;
            return false;
        }
        self.failure = None;
        self.remembered = now + Span::from_ps(self.span.as_ps().saturating_mul(10));
        true
    }
}
