//! Conservation: every frame and byte that was sent has arrived, is lost, waits, or is under way. Checked at the
//! end of every run, from counters that are kept apart.

use clearway_proto::units::Time;

use super::{sized, Simulation};
use crate::engine::event::{Frame, Meta};
use crate::net::topology::NodeKind;

/// Frames and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    frames: u64,
    bytes: u64,
}

impl Amount {
    pub(super) fn add(&mut self, frames: u64, bytes: u64) {
        self.frames += frames;
        self.bytes += bytes;
    }
}

impl Simulation {
    /// Panics, naming the flow or node, when something was lost count of.
    pub fn assert_conservation(&self) {
        self.assert_flows_balance();
        self.assert_nodes_balance();
        self.assert_classes_balance();
        self.assert_payload_is_whole();
        self.assert_operations_balance();
        let pooled = self.frames_under_way().filter(|frame| frame.meta.has(Meta::POOLED)).count();
        assert_eq!(self.particular_acks.len(), pooled, "acknowledgements have leaked from their pool");
        self.fabric.assert_buffers_balance();
    }

    /// Per flow: data sent = arrived + lost + under way, and so for acknowledgements.
    fn assert_flows_balance(&self) {
        let mut under_way = vec![[0_u64; 2]; self.flows.len()];
        for frame in self.frames_under_way() {
            under_way[frame.flow() as usize][usize::from(frame.meta.has(Meta::ACK))] += 1;
        }
        for (id, (flow, landing)) in self.flows.iter().zip(&self.landings).enumerate() {
            let [data, acks] = under_way[id];
            let (sent, lost) = (flow.sender.flight().sent, self.losses[id]);
            assert_eq!(sent, landing.arrived + lost.data + data, "flow {id} has lost count of its data");
            assert_eq!(landing.acks, flow.acks + lost.acks + acks, "flow {id} has lost count of its ACKs");
        }
    }

    /// A sized flow that is complete has delivered its size, and none has delivered more.
    fn assert_payload_is_whole(&self) {
        for (id, (spec, landing)) in self.specs.iter().zip(&self.landings).enumerate() {
            let Some(bytes) = sized(spec) else { continue };
            let payload = landing.receiver.payload();
            if landing.completed_at == Time::NEVER {
                assert!(payload < bytes.get(), "flow {id} has all its bytes and is not complete");
            } else {
                assert_eq!(payload, bytes.get(), "flow {id} is complete without all its bytes");
            }
        }
    }

    fn frames_under_way(&self) -> impl Iterator<Item = Frame> + '_ {
        let waiting = (0..self.fabric.len() as u32).flat_map(|link| self.fabric.waiting(link));
        self.queue.carriers().map(|event| event.frame()).chain(waiting).chain(self.engines.received())
    }

    /// Per switch: what came in over its links has left, is dropped, or waits.
    fn assert_nodes_balance(&self) {
        let mut in_flight = vec![Amount::default(); self.fabric.len()];
        for event in self.queue.arrivals() {
            in_flight[event.id() as usize].add(1, u64::from(event.frame().meta.size()));
        }
        let mut came = vec![Amount::default(); self.graph.nodes().len()];
        let mut went = came.clone();
        for (id, link) in self.graph.links().iter().enumerate() {
            let port = self.fabric.port(id as u32);
            let counters = self.fabric.counters(id as u32);
            let flying = in_flight[id];
            came[link.to as usize].add(
                port.sent_frames - flying.frames - counters.lost_frames,
                port.sent_bytes - flying.bytes - counters.lost_bytes,
            );
            let waiting = self.fabric.waiting(id as u32).count() as u64;
            went[link.from as usize].add(
                port.sent_frames + counters.dropped_frames + waiting,
                port.sent_bytes + counters.dropped_bytes + u64::from(port.waiting),
            );
        }
        for (node, (came, went)) in self.graph.nodes().iter().zip(came.iter().zip(&went)) {
            if matches!(node.kind, NodeKind::Switch(_)) {
                assert_eq!(came, went, "{} has lost count of its frames", node.name);
            }
        }
    }
}
