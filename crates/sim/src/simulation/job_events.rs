//! What happens at the ranks of jobs: they begin, messages leave and arrive, and what takes time ends.

use clearway_proto::units::{Bytes, Time};

use super::domain::Domain;
use super::hosts::Hosts;
use super::job_plan::{Connection, JobPlan, NO_FLOW};
use super::jobs::{Outgoing, Sent};
use super::out::Out;
use super::plan::Plan;
use crate::engine::event::{Event, Kind};
use crate::job::Doing;
use crate::model::Operation;

impl Hosts {
    /// Plans the beginning of each rank, before anything happens.
    pub(super) fn plan_jobs(&mut self, plan: &Plan, out: &mut Out) {
        for (place, here) in (0..).zip(&self.jobs.ranks) {
            let job = &plan.jobs[here.job as usize].job;
            let node = plan.partition.node(job.hosts[here.number as usize]).at;
            let start = plan.job_starts[here.job as usize];
            out.calendar.add(node, Event::bare(start.as_ps(), Kind::Begin, place));
        }
    }
}

/// The channel and the bytes of a send.
fn message_of(job: &JobPlan, operation: u32) -> (u32, u64) {
    match job.graph().operations[operation as usize] {
        Operation::Send { channel, bytes } => (channel, bytes),
        other => unreachable!("{other:?} is no message"),
    }
}

impl Domain {
    /// A rank begins.
    pub(super) fn begin_rank(&mut self, plan: &Plan, host: u32, place: u32) {
        let now = self.out.time();
        self.hosts.jobs.progress_of(place).active -= 1;
        self.hosts.jobs.begin(plan, place, now);
        self.wake_rank(plan, host, place);
    }

    /// What a rank computes or copies has taken its time.
    pub(super) fn end_work(&mut self, plan: &Plan, host: u32, stream: u32) {
        let jobs = &mut self.hosts.jobs;
        let (place, stream) = jobs.streams[stream as usize];
        jobs.progress_of(place).active -= 1;
        jobs.look(place, self.out.time());
        let here = &mut jobs.ranks[place as usize];
        let job = &plan.jobs[here.job as usize];
        if stream < job.graph().streams[here.number as usize] {
            here.rank.work_ended(job.graph(), stream);
        } else {
            let operation = here.copies.pop_front().expect("something was being copied");
            let next = here.copies.front().copied();
            self.deliver_here(plan, place, operation);
            if let Some(next) = next {
                self.copy(plan, place, next);
            }
        }
        self.wake_rank(plan, host, place);
    }

    /// The oldest messages of a sending end are acknowledged.
    pub(super) fn end_messages(&mut self, plan: &Plan, host: u32, end: u32, count: u32) {
        let flow = self.hosts.senders[end as usize].flow;
        let job = plan.job_of(flow);
        let Connection { pair, from: place, .. } = job.connection(flow);
        self.hosts.jobs.look(place, self.out.time());
        for _ in 0..count {
            let jobs = &mut self.hosts.jobs;
            jobs.progress_of(place).active -= 1;
            let outgoing = jobs.outgoing(plan, place, pair);
            let sent = outgoing.open.pop_front().expect("a message that is acknowledged was sent");
            outgoing.acknowledged += sent.bytes;
            jobs.ranks[place as usize].rank.send_ended(job.graph(), sent.operation);
        }
        self.wake_rank(plan, host, place);
    }

    /// Messages of a job have arrived whole.
    pub(super) fn take_job_messages(&mut self, plan: &Plan, host: u32, flow: u32, count: u32) {
        let job = plan.job_of(flow);
        let Connection { pair, to: place, .. } = job.connection(flow);
        self.hosts.jobs.look(place, self.out.time());
        for _ in 0..count {
            let message = self.hosts.jobs.count_arrival(place, pair);
            let channel = job.channel_of(pair, message);
            self.hosts.jobs.ranks[place as usize].rank.message_arrived(job.graph(), channel);
        }
        self.wake_rank(plan, host, place);
    }

    /// A rank goes on as far as it can, and with it those on its host to which it sends.
    fn wake_rank(&mut self, plan: &Plan, host: u32, place: u32) {
        self.hosts.jobs.awake.push_back(place);
        while let Some(place) = self.hosts.jobs.awake.pop_front() {
            self.go_through(plan, host, place);
        }
    }

    /// A rank starts what it can, and when its iteration is over the next one.
    fn go_through(&mut self, plan: &Plan, host: u32, place: u32) {
        let job = &plan.jobs[self.hosts.jobs.ranks[place as usize].job as usize];
        if self.hosts.jobs.ranks[place as usize].iteration == job.job.iterations {
            return;
        }
        loop {
            while let Some(doing) = self.hosts.jobs.ranks[place as usize].rank.next(job.graph()) {
                match doing {
                    Doing::Send(operation) => self.send_job_message(plan, host, place, operation),
                    Doing::Work { stream, operation } => self.work(plan, place, stream, operation),
                }
            }
            let now = self.out.time();
            let jobs = &mut self.hosts.jobs;
            jobs.take_notes(plan, place, now);
            // A message that came before the rank begins wakes it, too.
            let is_in_one = jobs.ranks[place as usize].has_begun;
            if !is_in_one || !jobs.ranks[place as usize].rank.is_done() || !jobs.end(plan, place, now) {
                return;
            }
            jobs.begin(plan, place, now);
        }
    }

    /// Something takes its time on a stream of a rank.
    fn work(&mut self, plan: &Plan, place: u32, stream: u32, operation: u32) {
        let here = &mut self.hosts.jobs.ranks[place as usize];
        let graph = plan.jobs[here.job as usize].graph();
        let Operation::Calc { time, .. } = graph.operations[operation as usize] else {
            unreachable!("only what is computed has a stream")
        };
        if time.as_ps() == 0 {
            return here.rank.work_ended(graph, stream);
        }
        let at = self.out.time() + time;
        self.elapse_at(place, stream, at);
    }

    /// Lets a stream of a rank be busy until then.
    fn elapse_at(&mut self, place: u32, stream: u32, at: Time) {
        self.hosts.jobs.progress_of(place).active += 1;
        let id = self.hosts.jobs.ranks[place as usize].first_stream + stream;
        self.out.schedule(Event::bare(at.as_ps(), Kind::Elapse, id));
    }

    /// A message of a rank leaves, over its flow or within the host.
    fn send_job_message(&mut self, plan: &Plan, host: u32, place: u32, operation: u32) {
        let job = &plan.jobs[self.hosts.jobs.ranks[place as usize].job as usize];
        let (channel, bytes) = message_of(job, operation);
        let pair = job.graph().pair_of[channel as usize];
        if job.flows[pair as usize] == NO_FLOW {
            if job.job.local_rate.is_none() {
                return self.deliver_here(plan, place, operation);
            }
            let copies = &mut self.hosts.jobs.ranks[place as usize].copies;
            copies.push_back(operation);
            if copies.len() == 1 {
                self.copy(plan, place, operation);
            }
            return;
        }
        // What has no bytes takes a packet all the same.
        let bytes = bytes.max(1);
        let Outgoing { end, messages, open, issued, .. } = self.hosts.jobs.outgoing(plan, place, pair);
        job.note_channel(pair, *messages, channel);
        *messages += 1;
        *issued += bytes;
        open.push_back(Sent { operation, bytes });
        let end = *end;
        self.hosts.jobs.progress_of(place).active += 1;
        self.hosts.senders[end as usize].sender.handle_message(Bytes::new(bytes));
        self.serve(plan, host, end);
    }

    /// A message to a rank on the same host begins to be copied.
    fn copy(&mut self, plan: &Plan, place: u32, operation: u32) {
        let here = &self.hosts.jobs.ranks[place as usize];
        let job = &plan.jobs[here.job as usize];
        let rate = job.job.local_rate.expect("without a rate nothing is copied");
        let at = self.out.time() + rate.transmission(Bytes::new(message_of(job, operation).1));
        let stream = job.graph().streams[here.number as usize];
        self.elapse_at(place, stream, at);
    }

    /// A message has reached a rank on the same host, and its send has ended.
    fn deliver_here(&mut self, plan: &Plan, place: u32, operation: u32) {
        let jobs = &mut self.hosts.jobs;
        let job = &plan.jobs[jobs.ranks[place as usize].job as usize];
        let (channel, bytes) = message_of(job, operation);
        let pair = job.graph().pair_of[channel as usize];
        let outgoing = jobs.outgoing(plan, place, pair);
        outgoing.messages += 1;
        outgoing.issued += bytes.max(1);
        outgoing.acknowledged += bytes.max(1);
        jobs.ranks[place as usize].rank.send_ended(job.graph(), operation);
        let to = job.places[job.graph().channels[channel as usize].to as usize].at;
        jobs.count_arrival(to, pair);
        jobs.look(to, self.out.time());
        jobs.ranks[to as usize].rank.message_arrived(job.graph(), channel);
        jobs.awake.push_back(to);
    }
}
