//! The operations of a job and what each of them waits for: ranks that send, receive and compute, as GOAL has them
//! (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly Language", 2009; `LogGOPSim`).

use std::ops::Range;

use clearway_proto::units::Span;

use super::job_labels::Labels;

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A message of `bytes` bytes leaves on a channel; it ends when all of it is acknowledged.
    Send {
        /// Index of the channel.
        channel: u32,
        /// The message's size; it may be zero.
        bytes: u64,
    },
    /// The next message of a channel is waited for; it ends when the whole message is there.
    Recv {
        /// Index of the channel.
        channel: u32,
        /// The message's size.
        bytes: u64,
    },
    /// The rank computes; what is on one stream happens one after the other.
    Calc {
        /// Number of the stream among those of its rank.
        stream: u32,
        /// How long it takes.
        time: Span,
    },
}

/// The messages of one tag from one rank to another. They are matched with receives in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel {
    /// The rank that receives.
    pub to: u32,
    /// The rank that sends.
    pub from: u32,
    /// The tag.
    pub tag: u32,
}

/// Two ranks of which one sends to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// Messages in an iteration.
    pub messages: u32,
    /// Bytes in an iteration; a message of none counts as one, which is what it takes on the wire.
    pub bytes: u64,
}

/// An operation that waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follower {
    /// Index of the operation that waits.
    pub operation: u32,
    /// It waits for the start of the other, not for its end.
    pub after_start: bool,
}

/// What the file says of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The operation's label; empty where it has none.
    pub label: String,
    /// The line in which it stands, from 1 on.
    pub line: u32,
}

/// The operations of all ranks of a job, each with what waits for it. Made by `job::GraphBuilder`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperationGraph {
    /// All operations, rank by rank.
    pub operations: Vec<Operation>,
    /// The place of each rank's first operation, and behind the last rank the number of operations.
    pub first_operation: Vec<u32>,
    /// For each operation how many others it waits for.
    pub requirements: Vec<u32>,
    /// What waits for each operation, one operation after the other.
    pub followers: Vec<Follower>,
    /// The place of each operation's first follower, and the number of all.
    pub first_follower: Vec<u32>,
    /// All channels, by receiving rank, sending rank and tag.
    pub channels: Vec<Channel>,
    /// The place of the first channel of each receiving rank, and the number of all.
    pub first_channel: Vec<u32>,
    /// All pairs, by sending and receiving rank.
    pub pairs: Vec<Pair>,
    /// The place of the first pair of each sending rank, and the number of all.
    pub first_pair: Vec<u32>,
    /// The pair of each channel.
    pub pair_of: Vec<u32>,
    /// Streams of each rank on which it computes.
    pub streams: Vec<u32>,
    /// What the file says of each operation; empty where the operations were generated.
    pub origins: Vec<Origin>,
    /// What each operation is for, where the job says it.
    pub labels: Labels,
}

impl OperationGraph {
    /// Returns how many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.streams.len() as u32
    }

    /// The operations of a rank.
    pub fn operations_of(&self, rank: u32) -> Range<u32> {
        range(&self.first_operation, rank)
    }

    /// The channels on which a rank receives.
    pub fn channels_to(&self, rank: u32) -> Range<u32> {
        range(&self.first_channel, rank)
    }

    /// The pairs in which a rank sends.
    pub fn pairs_from(&self, rank: u32) -> Range<u32> {
        range(&self.first_pair, rank)
    }

    /// What waits for an operation.
    pub fn followers_of(&self, operation: u32) -> &[Follower] {
        let Range { start, end } = range(&self.first_follower, operation);
        &self.followers[start as usize..end as usize]
    }

    /// Returns the index of a channel that there is; it is found at once if it is `likely`.
    pub fn index_of(&self, channel: Channel, likely: u32) -> u32 {
        if self.channels.get(likely as usize) == Some(&channel) {
            return likely;
        }
        self.channels.partition_point(|other| *other < channel) as u32
    }

    /// The rank that has an operation.
    pub fn rank_of(&self, operation: u32) -> u32 {
        self.first_operation.partition_point(|&first| first <= operation) as u32 - 1
    }

    /// What an operation is called in a message: its rank, its label or number, what it does, and the line of its file.
    pub fn name(&self, operation: u32) -> String {
        let rank = self.rank_of(operation);
        let number = operation - self.first_operation[rank as usize];
        let what = match self.operations[operation as usize] {
            Operation::Send { channel, bytes } => {
                let Channel { to, tag, .. } = self.channels[channel as usize];
                format!("send {bytes}b to {to} tag {tag}")
            }
            Operation::Recv { channel, bytes } => {
                let Channel { from, tag, .. } = self.channels[channel as usize];
                format!("recv {bytes}b from {from} tag {tag}")
            }
            Operation::Calc { .. } => "calc".into(),
        };
        match self.origins.get(operation as usize) {
            None => format!("rank {rank} operation {number} ({what})"),
            Some(Origin { label, line }) if label.is_empty() => format!("rank {rank} line {line} ({what})"),
            Some(Origin { label, line }) => format!("rank {rank} {label} (line {line}, {what})"),
        }
    }

    /// Memory in bytes that the graph takes.
    pub fn bytes(&self) -> f64 {
        let of_operation = size_of::<Operation>() + 2 * size_of::<u32>();
        let of_channel = size_of::<Channel>() + size_of::<u32>();
        let of_rank = 5 * size_of::<u32>();
        let labels: usize = self.origins.iter().map(|origin| size_of::<Origin>() + origin.label.len()).sum();
        let all = self.operations.len() * of_operation
            + self.followers.len() * size_of::<Follower>()
            + self.channels.len() * of_channel
            + self.pairs.len() * size_of::<Pair>()
            + self.streams.len() * of_rank
            + labels
            + self.labels.of.len() * size_of::<u16>();
        all as f64
    }
}

fn range(firsts: &[u32], at: u32) -> Range<u32> {
    firsts[at as usize]..firsts[at as usize + 1]
}
