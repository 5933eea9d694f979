//! Operations: issued at their initiators, answered at their targets, and done when the initiator knows.
//!
//! A write is done when all of it is acknowledged, a read when all of its answer has arrived in order. A flow delivers
//! in order, so that its operations are done in the order in which they were issued: a queue a flow is enough.

use std::collections::VecDeque;

use clearway_proto::units::{Bytes, Span, Time};

use super::Simulation;
use crate::engine::event::{Class, Event};
use crate::model::{Arrivals, OperationKind, Pattern, Scenario};
use crate::net::topology::Graph;
use crate::random::{in_table, mix, Entity, Stream};
use crate::traffic::{Demand, FlowSpec, Part};

/// All operations of a run.
#[derive(Debug)]
pub struct Operations {
    /// By traffic table; none for those without operations.
    tables: Vec<Option<Table>>,
    channels: Vec<Channel>,
    initiators: Vec<Initiator>,
    /// Issued and not done.
    open: u64,
    /// Operations issued before this count in no figure of latency.
    measured_from: Time,
    /// Those that are done, if each is to be recorded.
    records: Option<Vec<OperationRecord>>,
}

/// What the operations of a traffic table have in common.
#[derive(Debug)]
struct Table {
    /// What the initiator sends for one, and what the target answers.
    request: Bytes,
    answer: Bytes,
    deadline: Option<Span>,
    stop: Time,
    /// Operations with which a closed loop starts.
    outstanding: u32,
    /// Flows for each channel: one, and one for answers.
    flows_each: u32,
    flows_per_pair: u32,
    backlog: u32,
    first_flow: u32,
    first_channel: u32,
}

/// A flow from an initiator to a target, and its operations.
#[derive(Debug)]
struct Channel {
    /// When those that are open were issued.
    issued: VecDeque<Time>,
    /// Stands for when all were issued and done, in their order.
    trace: u64,
    flow: u32,
    done: u32,
    /// Which of its pair's flows is next; only the first flow of a pair has it.
    turn: u32,
    /// Of an open loop.
    initiator: u32,
}

/// A host that issues an open loop's operations at times of its own.
#[derive(Debug)]
struct Initiator {
    arrivals: Arrivals,
    stream: Stream,
    start: Time,
    /// Mean time between operations, in picoseconds.
    gap_ps: f64,
    /// Since the start: in a Poisson process the sum of the gaps so far, in picoseconds.
    elapsed_ps: f64,
    /// Operations due so far.
    due: u64,
    first_channel: u32,
    targets: u32,
    open: u32,
    refused: u64,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationRecord {
    /// The initiator's flow,
    pub flow: u32,
    /// and its number there.
    pub number: u32,
    /// When the initiator had it.
    pub issued: Time,
    /// When the initiator knew it done; [`Time::NEVER`] while it is open.
    pub done: Time,
}

impl Initiator {
    /// When its next operation is due.
    fn next(&mut self) -> Time {
        match self.arrivals {
            Arrivals::Poisson => self.elapsed_ps += self.stream.exponential(self.gap_ps),
            // Not a sum, whose rounding would add up.
            Arrivals::Constant => self.elapsed_ps = self.due as f64 * self.gap_ps,
        }
        self.due += 1;
        self.start + Span::from_ps(self.elapsed_ps as u64)
    }
}

impl Operations {
    /// Of these flows, of which none has begun.
    pub(super) fn new(scenario: &Scenario, graph: &Graph, specs: &[FlowSpec]) -> Operations {
        let records = scenario.record.operations.then(Vec::new);
        let tables = scenario.traffic.iter().map(|traffic| table(&traffic.pattern, traffic.stop)).collect();
        let mut all = Operations {
            tables,
            channels: Vec::new(),
            initiators: Vec::new(),
            open: 0,
            measured_from: Time::ZERO,
            records,
        };
        // The initiator whose flows are being listed: a host of a table.
        let mut current = None;
        for (spec, flow) in specs.iter().zip(0..) {
            let (Demand::ClosedLoop(part) | Demand::OpenLoop(part)) = spec.demand else { continue };
            if part == Part::Answers {
                continue;
            }
            let table = all.tables[spec.table as usize].as_mut().expect("a table of operations");
            if table.first_flow == u32::MAX {
                (table.first_flow, table.first_channel) = (flow, all.channels.len() as u32);
            }
            if matches!(spec.demand, Demand::OpenLoop(_)) {
                if current.replace((spec.table, spec.from)) != Some((spec.table, spec.from)) {
                    all.initiators.push(initiator(scenario, graph, spec, all.channels.len() as u32));
                }
                let initiator = all.initiators.last_mut().expect("it was just made");
                let flows = all.channels.len() as u32 + 1 - initiator.first_channel;
                initiator.targets = flows / table.flows_per_pair;
            }
            all.channels.push(Channel {
                issued: VecDeque::new(),
                trace: 0,
                flow,
                done: 0,
                turn: 0,
                initiator: all.initiators.len().wrapping_sub(1) as u32,
            });
        }
        all
    }

    /// The channel of an initiator's flow.
    fn channel_of(&self, spec: &FlowSpec, flow: u32) -> usize {
        let table = self.table(spec);
        (table.first_channel + (flow - table.first_flow) / table.flows_each) as usize
    }

    fn table(&self, spec: &FlowSpec) -> &Table {
        self.tables[spec.table as usize].as_ref().expect("a table of operations")
    }

    /// Takes note of an operation that is issued.
    fn open(&mut self, channel: usize, now: Time) {
        let channel = &mut self.channels[channel];
        channel.issued.push_back(now);
        channel.trace = mix(channel.trace ^ now.as_ps());
        self.open += 1;
    }

    /// Takes note that the oldest operation of a channel is done; when it was issued.
    fn close(&mut self, channel: usize, now: Time) -> Time {
        let channel = &mut self.channels[channel];
        let issued = channel.issued.pop_front().expect("an operation that is done was issued");
        let number = channel.done;
        channel.done += 1;
        channel.trace = mix(channel.trace ^ now.as_ps());
        self.open -= 1;
        if let Some(records) = &mut self.records {
            records.push(OperationRecord { flow: channel.flow, number, issued, done: now });
        }
        issued
    }

    /// The channel for an initiator's next operation, if it may have one more: the target is drawn, its flows take
    /// turns.
    fn draw(&mut self, initiator: u32, flows_per_pair: u32, backlog: u32) -> Option<usize> {
        let initiator = &mut self.initiators[initiator as usize];
        let target = initiator.stream.below(u64::from(initiator.targets)) as u32;
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

    /// Issued and not done.
    pub fn open_count(&self) -> u64 {
        self.open
    }

    /// Those that are open, by flow and then as issued.
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

    /// Those that are done, in the order in which they were, if each is recorded.
    pub fn records(&self) -> Option<&[OperationRecord]> {
        self.records.as_deref()
    }

    /// For each flow of an initiator: the flow, how many operations are done on it, and what stands for when.
    pub fn traces(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        self.channels.iter().map(|channel| (channel.flow, channel.done, channel.trace))
    }

    /// Of each initiator of an open loop: operations that it could not issue for its backlog.
    pub fn refused(&self) -> impl Iterator<Item = u64> + '_ {
        self.initiators.iter().map(|initiator| initiator.refused)
    }

    /// Whether this operation has failed by `now`: it was not done in time.
    pub fn is_late(&self, spec: &FlowSpec, operation: &OperationRecord, now: Time) -> bool {
        let deadline = self.table(spec).deadline;
        deadline.is_some_and(|deadline| operation.done.min(now).since(operation.issued) > deadline)
    }

    /// What an operation moves.
    pub fn bytes(&self, spec: &FlowSpec) -> Bytes {
        let table = self.table(spec);
        if table.flows_each == 1 {
            table.request
        } else {
            table.answer
        }
    }

    /// From when on operations are measured.
    pub fn measured_from(&self) -> Time {
        self.measured_from
    }
}

fn table(pattern: &Pattern, stop: Option<Time>) -> Option<Table> {
    let operations = pattern.operations()?;
    let (outstanding, backlog) = match pattern {
        Pattern::ClosedLoop { outstanding, .. } => (*outstanding, u32::MAX),
        Pattern::OpenLoop { backlog, .. } => (0, *backlog),
        _ => return None,
    };
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
        first_flow: u32::MAX,
        first_channel: 0,
    })
}

/// The initiator of this flow, its first.
fn initiator(scenario: &Scenario, graph: &Graph, spec: &FlowSpec, first_channel: u32) -> Initiator {
    let Pattern::OpenLoop { operations, arrivals, offered, .. } =
        &scenario.traffic[spec.table as usize].pattern
    else {
        unreachable!("a flow of an open loop is of an open loop's table");
    };
    let rate = graph.link(graph.nic(spec.from)).rate;
    Initiator {
        arrivals: *arrivals,
        stream: Stream::new(scenario.seed, Entity::Initiator, in_table(spec.table, spec.from)),
        start: spec.start,
        gap_ps: offered.gap_ps(operations.bytes, rate),
        elapsed_ps: 0.0,
        due: 0,
        first_channel,
        targets: 0,
        open: 0,
        refused: 0,
    }
}

impl Simulation {
    /// Plans the first operation of each initiator.
    pub(super) fn plan_operations(&mut self) {
        for initiator in 0..self.operations.initiators.len() as u32 {
            self.plan_next(initiator);
        }
    }

    fn plan_next(&mut self, initiator: u32) {
        let state = &mut self.operations.initiators[initiator as usize];
        let at = state.next();
        let flow = self.operations.channels[state.first_channel as usize].flow;
        if at < self.operations.table(&self.specs[flow as usize]).stop {
            self.queue.push_odd(Event::bare(at.as_ps(), Class::Issue, initiator));
        }
    }

    /// An initiator's next operation is due.
    pub(super) fn issue_next(&mut self, initiator: u32) {
        let first = self.operations.initiators[initiator as usize].first_channel;
        let spec = &self.specs[self.operations.channels[first as usize].flow as usize];
        let &Table { flows_per_pair, backlog, .. } = self.operations.table(spec);
        let transport = spec.transport as usize;
        match self.operations.draw(initiator, flows_per_pair, backlog) {
            Some(channel) => {
                let flow = self.issue(channel);
                self.serve(flow);
            }
            None => self.counters[transport].operations.refused += 1,
        }
        self.plan_next(initiator);
    }

    /// The first operations of a closed loop.
    pub(super) fn start_loop(&mut self, flow: u32) {
        let spec = &self.specs[flow as usize];
        let channel = self.operations.channel_of(spec, flow);
        for _ in 0..self.operations.table(spec).outstanding {
            self.issue(channel);
        }
    }

    /// Gives an operation to the transport; of this flow.
    fn issue(&mut self, channel: usize) -> u32 {
        let now = self.now();
        let flow = self.operations.channels[channel].flow;
        self.operations.open(channel, now);
        let request = self.operations.table(&self.specs[flow as usize]).request;
        self.flows[flow as usize].sender.handle_message(request);
        flow
    }

    /// Messages have arrived whole that belong to operations: requests are answered, answers end reads. A write goes
    /// on until it is acknowledged.
    pub(super) fn take_messages(&mut self, flow: u32, messages: u32) {
        let spec = &self.specs[flow as usize];
        match spec.demand.part() {
            Some(Part::Requests) => {
                let answer = self.operations.table(spec).answer;
                for _ in 0..messages {
                    self.flows[flow as usize + 1].sender.handle_message(answer);
                }
                self.serve(flow + 1);
            }
            Some(Part::Answers) => {
                self.end_operations(flow - 1, messages);
                self.serve(flow - 1);
            }
            Some(Part::Writes) | None => {}
        }
    }

    /// The oldest operations of an initiator's flow are done; in a closed loop as many new ones follow.
    pub(super) fn end_operations(&mut self, flow: u32, done: u32) {
        let now = self.now();
        let spec = self.specs[flow as usize];
        let channel = self.operations.channel_of(&spec, flow);
        let &Table { deadline, stop, .. } = self.operations.table(&spec);
        for _ in 0..done {
            let issued = self.operations.close(channel, now);
            let late = deadline.is_some_and(|deadline| now.since(issued) > deadline);
            let measured = issued >= self.operations.measured_from;
            self.counters[spec.transport as usize].operations.count(now.since(issued), late, measured);
            match spec.demand {
                Demand::OpenLoop(_) => {
                    let initiator = self.operations.channels[channel].initiator;
                    self.operations.initiators[initiator as usize].open -= 1;
                }
                _ if now < stop => drop(self.issue(channel)),
                _ => {}
            }
        }
    }

    /// Forgets what was measured of operations so far.
    pub fn measure_operations_anew(&mut self) {
        self.operations.measured_from = self.now();
        self.counters.iter_mut().for_each(|counters| counters.operations.clear());
    }

    /// What is done has arrived whole, and no more has arrived than was issued.
    pub(super) fn assert_operations_balance(&self) {
        for channel in &self.operations.channels {
            let (done, issued) =
                (u64::from(channel.done), u64::from(channel.done) + channel.issued.len() as u64);
            let table = self.operations.table(&self.specs[channel.flow as usize]);
            for (flow, bytes) in
                (channel.flow..).zip([table.request, table.answer]).take(table.flows_each as usize)
            {
                let payload = self.landings[flow as usize].receiver.payload();
                assert!(
                    (done * bytes.get()..=issued * bytes.get()).contains(&payload),
                    "flow {flow} has lost count of its operations"
                );
            }
        }
        let open: u64 = self.operations.channels.iter().map(|channel| channel.issued.len() as u64).sum();
        assert_eq!(self.operations.open, open, "operations have been lost count of");
    }
}
