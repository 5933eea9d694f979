//! Which flow is connected and begun when: a machine without clock or I/O.
//!
//! Connections are opened ahead, so that a flow's first byte can leave at its start: `AHEAD` of those that begin by the clock, all that begin
//! within `LEAD_NS`, and of a chain of flows that come after each other the next `CHAIN_AHEAD`.

use std::collections::{BTreeSet, VecDeque};

use crate::testbed::message::Outgoing;

/// Flows that begin by the clock, in order, whose connections are opened before they begin.
pub const AHEAD: usize = 256;
/// Flows that begin within this many nanoseconds are connected, however many they are.
const LEAD_NS: u64 = 1_000_000;
/// Flows of a chain that are connected before they begin: to connect takes longer than a small flow.
const CHAIN_AHEAD: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Opening,
    Open,
    Begun,
    Over,
}

#[derive(Clone, Debug)]
struct Flow {
    state: State,
    /// When it begins, if that is known.
    due: Option<u64>,
    /// The time from the completion of the flow before it to its start, in nanoseconds.
    gap: u64,
    successors: Vec<usize>,
}

/// The flows that one host sends, by their index.
#[derive(Clone, Debug)]
pub struct Schedule {
    flows: Vec<Flow>,
    /// Flows that begin by the clock and are not opened, the latest first.
    by_clock: Vec<usize>,
    /// Flows of chains that are to be opened.
    chained: VecDeque<usize>,
    /// Flows that are open and have their time, by that time.
    due: BTreeSet<(u64, usize)>,
    /// Flows that are opened and have not begun.
    ahead: usize,
    /// Flows whose connections are being opened.
    opening: usize,
    /// Flows that are not over.
    remaining: usize,
}

impl Schedule {
    /// The schedule of these flows. A flow must come after one that stands before it.
    pub fn new(sending: &[Outgoing]) -> Schedule {
        let mut flows: Vec<Flow> = Vec::with_capacity(sending.len());
        for (index, flow) in sending.iter().enumerate() {
            let due = flow.after.is_none().then_some(flow.start_ns);
            flows.push(Flow { state: State::Waiting, due, gap: flow.start_ns, successors: Vec::new() });
            if let Some(before) = flow.after {
                flows[before as usize].successors.push(index);
            }
        }
        let mut by_clock: Vec<usize> = (0..flows.len()).filter(|&index| flows[index].due.is_some()).collect();
        by_clock.sort_by_key(|&index| std::cmp::Reverse((flows[index].due, index)));
        let remaining = flows.len();
        let (chained, due) = (VecDeque::new(), BTreeSet::new());
        Schedule { flows, by_clock, chained, due, ahead: 0, opening: 0, remaining }
    }

    /// The next flow to connect, `now` nanoseconds after the start.
    pub fn poll_open(&mut self, now: u64) -> Option<usize> {
        let index = self.chained.pop_front().or_else(|| {
            let next = *self.by_clock.last()?;
            let soon = self.flows[next].due.is_some_and(|due| due <= now.saturating_add(LEAD_NS));
            if !soon && self.ahead >= AHEAD {
                return None;
            }
            self.by_clock.pop()
        })?;
        let flow = &mut self.flows[index];
        flow.state = State::Opening;
        self.ahead += 1;
        self.opening += 1;
        if flow.due.is_some() {
            self.open_after(index, CHAIN_AHEAD - 1);
        }
        Some(index)
    }

    /// Lets the flows of the chains behind `index` be connected, `levels` of them.
    fn open_after(&mut self, index: usize, levels: u32) {
        if levels == 0 {
            return;
        }
        for place in 0..self.flows[index].successors.len() {
            let successor = self.flows[index].successors[place];
            if self.flows[successor].state == State::Waiting && !self.chained.contains(&successor) {
                self.chained.push_back(successor);
            }
            self.open_after(successor, levels - 1);
        }
    }

    /// A flow's connection is open.
    pub fn handle_open(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if flow.state != State::Opening {
            return;
        }
        flow.state = State::Open;
        self.opening -= 1;
        if let Some(due) = flow.due {
            self.due.insert((due, index));
        }
    }

    /// The next flow that begins, `now` nanoseconds after the start.
    pub fn poll_begin(&mut self, now: u64) -> Option<usize> {
        let &(due, index) = self.due.first().filter(|(due, _)| *due <= now)?;
        self.due.remove(&(due, index));
        self.flows[index].state = State::Begun;
        self.ahead -= 1;
        self.open_after(index, CHAIN_AHEAD);
        Some(index)
    }

    /// A flow is complete, `now` nanoseconds after the start: those that come after it have their time.
    pub fn handle_done(&mut self, index: usize, now: u64) {
        if !self.end(index) {
            return;
        }
        for place in 0..self.flows[index].successors.len() {
            let successor = self.flows[index].successors[place];
            let due = now.saturating_add(self.flows[successor].gap);
            self.flows[successor].due = Some(due);
            match self.flows[successor].state {
                State::Open => _ = self.due.insert((due, successor)),
                State::Waiting if !self.chained.contains(&successor) => self.chained.push_back(successor),
                _ => {}
            }
        }
    }

    /// A flow has failed: those that come after it never begin. Returns them.
    pub fn handle_failed(&mut self, index: usize) -> Vec<usize> {
        let mut failed = Vec::new();
        let mut behind = vec![index];
        while let Some(index) = behind.pop() {
            if self.end(index) {
                behind.extend(&self.flows[index].successors);
                failed.push(index);
            }
        }
        failed.into_iter().skip(1).collect()
    }

    /// Ends a flow; returns whether it was not over before.
    fn end(&mut self, index: usize) -> bool {
        let flow = &mut self.flows[index];
        let before = std::mem::replace(&mut flow.state, State::Over);
        match before {
            State::Over => return false,
            State::Waiting => self.chained.retain(|&waiting| waiting != index),
            State::Opening => self.opening -= 1,
            State::Open => {
                if let Some(due) = flow.due {
                    self.due.remove(&(due, index));
                }
            }
            State::Begun => {}
        }
        if matches!(before, State::Opening | State::Open) {
            self.ahead -= 1;
        }
        self.remaining -= 1;
        true
    }

    /// When the next flow that is open begins, in nanoseconds from the start.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Returns whether every connection that was asked for is open.
    pub fn is_connected(&self) -> bool {
        self.opening == 0
    }

    /// Returns whether every flow is over.
    pub fn is_over(&self) -> bool {
        self.remaining == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(start_ns: u64, after: Option<u32>) -> Outgoing {
        Outgoing { id: 0, to: 0, bytes: Some(1), start_ns, after }
    }

    /// Opens what there is to open.
    fn open(schedule: &mut Schedule, now: u64) -> Vec<usize> {
        let opened: Vec<usize> = std::iter::from_fn(|| schedule.poll_open(now)).collect();
        for &index in &opened {
            schedule.handle_open(index);
        }
        opened
    }

    #[test]
    fn flows_begin_at_their_times_in_the_order_of_these() {
        let mut schedule = Schedule::new(&[flow(30, None), flow(10, None), flow(20, None)]);
        assert_eq!(open(&mut schedule, 0), [1, 2, 0]);
        assert_eq!((schedule.poll_timeout(), schedule.poll_begin(9)), (Some(10), None));
        assert_eq!(schedule.poll_begin(25), Some(1));
        assert_eq!((schedule.poll_begin(25), schedule.poll_begin(25)), (Some(2), None));
        assert_eq!(schedule.poll_begin(30), Some(0));
        (0..3).for_each(|index| schedule.handle_done(index, 40));
        assert!(schedule.is_over());
    }

    #[test]
    fn a_flow_that_comes_after_another_waits_for_it() {
        let mut schedule = Schedule::new(&[flow(0, None), flow(5, Some(0)), flow(7, Some(1))]);
        assert_eq!(open(&mut schedule, 0), [0, 1, 2]);
        assert_eq!((schedule.poll_begin(0), schedule.poll_begin(1000)), (Some(0), None));
        schedule.handle_done(0, 1000);
        assert_eq!((schedule.poll_begin(1004), schedule.poll_begin(1005)), (None, Some(1)));
        schedule.handle_done(1, 1010);
        assert_eq!(schedule.poll_timeout(), Some(1017));
    }

    #[test]
    fn some_are_opened_ahead_and_all_that_begin_at_once() {
        let far = 1_000_000_000;
        let later: Vec<Outgoing> = (0..1000).map(|number| flow(far + number, None)).collect();
        let mut schedule = Schedule::new(&later);
        assert_eq!(open(&mut schedule, 0).len(), AHEAD);
        assert_eq!(schedule.poll_begin(far), Some(0));
        // From here on they begin within the lead.
        assert_eq!(open(&mut schedule, far).len(), 1000 - AHEAD);
        let at_once: Vec<Outgoing> = (0..5000).map(|_| flow(0, None)).collect();
        assert_eq!(open(&mut Schedule::new(&at_once), 0).len(), 5000);
    }

    #[test]
    fn of_a_chain_the_next_few_are_opened_ahead() {
        let chain: Vec<Outgoing> = (0..20).map(|number: u32| flow(0, number.checked_sub(1))).collect();
        let mut schedule = Schedule::new(&chain);
        assert_eq!(open(&mut schedule, 0), [0, 1, 2, 3]);
        for index in 0..20 {
            assert_eq!(schedule.poll_begin(0), Some(index));
            let opened = open(&mut schedule, 0);
            assert!(opened.iter().all(|&opened| opened == index + 4), "{opened:?} behind {index}");
            schedule.handle_done(index, 0);
        }
        assert!(schedule.is_over());
    }

    #[test]
    fn what_comes_after_a_flow_that_failed_never_begins() {
        let flows = [flow(0, None), flow(0, Some(0)), flow(0, Some(1)), flow(0, None)];
        let mut schedule = Schedule::new(&flows);
        open(&mut schedule, 0);
        assert_eq!(schedule.handle_failed(0), [1, 2]);
        assert_eq!((schedule.poll_begin(0), schedule.poll_begin(0)), (Some(3), None));
        assert!(!schedule.is_over() && schedule.is_connected());
        schedule.handle_done(3, 1);
        assert!(schedule.is_over());
    }

    #[test]
    fn a_flow_that_is_open_late_begins_when_it_is() {
        let mut schedule = Schedule::new(&[flow(10, None)]);
        assert_eq!(schedule.poll_open(0), Some(0));
        assert_eq!((schedule.poll_begin(50), schedule.is_connected()), (None, false));
        schedule.handle_open(0);
        assert_eq!(schedule.poll_begin(50), Some(0));
    }
}
