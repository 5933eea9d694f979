//! Plans of jobs, which are fixed before a run, and the one thing that domains tell each other of them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::domain_index::DomainIndex;
use super::partition::Partition;
use crate::model::{Job, OperationGraph, Scenario};
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
    /// The pair of each of its flows, from its first on.
    pairs: Vec<u32>,
    first_flow: u32,
    order: Order,
}

/// On which channels the messages of each pair are sent, in their order.
///
/// Which message of a pair leaves next is known only when it leaves, and a packet has no room to say which it is. So the sender's
/// domain writes the message's channel here when it issues the message, and the receiver's domain reads it when the message has
/// arrived, which is in a later window: the threads have met in between. The places of a pair are used again in every iteration.
/// A rank begins its next one when all that it sent has been acknowledged, and therefore read.
#[derive(Debug, Default)]
struct Order {
    channels: Vec<AtomicU32>,
    /// The first place of each pair, and the number of all.
    first: Vec<usize>,
}

impl Order {
    fn new(job: &Job) -> Order {
        let mut first = vec![0];
        let mut places = 0;
        for (pair, number) in job.graph.pairs.iter().zip(0..) {
            places += if job.is_local(number) { 0 } else { pair.messages as usize };
            first.push(places);
        }
        Order { channels: (0..places).map(|_| AtomicU32::new(0)).collect(), first }
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

    /// The pair of ranks of one of its flows.
    pub fn pair_of(&self, flow: u32) -> u32 {
        self.pairs[(flow - self.first_flow) as usize]
    }

    /// Writes down on which channel a message of a pair is sent, by its number among those of the pair.
    pub fn note_channel(&self, pair: u32, message: u64, channel: u32) {
        self.order.place(pair, message).store(channel, Relaxed);
    }

    /// On which channel a message of a pair was sent that has arrived.
    pub fn channel_of(&self, pair: u32, message: u64) -> u32 {
        self.order.place(pair, message).load(Relaxed)
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
        let places = job.hosts.iter().map(&mut place).collect();
        let first_flow = specs.partition_point(|spec| spec.table < table) as u32;
        let pairs: Vec<u32> = job.connections().collect();
        let mut flows = vec![NO_FLOW; job.graph.pairs.len()];
        for (&pair, flow) in pairs.iter().zip(first_flow..) {
            flows[pair as usize] = flow;
        }
        JobPlan { table, job: job.clone(), places, flows, pairs, first_flow, order: Order::new(job) }
    };
    scenario.jobs().map(&mut plan).collect()
}
