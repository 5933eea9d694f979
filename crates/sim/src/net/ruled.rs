//! A ruled port: queues by traffic class, shared memory, random marking, a lossy link, or any of these together.
//!
//! What comes later can change what leaves when, so a frame waits in its queue until its turn has come. `choose` says whose turn
//! it is: for [`Ports::next`], at switches and NICs, and for ports that catch up. The transmission of a frame begins in this file
//! only; that of a PAUSE or RESUME in [`super::lossless`]. That a transmission ends is an event where others may learn something
//! from it (see [`super::switches`]); else the port catches up.

use clearway_proto::transport::PortState;
use clearway_proto::units::{Bytes, Time};

use super::frames::{Waited, WaitingFrames};
use super::memory::Memory;
use super::pfc::NO_PORT;
use super::port::{Port, PortKind};
use super::ports::Ports;
use super::rules::Rules;
use super::scheduling::{only, ClassSet, Rule};
use super::transmission::{Joined, Leaves, NextToSend, Passed, Transmission};
use crate::engine::calendar::{Calendar, EventSlot};
use crate::engine::event::{Event, Frame, Meta};
use crate::model::MarkPoint;

impl Ports {
    /// Takes a frame of a class that comes to a ruled port at `now`, over the link to port `ingress`, or begins here
    /// ([`NO_PORT`]). Returns the port that has it on its account from now on, [`NO_PORT`] if none has; `None` if there is no
    /// room for the frame.
    pub fn admit(&mut self, at: u32, class: usize, size: u32, ingress: u32, now: u64) -> Option<u32> {
        let ingress = if self.has_account(ingress, class) { ingress } else { NO_PORT };
        let admitted = if ingress == NO_PORT {
            self.admits(at, class, size)
        } else {
            self.charge(ingress, class, size, now)
        };
        if !admitted {
            self.count_drop(at, class, size);
            return None;
        }
        if ingress == NO_PORT {
            self.take_memory(at, size);
        }
        Some(ingress)
    }

    /// Admits a frame as [`Self::admit`] does, at a port that has caught up, if that needs nothing else: there is room even for more
    /// than what is known to be at the switch. Returns the port that has it on its account, or [`NO_PORT`]; `None` if it needs more,
    /// and then nothing has changed.
    #[inline(always)]
    pub fn admit_at_once(&mut self, at: u32, class: usize, size: u32, ingress: u32) -> Option<u32> {
        if self.charge_alone(ingress, class, size) {
            return Some(ingress);
        }
        if self.has_account(ingress, class) || !self.admits(at, class, size) {
            return None;
        }
        self.take_memory(at, size);
        Some(NO_PORT)
    }

    /// A frame of a class is dropped as a ruled port has no room for it.
    pub fn count_drop(&mut self, at: u32, class: usize, size: u32) {
        self.counters.count_drop(at, size);
        let counters = &mut self.rules_mut(at).queues[class].counters;
        counters.dropped_frames += 1;
        counters.dropped_bytes += u64::from(size);
    }

    /// Takes room of the memory of a port, if others share it.
    #[inline(always)]
    fn take_memory(&mut self, at: u32, size: u32) {
        if let Memory::Shared(memory) = self.rules(at).memory {
            self.memories[memory as usize].used += u64::from(size);
        }
    }

    /// Returns whether there is room for a frame of a class.
    #[inline]
    fn admits(&self, at: u32, class: usize, size: u32) -> bool {
        let (port, rules) = (self.port(at), self.rules(at));
        match rules.memory {
            Memory::Shared(memory) => self.memories[memory as usize].admits(rules.held_of(port, class), size),
            Memory::Own(capacity) => rules.is_idle(port) || capacity - rules.held(port).min(capacity) >= size,
            // More is to be asked.
            Memory::Trimming(_) => false,
        }
    }

    /// A frame for which there is room comes to a switch's ruled port that has caught up: `arrival`, in this slot, where it stays if it
    /// waits.
    #[inline(always)]
    pub fn pass(&mut self, at: u32, class: usize, arrival: &mut Event, slot: u32, ingress: u32) -> Passed {
        let (port, rules) = (&mut self.all[at as usize], &mut self.rules[at as usize]);
        if rules.joins_rarely {
            return Passed::Rarely;
        }
        let switch = &mut self.switches[rules.switch as usize];
        let (now, size) = (arrival.time, arrival.meta().size());
        if rules.is_free_for(port, class) {
            let watched = switch.see(at, ingress, rules.queued == 0);
            let arrives = begin(port, rules, &self.kinds, &self.classes, class, size, ingress, now);
            return Passed::Goes { arrives, watched };
        }
        wait(port, rules, &mut self.frames, class, size, slot);
        arrival.key = Waited { frame: arrival.frame(), since: now, ingress }.to_event().key;
        Passed::Waits { watched: switch.see(at, ingress, false) }
    }

    /// A frame for which there is room comes to a ruled port that has caught up: it leaves at once or waits.
    #[inline(always)]
    pub fn join(
        &mut self,
        at: u32,
        class: usize,
        frame: &mut Frame,
        ingress: u32,
        now: u64,
        calendar: &mut Calendar,
    ) -> Joined {
        let (port, rules) = (&mut self.all[at as usize], &mut self.rules[at as usize]);
        if rules.queues[class].marking.at == MarkPoint::Enqueue {
            let held = rules.held_of(port, class);
            if rules.queues[class].marking.marks_frame(MarkPoint::Enqueue, held, frame.meta) {
                frame.meta = frame.meta.with(Meta::CE);
                rules.queues[class].counters.marked_frames += 1;
                self.counters.at(at).marked_frames += 1;
            }
        }
        if rules.is_free_for(port, class) {
            let alone = rules.queued == 0;
            self.see_account(at, ingress, alone);
            return Joined::Begun(self.begin(at, class, frame.meta.size(), ingress, now));
        }
        let slot = calendar.store(Waited { frame: *frame, since: now, ingress }.to_event());
        wait(port, rules, &mut self.frames, class, frame.meta.size(), slot);
        self.see_account(at, ingress, false);
        Joined::Waits
    }

    /// The transmission of a ruled port has ended: its room is free again.
    #[inline(always)]
    pub fn end_transmission(&mut self, at: u32) {
        let port = &mut self.all[at as usize];
        debug_assert!(port.transmits(), "no transmission ends");
        port.flags &= !Port::TRANSMITS;
        let (now, rules) = (port.busy_until, self.rules(at));
        let (size, class, ingress) = (rules.in_transmission, usize::from(rules.sending), rules.ingress);
        let memory = rules.memory;
        if ingress != NO_PORT {
            if !self.release_unseen(ingress, class, size) {
                self.release(ingress, class, size, now);
            }
        } else if let Memory::Shared(memory) = memory {
            self.memories[memory as usize].used -= u64::from(size);
        }
    }

    /// What a ruled port sends next that transmits nothing: a frame that waits, or one of those that the classes in
    /// `asking` have at its host. None if there is nothing.
    pub fn next(&mut self, at: u32, asking: ClassSet) -> Option<NextToSend> {
        let rules = &mut self.rules[at as usize];
        assert!(!self.all[at as usize].transmits(), "a port that transmits has no turn to give");
        if rules.pfc.as_ref().is_some_and(|pfc| pfc.unsent() > 0) {
            return Some(NextToSend::Signal);
        }
        let class = choose(rules, &self.classes, (rules.queued | asking) & !rules.paused)?;
        Some(if rules.queued & only(class) == 0 { NextToSend::Pull(class) } else { NextToSend::Queue(class) })
    }

    /// Sends the frame that a ruled port sends next which catches up, if one may leave. What flow control has to say by now, it had
    /// not then.
    #[inline(always)]
    pub fn send_next_queued(&mut self, at: u32, now: u64, events: &mut [EventSlot]) -> Option<Transmission> {
        let rules = &mut self.rules[at as usize];
        let may_leave = rules.queued & !rules.paused;
        if may_leave == 0 {
            return None;
        }
        let class = choose(rules, &self.classes, may_leave)?;
        Some(self.send_queued(at, class, now, events))
    }

    /// Returns whether anything waits at a ruled port that may leave.
    pub fn has_waiting(&self, at: u32) -> bool {
        let rules = self.rules(at);
        rules.queued & !rules.paused != 0 || rules.pfc.as_ref().is_some_and(|pfc| pfc.unsent() > 0)
    }

    /// Sends the first frame that waits in a class, whose turn it is.
    #[inline(always)]
    pub fn send_queued(&mut self, at: u32, class: usize, now: u64, events: &mut [EventSlot]) -> Transmission {
        let (port, rules) = (&mut self.all[at as usize], &mut self.rules[at as usize]);
        let queue = &mut rules.queues[class];
        let slot = self.frames.take(&mut queue.frames, events);
        let event = &mut events[slot as usize];
        let Waited { frame, since, ingress } = Waited::of(event);
        let size = frame.meta.size();
        queue.waiting -= size;
        // One that need not wait has nothing behind it, so it is marked nowhere else.
        if queue.marking.marks_frame(MarkPoint::Dequeue, queue.waiting, frame.meta) {
            event.mark();
            queue.counters.marked_frames += 1;
            self.counters.at(at).marked_frames += 1;
        }
        rules.waiting -= size;
        if queue.frames.is_empty() {
            rules.queued &= !only(class);
            if rules.queued == 0 {
                if let Some(switch) = self.switches.get_mut(rules.switch as usize) {
                    switch.see(at, ingress, true);
                }
            }
        }
        port.count_wait(now - since, size);
        let arrives = begin(port, rules, &self.kinds, &self.classes, class, size, ingress, now);
        let leaves = if rules.concerns_frames() {
            self.begin_specially(at, class, size, (now, arrives))
        } else {
            Leaves::Arriving(arrives)
        };
        Transmission { slot, leaves }
    }

    /// Sends a frame of `size` bytes that a class's source at the host has made, as its turn has come or the port is idle. A NIC shares
    /// its memory with no other port, so none is taken.
    pub fn send_pulled(&mut self, at: u32, class: usize, size: u32, now: u64) -> Leaves {
        self.begin(at, class, size, NO_PORT, now)
    }

    /// A frame begins to leave: what becomes of it.
    #[inline(always)]
    fn begin(&mut self, at: u32, class: usize, size: u32, ingress: u32, now: u64) -> Leaves {
        let (port, rules) = (&mut self.all[at as usize], &mut self.rules[at as usize]);
        let arrives = begin(port, rules, &self.kinds, &self.classes, class, size, ingress, now);
        if rules.concerns_frames() {
            return self.begin_specially(at, class, size, (now, arrives));
        }
        Leaves::Arriving(arrives)
    }

    /// What becomes of a frame that began to leave at `now` and arrives at `arrives`, unless it is lost.
    #[inline(never)]
    fn begin_specially(&mut self, at: u32, class: usize, size: u32, (now, arrives): (u64, u64)) -> Leaves {
        if self.loses(at, class, size, (now, arrives)) {
            Leaves::Lost
        } else if self.rules(at).special.as_ref().is_some_and(|special| special.writes) {
            Leaves::Written(arrives)
        } else {
            Leaves::Arriving(arrives)
        }
    }

    /// What telemetry says of a ruled port over which a frame has just begun to leave, which arrives at `arrives`.
    pub fn state_at_beginning(&self, at: u32, frame: &Frame, arrives: u64) -> PortState {
        let port = self.port(at);
        PortState {
            link: port.link(),
            rate: self.rate(at),
            queued: Bytes::new(self.rules(at).waiting.into()),
            sent: Bytes::new(port.sent_bytes - u64::from(frame.meta.size())),
            time: Time::from_ps(self.begins(at, frame, arrives)),
        }
    }

    /// Returns whether a link loses a frame that begins to leave at the first of these instants and would arrive at the second.
    fn loses(&mut self, at: u32, class: usize, size: u32, times: (u64, u64)) -> bool {
        let rules = self.rules_mut(at);
        let lost = rules.special.as_mut().is_some_and(|special| special.loses(size, times));
        if lost {
            let own = &mut rules.queues[class].counters;
            own.lost_frames += 1;
            own.lost_bytes += u64::from(size);
            let counters = self.counters.at(at);
            counters.lost_frames += 1;
            counters.lost_bytes += u64::from(size);
        }
        lost
    }

    /// When a ruled port is free of what it transmits, in picoseconds; none if it transmits nothing.
    pub fn ends(&self, at: u32) -> Option<u64> {
        self.transmits(at).then(|| self.port(at).busy_until)
    }

    /// Returns whether frames wait at a ruled port, paused or not.
    #[inline]
    pub fn has_queued(&self, at: u32) -> bool {
        self.rules(at).queued != 0
    }
}

/// The class to serve of these. Where there is one, there is no choice.
#[inline(always)]
fn choose(rules: &mut Rules, classes: &[Rule], of: ClassSet) -> Option<usize> {
    match rules.scheduler() {
        None => (of != 0).then_some(0),
        Some(scheduler) => scheduler.choose(classes, of),
    }
}

/// A frame begins to leave: when it arrives at the link's end, in picoseconds, if the link does not lose it.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "parts of all ports, apart so that each is looked up once")]
fn begin(
    port: &mut Port,
    rules: &mut Rules,
    kinds: &[PortKind],
    classes: &[Rule],
    class: usize,
    size: u32,
    ingress: u32,
    now: u64,
) -> u64 {
    debug_assert!(!port.transmits() && port.busy_until <= now);
    let kind = &kinds[port.kind as usize];
    let ends = now + kind.transmission(size);
    port.busy_until = ends;
    port.sent_bytes += u64::from(size);
    port.sent_frames += 1;
    port.flags |= Port::TRANSMITS;
    rules.in_transmission = size;
    rules.sending = class as u8;
    rules.ingress = ingress;
    if let Some(scheduler) = rules.scheduler() {
        scheduler.serve(classes, class, size);
    }
    let own = &mut rules.queues[class].counters;
    own.sent_frames += 1;
    own.sent_bytes += u64::from(size);
    ends + kind.delay.as_ps()
}

/// The frame in a slot begins to wait.
#[inline(always)]
fn wait(port: &mut Port, rules: &mut Rules, frames: &mut WaitingFrames, class: usize, size: u32, slot: u32) {
    port.peak = port.peak.max(rules.held(port) + size);
    rules.waiting += size;
    rules.queued |= only(class);
    let queue = &mut rules.queues[class];
    queue.waiting += size;
    frames.append(&mut queue.frames, slot);
}
