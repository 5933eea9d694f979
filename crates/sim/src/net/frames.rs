//! The frames that wait at ruled ports, as one list a queue in a common pool.

use crate::engine::event::{Frame, Meta};
use crate::engine::prefetch::prefetch;

const NONE: u32 = u32::MAX;

/// Frames in the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameQueue {
    head: u32,
    /// The place of the last frame; meaningless where there is no head.
    tail: u32,
}

impl FrameQueue {
    pub(super) const EMPTY: FrameQueue = FrameQueue { head: NONE, tail: NONE };

    pub(super) fn is_empty(self) -> bool {
        self.head == NONE
    }
}

/// The pool. The place freed last is used first: it is the likeliest to be in the cache.
#[derive(Debug)]
pub(super) struct WaitingFrames {
    nodes: Vec<Node>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    stamp: u64,
    route_seq: u64,
    meta: Meta,
    next: u32,
    since: u64,
    ingress: u32,
}

/// A frame that has waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub frame: Frame,
    /// Since when it has waited.
    pub since: u64,
    /// The port that has it on its account; see [`super::pfc`].
    pub ingress: u32,
}

impl Node {
    fn waited(&self) -> Waited {
        Waited { frame: self.frame(), since: self.since, ingress: self.ingress }
    }

    fn frame(&self) -> Frame {
        Frame { stamp: self.stamp, route_seq: self.route_seq, meta: self.meta }
    }
}

impl Default for WaitingFrames {
    fn default() -> WaitingFrames {
        WaitingFrames { nodes: Vec::new(), free: NONE }
    }
}

impl WaitingFrames {
    #[inline(always)]
    pub(super) fn append(&mut self, queue: &mut FrameQueue, frame: Frame, ingress: u32, now: u64) {
        let Frame { stamp, route_seq, meta } = frame;
        let at = self.place(Node { stamp, route_seq, meta, next: NONE, since: now, ingress });
        if queue.is_empty() {
            queue.head = at;
        } else {
            self.nodes[queue.tail as usize].next = at;
        }
        queue.tail = at;
    }

    #[inline(always)]
    fn place(&mut self, node: Node) -> u32 {
        let at = self.free;
        let Some(place) = self.nodes.get_mut(at as usize) else { return self.grow(node) };
        self.free = place.next;
        *place = node;
        at
    }

    #[cold]
    fn grow(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Takes the first frame of a queue that has one.
    #[inline(always)]
    pub(super) fn take(&mut self, queue: &mut FrameQueue) -> Waited {
        let at = queue.head;
        let place = &mut self.nodes[at as usize];
        let node = *place;
        place.next = self.free;
        self.free = at;
        queue.head = node.next;
        prefetch(&self.nodes, node.next as usize);
        node.waited()
    }

    /// Hints that the first frame of a queue will be taken, and one put behind the last.
    #[inline(always)]
    pub(super) fn prefetch(&self, queue: FrameQueue) {
        prefetch(&self.nodes, queue.head as usize);
        prefetch(&self.nodes, queue.tail as usize);
    }

    /// The last frame of a queue; none if it is empty.
    pub(super) fn last(&self, queue: FrameQueue) -> Option<Waited> {
        (!queue.is_empty()).then(|| self.nodes[queue.tail as usize].waited())
    }

    /// Puts a frame into the place of the last one of a queue that has one, which is given out.
    pub(super) fn replace_last(&mut self, queue: FrameQueue, frame: Frame, now: u64) -> Waited {
        let node = &mut self.nodes[queue.tail as usize];
        let Frame { stamp, route_seq, meta } = frame;
        let last = node.waited();
        (node.stamp, node.route_seq, node.meta, node.since) = (stamp, route_seq, meta, now);
        last
    }

    /// The frames of a queue.
    pub(super) fn iter(&self, queue: FrameQueue) -> impl Iterator<Item = Waited> + '_ {
        let first = self.nodes.get(queue.head as usize);
        std::iter::successors(first, |node| self.nodes.get(node.next as usize)).map(Node::waited)
    }
}
