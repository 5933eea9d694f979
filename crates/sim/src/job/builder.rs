//! Makes graphs of operations.

use std::ops::Range;

use clearway_proto::units::Span;

use super::messages::{accumulated, count_messages, match_sizes};
use super::problem::Problem;
use crate::model::{Channel, Follower, Label, Labels, Measure, Operation, OperationGraph, Origin, Pair};

/// The most operations of a job, and the most dependencies: some 2 GB of memory.
pub const MOST_OPERATIONS: u64 = 1 << 25;

/// An operation before its channel is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft {
    /// A message to another rank.
    Send {
        /// The rank that it goes to.
        to: u32,
        /// Its tag.
        tag: u32,
        /// Its size.
        bytes: u64,
    },
    /// A message from another rank.
    Recv {
        /// The rank that it comes from.
        from: u32,
        /// Its tag.
        tag: u32,
        /// Its size.
        bytes: u64,
    },
    /// Something that takes time.
    Calc {
        /// The processor that does it, by the name that the rank gives it.
        cpu: u32,
        /// How long it takes.
        time: Span,
    },
}

/// An operation that waits for another one of its rank.
#[derive(Clone, Copy, Debug)]
struct Edge {
    before: u32,
    after: u32,
    after_start: bool,
}

/// The operations of a rank, in their order.
#[derive(Clone, Debug, Default)]
pub struct RankDraft {
    drafts: Vec<Draft>,
    edges: Vec<Edge>,
    origins: Vec<Origin>,
    labels: Vec<u16>,
    /// The label of operations that are added, as an index of the builder's; none in jobs without labels.
    pub label: Option<u16>,
    /// The tag of collectives that are added, to which their own are added.
    pub first_tag: u32,
}

/// The ranks of a job, whose operations are being listed.
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    /// The ranks.
    pub ranks: Vec<RankDraft>,
    /// The labels of operations; where there are any, each operation has one.
    pub labels: Vec<Label>,
    /// The measures of the job, in the order of their numbers.
    pub measures: Vec<Measure>,
}

/// How far the list of a rank's operations was.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    operations: usize,
    edges: usize,
}

impl RankDraft {
    /// Makes room for this many more operations, each with a dependency at most.
    pub fn reserve(&mut self, operations: usize) {
        self.drafts.reserve(operations);
        self.edges.reserve(operations);
    }

    /// Adds an operation, and gives its number.
    pub fn add(&mut self, draft: Draft) -> u32 {
        self.drafts.push(draft);
        self.labels.extend(self.label);
        self.drafts.len() as u32 - 1
    }

    /// Adds an operation of a file.
    pub fn add_from(&mut self, draft: Draft, origin: Origin) -> u32 {
        self.origins.push(origin);
        self.add(draft)
    }

    /// Lets an operation wait for the end of another one.
    pub fn require(&mut self, after: u32, before: u32) {
        self.edges.push(Edge { before, after, after_start: false });
    }

    /// Lets an operation wait for the start of another one.
    pub fn require_start(&mut self, after: u32, before: u32) {
        self.edges.push(Edge { before, after, after_start: true });
    }

    /// How far the list is.
    pub fn position(&self) -> Position {
        Position { operations: self.drafts.len(), edges: self.edges.len() }
    }

    /// The operations that were added since then.
    pub fn since(&self, position: Position) -> Range<u32> {
        position.operations as u32..self.drafts.len() as u32
    }

    /// Lets those operations wait for the end of another one that were added since then and wait for nothing yet.
    pub fn begin_with(&mut self, before: u32, position: Position) {
        let mut waits = vec![false; self.drafts.len() - position.operations];
        for edge in &self.edges[position.edges..] {
            if let Some(at) = (edge.after as usize).checked_sub(position.operations) {
                waits[at] = true;
            }
        }
        for (after, waits) in self.since(position).zip(waits) {
            if !waits {
                self.require(after, before);
            }
        }
    }

    /// Lets an operation wait for the end of each of these.
    pub fn require_all(&mut self, after: u32, before: impl IntoIterator<Item = u32>) {
        for before in before {
            self.require(after, before);
        }
    }
}

impl GraphBuilder {
    /// A job of this number of ranks, which do nothing yet.
    pub fn new(ranks: u32) -> GraphBuilder {
        GraphBuilder { ranks: vec![RankDraft::default(); ranks as usize], ..GraphBuilder::default() }
    }

    /// The graph. Every message has to have a receive of its size, and every receive a message.
    ///
    /// # Errors
    /// Too many operations, a rank that does not exist or is its own partner, and messages without their receives.
    pub fn build(self) -> Result<OperationGraph, Problem> {
        let operations: usize = self.ranks.iter().map(|rank| rank.drafts.len()).sum();
        let edges: usize = self.ranks.iter().map(|rank| rank.edges.len()).sum();
        if operations.max(edges) as u64 > MOST_OPERATIONS {
            let message = format!(
                "{operations} operations with {edges} dependencies; the most is {MOST_OPERATIONS} of each: use fewer ranks or chunks"
            );
            return Err(Problem { line: 0, message });
        }
        let mut graph = OperationGraph::default();
        self.list_channels(&mut graph)?;
        self.list_operations(&mut graph);
        self.list_followers(&mut graph);
        let (mut origins, mut of) = (Vec::new(), Vec::new());
        for rank in self.ranks {
            origins.extend(rank.origins);
            of.extend(rank.labels);
        }
        assert_eq!(
            of.len(),
            if self.labels.is_empty() { 0 } else { operations },
            "each operation has its label"
        );
        graph.origins = origins;
        graph.labels = Labels { list: self.labels, of, measures: self.measures };
        match_sizes(&graph)?;
        count_messages(&mut graph)?;
        Ok(graph)
    }

    fn list_channels(&self, graph: &mut OperationGraph) -> Result<(), Problem> {
        let ranks = self.ranks.len() as u32;
        // A rank has many messages on few channels: its own are sorted first.
        let (mut channels, mut of_rank) = (Vec::new(), Vec::new());
        for (own, rank) in (0..).zip(&self.ranks) {
            let mut last = [None; 2];
            for (number, draft) in rank.drafts.iter().enumerate() {
                let Some(channel) = draft.channel(own) else { continue };
                // Most messages of a rank are on the channels of those before.
                if last[usize::from(channel.to == own)].replace(channel) == Some(channel) {
                    continue;
                }
                let Channel { to, from, .. } = channel;
                let line = rank.origins.get(number).map_or(0, |origin| origin.line);
                if from.max(to) >= ranks {
                    let message =
                        format!("found rank {}, expected one from 0 to {}", from.max(to), ranks - 1);
                    return Err(Problem { line, message });
                }
                if from == to {
                    let message = format!("rank {own} exchanges a message with itself: name another rank");
                    return Err(Problem { line, message });
                }
                of_rank.push(channel);
            }
            of_rank.sort_unstable();
            of_rank.dedup();
            channels.append(&mut of_rank);
        }
        channels.sort_unstable();
        channels.dedup();
        let firsts = |of: &dyn Fn(u32) -> usize| (0..=ranks).map(|rank| of(rank) as u32).collect();
        graph.first_channel = firsts(&|rank| channels.partition_point(|channel| channel.to < rank));
        let mut pairs: Vec<(u32, u32)> = channels.iter().map(|channel| (channel.from, channel.to)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        graph.first_pair = firsts(&|rank| pairs.partition_point(|pair| pair.0 < rank));
        let pair_of = |channel: &Channel| pairs.partition_point(|pair| *pair < (channel.from, channel.to));
        graph.pair_of = channels.iter().map(|channel| pair_of(channel) as u32).collect();
        graph.pairs = pairs.into_iter().map(|(from, to)| Pair { from, to, messages: 0, bytes: 0 }).collect();
        graph.channels = channels;
        Ok(())
    }

    fn list_operations(&self, graph: &mut OperationGraph) {
        graph.operations.reserve_exact(self.ranks.iter().map(|rank| rank.drafts.len()).sum());
        for (own, rank) in (0..).zip(&self.ranks) {
            graph.first_operation.push(graph.operations.len() as u32);
            let mut cpus: Vec<u32> = Vec::new();
            let [mut sends_on, mut receives_on] = [0; 2];
            for draft in &rank.drafts {
                let operation = match *draft {
                    Draft::Send { to, tag, bytes } => {
                        sends_on = graph.index_of(Channel { to, from: own, tag }, sends_on);
                        Operation::Send { channel: sends_on, bytes }
                    }
                    Draft::Recv { from, tag, bytes } => {
                        receives_on = graph.index_of(Channel { to: own, from, tag }, receives_on);
                        Operation::Recv { channel: receives_on, bytes }
                    }
                    Draft::Calc { cpu, time } => {
                        let stream = cpus.iter().position(|other| *other == cpu).unwrap_or_else(|| {
                            cpus.push(cpu);
                            cpus.len() - 1
                        });
                        Operation::Calc { stream: stream as u32, time }
                    }
                };
                graph.operations.push(operation);
            }
            graph.streams.push(cpus.len() as u32);
        }
        graph.first_operation.push(graph.operations.len() as u32);
    }

    fn list_followers(&self, graph: &mut OperationGraph) {
        graph.requirements = vec![0; graph.operations.len()];
        graph.first_follower = vec![0; graph.operations.len() + 1];
        let of_ranks = || self.ranks.iter().zip(&graph.first_operation);
        for (rank, first) in of_ranks() {
            for edge in &rank.edges {
                graph.first_follower[(first + edge.before) as usize + 1] += 1;
                graph.requirements[(first + edge.after) as usize] += 1;
            }
        }
        let mut free = accumulated(&mut graph.first_follower);
        let none = Follower { operation: 0, after_start: false };
        graph.followers = vec![none; self.ranks.iter().map(|rank| rank.edges.len()).sum()];
        for (rank, first) in of_ranks() {
            for edge in &rank.edges {
                let place = &mut free[(first + edge.before) as usize];
                graph.followers[*place as usize] =
                    Follower { operation: first + edge.after, after_start: edge.after_start };
                *place += 1;
            }
        }
    }
}

impl Draft {
    /// Returns the channel of a message of rank `own`.
    fn channel(&self, own: u32) -> Option<Channel> {
        match *self {
            Draft::Send { to, tag, .. } => Some(Channel { to, from: own, tag }),
            Draft::Recv { from, tag, .. } => Some(Channel { to: own, from, tag }),
            Draft::Calc { .. } => None,
        }
    }
}
