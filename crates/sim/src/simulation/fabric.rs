//! The fabric of a domain: its ports, switches and relays, which take a frame and give frames out. Ports of hosts are part of it;
//! hosts are not.

use super::loss::{Lost, Reason};
use super::out::{LinkEnd, Out};
use super::plan::Plan;
use crate::engine::batches::AHEAD;
use crate::engine::calendar::{slot_of, Entry};
use crate::engine::event::{Frame, Meta};
use crate::engine::order::{self, Item, Known};
use crate::net::port::Port;
use crate::net::ports::Ports;
use crate::net::routes::Next;
use crate::prefetch::prefetch;

/// How many frames ahead of its time the queue is prefetched that a frame may join.
const NEAR: usize = 4;

/// The ports of a domain, with switches and relays.
#[derive(Debug)]
pub(super) struct Fabric {
    pub ports: Ports,
    /// The frames that go through the switch that is visited.
    frames: Vec<Item>,
    spare_frames: Vec<Item>,
    /// The slots of those for which there was no room.
    dropped: Vec<u32>,
}

impl Fabric {
    /// The fabric of these ports.
    pub fn new(ports: Ports) -> Fabric {
        Fabric { ports, frames: Vec::new(), spare_frames: Vec::new(), dropped: Vec::new() }
    }

    /// Frees the room that windows use.
    pub fn free_scratch(&mut self) {
        (self.frames, self.spare_frames) = (Vec::new(), Vec::new());
    }

    /// All that happens in a window at a switch, or at several, whose ports are plain: frames come, and go on in their
    /// slots. Behind their entries are [`AHEAD`] of other events, to be prefetched unless the window has `few`.
    #[inline(always)]
    pub fn forward_all(
        &mut self,
        plan: &Plan,
        out: &mut Out,
        start: u64,
        entries: &[Entry],
        known: Known,
        few: bool,
    ) {
        let (events, schedule) = out.calendar.parts();
        let ports = &mut self.ports;
        self.frames.clear();
        let item = |ports: &Ports, entry: Entry| {
            let slot = slot_of(entry);
            let event = &events[slot as usize];
            let Next::Port(at) = plan.routes.next(event.route(), event.meta()) else {
                unreachable!("a route does not end at a switch without an agent");
            };
            ports.prefetch(at);
            Item { order: event.order_since(start), tag: u64::from(slot) << 32 | u64::from(at) }
        };
        if few {
            let own = entries[..entries.len() - AHEAD].iter();
            self.frames.extend(own.map(|&entry| item(ports, entry)));
        } else {
            self.frames.extend(entries.windows(AHEAD + 1).map(|near| {
                prefetch(events, slot_of(near[AHEAD]) as usize);
                plan.routes.prefetch(events[slot_of(near[AHEAD / 2]) as usize].route());
                item(ports, near[0])
            }));
        }
        out.packet_hops += self.frames.len() as u64;
        order::sort(&mut self.frames, &mut self.spare_frames, known);
        // So that there is one to be prefetched for the last frames, too.
        self.frames.extend([Item::default(); NEAR]);
        for near in self.frames.windows(NEAR + 1) {
            let (frame, ahead) = (near[0], near[NEAR]);
            ports.prefetch_backlog(ahead.tag as u32);
            let (slot, at) = ((frame.tag >> 32) as u32, frame.tag as u32);
            let event = &mut events[slot as usize];
            let (now, mut meta) = (event.time, event.meta());
            let Some((arrives, port)) = ports.send::<false>(at, now, &mut meta, slot) else {
                self.dropped.push(slot);
                continue;
            };
            event.go_on(arrives, port.arrival_key, meta);
            schedule.enter(port.node, slot, arrives);
        }
        while let Some(slot) = self.dropped.pop() {
            let event = out.calendar.release(slot);
            let lost =
                Lost { at: event.time, link: self.next_link(plan, &event.frame()), reason: Reason::NoRoom };
            out.lose(plan, &event.frame(), lost);
        }
    }

    /// A frame is to leave over a port.
    #[inline(always)]
    pub fn offer(&mut self, plan: &Plan, out: &mut Out, at: u32, frame: Frame) {
        if self.ports.port(at).intersects(Port::RULED) {
            self.offer_own(plan, out, at, frame);
        } else if !self.offer_plain(out, at, &frame) {
            self.lose(plan, out, at, &frame, Reason::NoRoom);
        }
    }

    /// A frame is lost that was to leave over a port.
    #[cold]
    pub fn lose(&self, plan: &Plan, out: &mut Out, at: u32, frame: &Frame, reason: Reason) {
        let lost = Lost { at: out.now, link: self.ports.port(at).link(), reason };
        out.lose(plan, frame, lost);
    }

    /// The link that a frame is to cross next, as its route says.
    pub fn next_link(&self, plan: &Plan, frame: &Frame) -> u32 {
        match plan.routes.next(frame.route(), frame.meta) {
            Next::Port(at) | Next::Choice(at) => self.ports.port(at).link(),
            Next::Here(_) | Next::Agent(_) => unreachable!("a frame that has arrived goes nowhere"),
        }
    }

    /// A frame is to leave over a plain port. Returns whether there was room for it.
    #[inline(always)]
    pub fn offer_plain(&mut self, out: &mut Out, at: u32, frame: &Frame) -> bool {
        let &Frame { stamp, route_seq, meta } = frame;
        if self.ports.port(at).intersects(Port::NIC) {
            self.send_plain::<true>(out, at, stamp, route_seq, meta)
        } else {
            self.send_plain::<false>(out, at, stamp, route_seq, meta)
        }
    }

    /// Does what [`Self::offer_plain`] says; the parts of a frame fit the processor's registers, which a [`Frame`] does not.
    #[inline(never)]
    fn send_plain<const NIC: bool>(
        &mut self,
        out: &mut Out,
        at: u32,
        stamp: u64,
        route_seq: u64,
        mut meta: Meta,
    ) -> bool {
        let slot = if NIC { 0 } else { out.calendar.next_slot() };
        let Some((arrives, port)) = self.ports.send::<NIC>(at, out.now, &mut meta, slot) else {
            return false;
        };
        let link = LinkEnd::of(port);
        out.send_on(link, arrives, &Frame { stamp, route_seq, meta });
        true
    }
}
