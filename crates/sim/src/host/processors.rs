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
    /// By sending end, when its last frame reached its NIC: the way from the stack keeps a flow's order.
    pub departed: Vec<u64>,
    /// By receiving end, when its last acknowledgement reached its NIC.
    pub departed_acks: Vec<u64>,
}

impl Processors {
    /// The processors of a domain, under this service of classes.
    pub fn new(all: Vec<Processor>, classes: &[Rule]) -> Processors {
        let schedulers = vec![Scheduler::new(classes); all.len()];
        Processors { all, schedulers, classes: classes.to_vec(), ..Processors::default() }
    }

    /// Prepares for so many sending and receiving ends.
    pub fn expect_ends(&mut self, ends: [usize; 2]) {
        if !self.all.is_empty() {
            [self.departed, self.departed_acks] = ends.map(|count| vec![0; count]);
        }
    }

    /// Every frame that waits for a processor.
    pub fn received(&self) -> impl Iterator<Item = Frame> + '_ {
        self.all.iter().flat_map(Processor::received)
    }

    /// What a processor has counted.
    pub fn counters(&self, at: u32) -> ProcessorCounters {
        self.all[at as usize].counters
    }
}
