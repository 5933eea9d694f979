//! The ranks of jobs in a domain: where each is in its operations, and what of it is under way.

use std::collections::VecDeque;

use clearway_proto::units::{Span, Time};

use super::job_plan::{JobPlan, NO_FLOW};
use super::job_spans::Spans;
use super::job_times::{Measured, RequestTimes, Spent, TimeUse};
use super::plan::Plan;
use crate::job::{Noting, Rank};
use crate::model::{Mark, Scenario};

/// The ranks that are in a domain.
#[derive(Debug, Default)]
pub struct Jobs {
    pub(super) ranks: Vec<RankHere>,
    /// The rank and its stream of each stream; the last stream of a rank copies messages to ranks on the same host.
    pub(super) streams: Vec<(u32, u32)>,
    /// Ranks that may have something to do.
    pub(super) awake: VecDeque<u32>,
    /// How far each job is here.
    pub(super) progress: Vec<JobProgress>,
    /// The records of operations.
    pub(super) spans: Spans,
}

/// A rank at its host.
#[derive(Debug)]
pub(super) struct RankHere {
    pub rank: Rank,
    /// Number of its job.
    pub job: u32,
    /// Its number in the job.
    pub number: u32,
    /// The first of its streams.
    pub first_stream: u32,
    /// Messages to ranks on its host that wait to be copied; the first is being copied.
    pub copies: VecDeque<u32>,
    /// What it sends to each rank that it sends to.
    pub outgoing: Vec<Outgoing>,
    /// Each pair in which it receives, with the messages that have arrived.
    pub incoming: Vec<(u32, u64)>,
    /// The iteration in which it is, from 0 on; as many as there are when it is done.
    pub iteration: u32,
    /// Its first iteration has begun.
    pub has_begun: bool,
    /// How it has spent the time of all iterations that it has ended.
    pub spent: TimeUse,
    /// How it has spent the time of this iteration, until it was last looked at.
    spent_now: TimeUse,
    looked: Time,
    /// The measures that are taken of it.
    pub measured: Measured,
}

/// What a rank sends to another one.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// The sending end; meaningless within a host.
    pub end: u32,
    /// Messages sent.
    pub messages: u64,
    /// Messages that have not been acknowledged, oldest first.
    pub open: VecDeque<Sent>,
    /// Bytes handed to the transport.
    pub issued: u64,
    /// Bytes acknowledged.
    pub acknowledged: u64,
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// The operation that sends it.
    pub operation: u32,
    /// Its bytes, at least one.
    pub bytes: u64,
}

/// How far a job is in a domain.
#[derive(Debug, Default)]
pub(super) struct JobProgress {
    pub iterations: Vec<IterationRecord>,
    /// The times of each sort of request; empty of a job that has none.
    pub requests: Vec<RequestTimes>,
    /// Ranks that have not begun, sends that are not acknowledged, and what is being computed or copied.
    pub active: u64,
    /// Ranks that are through with all iterations.
    pub finished: u32,
}

/// An iteration of a job, as far as its ranks are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationRecord {
    /// When the first rank began it.
    pub began: Time,
    /// When the last rank so far ended it.
    pub ended: Time,
    /// Ranks that have ended it.
    pub ranks: u32,
    /// How these have spent their time.
    pub spent: Spent,
}

impl IterationRecord {
    const NONE: IterationRecord = IterationRecord {
        began: Time::NEVER,
        ended: Time::ZERO,
        ranks: 0,
        spent: Spent { sum_ps: [0; 3], longest: [Span::ZERO; 3] },
    };

    /// Takes in what another domain knows of the same iteration.
    pub(super) fn merge(&mut self, other: &IterationRecord) {
        self.began = self.began.min(other.began);
        self.ended = self.ended.max(other.ended);
        self.ranks += other.ranks;
        self.spent.merge(&other.spent);
    }
}

impl JobProgress {
    /// The record of an iteration, which is made if it is the first that is known of it.
    fn iteration(&mut self, number: u32) -> &mut IterationRecord {
        let known = self.iterations.len().max(number as usize + 1);
        self.iterations.resize(known, IterationRecord::NONE);
        &mut self.iterations[number as usize]
    }
}

impl Jobs {
    /// The ranks of all jobs that are in a domain, none of which has begun.
    pub(super) fn new(scenario: &Scenario, plan: &Plan, domain: u32) -> Jobs {
        let mut jobs = Jobs { spans: Spans::new(scenario), ..Jobs::default() };
        for (number, job) in (0..).zip(&plan.jobs) {
            let measures = job.job.measures();
            let requests = measures.iter().filter(|measure| measure.request.is_some()).count();
            let requests = vec![RequestTimes::default(); requests];
            let mut progress = JobProgress { requests, ..JobProgress::default() };
            for (rank, place) in (0..).zip(&job.places) {
                if place.domain != domain {
                    continue;
                }
                assert_eq!(jobs.ranks.len(), place.at as usize, "ranks are placed in their order");
                jobs.add(plan, job, number, rank);
                let noting = if jobs.spans.follows(rank) { Noting::All } else { Noting::Marks };
                if noting == Noting::All || !job.graph().labels.measures.is_empty() {
                    jobs.ranks[place.at as usize].rank.noting = noting;
                }
                progress.active += 1;
            }
            jobs.progress.push(progress);
        }
        debug_assert_eq!(jobs.progress.len(), scenario.jobs().count());
        jobs
    }

    fn add(&mut self, plan: &Plan, job: &JobPlan, number: u32, rank: u32) {
        let graph = job.graph();
        let outgoing = graph.pairs_from(rank).map(|pair| Outgoing {
            end: match job.flows[pair as usize] {
                NO_FLOW => 0,
                flow => plan.senders[flow as usize].at,
            },
            messages: 0,
            open: VecDeque::new(),
            issued: 0,
            acknowledged: 0,
        });
        let mut incoming: Vec<(u32, u64)> =
            graph.channels_to(rank).map(|channel| (graph.pair_of[channel as usize], 0)).collect();
        incoming.dedup();
        let place = self.ranks.len() as u32;
        let first_stream = self.streams.len() as u32;
        self.streams.extend((0..=graph.streams[rank as usize]).map(|stream| (place, stream)));
        self.ranks.push(RankHere {
            rank: Rank::new(graph, rank),
            job: number,
            number: rank,
            first_stream,
            copies: VecDeque::new(),
            outgoing: outgoing.collect(),
            incoming,
            iteration: 0,
            has_begun: false,
            spent: TimeUse::default(),
            spent_now: TimeUse::default(),
            looked: Time::ZERO,
            measured: Measured::new(job.job.measures().iter().map(|measure| measure.lanes)),
        });
    }

    /// A rank begins an iteration.
    pub(super) fn begin(&mut self, plan: &Plan, place: u32, now: Time) {
        let here = &mut self.ranks[place as usize];
        let job = &plan.jobs[here.job as usize];
        here.has_begun = true;
        here.looked = now;
        here.rank.begin(job.graph());
        if let Some(mark) = job.job.whole(false) {
            here.measured.note(mark, now);
        }
        let record = self.progress[here.job as usize].iteration(here.iteration);
        record.began = record.began.min(now);
    }

    /// A rank has ended its iteration. Returns whether another one follows.
    pub(super) fn end(&mut self, plan: &Plan, place: u32, now: Time) -> bool {
        let here = &mut self.ranks[place as usize];
        let job = &plan.jobs[here.job as usize].job;
        if let Some(mark) = job.whole(true) {
            here.measured.note(mark, now);
        }
        let spent = std::mem::take(&mut here.spent_now);
        here.spent.add(&spent);
        let progress = &mut self.progress[here.job as usize];
        let record = progress.iteration(here.iteration);
        record.ended = record.ended.max(now);
        record.ranks += 1;
        record.spent.add(&spent);
        here.iteration += 1;
        let goes_on = here.iteration < job.iterations;
        progress.finished += u32::from(!goes_on);
        goes_on
    }

    /// Counts for what a rank does the time since it was last looked at. Before anything of it starts or ends at another instant.
    pub(super) fn look(&mut self, place: u32, now: Time) {
        let here = &mut self.ranks[place as usize];
        if here.looked < now && here.has_begun {
            here.spent_now.spend(here.rank.activity(), now.since(here.looked));
        }
        here.looked = here.looked.max(now);
    }

    /// Takes what has started and ended at a rank since it was last asked.
    pub(super) fn take_notes(&mut self, plan: &Plan, place: u32, now: Time) {
        let here = &mut self.ranks[place as usize];
        if here.rank.notes.is_empty() {
            return;
        }
        let labels = &plan.jobs[here.job as usize].graph().labels;
        let mut notes = std::mem::take(&mut here.rank.notes);
        for note in &notes {
            let mark: Option<Mark> = labels.mark_of(note.operation).filter(|_| note.has_ended);
            if let Some(mark) = mark {
                let began = here.measured.note(mark, now);
                let requests = &mut self.progress[here.job as usize].requests;
                if let Some(requests) = requests.get_mut(usize::from(mark.measure)) {
                    requests.note(mark, began, now);
                }
            }
            self.spans.note(here.job, here.number, here.iteration, *note, now);
        }
        notes.clear();
        here.rank.notes = notes;
    }

    /// Returns what the rank sends in one of its pairs.
    pub(super) fn outgoing(&mut self, plan: &Plan, place: u32, pair: u32) -> &mut Outgoing {
        let here = &mut self.ranks[place as usize];
        let first = plan.jobs[here.job as usize].graph().pairs_from(here.number).start;
        &mut here.outgoing[(pair - first) as usize]
    }

    /// Counts a message that has arrived at a rank. Returns how many of its pair had arrived before.
    pub(super) fn count_arrival(&mut self, place: u32, pair: u32) -> u64 {
        let incoming = &mut self.ranks[place as usize].incoming;
        let at =
            incoming.binary_search_by_key(&pair, |(pair, _)| *pair).expect("a rank knows who sends to it");
        incoming[at].1 += 1;
        incoming[at].1 - 1
    }

    /// The counts of the job that a rank belongs to.
    pub(super) fn progress_of(&mut self, place: u32) -> &mut JobProgress {
        &mut self.progress[self.ranks[place as usize].job as usize]
    }
}
