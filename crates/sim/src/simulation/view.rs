//! What may be seen of a simulation from outside, at an instant up to which everything has happened.

use clearway_proto::units::{Bytes, Span, Time};

use super::{sized, Flow, FlowLosses, Landing, Operations, Simulation};
use crate::net::engine::EngineCounters;
use crate::net::fabric::Fabric;
use crate::net::ideal::ideal_completion;
use crate::net::topology::Graph;
use crate::record::counters::TransportCounters;
use crate::traffic::FlowSpec;

impl Simulation {
    /// The flows as they were asked for.
    pub fn specs(&self) -> &[FlowSpec] {
        &self.specs
    }

    /// Their sending ends.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Their receiving ends.
    pub fn landings(&self) -> &[Landing] {
        &self.landings
    }

    /// What each flow has lost.
    pub fn losses(&self) -> &[FlowLosses] {
        &self.losses
    }

    /// The ports.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// What each host's engine has counted, by host; nothing where hosts are ideal.
    pub fn engines(&self) -> impl Iterator<Item = EngineCounters> + '_ {
        self.engines.counters()
    }

    /// Nodes and links.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What loops have issued, and what is done of it.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// What is counted for each transport.
    pub fn counters(&self) -> &[TransportCounters] {
        &self.counters
    }

    /// The same, to be cleared where a measurement begins.
    pub fn counters_mut(&mut self) -> &mut [TransportCounters] {
        &mut self.counters
    }

    /// Packets over links so far.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// The time reached.
    pub fn time(&self) -> Time {
        self.now()
    }

    /// Whether every sized flow has arrived whole, every other has stopped, and no operation is open.
    pub fn all_complete(&self) -> bool {
        self.incomplete == 0 && self.now() >= self.last_stop && self.operations.open_count() == 0
    }

    /// How long a sized flow would take alone, never held back: first bit at its NIC to last bit at its
    /// destination.
    pub fn ideal_completion(&self, flow: u32, mtu: u32) -> Option<Span> {
        let bytes = sized(&self.specs[flow as usize])?.get();
        let mtu = u64::from(mtu);
        let overhead = u64::from(self.flows[flow as usize].overhead);
        let frames = bytes.div_ceil(mtu);
        let tail = bytes - (frames - 1) * mtu;
        let links: Vec<_> = self
            .paths
            .there(flow)
            .map(|link| self.graph.link(link))
            .map(|link| (link.rate, link.delay))
            .collect();
        Some(ideal_completion(&links, Bytes::new(mtu + overhead), Bytes::new(tail + overhead), frames))
    }
}
