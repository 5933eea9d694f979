//! A host of which one processor, like an engine of Google's Snap, serves what has arrived and sends what may leave.
//!
//! A frame that arrives waits in the NIC's receive queue until the processor has served all before it; that wait and
//! its own service are the host's delay (t2 to t4, and t5 to t6, of Swift §3.2). A transmission takes the processor
//! too, in turn with received frames: a host with much to receive must yield before it injects (Swift, appendix C).
//! The stack hands frames to the NIC in batches: the first frame of a batch waits a random time, and all that leave the
//! stack meanwhile go with it. No timestamp tells that wait apart from the fabric's. Now and then the processor is
//! preempted.

use std::sync::Arc;

use clearway_proto::units::{Bytes, Span};

use super::pauses::{Length, Pauses};
use crate::engine::event::{Frame, Meta};
use crate::model::SnapHost;
use crate::random::{Entity, Stream};

/// The one processor of such a host, and what has left its stack.
#[derive(Debug)]
pub struct Snap {
    /// When the processor is done with what it has begun.
    free_at: u64,
    /// When the processor does not run.
    pauses: Pauses,
    /// The batch that is open: frames that have left the stack and reach the NIC together, in this order.
    batch: Vec<Frame>,
    jitter: Stream,
    /// Frames that leave the stack now or later: when, and of which kind and end.
    leaving: Vec<(u64, u32)>,
    /// What the processor's work costs, which is the same for all hosts of a kind.
    model: Arc<SnapHost>,
}

impl Snap {
    /// An idle processor of this host.
    pub fn new(seed: u64, host: u32, model: &Arc<SnapHost>) -> Snap {
        let length = Length::Exponential(model.pause.as_ps() as f64);
        Snap {
            free_at: 0,
            pauses: Pauses::new(seed, host, model.pause_interval.as_ps(), length),
            batch: Vec::new(),
            jitter: Stream::new(seed, Entity::HostJitter, u64::from(host)),
            leaving: Vec::new(),
            model: Arc::clone(model),
        }
    }

    /// Has the processor take a received frame with `payload` bytes of payload. Returns when it will be done, and what it costs.
    pub fn serve(&mut self, now: u64, frame: &Frame, payload: u32) -> (u64, u64) {
        let cost = self.model.service(frame.meta, payload);
        (self.work(now, cost), cost)
    }

    /// The processor sends a frame: when that can leave the stack, and what it costs.
    pub fn send(&mut self, now: u64) -> (u64, u64) {
        let cost = self.model.transmit.as_ps();
        (self.work(now, cost), cost)
    }

    fn work(&mut self, now: u64, cost: u64) -> u64 {
        self.free_at = self.pauses.work(now.max(self.free_at), cost);
        self.free_at
    }

    /// The earliest that a transmission can begin that the NIC asks for at `asked`.
    pub fn sends_at(&mut self, asked: u64) -> u64 {
        self.pauses.end(asked.max(self.free_at))
    }

    /// Returns when a frame that can leave the stack at `at` does: those of one kind and end (see [`crate::engine::event::key`])
    /// leave one after the other, and none before 1 ps.
    pub fn leave(&mut self, now: u64, at: u64, kind_and_end: u32) -> u64 {
        self.leaving.retain(|&(leaves, _)| leaves >= now);
        let before = self.leaving.iter().rev().find(|(_, other)| *other == kind_and_end);
        let leaves = at.max(before.map_or(0, |(before, _)| *before) + 1);
        self.leaving.push((leaves, kind_and_end));
        leaves
    }

    /// Returns whether the stack hands frames to the NIC in batches, not one by one as they leave.
    pub fn has_batches(&self) -> bool {
        self.model.jitter > Span::ZERO
    }

    /// A frame leaves the stack and joins the batch that is open, or else opens one: then it answers when the batch will
    /// reach the NIC.
    pub fn join_batch(&mut self, now: u64, frame: &Frame) -> Option<u64> {
        self.batch.push(*frame);
        (self.batch.len() == 1).then(|| now + self.jitter.below(self.model.jitter.as_ps() + 1))
    }

    /// The frames of the batch that is open, in order, go into `frames`, which is empty.
    pub fn release_batch(&mut self, frames: &mut Vec<Frame>) {
        debug_assert!(frames.is_empty(), "a batch begins without frames");
        std::mem::swap(&mut self.batch, frames);
    }

    /// Frames on their way from stack to NIC.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        self.batch.iter().copied()
    }
}

impl SnapHost {
    /// Returns how long the processor takes for a received frame with `payload` bytes of payload, in picoseconds.
    pub fn service(&self, meta: Meta, payload: u32) -> u64 {
        let last = meta.contains(Meta::LAST);
        let copy = self.copy_rate.transmission(Bytes::new(u64::from(payload)));
        let span = match (meta.contains(Meta::ACK), last) {
            (true, false) => self.receive_ack,
            (true, true) => self.receive_ack + self.completion,
            (false, false) => self.receive_packet + copy,
            (false, true) => self.receive_packet + copy + self.operation,
        };
        span.as_ps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_proto::units::Rate;

    fn model() -> SnapHost {
        SnapHost {
            receive_packet: Span::from_ns(300),
            copy_rate: Rate::from_gbps(80),
            operation: Span::from_ns(250),
            receive_ack: Span::from_ns(100),
            completion: Span::from_ns(900),
            transmit: Span::from_ns(50),
            jitter: Span::ZERO,
            pause_interval: Span::from_us(100),
            pause: Span::ZERO,
            receive_queue: Bytes::new(10_000),
        }
    }

    fn frame(size: u32) -> Frame {
        Frame { stamp: 0, route_seq: 0, meta: Meta::new(size, 0) }
    }

    #[test]
    fn service_is_by_packet_byte_and_operation() {
        let model = model();
        // 1000 bytes at 80 Gb/s are copied in 100 ns.
        assert_eq!(model.service(Meta::new(1100, 0), 1000), 400_000);
        assert_eq!(model.service(Meta::new(1100, Meta::LAST), 1000), 650_000);
        assert_eq!(model.service(Meta::new(84, Meta::ACK), 0), 100_000);
        assert_eq!(model.service(Meta::new(84, Meta::ACK | Meta::LAST), 0), 1_000_000);
    }

    /// Batches of a processor to which a frame comes every microsecond, as those draw how long they wait who know the stream.
    #[test]
    fn a_frame_goes_with_the_batch_that_is_open() {
        let model = SnapHost { jitter: Span::from_us(9), ..model() };
        let mut snap = Snap::new(1, 5, &Arc::new(model));
        let mut draws = Stream::new(1, Entity::HostJitter, 5);
        let (mut now, mut sizes) = (0, Vec::new());
        while sizes.len() < 100 {
            let release = now + draws.below(9_000_001);
            assert_eq!(snap.join_batch(now, &frame(100)), Some(release));
            let mut expected = vec![100];
            while now + 1_000_000 <= release {
                now += 1_000_000;
                expected.push(100 + expected.len() as u32);
                let next = frame(expected[expected.len() - 1]);
                assert_eq!(snap.join_batch(now, &next), None);
            }
            assert_eq!(snap.frames().count(), expected.len());
            let mut batch = Vec::new();
            snap.release_batch(&mut batch);
            let batch: Vec<u32> = batch.iter().map(|frame| frame.meta.size()).collect();
            assert_eq!(batch, expected, "in their order");
            sizes.push(batch.len());
            now += 1_000_000;
        }
        assert!(sizes.contains(&1) && sizes.contains(&9), "{sizes:?}");
    }

    #[test]
    fn frames_of_one_end_leave_the_stack_one_after_the_other() {
        let mut snap = Snap::new(1, 0, &Arc::new(model()));
        assert_eq!(snap.leave(0, 0, 7), 1);
        assert_eq!([7, 8, 7, 8].map(|end| snap.leave(5, 5, end)), [5, 5, 6, 6]);
        assert_eq!([7, 8].map(|end| snap.leave(6, 9, end)), [9, 9]);
        assert_eq!(snap.leave(10, 10, 7), 10);
        assert_eq!(snap.leaving.len(), 1, "what has left is forgotten");
    }
}
