//! What is known of a link that can be avoided.

use crate::units::{Span, Time};

use super::params::IsolatorParams;

/// For so long after a link was used again a fault counts as the same one: [`IsolatorParams::trials`].
const REMEMBERED: Span = Span::from_secs(1);
/// A link that was not tried for so many intervals cannot be.
const UNTRIED: u64 = 10;

/// A link that can be avoided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    failure: Option<Failure>,
    /// Until when another failure counts as the last one again.
    remembered: Time,
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
    next_trial: Time,
    last_trial: Time,
    /// When the link is used again if nobody can try it.
    probation_ends: Time,
}

impl Record {
    /// The link has failed: of so many packets it has lost so many.
    pub(super) fn fail(&mut self, now: Time, (lost, sent): (u64, u64), group: u64, params: &IsolatorParams) {
        let again = now < self.remembered;
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
            next_trial: now + params.trial_interval,
            last_trial: now,
            probation_ends: now + self.span,
        });
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The number of the links that were suspected with this one; none if it has not failed.
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

    /// Whether it is to be decided for the first time whether the link is avoided.
    pub(super) fn is_new(&self) -> bool {
        self.failure.is_some_and(|failure| failure.new)
    }

    pub(super) fn set_avoided(&mut self, avoided: bool) {
        if let Some(failure) = &mut self.failure {
            (failure.avoided, failure.new) = (avoided, false);
        }
    }

    /// When the link is to be tried next; [`Time::NEVER`] if it has not failed.
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
            failure.last_trial = now;
        }
    }

    /// Takes word of a trial. Whether the link is whole, and used again.
    pub(super) fn hear_trial(&mut self, now: Time, answered: bool) -> bool {
        let Some(failure) = &mut self.failure else { return false };
        failure.answered = if answered { failure.answered + 1 } else { 0 };
        let whole = failure.answered >= self.trials;
        if whole {
            self.failure = None;
            self.remembered = now + REMEMBERED;
        }
        whole
    }

    /// When the link is used again if nobody can try it.
    pub(super) fn probation_ends(&self) -> Time {
        self.failure.map_or(Time::NEVER, |failure| failure.probation_ends)
    }

    /// Ends the probation of a link that nobody can try, or puts it off. Whether the link is used again.
    pub(super) fn ends_probation(&mut self, now: Time, params: &IsolatorParams) -> bool {
        let Some(failure) = &mut self.failure else { return false };
        if failure.probation_ends > now {
            return false;
        }
        let recent = Span::from_ps(params.trial_interval.as_ps().saturating_mul(UNTRIED));
        if failure.last_trial + recent > now {
            failure.probation_ends = now + self.span;
            return false;
        }
        self.failure = None;
        self.remembered = now + Span::from_ps(self.span.as_ps().saturating_mul(10));
        true
    }
}
