//! A host whose work takes time: what has arrived waits for its stack, and what it sends keeps it from sending more.
//!
//! What that means is the host model's: [`super::snap`] has one processor for all that comes and goes,
//! [`super::interrupts`] hands frames to the stack together when the NIC interrupts. What both have in common is here:
//! the NIC's receive queue, and the pace at which the NIC asks for frames.

use std::collections::VecDeque;
use std::sync::Arc;

use super::interrupts::Interrupts;
use super::snap::Snap;
use crate::engine::event::Frame;
use crate::model::{HostModel, InterruptHost, SnapHost};

/// Frames that the NIC asks for at once when it has been kept waiting: it pulls a little ahead of its wire, so that a
/// processor busy for the moment does not leave the wire idle.
const PULL_AHEAD: u64 = 2;

/// One host's processor.
#[derive(Debug)]
pub struct Processor {
    received: VecDeque<Received>,
    /// The first of the received frames is being served, or waits for an interrupt.
    serving: bool,
    /// When the NIC asks for the next frame: it pulls at the rate of its link.
    nic_free_at: u64,
    /// The pending event for a transmission; [`u64::MAX`] for none.
    pub grant_at: u64,
    /// Room in the receive queue, in bytes.
    receive_queue: u64,
    work: Work,
    /// The processor's counters.
    pub counters: ProcessorCounters,
}

/// What its work is like.
#[derive(Debug)]
enum Work {
    Snap(Snap),
    Interrupts(Interrupts),
}

/// What the work of a kind of host costs, shared by the hosts of that kind.
#[derive(Clone, Debug)]
pub enum Costs {
    /// One processor serves all.
    Snap(Arc<SnapHost>),
    /// Received frames wait for interrupts.
    Interrupts(Arc<InterruptHost>),
}

impl Costs {
    /// The costs of a model; `None` where work costs nothing.
    pub fn of(model: &HostModel) -> Option<Costs> {
        match model {
            HostModel::Ideal => None,
            HostModel::Snap(model) => Some(Costs::Snap(Arc::new(model.clone()))),
            HostModel::Interrupts(model) => Some(Costs::Interrupts(Arc::new(model.clone()))),
        }
    }
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
    pub fn new(seed: u64, host: u32, costs: &Costs) -> Processor {
        let (work, room) = match costs {
            Costs::Snap(model) => (Work::Snap(Snap::new(seed, host, model)), model.receive_queue),
            Costs::Interrupts(model) => {
                (Work::Interrupts(Interrupts::new(seed, host, model)), model.receive_queue)
            }
        };
        Processor {
            received: VecDeque::new(),
            serving: false,
            nic_free_at: 0,
            grant_at: u64::MAX,
            receive_queue: room.get(),
            work,
            counters: ProcessorCounters::default(),
        }
    }

    /// A frame reaches the NIC; false where the receive queue has no room for it.
    pub fn receive(&mut self, now: u64, frame: Frame) -> bool {
        let size = u64::from(frame.meta.size());
        if self.counters.held + size > self.receive_queue {
            self.counters.dropped_frames += 1;
            return false;
        }
        self.counters.held += size;
        self.counters.peak = self.counters.peak.max(self.counters.held);
        self.received.push_back(Received { frame, at: now });
        true
    }

    /// Begins to serve the next received frame, if there is one that is not begun yet; answers when it will be done.
    pub fn begin(&mut self, now: u64, payload: impl Fn(&Frame) -> u32) -> Option<u64> {
        let next = self.received.front().filter(|_| !self.serving)?;
        self.serving = true;
        Some(match &mut self.work {
            Work::Snap(snap) => {
                let (done, cost) = snap.serve(now, &next.frame, payload(&next.frame));
                self.counters.busy += cost;
                done
            }
            Work::Interrupts(interrupts) => interrupts.wake(now),
        })
    }

    /// The frame that has been served.
    pub fn finish(&mut self) -> Received {
        if let Work::Interrupts(interrupts) = &mut self.work {
            interrupts.take(self.received.len());
        }
        let served = self.received.pop_front().expect("a processor serves what it has received");
        self.serving = false;
        self.counters.held -= u64::from(served.frame.meta.size());
        self.counters.served_frames += 1;
        served
    }

    /// The transmission of a frame of `size` bytes begins: the NIC is taken for `wire` picoseconds. Answers when the frame
    /// can leave the stack.
    pub fn send(&mut self, now: u64, size: u32, wire: u64) -> u64 {
        let (leaves, taken) = match &mut self.work {
            Work::Snap(snap) => {
                let (done, cost) = snap.send(now);
                self.counters.busy += cost;
                (done, wire)
            }
            Work::Interrupts(interrupts) => (now, wire.max(interrupts.send_time(size))),
        };
        self.nic_free_at = self.nic_free_at.max(now.saturating_sub(PULL_AHEAD * wire)) + taken;
        leaves
    }

    /// Returns when a packet can leave whose timeslot has come: a stack that stands still is late, and so is one that is still
    /// busy with the packets before it. What leaves in slots costs a processor that serves all by itself nothing.
    pub fn slot_at(&mut self, now: u64) -> u64 {
        match &mut self.work {
            Work::Snap(_) => now,
            Work::Interrupts(interrupts) => interrupts.sends_at(now.max(self.nic_free_at)),
        }
    }

    /// A data frame of `size` bytes leaves in a timeslot. It keeps the stack from the next for as long as the host's rate has
    /// it; when the NIC is free is of no matter, as slots are no closer than frames.
    pub fn send_in_slot(&mut self, now: u64, size: u32) {
        if let Work::Interrupts(interrupts) = &mut self.work {
            let taken = interrupts.send_time(size);
            if taken > 0 {
                self.nic_free_at = self.nic_free_at.max(now) + taken;
            }
        }
    }

    /// Returns whether what leaves in timeslots reaches the NIC later.
    pub fn delays_slots(&self) -> bool {
        matches!(&self.work, Work::Interrupts(interrupts) if interrupts.has_delay())
    }

    /// Returns when a frame that can leave the stack at `at` does, in the order of those of its kind and end; `None` where it
    /// reaches the NIC at once.
    pub fn leave(&mut self, now: u64, at: u64, kind_and_end: u32) -> Option<u64> {
        match &mut self.work {
            Work::Snap(snap) => Some(snap.leave(now, at, kind_and_end)),
            Work::Interrupts(_) => None,
        }
    }

    /// Returns whether frames that leave the stack reach the NIC later: in batches, or each after a constant time.
    pub fn has_batches(&self) -> bool {
        match &self.work {
            Work::Snap(snap) => snap.has_batches(),
            Work::Interrupts(interrupts) => interrupts.has_delay(),
        }
    }

    /// A frame leaves the stack and joins those on their way to the NIC. If it is the first, it answers when the next of
    /// them reaches the NIC.
    pub fn join_batch(&mut self, now: u64, frame: &Frame) -> Option<u64> {
        match &mut self.work {
            Work::Snap(snap) => snap.join_batch(now, frame),
            Work::Interrupts(interrupts) => interrupts.delay(now, frame),
        }
    }

    /// The frames that reach the NIC now go into `frames`, in order, which is empty. Answers when the next reaches it, if
    /// one is on its way.
    pub fn release_batch(&mut self, now: u64, frames: &mut Vec<Frame>) -> Option<u64> {
        match &mut self.work {
            Work::Snap(snap) => {
                snap.release_batch(frames);
                None
            }
            Work::Interrupts(interrupts) => interrupts.release(now, frames),
        }
    }

    /// Returns whether a received frame is being served that keeps the stack from sending.
    pub fn is_occupied(&self) -> bool {
        self.serving && matches!(self.work, Work::Snap(_))
    }

    /// The earliest that a transmission can begin.
    pub fn sends_at(&mut self, now: u64) -> u64 {
        let asked = now.max(self.nic_free_at);
        match &mut self.work {
            Work::Snap(snap) => snap.sends_at(asked),
            Work::Interrupts(interrupts) => interrupts.sends_at(asked),
        }
    }

    /// Frames in the receive queue, and those on their way from stack to NIC.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        let (snap, interrupts) = match &self.work {
            Work::Snap(snap) => (Some(snap.frames()), None),
            Work::Interrupts(interrupts) => (None, Some(interrupts.frames())),
        };
        let leaving = snap.into_iter().flatten().chain(interrupts.into_iter().flatten());
        self.received.iter().map(|received| received.frame).chain(leaving)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::Meta;
    use clearway_proto::units::{Bytes, Rate, Span};

    /// A data packet takes 300 ns and 0.1 ns a byte of payload, and one that is sent 50 ns.
    fn processor() -> Processor {
        let model = SnapHost {
            receive_packet: Span::from_ns(300),
            copy_rate: Rate::from_gbps(80),
            transmit: Span::from_ns(50),
            pause: Span::ZERO,
            receive_queue: Bytes::new(10_000),
            ..SnapHost::default()
        };
        Processor::new(1, 0, &Costs::Snap(Arc::new(model)))
    }

    /// Interrupts are at least 70 us apart, and a host sends 5 Gb/s at most.
    fn interrupted() -> Processor {
        let model = InterruptHost {
            wake_interval: Span::from_us(70),
            wake_spread: 0.0,
            softirq_mean: Span::ZERO,
            send_rate: Some(Rate::from_gbps(5)),
            ..InterruptHost::default()
        };
        Processor::new(1, 0, &Costs::Interrupts(Arc::new(model)))
    }

    fn frame(size: u32) -> Frame {
        Frame { stamp: 0, route_seq: 0, meta: Meta::new(size, 0) }
    }

    #[test]
    fn frames_are_served_one_after_the_other_and_share_the_processor_with_transmissions() {
        let mut processor = processor();
        let payload = |frame: &Frame| frame.meta.size() - 100;
        for at in [1_000_000, 1_000_000, 1_100_000] {
            assert!(processor.receive(at, frame(1100)));
        }
        assert_eq!(processor.begin(1_000_000, payload), Some(1_400_000));
        assert!(processor.is_occupied());
        assert_eq!(processor.finish().at, 1_000_000);
        // A transmission takes its turn: 50 ns, and the NIC is taken for 120.
        assert_eq!(processor.send(1_400_000, 1500, 120_000), 1_450_000);
        assert_eq!(processor.begin(1_400_000, payload), Some(1_850_000));
        assert_eq!(processor.sends_at(1_500_000), 1_850_000);
        processor.finish();
        assert_eq!(processor.counters.busy, 850_000);
        assert_eq!((processor.counters.held, processor.counters.peak), (1100, 3300));
    }

    #[test]
    fn a_full_receive_queue_takes_no_more() {
        let mut processor = processor();
        assert!(processor.receive(0, frame(9000)));
        assert!(!processor.receive(0, frame(1001)));
        assert!(processor.receive(0, frame(1000)));
        assert_eq!(processor.counters.dropped_frames, 1);
    }

    #[test]
    fn frames_that_wait_for_an_interrupt_are_taken_together_and_keep_no_one_from_sending() {
        let mut processor = interrupted();
        let begin = |processor: &mut Processor, now| processor.begin(now, |_| 0);
        assert!(processor.receive(0, frame(100)));
        assert_eq!(begin(&mut processor, 0), Some(1_000_000));
        assert!(processor.receive(500_000, frame(200)));
        assert_eq!(begin(&mut processor, 500_000), None, "the wake-up is on its way");
        assert!(!processor.is_occupied());
        assert_eq!(processor.finish().at, 0);
        assert_eq!(begin(&mut processor, 1_000_000), Some(1_000_000));
        assert_eq!(processor.finish().at, 500_000);
        assert_eq!(begin(&mut processor, 1_000_000), None);
        assert!(processor.receive(2_000_000, frame(300)));
        assert_eq!(begin(&mut processor, 2_000_000), Some(71_000_000));
        assert_eq!((processor.counters.busy, processor.counters.served_frames), (0, 2));
        assert_eq!((processor.counters.held, processor.counters.peak), (300, 300));
    }

    #[test]
    fn a_host_sends_no_faster_than_its_rate() {
        let mut processor = interrupted();
        // 1500 B take 1.2 us of a link of 10 Gb/s, and twice that of the host.
        let mut now = 100_000_000;
        for _ in 0..100 {
            now = processor.sends_at(now);
            assert_eq!(processor.send(now, 1500, 1_200_000), now, "what is sent leaves at once");
        }
        // The NIC asks for two frames in advance.
        assert_eq!(processor.sends_at(now), 100_000_000 + 100 * 2_400_000 - 2 * 1_200_000);
    }
}
