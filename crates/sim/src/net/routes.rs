//! The routes of a run: for any two ends that exchange frames, the links there and back, on one or several ways.
//!
//! Two ends that exchange frames are a *conversation*: the two ends of a flow, or a prober and what it probes. A
//! conversation has one route or several, which are alternative ways between the same ends, numbered one after the
//! other; a frame says its route's number and how many links it has crossed, and so finds the next.

use crate::engine::event::Meta;
use crate::prefetch::prefetch;

/// Where a frame goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It takes the port at this place in the domain.
    Port(u32),
    /// It has arrived, for the end at this place in the domain that owns the host: the receiver of data, or the sender
    /// that an acknowledgement is for.
    Here(u32),
    /// It has arrived, for the agent in the seat at this place in the domain.
    Agent(u32),
    /// It takes the port at this place in the domain, unless the switch chooses another route of the same conversation that
    /// has been the same so far.
    Choice(u32),
}

/// The bit that is set in the last step: the frame has arrived.
const HERE: u32 = 1 << 31;
/// The bit that is set beside it where an agent receives the frame.
const AGENT: u32 = 1 << 30;
/// The bit that is set beside these where the frame has not arrived but its switch chooses.
const CHOICE: u32 = 1 << 29;

impl Next {
    fn code(self) -> u32 {
        match self {
            Next::Port(place) => place,
            Next::Here(place) => HERE | place,
            Next::Agent(place) => HERE | AGENT | place,
            Next::Choice(place) => HERE | AGENT | CHOICE | place,
        }
    }

    #[inline(always)]
    fn of(code: u32) -> Next {
        if code & HERE == 0 {
            Next::Port(code)
        } else if code & AGENT == 0 {
            Next::Here(code & !HERE)
        } else if code & CHOICE == 0 {
            Next::Agent(code & !(HERE | AGENT))
        } else {
            Next::Choice(code & !(HERE | AGENT | CHOICE))
        }
    }
}

/// Returns whether this step is the last: the frame has arrived.
fn is_last(code: u32) -> bool {
    code & HERE != 0 && code & (AGENT | CHOICE) != AGENT | CHOICE
}

/// All routes of a run, a line of memory each: the steps there, and the steps back.
#[derive(Debug, Default)]
pub struct Routes {
    steps: Vec<u32>,
    /// The steps of one direction, and of both. A multiplication by these takes a processor less than a shift by a variable
    /// would.
    half: u32,
    line: u32,
    /// The first route of each conversation, and behind the last the number of routes. Empty where each has one.
    first: Vec<u32>,
    /// The conversation of each route. Empty where each has one.
    conversation: Vec<u32>,
}

impl Routes {
    /// Returns an empty table for paths of up to `longest` links and `conversations` conversations; `several` says whether any of
    /// these may have more than one route.
    pub fn new(longest: usize, conversations: usize, several: bool) -> Routes {
        let half = (longest + 1).next_power_of_two();
        Routes {
            steps: Vec::with_capacity(conversations * 2 * half),
            half: half as u32,
            line: 2 * half as u32,
            first: if several { vec![0] } else { Vec::new() },
            conversation: Vec::new(),
        }
    }

    /// Adds the next route of the conversation that is being laid: the steps there, and the steps back.
    pub fn add(&mut self, there: &[Next], back: &[Next]) {
        for steps in [there, back] {
            assert!(steps.len() <= self.half as usize, "a path longer than the longest");
            let last = steps.last().expect("a path ends somewhere").code();
            assert!(is_last(last), "a path ends at a stack or an agent");
            self.steps.extend(steps.iter().map(|step| step.code()));
            self.steps.resize(self.steps.len() + self.half as usize - steps.len(), last);
        }
    }

    /// The conversation that is being laid has all its routes.
    pub fn end_conversation(&mut self) {
        if !self.first.is_empty() {
            let number = self.first.len() as u32 - 1;
            self.first.push(self.len());
            self.conversation.resize(self.len() as usize, number);
        }
    }

    /// Returns how many routes there are.
    pub fn len(&self) -> u32 {
        self.steps.len() as u32 / self.line
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The routes of a conversation: the first, and how many.
    #[inline]
    pub fn of(&self, conversation: u32) -> (u32, u32) {
        match self.first.get(conversation as usize..conversation as usize + 2) {
            Some(ends) => (ends[0], ends[1] - ends[0]),
            None => (conversation, 1),
        }
    }

    /// The conversation of a route.
    #[inline]
    pub fn conversation(&self, route: u32) -> u32 {
        self.conversation.get(route as usize).copied().unwrap_or(route)
    }

    /// Returns where a frame goes next.
    #[inline(always)]
    pub fn next(&self, route: u32, meta: Meta) -> Next {
        Next::of(self.code(route, meta))
    }

    /// The end for which a frame has arrived at a stack; `None` where it goes on or is for an agent.
    #[inline(always)]
    pub fn end(&self, route: u32, meta: Meta) -> Option<u32> {
        let code = self.code(route, meta);
        (code & (HERE | AGENT) == HERE).then_some(code & !HERE)
    }

    #[inline(always)]
    fn code(&self, route: u32, meta: Meta) -> u32 {
        let back = usize::from(meta.contains(Meta::ACK));
        self.steps[self.line(route, back) + meta.hop() as usize]
    }

    /// Returns where the steps of a route begin, there or (1) back.
    #[inline(always)]
    fn line(&self, route: u32, back: usize) -> usize {
        route as usize * self.line as usize + back * self.half as usize
    }

    /// The steps of a route, there or back, with the last.
    pub fn steps(&self, route: u32, back: bool) -> impl Iterator<Item = Next> + '_ {
        let from = self.line(route, usize::from(back));
        let steps = &self.steps[from..from + self.half as usize];
        let end = steps.iter().position(|&code| is_last(code)).map_or(steps.len(), |last| last + 1);
        steps[..end].iter().map(|&code| Next::of(code))
    }

    /// The routes of the same conversation that lead over the same ports as `route` up to where a frame now is that has crossed
    /// `hop` links there, with the port that each takes next. Routes that share a beginning follow each other.
    pub fn alternatives(&self, route: u32, hop: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (first, count) = self.of(self.conversation(route));
        let taken = move |other: u32| {
            let line = self.line(other, 0);
            &self.steps[line..line + hop as usize]
        };
        let same = move |other: &u32| taken(*other) == taken(route);
        let before = (first..route).rev().take_while(same).count() as u32;
        let from = route - before;
        (from..first + count).take_while(same).map(move |other| {
            let code = self.steps[self.line(other, 0) + hop as usize];
            (other, code & !(HERE | AGENT | CHOICE))
        })
    }

    /// Hints that a route will be used.
    #[inline(always)]
    pub fn prefetch(&self, route: u32) {
        prefetch(&self.steps, self.line(route, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(hop: u32, flags: u32) -> Meta {
        (0..hop).fold(Meta::new(64, flags), |meta, _| meta.crossed())
    }

    #[test]
    fn a_frame_finds_its_way_there_and_back() {
        let mut routes = Routes::new(3, 2, false);
        routes.add(&[Next::Port(5), Next::Port(7), Next::Here(1)], &[Next::Port(9), Next::Agent(2)]);
        routes.end_conversation();
        assert_eq!(routes.next(0, frame(0, 0)), Next::Port(5));
        assert_eq!(routes.next(0, frame(2, 0)), Next::Here(1));
        assert_eq!(routes.next(0, frame(0, Meta::ACK)), Next::Port(9));
        assert_eq!(routes.next(0, frame(1, Meta::ACK)), Next::Agent(2));
        assert_eq!(routes.steps(0, true).collect::<Vec<_>>(), [Next::Port(9), Next::Agent(2)]);
        assert_eq!((routes.of(0), routes.conversation(0)), ((0, 1), 0));
    }

    #[test]
    fn a_switch_chooses_among_routes_that_were_the_same_so_far() {
        let mut routes = Routes::new(4, 2, true);
        for [second, third] in [[1, 5], [1, 6], [2, 7], [2, 8]] {
            let there =
                [Next::Port(0), Next::Choice(second), Next::Choice(third), Next::Port(9), Next::Here(0)];
            routes.add(&there, &[Next::Port(3), Next::Here(0)]);
        }
        routes.end_conversation();
        routes.add(&[Next::Port(0), Next::Here(0)], &[Next::Port(3), Next::Here(0)]);
        routes.end_conversation();
        let at = |route, hop| routes.alternatives(route, hop).collect::<Vec<_>>();
        assert_eq!(at(2, 1), [(0, 1), (1, 1), (2, 2), (3, 2)]);
        assert_eq!(at(3, 2), [(2, 7), (3, 8)]);
        assert_eq!(at(0, 2), [(0, 5), (1, 6)]);
        assert_eq!(routes.next(2, frame(1, 0)), Next::Choice(2));
        assert_eq!(routes.end(2, frame(1, 0)), None);
        assert_eq!(routes.steps(2, false).count(), 5);
    }

    #[test]
    fn a_conversation_may_have_several_ways() {
        let mut routes = Routes::new(2, 3, true);
        for ways in [1, 3, 2] {
            for way in 0..ways {
                routes.add(&[Next::Port(way), Next::Here(0)], &[Next::Port(10 + way), Next::Here(0)]);
            }
            routes.end_conversation();
        }
        assert_eq!([0, 1, 2].map(|conversation| routes.of(conversation)), [(0, 1), (1, 3), (4, 2)]);
        assert_eq!((0..6).map(|route| routes.conversation(route)).collect::<Vec<_>>(), [0, 1, 1, 1, 2, 2]);
        assert_eq!(routes.next(5, frame(0, Meta::ACK)), Next::Port(11));
    }
}
