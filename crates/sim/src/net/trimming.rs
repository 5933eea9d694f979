//! Ports that cut packets for which they have no room down to their headers (packet trimming), as `CompositeQueue` of
//! ultraethernet/uet-htsim does (`htsim/sim/compositequeue.cpp`).
//!
//! Headers that are left wait in a queue of their own, which stands behind those of the classes in number and before them in order. A full
//! queue is one that has no room for the packet that comes; then a draw decides whether that packet is cut or the last one that
//! waits, whose place it takes.

use super::frames::Waited;
use super::memory::{Memory, Trimming};
use super::ports::Ports;
use crate::engine::calendar::EventSlot;
use crate::engine::event::Frame;

/// The fate of a frame that comes to such a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// There is room for it.
    Joins,
    /// Its payload is cut off.
    IsCut,
    /// It takes the place of the last frame that waits, whose payload is cut off.
    CutsLast,
    /// Nothing can be cut: it is dropped.
    HasNoRoom,
}

impl Ports {
    /// Adds what a port that is yet to be added does when it is full, and gives its index.
    pub fn add_trimming(&mut self, trimming: Trimming) -> u32 {
        self.trimmings.push(trimming);
        (self.trimmings.len() - 1) as u32
    }

    /// Returns whether a ruled port cuts packets.
    pub fn trims(&self, at: u32) -> bool {
        matches!(self.rules(at).memory, Memory::Trimming(_))
    }

    fn trimming(&self, at: u32) -> &Trimming {
        match self.rules(at).memory {
            Memory::Trimming(place) => &self.trimmings[place as usize],
            memory => unreachable!("{memory:?} cuts no packets"),
        }
    }

    /// The queue of headers at a port that cuts packets, by its number among its queues: the last.
    pub fn header_queue(&self, at: u32) -> usize {
        self.rules(at).queues.len() - 1
    }

    /// Bytes of a packet on the wire that is cut at such a port.
    pub fn trimmed_size(&self, at: u32) -> u32 {
        self.trimming(at).size
    }

    /// Returns whether such a port has room for `size` bytes more of headers.
    pub fn has_header_room(&self, at: u32, size: u32) -> bool {
        let waiting = self.rules(at).queues[self.header_queue(at)].waiting;
        u64::from(waiting) + u64::from(size) <= u64::from(self.trimming(at).header_room)
    }

    /// Says what becomes of a frame of a class that comes whole to such a port, which has caught up.
    pub fn judge(&mut self, at: u32, class: usize, frame: &Frame, events: &[EventSlot]) -> Judged {
        let (port, rules, of) = (self.port(at), self.rules(at), self.trimming(at));
        let headers = rules.held_of(port, self.header_queue(at));
        let held = rules.held(port) - headers;
        let size = frame.meta.size();
        if held == 0 || of.room.saturating_sub(held) >= size {
            return Judged::Joins;
        }
        let can_be_cut = |frame: &Frame| frame.meta.is_trimmable() && frame.meta.size() > of.size;
        let last = rules.queues[class].frames.last().map(|slot| events[slot as usize].frame());
        let gives_way =
            |last: &Frame| can_be_cut(last) && of.room.saturating_sub(held - last.meta.size()) >= size;
        let (is_cut, cuts_last) = (can_be_cut(frame), last.is_some_and(|last| gives_way(&last)));
        let tail = of.tail;
        let Memory::Trimming(place) = rules.memory else { unreachable!("a port that cuts packets") };
        match (is_cut, cuts_last) {
            (true, true) if self.trimmings[place as usize].stream.unit() < tail => Judged::CutsLast,
            (true, _) => Judged::IsCut,
            // What cannot be cut itself comes in for what can: no acknowledgement is worth less than a payload.
            (false, true) => Judged::CutsLast,
            (false, false) => Judged::HasNoRoom,
        }
    }

    /// A frame takes the place of the last one that waits in its class, which is given out.
    pub fn replace_last(
        &mut self,
        at: u32,
        class: usize,
        frame: Frame,
        now: u64,
        events: &mut [EventSlot],
    ) -> Frame {
        let (port, rules) = (&mut self.all[at as usize], &mut self.rules[at as usize]);
        let queue = &mut rules.queues[class];
        let slot = queue.frames.last().expect("a frame waits whose place is taken");
        let last = Waited::of(&events[slot as usize]);
        *events[slot as usize] = Waited { frame, since: now, ingress: last.ingress }.to_event();
        let (size, cut) = (frame.meta.size(), last.frame.meta.size());
        port.count_wait(now - last.since, cut);
        queue.waiting = queue.waiting - cut + size;
        rules.waiting = rules.waiting - cut + size;
        port.peak = port.peak.max(rules.held(port));
        last.frame
    }

    /// A port has cut this many bytes off a packet.
    pub fn count_trim(&mut self, at: u32, bytes: u32) {
        let counters = self.counters.at(at);
        counters.trimmed_frames += 1;
        counters.trimmed_bytes += u64::from(bytes);
    }
}
