//! Reads and writes of clients.
//!
//! Writes of replicas go through a primary as in Ceph (Weil et al., "RADOS: A Scalable, Reliable Storage Service for Petabyte-scale
//! Storage Clusters", 2007, section 3.2, primary-copy), along a chain as in HDFS (Shvachko et al., "The Hadoop Distributed File
//! System", 2010, section III.A) or from the client itself. Stripes are written by the client, or by a primary that encodes them, as
//! Ceph's erasure-coded pools do. Reads go to the servers that keep what is asked for.

use clearway_proto::units::Span;

use super::program::{receive, Begun, Program, Sent, WORK};
use super::workload::{Erasure, Redundancy, WritePath};
use crate::job::Draft;
use crate::model::RequestSort;

impl Program<'_> {
    /// A client reads an object of these servers, or a block of it.
    pub(super) fn read(&mut self, client: u32, lane: u32, stripe: &[u32]) {
        let needed = self.storage.redundancy.needed() as usize;
        let wanted = match self.storage.redundancy {
            Redundancy::Replicas(_) | Redundancy::Erasure(Erasure { reads_blocks: true, .. }) => 1,
            Redundancy::Erasure(_) => needed,
        };
        let is_degraded = stripe[..wanted].iter().any(|&server| self.storage.is_dead(server));
        let count = if is_degraded { needed } else { wanted };
        let sources = self.living(stripe, count);
        let sort = if is_degraded { RequestSort::DegradedRead } else { RequestSort::Read };
        let begun = self.begin(sort, client, lane);
        let time = if is_degraded && self.is_striped() { self.storage.decode_time } else { Span::ZERO };
        let work = Draft::Calc { cpu: WORK, time };
        if let (&[source], Span::ZERO) = (&sources[..], time) {
            // The answer is the end.
            self.ask(&begun, source, self.storage.block());
            let answer = receive(&begun, self.rank_of(source), (Sent::Data, self.storage.block()));
            return self.end(&begun, answer, &[begun.begin]);
        }
        let blocks = self.fetch(&begun, &sources, self.storage.block());
        self.end(&begun, work, &blocks);
    }

    /// The first `count` of these servers that are alive, as ranks' servers.
    pub(super) fn living(&self, stripe: &[u32], count: usize) -> Vec<u32> {
        stripe.iter().copied().filter(|&server| !self.storage.is_dead(server)).take(count).collect()
    }

    /// A server is asked for what it keeps of an object, and sends it.
    fn ask(&mut self, of: &Begun, source: u32, bytes: u64) {
        let (own, server) = (of.rank, self.rank_of(source));
        self.send(of, own, server, self.small(Sent::Ask), &[of.begin]);
        let asked = self.receive(of, server, own, self.small(Sent::Ask), &[]);
        let read = self.work(of, server, self.storage.read_time, asked);
        self.send(of, server, own, (Sent::Data, bytes), &[read]);
    }

    /// Several servers are asked for what they keep. Returns what their blocks come with.
    pub(super) fn fetch(&mut self, of: &Begun, sources: &[u32], bytes: u64) -> Vec<u32> {
        let mut blocks = Vec::new();
        for &source in sources {
            self.ask(of, source, bytes);
            blocks.push(self.receive(of, of.rank, self.rank_of(source), (Sent::Data, bytes), &[of.begin]));
        }
        blocks
    }

    /// A client writes an object to those of these servers that are alive.
    pub(super) fn write(&mut self, client: u32, lane: u32, stripe: &[u32]) {
        let targets = self.living(stripe, stripe.len());
        let begun = self.begin(RequestSort::Write, client, lane);
        match self.storage.write_path {
            WritePath::Client => self.write_to_each(&begun, &targets),
            WritePath::Primary => self.write_through(&begun, &targets),
            WritePath::Chain => self.write_along(&begun, &targets),
        }
    }

    fn write_to_each(&mut self, of: &Begun, targets: &[u32]) {
        let data = (Sent::Data, self.storage.block());
        let mut acks = Vec::new();
        for &target in targets {
            let server = self.rank_of(target);
            self.send(of, of.rank, server, data, &[of.begin]);
            let there = self.receive(of, server, of.rank, data, &[]);
            let written = self.work(of, server, self.storage.write_time, there);
            self.send(of, server, of.rank, self.small(Sent::Ack), &[written]);
            acks.push(self.receive(of, of.rank, server, self.small(Sent::Ack), &[of.begin]));
        }
        self.end(of, Draft::Calc { cpu: WORK, time: Span::ZERO }, &acks);
    }

    fn write_through(&mut self, of: &Begun, targets: &[u32]) {
        let primary = self.rank_of(targets[0]);
        let there = self.hand_over(of, primary);
        let mut done = vec![self.work(of, primary, self.storage.write_time, there)];
        let block = (Sent::Forward, self.storage.block());
        for &target in &targets[1..] {
            let server = self.rank_of(target);
            self.send(of, primary, server, block, &[there]);
            let there_too = self.receive(of, server, primary, block, &[]);
            let written = self.work(of, server, self.storage.write_time, there_too);
            self.send(of, server, primary, self.small(Sent::Ack), &[written]);
            done.push(self.receive(of, primary, server, self.small(Sent::Ack), &[there]));
        }
        self.acknowledge(of, primary, &done);
    }

    fn write_along(&mut self, of: &Begun, targets: &[u32]) {
        let first = self.rank_of(targets[0]);
        let object = (Sent::Forward, self.storage.block());
        let mut there = self.hand_over(of, first);
        // For each server what has to be done before it acknowledges, beside the next one's acknowledgement.
        let mut chain = vec![(first, self.work(of, first, self.storage.write_time, there))];
        for &target in &targets[1..] {
            let (before, server) = (chain[chain.len() - 1].0, self.rank_of(target));
            self.send(of, before, server, object, &[there]);
            there = self.receive(of, server, before, object, &[]);
            chain.push((server, self.work(of, server, self.storage.write_time, there)));
        }
        let (mut from, written) = chain.pop().expect("somebody keeps the object");
        let mut done = vec![written];
        while let Some((server, written)) = chain.pop() {
            self.send(of, from, server, self.small(Sent::Ack), &done);
            let ack = self.receive(of, server, from, self.small(Sent::Ack), &[]);
            (from, done) = (server, vec![written, ack]);
        }
        self.acknowledge(of, from, &done);
    }

    /// A client sends a whole object to a server. Returns what it comes with.
    fn hand_over(&mut self, of: &Begun, server: u32) -> u32 {
        let object = (Sent::Data, self.storage.bytes);
        self.send(of, of.rank, server, object, &[of.begin]);
        self.receive(of, server, of.rank, object, &[])
    }

    /// A server tells the client that its request is done when these have ended.
    fn acknowledge(&mut self, of: &Begun, server: u32, done: &[u32]) {
        self.send(of, server, of.rank, self.small(Sent::Ack), done);
        let ack = receive(of, server, self.small(Sent::Ack));
        self.end(of, ack, &[of.begin]);
    }
}
