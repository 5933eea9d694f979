//! The processors of several hosts, and what they keep in order.

use super::processor::{Processor, ProcessorCounters};
use crate::engine::event::Frame;
use crate::net::scheduling::{Rule, Scheduler};

/// The processors of a domain's hosts.
#[derive(Debug, Default)]
pub struct Processors {
    /// The processors, by the index that a host has for its own.
    pub all: Vec<Processor>,
    /// For each processor the order among the classes of its flows.
    pub schedulers: Vec<Scheduler>,
    /// How each class is served.
    pub classes: Vec<Rule>,
    /// Room for the frames of a batch that reaches its NIC.
    pub spare_batch: Vec<Frame>,
}

impl Processors {
    /// The processors of a domain, under this service of classes.
    pub fn new(all: Vec<Processor>, classes: &[Rule]) -> Processors {
        let schedulers = vec![Scheduler::new(classes); all.len()];
        Processors { all, schedulers, classes: classes.to_vec(), spare_batch: Vec::new() }
    }

    /// Every frame that waits for a processor, or in a batch.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        self.all.iter().flat_map(Processor::frames)
    }

    /// Returns what a processor has counted.
    pub fn counters(&self, at: u32) -> ProcessorCounters {
        self.all[at as usize].counters
    }
}
