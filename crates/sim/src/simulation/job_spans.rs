//! Records of jobs' operations, one by one: when each started and ended, as far as a timeline is asked for.

use std::collections::BTreeMap;

use clearway_proto::units::Time;

use crate::job::Note;
use crate::model::{Scenario, Timeline};

/// An operation of a rank, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobSpan {
    /// Number of the job.
    pub job: u32,
    /// The rank.
    pub rank: u32,
    /// When it started.
    pub start: Time,
    /// Index of the operation in the job's graph.
    pub operation: u32,
    /// The iteration.
    pub iteration: u32,
    /// When it ended.
    pub end: Time,
}

/// The spans of a domain's ranks.
#[derive(Debug, Default)]
pub(super) struct Spans {
    asked: Option<Timeline>,
    /// When operations started that have not ended, by job and operation.
    started: BTreeMap<(u32, u32), Time>,
    pub(super) ended: Vec<JobSpan>,
}

impl Spans {
    pub(super) fn new(scenario: &Scenario) -> Spans {
        Spans { asked: scenario.record.timeline, ..Spans::default() }
    }

    /// Returns whether every operation of a rank is recorded.
    pub(super) fn follows(&self, rank: u32) -> bool {
        self.asked.is_some_and(|asked| rank < asked.ranks)
    }

    /// An operation of a rank starts or ends.
    pub(super) fn note(&mut self, job: u32, rank: u32, iteration: u32, note: Note, now: Time) {
        let Some(asked) = self.asked else { return };
        if rank >= asked.ranks || iteration >= asked.iterations {
            return;
        }
        let operation = note.operation;
        if !note.has_ended {
            self.started.insert((job, operation), now);
            return;
        }
        let start = self.started.remove(&(job, operation)).expect("what ends has started");
        // What takes no time, such as the beginning of a collective, is not worth a row.
        if start < now {
            self.ended.push(JobSpan { job, rank, start, operation, iteration, end: now });
        }
    }
}
