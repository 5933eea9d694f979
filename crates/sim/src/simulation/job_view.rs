//! What may be seen of jobs from outside.

use clearway_proto::units::Time;

use super::job_plan::{JobPlan, NO_FLOW};
use super::job_spans::JobSpan;
use super::job_times::{RequestTimes, Taken, TimeUse};
use super::jobs::{IterationRecord, JobProgress, RankHere};
use super::simulator::Simulation;
use crate::job::{Progress, Standstill};
use crate::model::Job;

/// How far a job has come.
#[derive(Clone, Debug)]
pub struct JobRecord<'a> {
    /// The job.
    pub job: &'a Job,
    /// The number of its transport.
    pub transport: u32,
    /// The iterations of which any rank has begun.
    pub iterations: Vec<IterationRecord>,
    /// Bytes sent from rank to rank over the network, and within hosts.
    pub sent_bytes: [u64; 2],
}

impl JobRecord<'_> {
    /// When each iteration ended that all ranks have ended, in order.
    pub fn ended(&self) -> impl Iterator<Item = Time> + '_ {
        let ranks = self.job.graph.ranks();
        self.iterations.iter().take_while(move |record| record.ranks == ranks).map(|record| record.ended)
    }
}

/// What a rank has done in a run.
#[derive(Clone, Copy, Debug)]
pub struct RankRecord<'a> {
    /// Iterations that it has ended.
    pub iterations: u32,
    /// How it has spent the time of these.
    pub spent: TimeUse,
    /// The time that each measure of the job took.
    pub taken: &'a [Taken],
}

impl Simulation {
    /// Every rank of a job, in order.
    pub fn job_ranks(&self, job: usize) -> impl Iterator<Item = RankRecord<'_>> {
        let plan = &self.plan.jobs[job];
        (0..plan.graph().ranks()).map(move |rank| {
            let here = self.rank(plan, rank);
            RankRecord { iterations: here.iteration, spent: here.spent, taken: &here.measured.taken }
        })
    }

    /// The times of each sort of request of a job, in the order of its measures; none of a job that has no requests.
    pub fn job_requests(&self, job: usize) -> Vec<RequestTimes> {
        let mut all: Vec<RequestTimes> = Vec::new();
        for progress in self.progress_of(job) {
            all.resize_with(progress.requests.len(), RequestTimes::default);
            all.iter_mut().zip(&progress.requests).for_each(|(of, other)| of.merge(other));
        }
        all
    }

    /// Returns the records of jobs' operations, by job, rank and start.
    pub fn job_spans(&self) -> Vec<JobSpan> {
        let mut spans: Vec<JobSpan> =
            self.domains.iter().flat_map(|domain| &domain.hosts.jobs.spans.ended).copied().collect();
        spans.sort_unstable();
        spans
    }

    /// Every job, and how far it has come.
    pub fn jobs(&self) -> impl Iterator<Item = JobRecord<'_>> {
        (0..self.plan.jobs.len()).map(|number| {
            let plan = &self.plan.jobs[number];
            let mut iterations: Vec<IterationRecord> = Vec::new();
            for progress in self.progress_of(number) {
                let known = iterations.len().min(progress.iterations.len());
                let (both, more) = progress.iterations.split_at(known);
                iterations.iter_mut().zip(both).for_each(|(record, other)| record.merge(other));
                iterations.extend_from_slice(more);
            }
            JobRecord {
                job: &plan.job,
                transport: self.job_transport(plan),
                iterations,
                sent_bytes: self.sent_bytes(number, plan),
            }
        })
    }

    /// Returns whether every rank of every job is through with all its iterations.
    pub fn jobs_are_over(&self) -> bool {
        (0..self.plan.jobs.len()).all(|number| self.is_over(number))
    }

    /// A sentence about a job of which nothing happens any more and that is not over: who waits for whom. `None` where there is
    /// none.
    pub fn standstill(&self) -> Option<String> {
        let stands = |number: usize| {
            let active: u64 = self.progress_of(number).map(|progress| progress.active).sum();
            active == 0 && !self.is_over(number)
        };
        let number = (0..self.plan.jobs.len()).find(|&number| stands(number))?;
        let plan = &self.plan.jobs[number];
        let progress = |operation: u32| {
            let here = self.rank(plan, plan.graph().rank_of(operation));
            if here.iteration == plan.job.iterations {
                return Progress::Ended;
            }
            here.rank.progress(plan.graph(), operation)
        };
        let cycle = Standstill { graph: plan.graph(), progress: &progress }.cycle();
        Some(format!(
            "job[{number}] ({}) has come to a standstill at {}: {cycle}; receives of one rank and tag take messages in the order \
             in which they start: let one wait for the other",
            plan.job.name, self.time.since(Time::ZERO)
        ))
    }

    /// For each pair of ranks, what was acknowledged has arrived, and no more has than was handed to the transport; a job that is over has
    /// received every message.
    pub(super) fn assert_jobs_balance(&self) {
        for (number, plan) in self.plan.jobs.iter().enumerate() {
            for rank in 0..plan.graph().ranks() {
                let here = self.rank(plan, rank);
                for (pair, outgoing) in plan.graph().pairs_from(rank).zip(&here.outgoing) {
                    let flow = plan.flows[pair as usize];
                    if flow != NO_FLOW {
                        let arrived = self.receiver(flow).receiver.payload();
                        assert!(
                            (outgoing.acknowledged..=outgoing.issued).contains(&arrived),
                            "flow {flow} has lost count of a job's messages"
                        );
                    }
                    if self.is_over(number) {
                        let all = plan.graph().pairs[pair as usize].bytes * u64::from(plan.job.iterations);
                        assert_eq!(outgoing.acknowledged, all, "job {number} is over without all its bytes");
                    }
                }
                let left = here.rank.unreceived();
                assert!(left == 0 || !self.is_over(number), "job {number} is over with {left} messages");
            }
        }
    }

    fn is_over(&self, number: usize) -> bool {
        let finished: u32 = self.progress_of(number).map(|progress| progress.finished).sum();
        finished == self.plan.jobs[number].graph().ranks()
    }

    fn progress_of(&self, number: usize) -> impl Iterator<Item = &JobProgress> {
        self.domains.iter().map(move |domain| &domain.hosts.jobs.progress[number])
    }

    pub(super) fn rank(&self, plan: &JobPlan, rank: u32) -> &RankHere {
        let place = plan.places[rank as usize];
        &self.domains[place.domain as usize].hosts.jobs.ranks[place.at as usize]
    }

    fn job_transport(&self, plan: &JobPlan) -> u32 {
        let flow = plan.job.connections().next().map(|pair| plan.flows[pair as usize]);
        flow.map_or(0, |flow| self.plan.specs[flow as usize].transport)
    }

    fn sent_bytes(&self, number: usize, plan: &JobPlan) -> [u64; 2] {
        let mut sent = [0; 2];
        let ranks = self.domains.iter().flat_map(|domain| &domain.hosts.jobs.ranks);
        for here in ranks.filter(|here| here.job as usize == number) {
            for (pair, outgoing) in plan.graph().pairs_from(here.number).zip(&here.outgoing) {
                sent[usize::from(plan.job.is_local(pair))] += outgoing.issued;
            }
        }
        sent
    }
}
