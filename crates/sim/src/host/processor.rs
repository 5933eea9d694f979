//! A host whose work takes time: one processor, like an engine of Google's Snap, serves what has arrived and sends what
//! may leave.
//!
//! A frame that arrives waits in the NIC's receive queue until the processor has served all before it; that wait and
//! its own service are the host's delay (t2 to t4, and t5 to t6, of Swift §3.2). A transmission takes the processor
//! too, in turn with received frames: a host with much to receive must yield before it injects (Swift, appendix C).
//! The stack hands frames to the NIC in batches: the first frame of a batch waits a random time, and all that leave the
//! stack meanwhile go with it. No timestamp tells that wait apart from the fabric's. Now and then the processor is
//! preempted.

use std::collections::VecDeque;
use std::sync::Arc;

use clearway_proto::units::{Bytes, Span};

use crate::engine::event::{Frame, Meta};
use crate::model::SnapHost;
use crate::random::{Entity, Stream};

/// Frames that the NIC asks for at once when it has been kept waiting: it pulls a little ahead of its wire, so that a
/// processor busy for the moment does not leave the wire idle.
const PULL_AHEAD: u64 = 2;

/// One host's processor.
#[derive(Debug)]
pub struct Processor {
    received: VecDeque<Received>,
    /// The first of the received frames is being served.
    serving: bool,
    /// When the processor is done with what it has begun.
    free_at: u64,
    /// When the NIC asks for the next frame: it pulls at the rate of its link.
    nic_free_at: u64,
    /// The pending event for a transmission; [`u64::MAX`] for none.
    pub grant_at: u64,
    pauses: Pauses,
    /// The batch that is open: frames that have left the stack and reach the NIC together, in this order.
    batch: Vec<Frame>,
    jitter: Stream,
    /// Frames that leave the stack now or later: when, and of which kind and end.
    leaving: Vec<(u64, u32)>,
    /// What its work costs; the same for all hosts of a kind.
    model: Arc<SnapHost>,
    /// The processor's counters.
    pub counters: ProcessorCounters,
}

/// A frame in the NIC's receive queue.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The frame.
    pub frame: Frame,
    /// When it arrived at the NIC (t2, or t5), in picoseconds.
    pub at: u64,
}

/// What a processor counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorCounters {
    /// Frames served.
    pub served_frames: u64,
    /// Frames for which the receive queue had no room.
    pub dropped_frames: u64,
    /// Time spent on frames and transmissions, preemption left out, in picoseconds.
    pub busy: u64,
    /// Bytes in the receive queue, with the frame in service.
    pub held: u64,
    /// The most bytes that the receive queue held, with the frame in service.
    pub peak: u64,
}

impl Processor {
    /// An idle processor of this host.
    pub fn new(seed: u64, host: u32, model: &Arc<SnapHost>) -> Processor {
        Processor {
            received: VecDeque::new(),
            serving: false,
            free_at: 0,
            nic_free_at: 0,
            grant_at: u64::MAX,
            pauses: Pauses::new(Stream::new(seed, Entity::HostPause, u64::from(host)), model),
            batch: Vec::new(),
            jitter: Stream::new(seed, Entity::HostJitter, u64::from(host)),
            leaving: Vec::new(),
            model: Arc::clone(model),
            counters: ProcessorCounters::default(),
        }
    }

    /// A frame reaches the NIC; false where the receive queue has no room for it.
    pub fn receive(&mut self, now: u64, frame: Frame) -> bool {
        let size = u64::from(frame.meta.size());
        if self.counters.held + size > self.model.receive_queue.get() {
            self.counters.dropped_frames += 1;
            return false;
        }
        self.counters.held += size;
        self.counters.peak = self.counters.peak.max(self.counters.held);
        self.received.push_back(Received { frame, at: now });
        true
    }

    /// Begins to serve the next received frame, if there is one; answers when it will be done.
    pub fn begin(&mut self, now: u64, payload: impl Fn(&Frame) -> u32) -> Option<u64> {
        let next = self.received.front()?;
        let cost = self.model.service(next.frame.meta, payload(&next.frame));
        self.serving = true;
        self.work(now, cost);
        Some(self.free_at)
    }

    /// The frame that has been served.
    pub fn finish(&mut self) -> Received {
        let served = self.received.pop_front().expect("a processor serves what it has received");
        self.serving = false;
        self.counters.held -= u64::from(served.frame.meta.size());
        self.counters.served_frames += 1;
        served
    }

    /// A transmission begins: the NIC is taken for `wire` picoseconds. Answers when the frame can leave
    /// the stack.
    pub fn send(&mut self, now: u64, wire: u64) -> u64 {
        self.work(now, self.model.transmit.as_ps());
        self.nic_free_at = self.nic_free_at.max(now.saturating_sub(PULL_AHEAD * wire)) + wire;
        self.free_at
    }

    /// When a frame that can leave the stack at `at` does: those of one kind and end (see [`crate::engine::event::key`])
    /// leave one after the other, and none before 1 ps.
    pub fn leave(&mut self, now: u64, at: u64, kind_and_end: u32) -> u64 {
        self.leaving.retain(|&(leaves, _)| leaves >= now);
        let before = self.leaving.iter().rev().find(|(_, other)| *other == kind_and_end);
        let leaves = at.max(before.map_or(0, |(before, _)| *before) + 1);
        self.leaving.push((leaves, kind_and_end));
        leaves
    }

    /// Whether the stack hands frames to the NIC in batches, not one by one as they leave.
    pub fn has_batches(&self) -> bool {
        self.model.jitter > Span::ZERO
    }

    /// A frame leaves the stack and joins the batch that is open, or else opens one: then it answers when the batch will
    /// reach the NIC.
    pub fn join_batch(&mut self, now: u64, frame: &Frame) -> Option<u64> {
        self.batch.push(*frame);
        (self.batch.len() == 1).then(|| now + self.jitter.below(self.model.jitter.as_ps() + 1))
    }

    /// The frames of the batch that is open, in order, in exchange for `next`, which is empty.
    pub fn replace_batch(&mut self, next: Vec<Frame>) -> Vec<Frame> {
        debug_assert!(next.is_empty(), "a batch begins without frames");
        std::mem::replace(&mut self.batch, next)
    }

    /// Whether a received frame is being served.
    pub fn is_serving(&self) -> bool {
        self.serving
    }

    /// The earliest that a transmission can begin.
    pub fn sends_at(&mut self, now: u64) -> u64 {
        self.pauses.end(now.max(self.free_at).max(self.nic_free_at))
    }

    /// Frames in the receive queue, and those on their way from stack to NIC.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        self.received.iter().map(|received| received.frame).chain(self.batch.iter().copied())
    }

    fn work(&mut self, now: u64, cost: u64) {
        self.counters.busy += cost;
        self.free_at = self.pauses.work(now.max(self.free_at), cost);
    }
}

impl SnapHost {
    /// How long the processor takes for a received frame with so many bytes of payload, in picoseconds.
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

/// When a processor does not run: a Poisson process of pauses of exponential length.
#[derive(Debug)]
struct Pauses {
    stream: Stream,
    /// Means in picoseconds, from the end of a pause to the start of the next, and of a pause.
    interval: f64,
    length: f64,
    /// The pause under way, or the next.
    from: u64,
    until: u64,
}

impl Pauses {
    fn new(stream: Stream, model: &SnapHost) -> Pauses {
        let (interval, length) = (model.pause_interval.as_ps() as f64, model.pause.as_ps() as f64);
        let mut pauses = Pauses { stream, interval, length, from: u64::MAX, until: u64::MAX };
        if length > 0.0 {
            pauses.until = 0;
            pauses.draw();
        }
        pauses
    }

    fn draw(&mut self) {
        self.from = self.until + self.stream.exponential(self.interval) as u64;
        self.until = self.from + self.stream.exponential(self.length) as u64;
    }

    /// When work of this length is done that begins at `start`. Instants asked about may not fall behind the end of
    /// work already begun.
    fn work(&mut self, start: u64, cost: u64) -> u64 {
        let (mut at, mut left) = (self.end(start), cost);
        loop {
            self.forget(at);
            if self.from >= at + left {
                return at + left;
            }
            left -= self.from.saturating_sub(at);
            at = self.until;
        }
    }

    /// The end of the pause that `now` is in, or `now`.
    fn end(&mut self, now: u64) -> u64 {
        self.forget(now);
        if self.from <= now {
            self.until
        } else {
            now
        }
    }

    /// Goes on to the first pause that is not over by then.
    fn forget(&mut self, now: u64) {
        while self.until <= now {
            self.draw();
        }
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

    fn frame(size: u32, flags: u32) -> Frame {
        Frame { stamp: 0, route_seq: 0, meta: Meta::new(size, flags) }
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

    #[test]
    fn frames_are_served_one_after_the_other_and_share_the_processor_with_transmissions() {
        let mut processor = Processor::new(1, 0, &Arc::new(model()));
        let payload = |frame: &Frame| frame.meta.size() - 100;
        for at in [1_000_000, 1_000_000, 1_100_000] {
            assert!(processor.receive(at, frame(1100, 0)));
        }
        assert_eq!(processor.begin(1_000_000, payload), Some(1_400_000));
        assert!(processor.is_serving());
        assert_eq!(processor.finish().at, 1_000_000);
        // A transmission takes its turn: 50 ns, and the NIC is taken for 120.
        assert_eq!(processor.send(1_400_000, 120_000), 1_450_000);
        assert_eq!(processor.begin(1_400_000, payload), Some(1_850_000));
        assert_eq!(processor.sends_at(1_500_000), 1_850_000);
        processor.finish();
        assert_eq!(processor.counters.busy, 850_000);
        assert_eq!((processor.counters.held, processor.counters.peak), (1100, 3300));
    }

    #[test]
    fn a_full_receive_queue_takes_no_more() {
        let mut processor = Processor::new(1, 0, &Arc::new(model()));
        assert!(processor.receive(0, frame(9000, 0)));
        assert!(!processor.receive(0, frame(1001, 0)));
        assert!(processor.receive(0, frame(1000, 0)));
        assert_eq!(processor.counters.dropped_frames, 1);
    }

    /// Batches of a processor to which a frame comes every microsecond, as those draw how long they wait who know the stream.
    #[test]
    fn a_frame_goes_with_the_batch_that_is_open() {
        let model = SnapHost { jitter: Span::from_us(9), ..model() };
        let mut processor = Processor::new(1, 5, &Arc::new(model));
        let mut draws = Stream::new(1, Entity::HostJitter, 5);
        let (mut now, mut sizes) = (0, Vec::new());
        while sizes.len() < 100 {
            let release = now + draws.below(9_000_001);
            assert_eq!(processor.join_batch(now, &frame(100, 0)), Some(release));
            let mut expected = vec![100];
            while now + 1_000_000 <= release {
                now += 1_000_000;
                expected.push(100 + expected.len() as u32);
                let next = frame(expected[expected.len() - 1], 0);
                assert_eq!(processor.join_batch(now, &next), None);
            }
            assert_eq!(processor.frames().count(), expected.len());
            let batch = processor.replace_batch(Vec::new());
            let batch: Vec<u32> = batch.iter().map(|frame| frame.meta.size()).collect();
            assert_eq!(batch, expected, "in their order");
            sizes.push(batch.len());
            now += 1_000_000;
        }
        assert!(sizes.contains(&1) && sizes.contains(&9), "{sizes:?}");
    }

    #[test]
    fn frames_of_one_end_leave_the_stack_one_after_the_other() {
        let mut processor = Processor::new(1, 0, &Arc::new(model()));
        assert_eq!(processor.leave(0, 0, 7), 1);
        assert_eq!([7, 8, 7, 8].map(|end| processor.leave(5, 5, end)), [5, 5, 6, 6]);
        assert_eq!([7, 8].map(|end| processor.leave(6, 9, end)), [9, 9]);
        assert_eq!(processor.leave(10, 10, 7), 10);
        assert_eq!(processor.leaving.len(), 1, "what has left is forgotten");
    }

    /// Against a walk over all pauses of the same stream.
    #[test]
    fn work_goes_on_after_a_pause_where_it_was() {
        let model = SnapHost { pause: Span::from_us(20), ..model() };
        let stream = || Stream::new(3, Entity::HostPause, 9);
        let mut all = Pauses::new(stream(), &model);
        let mut list = Vec::new();
        for _ in 0..2000 {
            list.push((all.from, all.until));
            all.draw();
        }
        let paused = |at: u64| list.iter().any(|&(from, until)| from <= at && at < until);
        let mut pauses = Pauses::new(stream(), &model);
        let mut draws = Stream::new(4, Entity::HostPause, 9);
        let (mut start, mut met) = (0, 0);
        while start < 100_000_000_000 {
            let cost = draws.below(3_000_000);
            let done = pauses.work(start, cost);
            // What ran between is the cost: the time, less what of each pause lies in it.
            let idle: u64 =
                list.iter().map(|&(from, until)| until.min(done).saturating_sub(from.max(start))).sum();
            assert_eq!(done - start - idle, cost, "from {start}");
            assert!(cost == 0 || !paused(done - 1), "it ends at work");
            met += u32::from(idle > 0);
            let around = list.iter().find(|&&(from, until)| from <= done && done < until);
            assert_eq!(pauses.end(done), around.map_or(done, |&(_, until)| until));
            start = done + draws.below(5_000_000);
        }
        assert!(met > 500, "{met}");
    }
}
