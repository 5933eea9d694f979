//! Plans of jobs, which are fixed before a run, and the one thing that domains tell each other of them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::domain_index::DomainIndex;
use super::partition::Partition;
use crate::model::{Job, OperationGraph, Pair, Scenario};
use crate::traffic::FlowSpec;

/// A pair of ranks on one host has no flow.
pub(super) const NO_FLOW: u32 = u32::MAX;

/// A job as all domains know it.
#[derive(Debug)]
pub struct JobPlan {
    /// The number of its table of traffic.
    pub table: u32,
    /// The job.
    pub job: Job,
    /// Where each rank is: its domain, and its place among the ranks there.
    pub places: Vec<DomainIndex>,
    /// The flow of each pair of ranks; [`NO_FLOW`] where both are on one host.
    pub flows: Vec<u32>,
    /// What each of its flows connects, from its first on.
    connections: Vec<Connection>,
    first_flow: u32,
    order: Order,
}

/// The pair of ranks whose messages a flow carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    /// The pair.
    pub pair: u32,
    /// The place of the rank that sends, among the ranks of its domain.
    pub from: u32,
    /// The place of the rank that receives.
    pub to: u32,
}

/// On which channels the messages of each pair are sent, in their order.
///
/// A pair has one channel, and there is nothing to write down, or several. Then which message leaves next is known only when it
/// leaves, and a packet has no room to say which it is. So the sender's domain writes the message's channel here when it issues the
/// message, and the receiver's domain reads it when the message has arrived, which is in a later window: the threads have met in
/// between. The places of a pair are used again in every iteration. A rank begins its next one when all that it sent has been
/// acknowledged, and therefore read.
#[derive(Debug, Default)]
struct Order {
    channels: Vec<AtomicU32>,
    /// The first place of each pair, and the number of all; a pair with one channel has none.
    first: Vec<usize>,
    /// The channel of each pair that has one; [`SEVERAL`] for the others.
    only: Vec<u32>,
}

/// A pair has several channels.
const SEVERAL: u32 = u32::MAX;

impl Order {
    fn new(job: &Job) -> Order {
        // The channels of a pair follow each other.
        let mut only = vec![SEVERAL; job.graph.pairs.len()];
        for channels in (0..).zip(&job.graph.pair_of).collect::<Vec<(u32, _)>>().chunk_by(|a, b| a.1 == b.1) {
            if let [(channel, pair)] = channels {
                only[**pair as usize] = *channel;
            }
        }
        let mut first = vec![0];
        let mut places = 0;
        for ((pair, number), &only) in job.graph.pairs.iter().zip(0..).zip(&only) {
            places += if only != SEVERAL || job.is_local(number) { 0 } else { pair.messages as usize };
            first.push(places);
        }
        Order { channels: (0..places).map(|_| AtomicU32::new(0)).collect(), first, only }
    }

    fn place(&self, pair: u32, message: u64) -> &AtomicU32 {
        let places = &self.channels[self.first[pair as usize]..self.first[pair as usize + 1]];
        &places[(message % places.len() as u64) as usize]
    }
}

impl JobPlan {
    /// Its operations.
    pub fn graph(&self) -> &OperationGraph {
        &self.job.graph
    }

    /// What one of its flows connects.
    pub fn connection(&self, flow: u32) -> Connection {
        self.connections[(flow - self.first_flow) as usize]
    }

    /// Writes down on which channel a message of a pair is sent, by its number among those of the pair.
    pub fn note_channel(&self, pair: u32, message: u64, channel: u32) {
        if self.order.only[pair as usize] == SEVERAL {
            self.order.place(pair, message).store(channel, Relaxed);
        }
    }

    /// On which channel a message of a pair was sent that has arrived.
    pub fn channel_of(&self, pair: u32, message: u64) -> u32 {
        match self.order.only[pair as usize] {
            SEVERAL => self.order.place(pair, message).load(Relaxed),
            only => only,
        }
    }
}

/// The plans of all jobs of a scenario, whose flows are among `specs`.
pub(super) fn job_plans(scenario: &Scenario, specs: &[FlowSpec], partition: &Partition) -> Vec<JobPlan> {
    let mut next = vec![0_u32; partition.domains()];
    let mut plan = |(table, job): (u32, &Job)| {
        let mut place = |&host: &u32| {
            let domain = partition.node(host).domain;
            next[domain as usize] += 1;
            DomainIndex { domain, at: next[domain as usize] - 1 }
        };
        let places: Vec<DomainIndex> = job.hosts.iter().map(&mut place).collect();
        let first_flow = specs.partition_point(|spec| spec.table < table) as u32;
        let connection = |pair: u32| {
            let Pair { from, to, .. } = job.graph.pairs[pair as usize];
            Connection { pair, from: places[from as usize].at, to: places[to as usize].at }
        };
        let connections: Vec<Connection> = job.connections().map(connection).collect();
        let mut flows = vec![NO_FLOW; job.graph.pairs.len()];
        for (connection, flow) in connections.iter().zip(first_flow..) {
            flows[connection.pair as usize] = flow;
        }
        JobPlan { table, job: job.clone(), places, flows, connections, first_flow, order: Order::new(job) }
    };
    scenario.jobs().map(&mut plan).collect()
}
