//! The rules and the queues of a ruled port.

use super::frames::{FrameQueue, WaitingFrames};
use super::loss::Loss;
use super::marking::Marking;
use super::memory::Memory;
use super::port::{Port, PortFigures};
use super::scheduling::{ClassSet, Scheduler};
use crate::engine::event::Frame;

/// The rules and the queues of a port.
#[derive(Debug)]
pub struct Rules {
    /// One queue a class, or one where there are no classes.
    pub(super) queues: Vec<ClassQueue>,
    pub(super) scheduler: Scheduler,
    /// The classes of which frames wait.
    pub(super) queued: ClassSet,
    /// The class of the frame sent last.
    pub(super) sending: u8,
    /// A transmission is under way: its end is an event to come.
    pub(super) transmitting: bool,
    /// Bytes of the frame sent last.
    pub(super) in_transmission: u32,
    /// Bytes waiting, without the frame in transmission.
    pub(super) waiting: u32,
    pub(super) memory: Memory,
    pub(super) loss: Option<Box<Loss>>,
}

/// A class at a port.
#[derive(Debug)]
pub struct ClassQueue {
    pub(super) frames: FrameQueue,
    /// Bytes waiting, without the frame in transmission.
    pub waiting: u32,
    pub(super) marking: Marking,
    /// What has happened to the class here in the whole run.
    pub counters: ClassCounters,
}

/// What a class counts at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounters {
    /// Frames whose transmission has begun.
    pub sent_frames: u64,
    /// Bytes of the frames whose transmission has begun.
    pub sent_bytes: u64,
    /// Frames for which there was no room.
    pub dropped_frames: u64,
    /// Bytes of the frames for which there was no room.
    pub dropped_bytes: u64,
    /// Frames marked.
    pub marked_frames: u64,
    /// Frames lost on the link.
    pub lost_frames: u64,
    /// Bytes of the frames lost on the link.
    pub lost_bytes: u64,
}

impl Rules {
    /// Rules with a queue for each of `markings`, which a scheduler of as many classes orders.
    pub fn new(scheduler: Scheduler, markings: Vec<Marking>, memory: Memory) -> Rules {
        let queue = |marking| ClassQueue {
            frames: FrameQueue::EMPTY,
            waiting: 0,
            marking,
            counters: ClassCounters::default(),
        };
        Rules {
            queues: markings.into_iter().map(queue).collect(),
            scheduler,
            queued: 0,
            sending: 0,
            transmitting: false,
            in_transmission: 0,
            waiting: 0,
            memory,
            loss: None,
        }
    }

    /// The times at which the link loses frames, to be filled in.
    pub fn loss_mut(&mut self) -> &mut Option<Box<Loss>> {
        &mut self.loss
    }

    /// The classes at this port.
    pub fn queues(&self) -> &[ClassQueue] {
        &self.queues
    }

    /// The memory from which it takes room.
    pub(super) fn memory(&self) -> Memory {
        self.memory
    }

    /// Bytes here, with the frame in transmission.
    pub(super) fn held(&self) -> u32 {
        self.waiting + if self.transmitting { self.in_transmission } else { 0 }
    }

    /// Bytes of a class here, with the frame in transmission if it is of that class.
    pub(super) fn held_of(&self, class: usize) -> u32 {
        let transmits = self.transmitting && usize::from(self.sending) == class;
        self.queues[class].waiting + if transmits { self.in_transmission } else { 0 }
    }

    pub(super) fn is_idle(&self) -> bool {
        !self.transmitting && self.waiting == 0
    }

    /// What the port has sent and what waits.
    pub(super) fn figures(&self, port: &Port, frames: &WaitingFrames, now: u64) -> PortFigures {
        let still = |(frame, since): (Frame, u64)| u128::from(now - since) * u128::from(frame.meta.size());
        PortFigures {
            sent_bytes: port.sent_bytes,
            sent_frames: port.sent_frames,
            waiting_bytes: self.waiting,
            waiting_frames: self.queues.iter().map(|queue| frames.iter(queue.frames).count() as u64).sum(),
            waited: port.waited() + self.waiting_since(frames).map(still).sum::<u128>(),
            busy_until: port.busy_until,
        }
    }

    /// The frames that wait, and since when.
    fn waiting_since<'a>(&'a self, frames: &'a WaitingFrames) -> impl Iterator<Item = (Frame, u64)> + 'a {
        self.queues.iter().flat_map(|queue| frames.iter(queue.frames))
    }

    /// The frames of a class that wait.
    pub(super) fn waiting_of<'a>(
        &'a self,
        class: usize,
        frames: &'a WaitingFrames,
    ) -> impl Iterator<Item = Frame> + 'a {
        frames.iter(self.queues[class].frames).map(|(frame, _)| frame)
    }
}
