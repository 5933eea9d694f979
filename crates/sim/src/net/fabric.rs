//! All ports of a network: who may wait, who is marked, who is dropped, and when the next frame leaves.
//!
//! A frame that finds its port idle leaves at once and is a single event, its arrival at the link's end. Only
//! when something waits does the port wake at the end of the transmission. A frame in transmission holds its
//! room until its last bit has left; a port with a buffer of its own can tell that from the clock, and one that
//! shares its switch's buffer wakes after every frame to give the room back.

use clearway_proto::units::{Rate, Time};

use super::classes::{ClassSet, Classes};
use super::marking::RedMarking;
use super::port::{Fifo, Port, PortCounters, PortKind, NO_NODE};
use crate::engine::event::{Class, Event, Frame, Meta};
use crate::engine::prefetch::prefetch;
use crate::engine::queue::{EventQueue, LaneId};
use crate::random::Stream;

/// A frame that is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost(pub Frame);

/// What a port did when it was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// It sent a frame that waited.
    Sent,
    /// It sent a frame that waited, and the link lost it.
    SentAndLost(Frame),
    /// Nothing waits.
    Free,
    /// It is a NIC with classes, which are asked one by one; see [`Fabric::choose`].
    ByClass,
}

/// The ports of a network, by the number of the link they feed.
#[derive(Debug)]
pub struct Fabric {
    ports: Vec<Port>,
    counters: Vec<PortCounters>,
    kinds: Vec<PortKind>,
    waiting: WaitingFrames,
    buffers: Vec<SharedBuffer>,
    /// For ports with flags that say so; empty where no port has any.
    particulars: Vec<Particulars>,
    classes: Classes,
}

/// What few ports have.
#[derive(Debug, Default)]
pub struct Particulars {
    /// Index of the shared buffer.
    pub buffer: usize,
    /// Marking with a probability.
    pub red: Option<RedMarking>,
    /// When the link loses frames.
    pub faults: Vec<LossWindow>,
    /// Decides which.
    pub loss: Option<Stream>,
}

/// A time in which a link loses frames.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    /// From then on.
    pub from: Time,
    /// Until just before then.
    pub until: Time,
    /// Of each frame.
    pub probability: f64,
}

/// A switch's memory with a dynamic threshold: a queue, which is a port or a class at a port, may hold at most `alpha`
/// times what is free (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998).
#[derive(Clone, Copy, Debug)]
pub struct SharedBuffer {
    /// Of the switch, in bytes.
    pub size: u64,
    /// Bytes taken.
    pub used: u64,
    /// Share of the free bytes.
    pub alpha: f64,
}

impl SharedBuffer {
    #[inline]
    fn admits(&self, held: u32, size: u32) -> bool {
        let free = self.size - self.used;
        u64::from(size) <= free && f64::from(held + size) <= self.alpha * free as f64
    }
}

impl Fabric {
    /// Ports in the order of their links.
    pub fn new(
        ports: Vec<Port>,
        kinds: Vec<PortKind>,
        buffers: Vec<SharedBuffer>,
        particulars: Vec<Particulars>,
    ) -> Fabric {
        let counters = vec![PortCounters::default(); ports.len()];
        let (waiting, classes) = (WaitingFrames::default(), Classes::default());
        Fabric { ports, counters, kinds, waiting, buffers, particulars, classes }
    }

    /// Gives every port a queue for each class. Before anything is offered.
    pub fn classify(&mut self, classes: Classes) {
        self.ports.iter_mut().for_each(|port| port.flags |= Port::CLASSED);
        self.classes = classes;
    }

    /// A frame is to leave over `link`: it does so now, waits, or is lost.
    #[inline(always)]
    pub fn offer(&mut self, queue: &mut EventQueue, link: u32, frame: Frame) -> Result<(), Lost> {
        let now = queue.now();
        let port = &self.ports[link as usize];
        if port.is_idle(now) && !port.has(Port::SHARED | Port::CLASSED) {
            let (_, sent) = self.begin(queue, link, frame);
            return sent;
        }
        self.join(queue, link, frame)
    }

    /// A frame comes to a port that is busy, or that shares its buffer, or that has classes.
    #[inline(never)]
    fn join(&mut self, queue: &mut EventQueue, link: u32, mut frame: Frame) -> Result<(), Lost> {
        let now = queue.now();
        let at = link as usize;
        let port = &mut self.ports[at];
        if port.has(Port::CLASSED) {
            return self.join_class(queue, link, frame);
        }
        let kind = &self.kinds[port.kind as usize];
        let size = frame.meta.size();
        let held = port.held(now);
        let admitted = if port.has(Port::SHARED) {
            self.buffers[self.particulars[at].buffer].admits(held, size)
        } else {
            kind.capacity - held.min(kind.capacity) >= size
        };
        if !admitted {
            return self.drop_frame(link, frame);
        }
        let marked = held > kind.mark_above
            || (port.has(Port::RED) && self.particulars[at].red.as_mut().is_some_and(|red| red.marks(held)));
        if marked && frame.meta.has(Meta::ECT) {
            frame.meta = frame.meta.with(Meta::CE);
            self.counters[at].marked_frames += 1;
        }
        if port.has(Port::SHARED) {
            self.buffers[self.particulars[at].buffer].used += u64::from(size);
            if port.is_idle(now) {
                let (wake, sent) = self.begin(queue, link, frame);
                self.arm(queue, link, wake);
                return sent;
            }
        }
        let port = &mut self.ports[at];
        port.peak = port.peak.max(held + size);
        port.waiting += size;
        self.waiting.append(&mut port.fifo, frame, now);
        if !port.has(Port::ARMED) {
            self.arm(queue, link, LaneId::NONE);
        }
        Ok(())
    }

    /// A frame comes to a port with classes.
    fn join_class(&mut self, queue: &mut EventQueue, link: u32, mut frame: Frame) -> Result<(), Lost> {
        let now = queue.now();
        let at = link as usize;
        let class = self.classes.of(&frame);
        let held = self.held_of_class(link, class, now);
        let (port, own) = (&mut self.ports[at], self.classes.queue_mut(link, class));
        let size = frame.meta.size();
        let admitted = if port.has(Port::SHARED) {
            self.buffers[self.particulars[at].buffer].admits(held, size)
        } else {
            let capacity = self.kinds[port.kind as usize].capacity;
            capacity - port.held(now).min(capacity) >= size
        };
        if !admitted {
            own.counters.dropped_frames += 1;
            own.counters.dropped_bytes += u64::from(size);
            return self.drop_frame(link, frame);
        }
        if own.marks(held) && frame.meta.has(Meta::ECT) {
            frame.meta = frame.meta.with(Meta::CE);
            own.counters.marked_frames += 1;
            self.counters[at].marked_frames += 1;
        }
        let shared = port.has(Port::SHARED);
        if shared {
            self.buffers[self.particulars[at].buffer].used += u64::from(size);
        }
        if port.is_idle(now) {
            let (wake, sent) = self.begin(queue, link, frame);
            if shared {
                self.arm(queue, link, wake);
            }
            return sent;
        }
        port.peak = port.peak.max(port.held(now) + size);
        port.waiting += size;
        own.waiting += size;
        self.waiting.append(&mut own.fifo, frame, now);
        self.classes.set_queued(link, class, true);
        self.arm(queue, link, LaneId::NONE);
        Ok(())
    }

    /// Bytes of a class at a port, with the frame in transmission if it is of that class.
    fn held_of_class(&self, link: u32, class: usize, now: u64) -> u32 {
        let port = self.port(link);
        let transmits = port.busy_until > now && self.classes.is_sending(link, class);
        self.classes.queue(link, class).waiting + if transmits { port.in_transmission } else { 0 }
    }

    #[cold]
    fn drop_frame(&mut self, link: u32, frame: Frame) -> Result<(), Lost> {
        let counters = &mut self.counters[link as usize];
        counters.dropped_frames += 1;
        counters.dropped_bytes += u64::from(frame.meta.size());
        Err(Lost(frame))
    }

    /// Starts a transmission on an idle port. The lane is the one of its end, should the port have to wake.
    #[inline(always)]
    pub fn begin(&mut self, queue: &mut EventQueue, link: u32, frame: Frame) -> (LaneId, Result<(), Lost>) {
        let now = queue.now();
        let port = &mut self.ports[link as usize];
        let kind = &self.kinds[port.kind as usize].link;
        let size = frame.meta.size();
        let transmission = kind.transmission(size);
        port.busy_until = now + transmission.time;
        port.in_transmission = size;
        port.sent_bytes += u64::from(size);
        port.sent_frames += 1;
        let crossing = Frame { meta: frame.meta.crossed(), ..frame };
        let arrival = port.busy_until + kind.delay();
        if port.has(Port::FAULTY | Port::CLASSED) && self.leaves_for_good(link, now, &frame) {
            return (transmission.wake, Err(Lost(frame)));
        }
        queue.push(transmission.arrival, Event::arrival(arrival, link, &crossing));
        (transmission.wake, Ok(()))
    }

    /// Counts a frame whose transmission begins for its class, if there are classes. Whether its link loses it.
    fn leaves_for_good(&mut self, link: u32, now: u64, frame: &Frame) -> bool {
        let (port, size) = (&self.ports[link as usize], frame.meta.size());
        let class = port.has(Port::CLASSED).then(|| self.classes.of(frame));
        if let Some(class) = class {
            self.classes.serve(link, class, size);
        }
        if !port.has(Port::FAULTY) || !self.loses(link, now) {
            return false;
        }
        let counters = &mut self.counters[link as usize];
        counters.lost_frames += 1;
        counters.lost_bytes += u64::from(size);
        if let Some(class) = class {
            let counters = &mut self.classes.queue_mut(link, class).counters;
            counters.lost_frames += 1;
            counters.lost_bytes += u64::from(size);
        }
        true
    }

    /// Sees to it that the port wakes when its transmission ends. `lane` is what [`Self::begin`] gave in this
    /// very instant, or [`LaneId::NONE`].
    #[inline]
    pub fn arm(&mut self, queue: &mut EventQueue, link: u32, lane: LaneId) {
        let port = &mut self.ports[link as usize];
        if port.has(Port::ARMED) {
            return;
        }
        port.flags |= Port::ARMED;
        queue.push(lane, Event::bare(port.busy_until, Class::Wake, link));
    }

    /// A transmission has ended: the next frame that waits, if any, leaves.
    #[inline]
    pub fn wake(&mut self, queue: &mut EventQueue, link: u32) -> Woken {
        let at = link as usize;
        let port = &mut self.ports[at];
        port.flags &= !Port::ARMED;
        if port.has(Port::SHARED | Port::CLASSED) {
            if port.has(Port::SHARED) {
                self.buffers[self.particulars[at].buffer].used -= u64::from(port.in_transmission);
            }
            if port.has(Port::CLASSED) {
                return self.wake_class(queue, link);
            }
        }
        if port.waiting == 0 {
            return Woken::Free;
        }
        let (frame, since) = self.waiting.take(&mut port.fifo);
        self.send_on(queue, link, frame, since)
    }

    /// Sends a frame that has waited since then, and sees to it that the next one follows.
    #[inline(always)]
    fn send_on(&mut self, queue: &mut EventQueue, link: u32, frame: Frame, since: u64) -> Woken {
        let port = &mut self.ports[link as usize];
        let (wait, size) = (queue.now() - since, frame.meta.size());
        port.waiting -= size;
        port.waited += u128::from(wait) * u128::from(size);
        let more = port.waiting > 0 || port.has(Port::SHARED);
        let (wake, sent) = self.begin(queue, link, frame);
        if more {
            self.arm(queue, link, wake);
        }
        match sent {
            Ok(()) => Woken::Sent,
            Err(Lost(frame)) => Woken::SentAndLost(frame),
        }
    }

    /// A transmission has ended at a port with classes.
    fn wake_class(&mut self, queue: &mut EventQueue, link: u32) -> Woken {
        if self.port(link).has(Port::NIC) {
            return Woken::ByClass;
        }
        let class = self.choose(link, 0);
        class.and_then(|class| self.send_class(queue, link, class)).unwrap_or(Woken::Free)
    }

    /// The class that a port with classes serves next, if any: of those whose frames wait at it, and of those in
    /// `asking` beside them.
    pub fn choose(&mut self, link: u32, asking: ClassSet) -> Option<usize> {
        self.classes.choose(link, asking)
    }

    /// Sends the first frame of a class that waits at a port, if one does.
    pub fn send_class(&mut self, queue: &mut EventQueue, link: u32, class: usize) -> Option<Woken> {
        let own = self.classes.queue_mut(link, class);
        if own.fifo.is_empty() {
            return None;
        }
        let (frame, since) = self.waiting.take(&mut own.fifo);
        own.waiting -= frame.meta.size();
        if own.fifo.is_empty() {
            self.classes.set_queued(link, class, false);
        }
        Some(self.send_on(queue, link, frame, since))
    }

    fn loses(&mut self, link: u32, now: u64) -> bool {
        let particulars = &mut self.particulars[link as usize];
        let now = Time::from_ps(now);
        let mut lost = false;
        for window in &particulars.faults {
            if window.from <= now && now < window.until {
                // Certain loss draws nothing, so a link that is down does not disturb one that is lossy.
                lost |= window.probability >= 1.0
                    || particulars.loss.as_mut().is_some_and(|stream| stream.unit() < window.probability);
            }
        }
        lost
    }

    /// One port.
    #[inline]
    pub fn port(&self, link: u32) -> &Port {
        &self.ports[link as usize]
    }

    /// The classes at all ports.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ports.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// Rate of a port's link.
    pub fn rate(&self, link: u32) -> Rate {
        self.kinds[self.port(link).kind as usize].link.rate()
    }

    /// A port's counters.
    pub fn counters(&self, link: u32) -> &PortCounters {
        &self.counters[link as usize]
    }

    /// Bytes that a port has put on its link until `now`: of the frame in transmission only what has left.
    pub fn transmitted(&self, link: u32, now: u64) -> f64 {
        let left_ps = self.port(link).busy_until.saturating_sub(now);
        self.port(link).sent_bytes as f64 - left_ps as f64 * self.rate(link).as_bps() as f64 / 8e12
    }

    /// The integral of the bytes waiting at a port until `now`, in byte picoseconds.
    pub fn waited(&self, link: u32, now: u64) -> u128 {
        let still: u128 = self
            .waiting_since(link)
            .map(|(frame, since)| u128::from(now - since) * u128::from(frame.meta.size()))
            .sum();
        self.port(link).waited + still
    }

    /// The frames that wait at a port.
    pub fn waiting(&self, link: u32) -> impl Iterator<Item = Frame> + '_ {
        self.waiting_since(link).map(|(frame, _)| frame)
    }

    /// The frames of a class that wait at a port.
    pub fn waiting_of(&self, link: u32, class: usize) -> impl Iterator<Item = Frame> + '_ {
        self.waiting.iter(self.classes.queue(link, class).fifo).map(|(frame, _)| frame)
    }

    /// The frames that wait at a port, and since when.
    fn waiting_since(&self, link: u32) -> impl Iterator<Item = (Frame, u64)> + '_ {
        let of_classes = self.classes.queues(link).iter().map(|own| own.fifo);
        std::iter::once(self.port(link).fifo).chain(of_classes).flat_map(|fifo| self.waiting.iter(fifo))
    }

    /// Hints that a port will be used.
    #[inline]
    pub fn expect(&self, link: u32) {
        prefetch(&self.ports, link as usize);
    }

    /// Hints that a port, which has been expected before, will wake.
    #[inline]
    pub fn expect_wake(&self, link: u32) {
        prefetch(&self.waiting.nodes, self.port(link).fifo.head as usize);
    }

    /// What all ports may hold and what shared buffers say they hold must agree.
    pub fn assert_buffers_balance(&self) {
        for (which, buffer) in self.buffers.iter().enumerate() {
            let held = (0..self.ports.len())
                .filter(|&at| self.ports[at].has(Port::SHARED) && self.particulars[at].buffer == which)
                .map(|at| u64::from(self.ports[at].waiting) + self.unreturned(at))
                .sum::<u64>();
            assert_eq!(held, buffer.used, "shared buffer {which} has lost count of its bytes");
        }
    }

    /// Bytes in transmission at a sharing port, whose room comes back when it wakes.
    fn unreturned(&self, at: usize) -> u64 {
        let port = &self.ports[at];
        if port.has(Port::ARMED) {
            u64::from(port.in_transmission)
        } else {
            0
        }
    }
}

/// The frames that wait anywhere, as one list a port in a common pool. The place freed last is used first: it is
/// the likeliest to be in the cache.
#[derive(Debug)]
struct WaitingFrames {
    nodes: Vec<Node>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    stamp: u64,
    flow_seq: u64,
    meta: Meta,
    next: u32,
    since: u64,
}

impl Default for WaitingFrames {
    fn default() -> WaitingFrames {
        WaitingFrames { nodes: Vec::new(), free: NO_NODE }
    }
}

impl WaitingFrames {
    #[inline]
    fn append(&mut self, fifo: &mut Fifo, frame: Frame, now: u64) {
        let node = Node {
            stamp: frame.stamp,
            flow_seq: frame.flow_seq,
            meta: frame.meta,
            next: NO_NODE,
            since: now,
        };
        let at = self.place(node);
        if fifo.is_empty() {
            fifo.head = at;
        } else {
            self.nodes[fifo.tail as usize].next = at;
        }
        fifo.tail = at;
    }

    #[inline]
    fn place(&mut self, node: Node) -> u32 {
        if self.free == NO_NODE {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        let at = self.free;
        self.free = self.nodes[at as usize].next;
        self.nodes[at as usize] = node;
        at
    }

    /// Takes the first frame of a queue that has one, and since when it waited.
    #[inline]
    fn take(&mut self, fifo: &mut Fifo) -> (Frame, u64) {
        let at = fifo.head;
        let node = self.nodes[at as usize];
        self.nodes[at as usize].next = self.free;
        self.free = at;
        fifo.head = node.next;
        (Frame { stamp: node.stamp, flow_seq: node.flow_seq, meta: node.meta }, node.since)
    }

    fn iter(&self, fifo: Fifo) -> impl Iterator<Item = (Frame, u64)> + '_ {
        let first = self.nodes.get(fifo.head as usize);
        std::iter::successors(first, |node| self.nodes.get(node.next as usize))
            .map(|node| (Frame { stamp: node.stamp, flow_seq: node.flow_seq, meta: node.meta }, node.since))
    }
}
