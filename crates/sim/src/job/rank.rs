//! A rank that goes through its operations: a state machine without time. Its driver tells it what has ended and what has arrived,
//! and does what it says.

use std::collections::VecDeque;

use crate::model::{Follower, Operation, OperationGraph, Purpose};
use crate::prefetch::prefetch;

/// What a driver has to do for a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Send the message of this operation, and say so when it has ended.
    Send(u32),
    /// Let this operation take its time on a stream, and say so when the stream is free.
    Work {
        /// The stream, by its number in the rank.
        stream: u32,
        /// The operation.
        operation: u32,
    },
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It waits for others, or for its stream.
    Waiting,
    /// It has started.
    Started,
    /// It has ended.
    Ended,
}

/// What waits for messages of a channel, or messages that nothing has waited for. Never both.
#[derive(Clone, Debug, Default)]
struct Inbox {
    /// Messages that have arrived and were not received.
    arrived: u32,
    /// Receives that have started, oldest first.
    posted: VecDeque<u32>,
}

/// Operations that take their time one after the other; the first has started.
type Stream = VecDeque<u32>;

/// An operation that has started or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The operation.
    pub operation: u32,
    /// Whether it has ended.
    pub has_ended: bool,
}

/// The operations of which a driver wants notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Noting {
    /// None.
    #[default]
    Nothing,
    /// Operations with a mark.
    Marks,
    /// All.
    All,
}

/// What a rank does at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Whether it computes.
    pub computes: bool,
    /// What its messages under way are for, the first purpose of them; `None` where there is none.
    pub exchanges: Option<Purpose>,
}

/// What an operation does. Told along with it, as its own entry in the graph is seldom in a cache when it ends.
#[derive(Clone, Copy, Debug)]
enum Sort {
    /// It sends a message, or waits for one.
    Message,
    /// It computes.
    Work,
}

/// A rank on its way through its operations.
#[derive(Clone, Debug)]
pub struct Rank {
    /// Its number in the job.
    number: u32,
    /// How many operations each of its own waits for; [`STARTED`] and [`ENDED`] when it has.
    waits_for: Vec<u32>,
    /// Operations that wait for nothing more and have not started, in their order.
    ready: VecDeque<u32>,
    streams: Vec<Stream>,
    inboxes: Vec<Inbox>,
    /// What the driver has not been told yet.
    doings: VecDeque<Doing>,
    /// Operations of this iteration that have not ended.
    left: u32,
    /// The operations that are being computed.
    computing: u32,
    /// Messages that are sent or waited for, by purpose.
    exchanged: [u32; Purpose::ALL.len()],
    /// The operations of which there are notes.
    pub noting: Noting,
    /// Notes of starts and ends, in order, until the driver takes them.
    pub notes: Vec<Note>,
}

const STARTED: u32 = u32::MAX - 1;
const ENDED: u32 = u32::MAX;

impl Rank {
    /// A rank that has not begun.
    pub fn new(graph: &OperationGraph, rank: u32) -> Rank {
        Rank {
            number: rank,
            waits_for: vec![u32::MAX / 2; graph.operations_of(rank).len()],
            ready: VecDeque::new(),
            streams: vec![Stream::new(); graph.streams[rank as usize] as usize],
            inboxes: vec![Inbox::default(); graph.channels_to(rank).len()],
            doings: VecDeque::new(),
            left: 0,
            computing: 0,
            exchanged: [0; Purpose::ALL.len()],
            noting: Noting::Nothing,
            notes: Vec::new(),
        }
    }

    /// Begins an iteration; the one before is over.
    pub fn begin(&mut self, graph: &OperationGraph) {
        debug_assert!(self.is_done(), "an iteration begins within another");
        let own = graph.operations_of(self.number);
        self.left = own.len() as u32;
        self.waits_for.copy_from_slice(&graph.requirements[own.start as usize..own.end as usize]);
        self.ready.extend(own.filter(|&operation| graph.requirements[operation as usize] == 0));
    }

    /// The next thing to do; `None` until something more ends or arrives.
    pub fn next(&mut self, graph: &OperationGraph) -> Option<Doing> {
        while self.doings.is_empty() {
            let operation = self.ready.pop_front()?;
            match graph.operations[operation as usize] {
                Operation::Send { .. } => {
                    self.start(graph, operation, Sort::Message);
                    return Some(Doing::Send(operation));
                }
                Operation::Recv { channel, .. } => {
                    self.start(graph, operation, Sort::Message);
                    let inbox = self.inbox(graph, channel);
                    if inbox.arrived > 0 {
                        inbox.arrived -= 1;
                        self.end(graph, operation, Sort::Message);
                    } else {
                        inbox.posted.push_back(operation);
                    }
                }
                Operation::Calc { stream, .. } => {
                    self.streams[stream as usize].push_back(operation);
                    if self.streams[stream as usize].len() == 1 {
                        self.work(graph, stream);
                    }
                }
            }
        }
        self.doings.pop_front()
    }

    /// A message has arrived on a channel to this rank.
    pub fn message_arrived(&mut self, graph: &OperationGraph, channel: u32) {
        let inbox = self.inbox(graph, channel);
        match inbox.posted.pop_front() {
            Some(operation) => {
                // What waits for a message most often follows it.
                prefetch(&graph.operations, operation as usize + 1);
                self.end(graph, operation, Sort::Message);
            }
            None => inbox.arrived += 1,
        }
    }

    /// A send has ended.
    pub fn send_ended(&mut self, graph: &OperationGraph, operation: u32) {
        self.end(graph, operation, Sort::Message);
    }

    /// What was done on a stream has taken its time.
    pub fn work_ended(&mut self, graph: &OperationGraph, stream: u32) {
        let operation = self.streams[stream as usize].pop_front().expect("a stream that was busy");
        self.end(graph, operation, Sort::Work);
        self.work(graph, stream);
    }

    /// Returns whether the iteration is over, or none has begun.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Returns what the rank does now.
    pub fn activity(&self) -> Activity {
        let exchanges = Purpose::ALL.into_iter().find(|&purpose| self.exchanged[purpose as usize] > 0);
        Activity { computes: self.computing > 0, exchanges }
    }

    /// Returns how far one of its operations is in this iteration, by its number in the whole graph.
    pub fn progress(&self, graph: &OperationGraph, operation: u32) -> Progress {
        let first = graph.operations_of(self.number).start;
        match self.waits_for[(operation - first) as usize] {
            ENDED => Progress::Ended,
            STARTED => Progress::Started,
            _ => Progress::Waiting,
        }
    }

    /// Messages that have arrived and were not received.
    pub fn unreceived(&self) -> u64 {
        self.inboxes.iter().map(|inbox| u64::from(inbox.arrived)).sum()
    }

    /// Begins the first operation of a stream, if there is one.
    fn work(&mut self, graph: &OperationGraph, stream: u32) {
        if let Some(&operation) = self.streams[stream as usize].front() {
            self.start(graph, operation, Sort::Work);
            self.doings.push_back(Doing::Work { stream, operation });
        }
    }

    fn inbox(&mut self, graph: &OperationGraph, channel: u32) -> &mut Inbox {
        &mut self.inboxes[(channel - graph.channels_to(self.number).start) as usize]
    }

    fn start(&mut self, graph: &OperationGraph, operation: u32, sort: Sort) {
        self.advance(graph, operation, STARTED, sort);
    }

    fn end(&mut self, graph: &OperationGraph, operation: u32, sort: Sort) {
        self.left -= 1;
        self.advance(graph, operation, ENDED, sort);
    }

    /// Counts an operation that starts or ends, and notes it where the driver wants that.
    fn keep_account(&mut self, graph: &OperationGraph, operation: u32, has_ended: bool, sort: Sort) {
        let count = match sort {
            Sort::Work => &mut self.computing,
            Sort::Message => &mut self.exchanged[graph.labels.purpose_of(operation) as usize],
        };
        *count = if has_ended { *count - 1 } else { *count + 1 };
        let is_noted = match self.noting {
            Noting::Nothing => false,
            Noting::Marks => graph.labels.mark_of(operation).is_some(),
            Noting::All => true,
        };
        if is_noted {
            self.notes.push(Note { operation, has_ended });
        }
    }

    /// Hints that the operations will be read that are a line of memory behind this one in each list: between two operations of a
    /// rank all others have theirs, and what was fetched for one is gone when its next comes.
    fn prefetch(&self, graph: &OperationGraph, operation: u32, first: u32) {
        let behind = |size: usize| operation as usize + 64 / size;
        prefetch(&graph.operations, behind(size_of::<Operation>()));
        prefetch(&graph.first_follower, behind(size_of::<u32>()));
        prefetch(&self.waits_for, behind(size_of::<u32>()) - first as usize);
        let followers = graph.first_follower[operation as usize] as usize;
        prefetch(&graph.followers, followers + 64 / size_of::<Follower>());
    }

    /// An operation starts or ends, for which others may have waited.
    fn advance(&mut self, graph: &OperationGraph, operation: u32, to: u32, sort: Sort) {
        let first = graph.operations_of(self.number).start;
        self.waits_for[(operation - first) as usize] = to;
        if to == STARTED {
            self.prefetch(graph, operation, first);
        }
        self.keep_account(graph, operation, to == ENDED, sort);
        for follower in graph.followers_of(operation) {
            if follower.after_start == (to == STARTED) {
                let waits_for = &mut self.waits_for[(follower.operation - first) as usize];
                *waits_for -= 1;
                if *waits_for == 0 {
                    self.ready.push_back(follower.operation);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, GraphBuilder};
    use super::*;
    use clearway_proto::units::Span;

    fn calc(cpu: u32) -> Draft {
        Draft::Calc { cpu, time: Span::from_ns(1) }
    }

    #[test]
    fn what_shares_a_processor_takes_turns_and_what_waits_for_a_start_begins_with_it() {
        let mut builder = GraphBuilder::new(2);
        let one = &mut builder.ranks[0];
        let (first, second, other) = (one.add(calc(7)), one.add(calc(7)), one.add(calc(0)));
        let send = one.add(Draft::Send { to: 1, tag: 0, bytes: 8 });
        one.require_start(send, second);
        builder.ranks[1].add(Draft::Recv { from: 0, tag: 0, bytes: 8 });
        let graph = builder.build().expect("a graph");
        let mut rank = Rank::new(&graph, 0);
        rank.begin(&graph);
        let all = |rank: &mut Rank| std::iter::from_fn(|| rank.next(&graph)).collect::<Vec<_>>();
        let work = |stream, operation| Doing::Work { stream, operation };
        assert_eq!(all(&mut rank), [work(0, first), work(1, other)]);
        assert_eq!(rank.progress(&graph, second), Progress::Waiting);
        rank.work_ended(&graph, 0);
        assert_eq!(all(&mut rank), [work(0, second), Doing::Send(send)]);
        rank.work_ended(&graph, 0);
        rank.work_ended(&graph, 1);
        assert!(!rank.is_done());
        rank.send_ended(&graph, send);
        assert!(rank.is_done());
    }

    #[test]
    fn messages_are_received_in_order_whether_they_come_early_or_late() {
        let mut builder = GraphBuilder::new(2);
        let receiver = &mut builder.ranks[1];
        let receive = Draft::Recv { from: 0, tag: 3, bytes: 8 };
        let (first, second) = (receiver.add(receive), receiver.add(receive));
        receiver.require(second, first);
        for _ in 0..2 {
            builder.ranks[0].add(Draft::Send { to: 1, tag: 3, bytes: 8 });
        }
        let graph = builder.build().expect("a graph");
        let mut rank = Rank::new(&graph, 1);
        // A message of the iteration to come is kept.
        rank.message_arrived(&graph, 0);
        assert_eq!(rank.unreceived(), 1);
        rank.begin(&graph);
        assert_eq!(rank.next(&graph), None);
        let of = |rank: &Rank, at: u32| rank.progress(&graph, graph.operations_of(1).start + at);
        assert_eq!((of(&rank, first), of(&rank, second)), (Progress::Ended, Progress::Started));
        rank.message_arrived(&graph, 0);
        assert!(rank.is_done());
    }
}
