//! What the ranks of jobs spend their time with, and how long what they do together takes them.

use clearway_proto::histogram::Histogram;
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

/// The times of requests of a sort, of all ranks together.
#[derive(Clone, Debug)]
pub struct RequestTimes {
    /// Requests that have begun.
    pub begun: u64,
    /// Bytes of those that have ended.
    pub bytes: u64,
    /// When the first one began.
    pub first: Time,
    /// When the last one so far ended.
    pub last: Time,
    /// The time that each took that has ended.
    pub times: Histogram,
}

impl Default for RequestTimes {
    fn default() -> RequestTimes {
        let times = Histogram::default();
        RequestTimes { begun: 0, bytes: 0, first: Time::NEVER, last: Time::ZERO, times }
    }
}

impl RequestTimes {
    /// One begins, or one ends that began at `began`.
    pub(super) fn note(&mut self, mark: Mark, began: Time, now: Time) {
        if mark.is_end {
            self.bytes += mark.bytes;
            self.last = self.last.max(now);
            self.times.record(now.since(began));
        } else {
            self.begun += 1;
            self.first = self.first.min(now);
        }
    }

    /// Adds requests of other ranks.
    pub fn merge(&mut self, other: &RequestTimes) {
        self.begun += other.begun;
        self.bytes += other.bytes;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.times.merge(&other.times);
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

    /// Something begins or ends. Returns when it began.
    pub(super) fn note(&mut self, mark: Mark, now: Time) -> Time {
        let began = &mut self.began[usize::from(mark.measure)][usize::from(mark.lane)];
        if !mark.is_end {
            *began = now;
            return now;
        }
        let (began, time) = (*began, now.since(*began));
        let taken = &mut self.taken[usize::from(mark.measure)];
        taken.count += 1;
        taken.sum += time;
        taken.longest = taken.longest.max(time);
        taken.bytes += mark.bytes;
        taken.began_ps += u128::from(began.as_ps());
        began
    }
}
