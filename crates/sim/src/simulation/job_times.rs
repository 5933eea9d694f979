//! What the ranks of jobs spend their time with, and how long what they do together takes them.

use clearway_proto::units::{Span, Time};

use crate::job::Activity;
use crate::model::{Mark, Purpose};

/// How a rank spends its time, or several ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeUse {
    /// Time in which it computes and none of its messages is under way or waited for.
    pub compute_alone: Span,
    /// Time in which it computes and exchanges messages: communication that is hidden.
    pub both: Span,
    /// Time in which it only exchanges messages, by the first purpose of these: communication that is exposed.
    pub exposed: [Span; Purpose::ALL.len()],
}

impl TimeUse {
    /// Time in which it computes.
    pub fn compute(&self) -> Span {
        self.compute_alone + self.both
    }

    /// Time in which it only exchanges messages.
    pub fn exposed(&self) -> Span {
        self.exposed.iter().fold(Span::ZERO, |sum, part| sum + *part)
    }

    /// All of its time.
    pub fn total(&self) -> Span {
        self.compute() + self.exposed()
    }

    /// Adds what was done for some time.
    pub(super) fn spend(&mut self, activity: Activity, time: Span) {
        match (activity.computes, activity.exchanges) {
            (true, None) => self.compute_alone += time,
            (true, Some(_)) => self.both += time,
            (false, Some(purpose)) => {
                let part = &mut self.exposed[purpose as usize];
                *part += time;
            }
            (false, None) => (),
        }
    }

    /// Adds what another one has spent.
    pub fn add(&mut self, other: &TimeUse) {
        self.compute_alone += other.compute_alone;
        self.both += other.both;
        for (part, other) in self.exposed.iter_mut().zip(other.exposed) {
            *part += other;
        }
    }
}

/// How the ranks of a job have spent an iteration: computing, both at once, and only exchanging messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The sum of each over all ranks, in picoseconds.
    pub sum_ps: [u128; 3],
    /// The longest of each of any rank.
    pub longest: [Span; 3],
}

impl Spent {
    /// Adds what a rank has spent.
    pub(super) fn add(&mut self, of_rank: &TimeUse) {
        let parts = [of_rank.compute(), of_rank.both, of_rank.exposed()];
        self.merge(&Spent { sum_ps: parts.map(|part| u128::from(part.as_ps())), longest: parts });
    }

    /// Adds what other ranks have spent.
    pub(super) fn merge(&mut self, other: &Spent) {
        for at in 0..self.sum_ps.len() {
            self.sum_ps[at] += other.sum_ps[at];
            self.longest[at] = self.longest[at].max(other.longest[at]);
        }
    }
}

/// How long something that is measured takes a rank, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How often it has ended.
    pub count: u64,
    /// The sum of all times from its beginning to its end at the rank.
    pub sum: Span,
    /// The longest of these times.
    pub longest: Span,
    /// Bytes of all.
    pub bytes: u64,
    /// The sum of the instants at which those began that have ended, in picoseconds.
    pub began_ps: u128,
}

/// The measures of a rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// The time that each measure took.
    pub taken: Vec<Taken>,
    /// The instant at which each measure that is not over began, in each lane.
    began: Vec<Vec<Time>>,
}

impl Measured {
    /// Measures of which nothing has begun, with the lanes of each.
    pub(super) fn new(lanes: impl Iterator<Item = u16>) -> Measured {
        let began: Vec<_> = lanes.map(|lanes| vec![Time::ZERO; usize::from(lanes)]).collect();
        Measured { taken: vec![Taken::default(); began.len()], began }
    }

    /// Something begins or ends.
    pub(super) fn note(&mut self, mark: Mark, now: Time) {
        let began = &mut self.began[usize::from(mark.measure)][usize::from(mark.lane)];
        if !mark.is_end {
            *began = now;
            return;
        }
        let (began, time) = (*began, now.since(*began));
        let taken = &mut self.taken[usize::from(mark.measure)];
        taken.count += 1;
        taken.sum += time;
        taken.longest = taken.longest.max(time);
        taken.bytes += mark.bytes;
        taken.began_ps += u128::from(began.as_ps());
    }
}
