//! The draws of a storage job: the order of reads and writes, and the servers of each object.

use super::workload::Storage;
use crate::random::{in_table, Entity, Stream};

/// The draws for one rank, which those for no other rank disturb.
pub(super) struct Draw<'a> {
    stream: Stream,
    /// All servers in rising order, except while an object is drawn.
    servers: &'a mut [u32],
}

impl Draw<'_> {
    /// The draws for a rank of the job of this number; `servers` are all of the job's, in rising order.
    pub(super) fn new(seed: u64, job: u32, rank: u32, servers: &mut [u32]) -> Draw<'_> {
        Draw { stream: Stream::new(seed, Entity::StorageRank, in_table(job, rank)), servers }
    }

    /// Returns which requests of a client are reads: exactly as many as there are to be, in an order drawn uniformly from all orders.
    pub(super) fn reads(&mut self, storage: &Storage) -> Vec<bool> {
        let mut reads: Vec<bool> = (0..storage.requests).map(|request| request < storage.reads).collect();
        self.stream.shuffle(&mut reads);
        reads
    }

    /// The servers of an object, in the order of its blocks: distinct, and each order of each set is as likely as any other.
    pub(super) fn stripe(&mut self, width: u32) -> Vec<u32> {
        self.first_of(self.servers.len(), width)
    }

    /// The other servers of an object of which `server` keeps a block.
    pub(super) fn others(&mut self, server: u32, width: u32) -> Vec<u32> {
        let last = self.servers.len() - 1;
        self.servers.swap(server as usize, last);
        let others = self.first_of(last, width - 1);
        self.servers.swap(server as usize, last);
        others
    }

    /// The first servers in a random order of those before `end`.
    fn first_of(&mut self, end: usize, count: u32) -> Vec<u32> {
        let mut swapped = Vec::new();
        for at in 0..count as usize {
            let other = at + self.stream.below((end - at) as u64) as usize;
            self.servers.swap(at, other);
            swapped.push(other);
        }
        let drawn = self.servers[..count as usize].to_vec();
        for (at, other) in swapped.into_iter().enumerate().rev() {
            self.servers.swap(at, other);
        }
        drawn
    }

    /// One of some servers.
    pub(super) fn one_of(&mut self, servers: &[u32]) -> u32 {
        servers[self.stream.below(servers.len() as u64) as usize]
    }
}
