//! A ruled port: queues by traffic class, shared memory, random marking, a lossy link, or any of these together.
//!
//! What comes later can change what leaves when, so a frame waits in its queue, and the end of every transmission is
//! an event. [`Ports::next`] alone says what such a port sends next, at switches and NICs; the transmission itself
//! begins in this file only.

use super::frames::{FrameQueue, WaitingFrames};
use super::loss::Loss;
use super::marking::Marking;
use super::memory::Memory;
use super::port::{Port, PortFigures};
use super::ports::Ports;
use super::scheduling::{only, ClassSet, Scheduler};
use crate::engine::event::{Frame, Meta};

/// The rules and the queues of a port.
#[derive(Debug)]
pub struct Rules {
    /// One queue a class, or one where there are no classes.
    queues: Vec<ClassQueue>,
    scheduler: Scheduler,
    /// The classes of which frames wait.
    queued: ClassSet,
    /// The class of the frame sent last.
    sending: u8,
    /// A transmission is under way: its end is an event to come.
    transmitting: bool,
    /// Bytes of the frame sent last.
    in_transmission: u32,
    /// Bytes waiting, without the frame in transmission.
    waiting: u32,
    memory: Memory,
    loss: Option<Box<Loss>>,
}

/// A class at a port.
#[derive(Debug)]
pub struct ClassQueue {
    frames: FrameQueue,
    /// Bytes waiting, without the frame in transmission.
    pub waiting: u32,
    marking: Marking,
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

/// What a port sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The first frame that waits in this class.
    Queue(usize),
    /// What this class's sources at the host have to send, who asked for the port.
    Pull(usize),
}

impl Turn {
    /// The class whose turn it is.
    pub fn class(self) -> usize {
        match self {
            Turn::Queue(class) | Turn::Pull(class) => class,
        }
    }
}

/// What became of a frame that came to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Its transmission has begun.
    Begun(Transmission),
    /// It waits.
    Waits,
    /// There was no room for it.
    Dropped,
}

/// A transmission that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The frame, as it was before it crossed the link.
    pub frame: Frame,
    /// When its last bit has left, in picoseconds.
    pub ends: u64,
    /// When its last bit arrives at the link's end, in picoseconds; none if the link loses it.
    pub arrives: Option<u64>,
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

    /// When the link loses frames, to be filled in.
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
    fn held_of(&self, class: usize) -> u32 {
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

impl Ports {
    /// A frame of a class comes to a ruled port at `now`: it leaves at once, waits, or is dropped.
    pub fn offer(&mut self, at: u32, class: usize, mut frame: Frame, now: u64) -> Offered {
        let size = frame.meta.size();
        if !self.admits(at, class, size) {
            let counters = &mut self.counters[at as usize];
            counters.dropped_frames += 1;
            counters.dropped_bytes += u64::from(size);
            let counters = &mut self.rules_mut(at).queues[class].counters;
            counters.dropped_frames += 1;
            counters.dropped_bytes += u64::from(size);
            return Offered::Dropped;
        }
        let rules = self.rules_mut(at);
        let held = rules.held_of(class);
        let queue = &mut rules.queues[class];
        if queue.marking.marks(held) && frame.meta.contains(Meta::ECT) {
            frame.meta = frame.meta.with(Meta::CE);
            queue.counters.marked_frames += 1;
            self.counters[at as usize].marked_frames += 1;
        }
        if let Memory::Shared(memory) = self.rules(at).memory {
            self.memories[memory as usize].used += u64::from(size);
        }
        if self.rules(at).is_idle() {
            return Offered::Begun(self.begin(at, class, frame, now));
        }
        let place = self.rules_of[at as usize] as usize;
        let rules = &mut self.rules[place];
        let port = &mut self.ports[at as usize];
        port.peak = port.peak.max(rules.held() + size);
        rules.waiting += size;
        rules.queued |= only(class);
        let queue = &mut rules.queues[class];
        queue.waiting += size;
        self.frames.append(&mut queue.frames, frame, now);
        Offered::Waits
    }

    /// Whether there is room for a frame of a class.
    fn admits(&self, at: u32, class: usize, size: u32) -> bool {
        let rules = self.rules(at);
        match rules.memory {
            Memory::Shared(memory) => self.memories[memory as usize].admits(rules.held_of(class), size),
            Memory::Own(capacity) => rules.is_idle() || capacity - rules.held().min(capacity) >= size,
        }
    }

    /// A transmission of a ruled port has ended: its room is free again.
    pub fn end_transmission(&mut self, at: u32) {
        let rules = self.rules_mut(at);
        rules.transmitting = false;
        let size = u64::from(rules.in_transmission);
        if let Memory::Shared(memory) = rules.memory {
            self.memories[memory as usize].used -= size;
        }
    }

    /// What a ruled port sends next that transmits nothing: a frame that waits, or one of those that the classes in
    /// `asking` have at its host. None if there is nothing.
    pub fn next(&mut self, at: u32, asking: ClassSet) -> Option<Turn> {
        let place = self.rules_of[at as usize] as usize;
        let rules = &mut self.rules[place];
        assert!(!rules.transmitting, "a port that transmits has no turn to give");
        let class = rules.scheduler.choose(&self.classes, rules.queued | asking)?;
        Some(if rules.queued & only(class) == 0 { Turn::Pull(class) } else { Turn::Queue(class) })
    }

    /// Whether anything waits at a ruled port.
    pub fn has_waiting(&self, at: u32) -> bool {
        self.rules(at).queued != 0
    }

    /// Sends the first frame that waits in a class, whose turn it is.
    pub fn send_queued(&mut self, at: u32, class: usize, now: u64) -> Transmission {
        let place = self.rules_of[at as usize] as usize;
        let rules = &mut self.rules[place];
        let queue = &mut rules.queues[class];
        let (frame, since) = self.frames.take(&mut queue.frames);
        let size = frame.meta.size();
        queue.waiting -= size;
        if queue.frames.is_empty() {
            rules.queued &= !only(class);
        }
        rules.waiting -= size;
        self.ports[at as usize].count_wait(now - since, size);
        self.begin(at, class, frame, now)
    }

    /// Sends a frame that a class's source at the host has made, as its turn has come or the port is idle. A NIC shares
    /// its memory with no other port, so none is taken.
    pub fn send_pulled(&mut self, at: u32, class: usize, frame: Frame, now: u64) -> Transmission {
        self.begin(at, class, frame, now)
    }

    fn begin(&mut self, at: u32, class: usize, frame: Frame, now: u64) -> Transmission {
        let place = self.rules_of[at as usize] as usize;
        let (port, rules) = (&mut self.ports[at as usize], &mut self.rules[place]);
        debug_assert!(!rules.transmitting && port.busy_until <= now);
        let size = frame.meta.size();
        let kind = &self.kinds[port.kind as usize];
        let ends = now + kind.transmission(size);
        port.busy_until = ends;
        port.sent_bytes += u64::from(size);
        port.sent_frames += 1;
        rules.transmitting = true;
        rules.in_transmission = size;
        rules.sending = class as u8;
        rules.scheduler.serve(&self.classes, class, size);
        let own = &mut rules.queues[class].counters;
        own.sent_frames += 1;
        own.sent_bytes += u64::from(size);
        let lost = rules.loss.as_mut().is_some_and(|loss| loss.strikes(now));
        if lost {
            own.lost_frames += 1;
            own.lost_bytes += u64::from(size);
            let counters = &mut self.counters[at as usize];
            counters.lost_frames += 1;
            counters.lost_bytes += u64::from(size);
        }
        Transmission { frame, ends, arrives: (!lost).then_some(ends + kind.delay.as_ps()) }
    }
}
