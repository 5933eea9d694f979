//! A storage job as it is asked for: clients, servers, requests, and how objects are kept.

use clearway_proto::units::Span;

use crate::model::RequestSort;

/// An object in pieces of which some may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// Data blocks, k: any k blocks of a stripe give the object back.
    pub data: u32,
    /// Parity blocks, m.
    pub parity: u32,
    /// Whether a read asks for one data block and not for the whole object.
    pub reads_blocks: bool,
}

/// How an object outlives the death of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redundancy {
    /// Each of this many servers has the whole object.
    Replicas(u32),
    /// Each of k + m servers has a block.
    Erasure(Erasure),
}

/// The way of what is written to the servers that keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePath {
    /// The client sends the object to the first server, which sends the others what they keep, and acknowledges when all have it.
    Primary,
    /// Each server passes the object on to the next, and acknowledgements come back the same way.
    Chain,
    /// The client sends each server what it keeps.
    Client,
}

/// The rebuilding of what dead servers held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuild {
    /// Bytes that each dead server had.
    pub bytes: u64,
    /// Blocks that a server rebuilds at a time.
    pub depth: u32,
}

/// A storage job: what an iteration of it is made of. Clients are the ranks from 0 on, servers those behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Ranks that read and write.
    pub clients: u32,
    /// Ranks that keep objects.
    pub servers: u32,
    /// The numbers of the servers that are dead, from 0 on and in rising order.
    pub dead: Vec<u32>,
    /// Requests of each client.
    pub requests: u32,
    /// How many of these are reads.
    pub reads: u32,
    /// Requests of a client that are under way at a time.
    pub depth: u32,
    /// Size of an object.
    pub bytes: u64,
    /// Size of a message that asks for something or acknowledges something.
    pub request_bytes: u64,
    /// Time of a server's processor for a block that is read.
    pub read_time: Span,
    /// Time of a server's processor for a block that is written.
    pub write_time: Span,
    /// Time of the processor that makes a block from others of its stripe.
    pub decode_time: Span,
    /// Time of a client before each request.
    pub think_time: Span,
    /// How objects are kept.
    pub redundancy: Redundancy,
    /// The way of what is written.
    pub write_path: WritePath,
    /// The rebuilding of what dead servers held; none: nothing is rebuilt.
    pub rebuild: Option<Rebuild>,
}

impl Redundancy {
    /// Returns how many servers keep an object.
    pub fn width(&self) -> u32 {
        match *self {
            Redundancy::Replicas(replicas) => replicas,
            Redundancy::Erasure(Erasure { data, parity, .. }) => data + parity,
        }
    }

    /// Returns how many of these give the object back.
    pub fn needed(&self) -> u32 {
        match *self {
            Redundancy::Replicas(_) => 1,
            Redundancy::Erasure(Erasure { data, .. }) => data,
        }
    }

    /// Returns how many of these may be dead.
    pub fn spare(&self) -> u32 {
        self.width() - self.needed()
    }
}

impl Storage {
    /// Returns how many ranks there are.
    pub fn ranks(&self) -> u64 {
        u64::from(self.clients) + u64::from(self.servers)
    }

    /// Returns how many bytes each server of an object keeps of it.
    pub fn block(&self) -> u64 {
        self.bytes.div_ceil(self.redundancy.needed().into())
    }

    /// Returns how many bytes a read asks for.
    pub fn read_bytes(&self) -> u64 {
        match self.redundancy {
            Redundancy::Erasure(Erasure { reads_blocks: true, .. }) => self.block(),
            _ => self.bytes,
        }
    }

    /// Returns how many requests of a client are ever under way at a time.
    pub fn lanes(&self) -> u32 {
        self.depth.min(self.requests)
    }

    /// Returns how many blocks of each dead server are rebuilt.
    pub fn lost_blocks(&self) -> u64 {
        self.rebuild.map_or(0, |rebuild| rebuild.bytes.div_ceil(self.block()))
    }

    /// What the operation is called with which a client begins a request.
    pub(super) fn begins(&self, sort: RequestSort) -> &'static str {
        if self.think_time == Span::ZERO {
            sort.name()
        } else {
            "think"
        }
    }

    /// Returns whether a server is dead.
    pub fn is_dead(&self, server: u32) -> bool {
        self.dead.binary_search(&server).is_ok()
    }
}
