//! What the operations of loops cause: at their initiators and at their targets.

use super::domain::Domain;
use super::hosts::Hosts;
use super::operations::Table;
use super::out::Out;
use super::plan::Plan;
use crate::engine::event::{Event, Kind};
use crate::traffic::{Demand, Part};

impl Hosts {
    /// Plans the first operation of each initiator, before anything happens.
    pub(super) fn plan_operations(&mut self, plan: &Plan, out: &mut Out) {
        for initiator in 0..self.operations.initiators.len() as u32 {
            if let Some((host, event)) = self.next_issue(plan, initiator) {
                out.calendar.add(plan.partition.node(host).at, event);
            }
        }
    }

    /// The event of an initiator's next operation and the initiator's host, if there is one more.
    fn next_issue(&mut self, plan: &Plan, initiator: u32) -> Option<(u32, Event)> {
        let state = &mut self.operations.initiators[initiator as usize];
        let at = state.next();
        let flow = self.operations.channels[state.first_channel as usize].flow;
        let spec = &plan.specs[flow as usize];
        let event = Event::bare(at.as_ps(), Kind::Issue, initiator);
        (at < self.operations.table(spec).stop).then_some((spec.from, event))
    }

    /// Issues the first operations of a closed loop.
    pub(super) fn start_loop(&mut self, plan: &Plan, out: &mut Out, end: u32) {
        let channel = self.operations.channel_of(end);
        let spec = &plan.specs[self.senders[end as usize].flow as usize];
        for _ in 0..self.operations.table(spec).outstanding {
            self.issue(plan, out, channel);
        }
    }

    /// Gives an operation to the transport; answers with the sending end that has it.
    fn issue(&mut self, plan: &Plan, out: &mut Out, channel: usize) -> u32 {
        let now = out.time();
        let (flow, end) = (self.operations.channels[channel].flow, self.operations.channels[channel].end);
        self.operations.open(channel, now);
        let request = self.operations.table(&plan.specs[flow as usize]).request;
        self.senders[end as usize].sender.handle_message(request);
        end
    }

    /// The oldest operations of an initiator's sending end are done; in a closed loop as many new ones follow.
    pub(super) fn end_operations(&mut self, plan: &Plan, out: &mut Out, end: u32, done: u32) {
        let now = out.time();
        let spec = &plan.specs[self.senders[end as usize].flow as usize];
        let channel = self.operations.channel_of(end);
        let &Table { deadline, stop, .. } = self.operations.table(spec);
        for _ in 0..done {
            let (issued, waited_since) = self.operations.close(channel, now);
            let late = deadline.is_some_and(|deadline| now.since(issued) > deadline);
            let (measured, begun) = (out.is_measured(issued), waited_since < out.measured.end);
            let counters = &mut out.counters[spec.transport as usize].operations;
            counters.count(now.since(issued), late, measured);
            if begun {
                counters.longest_wait = counters.longest_wait.max(now.since(waited_since));
            }
            match spec.demand {
                Demand::OpenLoop(_) => {
                    let initiator = self.operations.channels[channel].initiator;
                    self.operations.initiators[initiator as usize].open -= 1;
                }
                _ if now < stop => drop(self.issue(plan, out, channel)),
                _ => {}
            }
        }
    }
}

impl Domain {
    /// The oldest operations of a sending end are done, as they are acknowledged: writes, or messages of a job.
    pub(super) fn end_acknowledged(&mut self, plan: &Plan, host: u32, end: u32, done: u32) {
        let flow = self.hosts.senders[end as usize].flow;
        if plan.specs[flow as usize].demand == Demand::Messages {
            self.end_messages(plan, host, end, done);
        } else {
            self.hosts.end_operations(plan, &mut self.out, end, done);
        }
    }

    /// An initiator's next operation is due.
    pub(super) fn issue_next(&mut self, plan: &Plan, host: u32, initiator: u32) {
        let first = self.hosts.operations.initiators[initiator as usize].first_channel;
        let spec = &plan.specs[self.hosts.operations.channels[first as usize].flow as usize];
        let &Table { flows_per_pair, backlog, .. } = self.hosts.operations.table(spec);
        match self.hosts.operations.draw(initiator, flows_per_pair, backlog) {
            Some(channel) => {
                let end = self.hosts.issue(plan, &mut self.out, channel);
                self.serve(plan, host, end);
            }
            None => self.out.counters[spec.transport as usize].operations.refused += 1,
        }
        if let Some((_, event)) = self.hosts.next_issue(plan, initiator) {
            self.out.schedule(event);
        }
    }

    /// Messages have arrived whole that belong to operations: requests are served, answers end reads. A write goes on
    /// until it is acknowledged.
    pub(super) fn take_messages(&mut self, plan: &Plan, host: u32, end: u32, messages: u32) {
        let flow = self.hosts.receivers[end as usize].flow;
        let spec = &plan.specs[flow as usize];
        match spec.demand.part() {
            Some(Part::Requests) => {
                let answering = plan.senders[flow as usize + 1].at;
                match self.hosts.all[host as usize].operation_service {
                    0 => self.answer(plan, host, answering, messages),
                    service => {
                        let served = Event::bare(self.out.now + service, Kind::Answer, answering);
                        (0..messages).for_each(|_| self.out.schedule(served));
                    }
                }
            }
            Some(Part::Answers) => {
                let asking = plan.senders[flow as usize - 1].at;
                self.hosts.end_operations(plan, &mut self.out, asking, messages);
                self.serve(plan, host, asking);
            }
            None if spec.demand == Demand::Messages => self.take_job_messages(plan, host, flow, messages),
            Some(Part::Writes) | None => {}
        }
    }

    /// A target answers `reads` reads over its sending end `end`.
    pub(super) fn answer(&mut self, plan: &Plan, host: u32, end: u32, reads: u32) {
        let flow = self.hosts.senders[end as usize].flow;
        let answer = self.hosts.operations.table(&plan.specs[flow as usize]).answer;
        for _ in 0..reads {
            self.hosts.senders[end as usize].sender.handle_message(answer);
        }
        self.serve(plan, host, end);
    }
}
