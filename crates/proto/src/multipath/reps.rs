//! REPS, recycled entropy packet spraying (Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and
//! Failure Mitigation", 2024), as ultraethernet/uet-htsim has it (`htsim/sim/buffer_reps.cpp` and `UecMpReps` in `uec_mp.cpp`).
//!
//! A path whose packet was acknowledged without a mark goes into a ring and is taken once more. Where the ring has none that is
//! fresh the path is drawn at random. After a timeout the ring is frozen: only paths in it are taken, again and again, as
//! others may lead into a failure.

use super::draws::drawn;
use super::feedback::PathFeedback;
use crate::units::{Span, Time};

/// Paths that the ring remembers (`repsBufferSize`).
const RING: u8 = 8;
/// Packets that take random paths when the ring has thawed (`explore_counter`).
const EXPLORED: u8 = 16;
/// How long the ring stays frozen after a timeout (`exit_freeze_after`).
pub const REPS_FREEZE: Span = Span::from_ms(10);

/// REPS of one flow.
#[derive(Clone, Debug)]
pub struct Reps {
    paths: [u32; RING as usize],
    /// Which places hold a path that was not taken since it came, a bit each.
    valid: u8,
    /// The place of the next path that comes.
    head: u8,
    /// Places that hold a path, fresh or not.
    count: u8,
    /// The place of the path that is taken next while the ring is frozen.
    frozen_head: u8,
    /// Packets yet to be sent on random paths.
    explores: u8,
    /// Until when the ring is frozen, at least; none where it is not.
    frozen_until: Option<Time>,
    freeze: Span,
}

impl Reps {
    /// A flow that knows of no path, and freezes for as long as this.
    pub fn new(freeze: Span) -> Reps {
        let paths = [0; RING as usize];
        Reps { paths, valid: 0, head: 0, count: 0, frozen_head: 0, explores: 0, frozen_until: None, freeze }
    }

    /// See [`PathSelector::choose`](super::PathSelector::choose).
    pub(super) fn choose(&mut self, paths: u32, random: u64) -> u32 {
        if self.explores > 0 {
            self.explores -= 1;
            return drawn(random, paths);
        }
        if self.frozen_until.is_some() {
            return self.take_frozen().unwrap_or_else(|| drawn(random, paths));
        }
        self.take_earliest_fresh().unwrap_or_else(|| drawn(random, paths))
    }

    /// See [`PathSelector::handle_feedback`](super::PathSelector::handle_feedback).
    pub(super) fn handle_feedback(&mut self, now: Time, path: u32, feedback: PathFeedback) {
        self.thaw(now);
        if feedback == PathFeedback::Good {
            self.add(path);
        }
    }

    /// See [`PathSelector::handle_timeout`](super::PathSelector::handle_timeout).
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.frozen_until.is_none() && self.explores == 0 {
            self.frozen_until = Some(now + self.freeze);
        }
        self.thaw(now);
    }

    fn thaw(&mut self, now: Time) {
        if self.frozen_until.is_some_and(|until| now > until) {
            *self = Reps { explores: EXPLORED, ..Reps::new(self.freeze) };
        }
    }

    /// A path that comes into a full ring takes the place of the oldest.
    fn add(&mut self, path: u32) {
        self.paths[usize::from(self.head)] = path;
        self.valid |= 1 << self.head;
        self.head = (self.head + 1) % RING;
        self.count = (self.count + 1).min(RING);
    }

    /// Fresh paths are those that came last: the earliest is as many places back as there are.
    fn take_earliest_fresh(&mut self) -> Option<u32> {
        let fresh = self.valid.count_ones() as u8;
        if fresh == 0 {
            return None;
        }
        let place = (self.head + RING - fresh) % RING;
        self.valid &= !(1 << place);
        Some(self.paths[usize::from(place)])
    }

    fn take_frozen(&mut self) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let place = self.frozen_head;
        self.valid &= !(1 << place);
        self.frozen_head = (place + 1) % self.count;
        Some(self.paths[usize::from(place)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: u32 = 64;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn good(reps: &mut Reps, path: u32) {
        reps.handle_feedback(at(1), path, PathFeedback::Good);
    }

    #[test]
    fn good_paths_are_taken_once_more_in_their_order() {
        let mut reps = Reps::new(REPS_FREEZE);
        assert_eq!(reps.choose(PATHS, u64::MAX), 63);
        good(&mut reps, 5);
        good(&mut reps, 9);
        reps.handle_feedback(at(1), 20, PathFeedback::Marked);
        reps.handle_feedback(at(1), 21, PathFeedback::Trimmed);
        assert_eq!([0; 3].map(|random| reps.choose(PATHS, random)), [5, 9, 0]);
    }

    #[test]
    fn the_ring_forgets_the_oldest_of_more_than_eight() {
        let mut reps = Reps::new(REPS_FREEZE);
        (1..=10).for_each(|path| good(&mut reps, path));
        assert_eq!([0; 9].map(|random| reps.choose(PATHS, random)), [3, 4, 5, 6, 7, 8, 9, 10, 0]);
    }

    #[test]
    fn a_timeout_freezes_the_ring_and_then_random_paths_are_explored() {
        let mut reps = Reps::new(Span::from_us(100));
        good(&mut reps, 5);
        good(&mut reps, 9);
        reps.choose(PATHS, 0);
        reps.handle_timeout(at(10));
        // What the ring has, fresh or not, over and over.
        assert_eq!([u64::MAX; 5].map(|random| reps.choose(PATHS, random)), [5, 9, 5, 9, 5]);
        reps.handle_timeout(at(50));
        assert_eq!(reps.choose(PATHS, u64::MAX), 9);
        reps.handle_feedback(at(111), 7, PathFeedback::Marked);
        assert!((0..16).all(|_| reps.choose(PATHS, u64::MAX) == 63));
        good(&mut reps, 3);
        assert_eq!([0; 2].map(|random| reps.choose(PATHS, random)), [3, 0]);
    }

    #[test]
    fn a_frozen_ring_without_paths_draws() {
        let mut reps = Reps::new(REPS_FREEZE);
        reps.handle_timeout(at(10));
        assert_eq!(reps.choose(PATHS, u64::MAX), 63);
    }
}
