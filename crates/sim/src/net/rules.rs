//! The rules and the queues of a ruled port.

use super::frames::{FrameQueue, Waited, Waiting};
use super::loss::{Loss, LossWindow};
use super::marking::Marking;
use super::memory::Memory;
use super::pfc::{Pfc, NO_PORT};
use super::port::{Port, PortFigures};
use super::scheduling::{only, ClassSet, Scheduler};
use crate::engine::event::Frame;
use crate::model::MarkPoint;

/// The rules and the queues of a port: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub struct Rules {
    /// One queue a class, or one where there are no classes.
    pub(super) queues: Box<[ClassQueue]>,
    /// The classes of which frames wait.
    pub(super) queued: ClassSet,
    /// The class of the frame sent last.
    pub(super) sending: u8,
    /// Bytes of the frame sent last.
    pub(super) in_transmission: u32,
    /// Bytes waiting, without the frame in transmission.
    pub(super) waiting: u32,
    pub(super) memory: Memory,
    /// What few ports have: several classes, losses of the link, telemetry that is written into frames.
    pub(super) special: Option<Box<Special>>,
    /// Frames may be lost, written into, or marked where they come.
    pub(super) joins_rarely: bool,
    /// The classes that the link's other end pauses.
    pub(super) paused: ClassSet,
    /// The classes of which the port has accounts for what comes over its link.
    pub(super) lossless: ClassSet,
    /// The port that has the frame sent last on its account.
    pub(super) ingress: u32,
    pub(super) pfc: Option<Box<Pfc>>,
    /// Its switch, by its place among those with ruled ports; [`NO_SWITCH`] at a host.
    pub(super) switch: u32,
}

/// What few ports have, for frames that begin to leave. It stands apart: one look tells most ports that there is nothing to do.
#[derive(Debug, Default)]
pub struct Special {
    /// What decides between classes; `None` where there is one.
    pub(super) scheduler: Option<Scheduler>,
    /// The link may lose the frame.
    loss: Option<Loss>,
    /// Telemetry is written into it.
    pub(super) writes: bool,
}

impl Special {
    /// Returns whether the link may lose the frame, or telemetry is written into it.
    #[inline]
    pub(super) fn concerns_frames(&self) -> bool {
        self.loss.is_some() || self.writes
    }

    /// Returns whether the link loses a frame of `size` bytes that begins to leave at the first of these instants, in picoseconds,
    /// and would arrive at the second.
    pub(super) fn loses(&mut self, size: u32, times: (u64, u64)) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.takes_frame(size, times))
    }

    /// Returns whether the link loses what flow control sends; see [`Self::loses`].
    pub(super) fn loses_signal(&mut self, size: u32, times: (u64, u64)) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.takes_signal(size, times))
    }
}

/// No switch: the port is a host's.
pub(super) const NO_SWITCH: u32 = u32::MAX;

/// A class at a port. What each frame needs is one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
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
        let joins_rarely = markings.iter().any(|marking: &Marking| marking.at == MarkPoint::Enqueue);
        let queue = |marking| ClassQueue {
            frames: FrameQueue::EMPTY,
            waiting: 0,
            marking,
            counters: ClassCounters::default(),
        };
        Rules {
            special: (markings.len() > 1)
                .then(|| Box::new(Special { scheduler: Some(scheduler), ..Special::default() })),
            queues: markings.into_iter().map(queue).collect(),
            queued: 0,
            sending: 0,
            in_transmission: 0,
            waiting: 0,
            memory,
            paused: 0,
            lossless: 0,
            ingress: NO_PORT,
            joins_rarely,
            pfc: None,
            switch: NO_SWITCH,
        }
    }

    /// What stands for the rules of a plain port, which has none.
    pub(super) fn of_plain_port() -> Rules {
        Rules::new(Scheduler::new(&[]), Vec::new(), Memory::Own(0))
    }

    /// What decides between classes; `None` where there is one.
    #[inline(always)]
    pub(super) fn scheduler(&mut self) -> Option<&mut Scheduler> {
        self.special.as_mut()?.scheduler.as_mut()
    }

    /// Returns whether the link may lose a frame that begins to leave, or telemetry is written into it.
    #[inline(always)]
    pub(super) fn concerns_frames(&self) -> bool {
        self.special.as_ref().is_some_and(|special| special.concerns_frames())
    }

    /// Flow control, to be filled in.
    pub fn set_pfc(&mut self, pfc: Pfc) {
        self.lossless = pfc.lossless;
        self.pfc = Some(Box::new(pfc));
    }

    /// Flow control at this port, if there is any.
    pub fn pfc(&self) -> Option<&Pfc> {
        self.pfc.as_deref()
    }

    /// The times at which the link loses frames.
    pub fn set_loss(&mut self, loss: Loss) {
        self.special.get_or_insert_default().loss = Some(loss);
        self.joins_rarely = true;
    }

    /// From now on telemetry is written into what leaves.
    pub fn set_writing(&mut self) {
        self.special.get_or_insert_default().writes = true;
        self.joins_rarely = true;
    }

    /// The times at which the link loses frames, with what it has lost; nothing at most ports.
    pub fn loss_windows(&self) -> &[LossWindow] {
        self.special.as_ref().and_then(|special| special.loss.as_ref()).map_or(&[], |loss| &loss.windows)
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
    pub(super) fn held(&self, port: &Port) -> u32 {
        self.waiting + if port.transmits() { self.in_transmission } else { 0 }
    }

    /// Bytes of a class here, with the frame in transmission if it is of that class.
    pub(super) fn held_of(&self, port: &Port, class: usize) -> u32 {
        let transmits = port.transmits() && usize::from(self.sending) == class;
        self.queues[class].waiting + if transmits { self.in_transmission } else { 0 }
    }

    pub(super) fn is_idle(&self, port: &Port) -> bool {
        !port.transmits() && self.waiting == 0
    }

    /// Returns whether a frame of a class that comes now would leave at once.
    pub(super) fn is_free_for(&self, port: &Port, class: usize) -> bool {
        !port.transmits() && self.queued & !self.paused == 0 && self.paused & only(class) == 0
    }

    /// What the port has sent and what waits.
    pub(super) fn figures(&self, port: &Port, waiting: Waiting, now: u64) -> PortFigures {
        let (mut waiting_frames, mut waited) = (0, port.waited());
        if self.queued != 0 {
            for frame in self.waiting(waiting) {
                waiting_frames += 1;
                waited += u128::from(now - frame.since) * u128::from(frame.frame.meta.size());
            }
        }
        PortFigures {
            sent_bytes: port.sent_bytes,
            sent_frames: port.sent_frames,
            waiting_bytes: self.waiting,
            waiting_frames,
            waited,
            // What flow control sends is no frame.
            busy_until: if self.in_transmission == 0 { 0 } else { port.busy_until },
        }
    }

    /// Bytes here that no account has, with the frame in transmission.
    pub(super) fn held_on_no_account(&self, port: &Port, waiting: Waiting) -> u64 {
        let waiting = self.waiting(waiting).filter(|waited| waited.ingress == NO_PORT);
        let waiting: u64 = waiting.map(|waited| u64::from(waited.frame.meta.size())).sum();
        let transmits = port.transmits() && self.ingress == NO_PORT;
        waiting + if transmits { u64::from(self.in_transmission) } else { 0 }
    }

    /// The frames that wait.
    fn waiting<'a>(&'a self, waiting: Waiting<'a>) -> impl Iterator<Item = Waited> + 'a {
        self.queues.iter().flat_map(move |queue| waiting.of(queue.frames))
    }

    /// The frames of a class that wait.
    pub(super) fn waiting_of<'a>(
        &'a self,
        class: usize,
        waiting: Waiting<'a>,
    ) -> impl Iterator<Item = Frame> + 'a {
        waiting.of(self.queues[class].frames).map(|waited| waited.frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_one_cache_line_and_a_class_two() {
        assert_eq!((size_of::<Rules>(), size_of::<ClassQueue>()), (64, 128));
    }
}
