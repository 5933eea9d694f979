//! Operations: issued at their initiators, answered at their targets, and done when the initiator knows.
//!
//! A write is done when all of it is acknowledged, a read when all of its answer has arrived in order. A flow delivers
//! in order, so that its operations are done in the order in which they were issued: a queue a flow is enough.

use std::collections::VecDeque;

use clearway_proto::units::{Bytes, Span, Time};

use super::plan::Plan;
use crate::model::{OperationKind, Pattern, Scenario};
use crate::random::mix;
use crate::traffic::pattern::{self, OperationLoop};
use crate::traffic::{Demand, FlowSpec, Issues, Part};

/// The operations whose initiators are in a domain.
#[derive(Debug, Default)]
pub struct Operations {
    /// What each traffic table says of operations; none for those without.
    tables: Vec<Option<Table>>,
    pub(super) channels: Vec<Channel>,
    /// The channel of each sending end that has one; empty where none has.
    channel_of: Vec<u32>,
    pub(super) initiators: Vec<Initiator>,
    /// Operations that are issued and not done.
    open: u64,
    /// The operations that are complete, if each is to be recorded.
    records: Option<Vec<OperationRecord>>,
}

/// What the operations of a traffic table have in common.
#[derive(Debug)]
pub(super) struct Table {
    /// What the initiator sends for an operation.
    pub request: Bytes,
    /// What the target answers with.
    pub answer: Bytes,
    pub deadline: Option<Span>,
    pub stop: Time,
    /// Operations with which a closed loop starts.
    pub outstanding: u32,
    /// Flows for each channel: one, and one for answers.
    pub flows_each: u32,
    pub flows_per_pair: u32,
    pub backlog: u32,
}

/// A flow from an initiator to a target, and its operations.
#[derive(Debug)]
pub(super) struct Channel {
    /// When the operations that are open were issued, oldest first.
    pub issued: VecDeque<Time>,
    /// When the last operation was done; [`Time::ZERO`] before the first.
    pub last_done: Time,
    /// A hash of the times at which all were issued and done, in their order.
    trace: u64,
    /// The flow's number.
    pub flow: u32,
    /// The flow's sending end.
    pub end: u32,
    /// Operations done.
    pub done: u32,
    /// Which of its pair's flows is next; only the first flow of a pair has it.
    turn: u32,
    /// The initiator, in an open loop.
    pub initiator: u32,
}

/// A host that issues an open loop's operations at times of its own.
#[derive(Debug)]
pub(super) struct Initiator {
    issues: Issues,
    pub first_channel: u32,
    targets: u32,
    pub open: u32,
    refused: u64,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationRecord {
    /// The flow that carries it from its initiator.
    pub flow: u32,
    /// Its number among the operations of that flow.
    pub number: u32,
    /// When the initiator issued it.
    pub issued: Time,
    /// When the initiator knew that it was complete; [`Time::NEVER`] while it is open.
    pub done: Time,
}

impl Channel {
    /// Since when it has an operation open and none has been done; `None` if none is open.
    fn waits_since(&self) -> Option<Time> {
        Some(self.last_done.max(*self.issued.front()?))
    }
}

impl Initiator {
    /// Returns when its next operation is due.
    pub(super) fn next(&mut self) -> Time {
        self.issues.next_time()
    }
}

impl Operations {
    /// The operations of a domain, of which none has been issued.
    pub(super) fn new(scenario: &Scenario, plan: &Plan, domain: u32) -> Operations {
        let records = scenario.record.operations.then(Vec::new);
        let tables = scenario.traffic.iter().map(|traffic| table(&traffic.pattern, traffic.stop)).collect();
        let mut all = Operations {
            tables,
            channels: Vec::new(),
            channel_of: Vec::new(),
            initiators: Vec::new(),
            open: 0,
            records,
        };
        // The initiator whose flows are being listed: a host of a table.
        let mut current = None;
        for ((spec, flow), place) in plan.specs.iter().zip(0..).zip(&plan.senders) {
            if place.domain != domain || !matches!(spec.demand.part(), Some(Part::Writes | Part::Requests)) {
                continue;
            }
            if matches!(spec.demand, Demand::OpenLoop(_)) {
                if current.replace((spec.table, spec.from)) != Some((spec.table, spec.from)) {
                    all.initiators.push(initiator(scenario, plan, spec, all.channels.len() as u32));
                }
                let flows_per_pair = all.table(spec).flows_per_pair;
                let initiator = all.initiators.last_mut().expect("it was just made");
                let flows = all.channels.len() as u32 + 1 - initiator.first_channel;
                initiator.targets = flows / flows_per_pair;
            }
            all.channel_of.resize(place.at as usize, u32::MAX);
            all.channel_of.push(all.channels.len() as u32);
            all.channels.push(Channel {
                issued: VecDeque::new(),
                last_done: Time::ZERO,
                trace: 0,
                flow,
                end: place.at,
                done: 0,
                turn: 0,
                initiator: all.initiators.len().wrapping_sub(1) as u32,
            });
        }
        all
    }

    /// The channel of an initiator's sending end.
    pub(super) fn channel_of(&self, end: u32) -> usize {
        self.channel_of[end as usize] as usize
    }

    pub(super) fn table(&self, spec: &FlowSpec) -> &Table {
        self.tables[spec.table as usize].as_ref().expect("a table of operations")
    }

    /// Takes note of an operation that is issued.
    pub(super) fn open(&mut self, channel: usize, now: Time) {
        let channel = &mut self.channels[channel];
        channel.issued.push_back(now);
        channel.trace = mix(channel.trace ^ now.as_ps());
        self.open += 1;
    }

    /// Takes note that the oldest operation of a channel is done. Returns when it was issued, and since when the channel had
    /// an operation open without one being done.
    pub(super) fn close(&mut self, channel: usize, now: Time) -> (Time, Time) {
        let channel = &mut self.channels[channel];
        let waited_since = channel.waits_since().expect("an operation that is done was issued");
        let issued = channel.issued.pop_front().expect("as it said since when");
        let number = channel.done;
        channel.done += 1;
        channel.last_done = now;
        channel.trace = mix(channel.trace ^ now.as_ps());
        self.open -= 1;
        if let Some(records) = &mut self.records {
            records.push(OperationRecord { flow: channel.flow, number, issued, done: now });
        }
        (issued, waited_since)
    }

    /// For each flow of an initiator with an open operation: the flow, and since when it has one open and none has been done.
    pub fn waits(&self) -> impl Iterator<Item = (u32, Time)> + '_ {
        self.channels.iter().filter_map(|channel| Some((channel.flow, channel.waits_since()?)))
    }

    /// The channel for an initiator's next operation, if it may have one more: the target is drawn, its flows take
    /// turns.
    pub(super) fn draw(&mut self, initiator: u32, flows_per_pair: u32, backlog: u32) -> Option<usize> {
        let initiator = &mut self.initiators[initiator as usize];
        let target = initiator.issues.target(initiator.targets);
        if initiator.open == backlog {
            initiator.refused += 1;
            return None;
        }
        initiator.open += 1;
        let first = (initiator.first_channel + target * flows_per_pair) as usize;
        let turn = self.channels[first].turn;
        self.channels[first].turn = (turn + 1) % flows_per_pair;
        Some(first + turn as usize)
    }

    /// Returns how many operations are issued and not complete.
    pub fn open_count(&self) -> u64 {
        self.open
    }

    /// The operations that are open, by flow and then as issued.
    pub fn all_open(&self) -> impl Iterator<Item = OperationRecord> + '_ {
        self.channels.iter().flat_map(|channel| {
            let numbers = channel.done..;
            channel.issued.iter().zip(numbers).map(|(&issued, number)| OperationRecord {
                flow: channel.flow,
                number,
                issued,
                done: Time::NEVER,
            })
        })
    }

    /// The operations that are complete, in the order of completion, if each is recorded.
    pub fn records(&self) -> Option<&[OperationRecord]> {
        self.records.as_deref()
    }

    /// For each flow of an initiator: the flow, how many operations are complete on it, and a hash of the times.
    pub fn traces(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        self.channels.iter().map(|channel| (channel.flow, channel.done, channel.trace))
    }

    /// For each initiator of an open loop: its first flow, and the operations that it could not issue for its backlog.
    pub fn refused(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let first_flow = |initiator: &Initiator| self.channels[initiator.first_channel as usize].flow;
        self.initiators.iter().map(move |initiator| (first_flow(initiator), initiator.refused))
    }

    /// Returns whether this operation has failed by `now`: it was not done in time.
    pub fn is_late(&self, spec: &FlowSpec, operation: &OperationRecord, now: Time) -> bool {
        let deadline = self.table(spec).deadline;
        deadline.is_some_and(|deadline| operation.done.min(now).since(operation.issued) > deadline)
    }

    /// Returns how many bytes an operation of this flow moves.
    pub fn bytes(&self, spec: &FlowSpec) -> Bytes {
        let table = self.table(spec);
        if table.flows_each == 1 {
            table.request
        } else {
            table.answer
        }
    }
}

fn table(pattern: &Pattern, stop: Option<Time>) -> Option<Table> {
    let pattern = pattern::of(pattern);
    let OperationLoop { operations, outstanding, backlog, .. } = pattern.operation_loop()?;
    let request = match operations.kind {
        OperationKind::Write => operations.bytes,
        OperationKind::Read(request) => request,
    };
    Some(Table {
        request,
        answer: operations.bytes,
        deadline: operations.deadline,
        stop: stop.unwrap_or(Time::NEVER),
        outstanding,
        flows_each: operations.flows_each(),
        flows_per_pair: operations.flows_per_pair,
        backlog,
    })
}

/// The initiator of this flow, its first.
fn initiator(scenario: &Scenario, plan: &Plan, spec: &FlowSpec, first_channel: u32) -> Initiator {
    let rate = plan.graph.link(plan.graph.nic(spec.from)).rate;
    Initiator { issues: Issues::of(scenario, spec, rate), first_channel, targets: 0, open: 0, refused: 0 }
}
