//! Which flow may send next, and which one the clock is to wake.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use clearway_proto::units::Time;

/// Packets that a flow may send before it is the next one's turn: enough for datagrams to leave joined.
const TURN: u32 = 16;

/// Flows, by their places.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// Flows that may send, each once; the first has its turn.
    ready: VecDeque<usize>,
    /// Packets that the first has sent in its turn.
    taken: u32,
    /// Instants at which a flow is to be looked at. One that has been brought forward since leaves its old entry behind.
    wakes: BinaryHeap<Reverse<(Time, usize)>>,
}

impl Schedule {
    /// Returns whether no flow may send.
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Adds a flow that may send.
    pub(super) fn queue(&mut self, flow: usize) {
        self.ready.push_back(flow);
    }

    /// The flow whose turn it is.
    pub(super) fn next(&self) -> Option<usize> {
        self.ready.front().copied()
    }

    /// The flow whose turn it is has sent a packet, and may send more.
    pub(super) fn took_turn(&mut self) {
        self.taken += 1;
        if self.taken >= TURN {
            self.taken = 0;
            self.ready.rotate_left(1);
        }
    }

    /// The flow whose turn it is has nothing more to send.
    pub(super) fn drop_next(&mut self) {
        self.taken = 0;
        self.ready.pop_front();
    }

    /// Wakes a flow at `then`, unless it is woken before: `armed` is when.
    pub(super) fn arm(&mut self, then: Time, flow: usize, armed: &mut Time) {
        if then < *armed {
            *armed = then;
            self.wakes.push(Reverse((then, flow)));
        }
    }

    /// When a flow is to be looked at.
    pub(super) fn first(&self) -> Option<Time> {
        self.wakes.peek().map(|Reverse((then, _))| *then)
    }

    /// The next flow whose instant has come, with the instant.
    pub(super) fn run_out(&mut self, now: Time) -> Option<(Time, usize)> {
        self.first().filter(|&then| then <= now)?;
        self.wakes.pop().map(|Reverse(wake)| wake)
    }
}
