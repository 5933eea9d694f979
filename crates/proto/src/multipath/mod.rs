//! Path selectors: which of several paths a sender's next packet takes. One file a selector that remembers anything.
//!
//! Paths have numbers from 0 on, and every scheme's packets may take any of them. What acknowledgements say of the path that
//! their packet took comes back as a [`PathFeedback`]. Draws are an input, as all randomness: 64 random bits for each packet.

mod flowlet;
mod reps;

pub use flowlet::{Flowlet, FLOWLET_GAP};
pub use reps::{Reps, REPS_FREEZE};

use crate::units::Time;

/// What is known of a path from a packet that took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFeedback {
    /// The packet has met no congestion there.
    Good,
    /// It has arrived with a congestion mark.
    Marked,
    /// A switch on the path has cut its payload off.
    Trimmed,
}

/// A selector that remembers something, of one flow.
#[derive(Clone, Debug)]
pub enum PathSelector {
    /// A path again that was good, or else one at random.
    Reps(Reps),
    /// A path at random for packets that follow each other closely.
    Flowlet(Flowlet),
}

impl PathSelector {
    /// The path of the packet that leaves `now`, one of `paths`; `random` are bits drawn for it.
    pub fn choose(&mut self, now: Time, paths: u32, random: u64) -> u32 {
        match self {
            PathSelector::Reps(reps) => reps.choose(paths, random),
            PathSelector::Flowlet(flowlet) => flowlet.choose(now, paths, random),
        }
    }

    /// What an acknowledgement, processed `now`, says of the path of its packet.
    pub fn handle_feedback(&mut self, now: Time, path: u32, feedback: PathFeedback) {
        match self {
            PathSelector::Reps(reps) => reps.handle_feedback(now, path, feedback),
            PathSelector::Flowlet(_) => (),
        }
    }

    /// The retransmission timer ran out: a packet is lost, on which path nobody knows.
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            PathSelector::Reps(reps) => reps.handle_timeout(now),
            PathSelector::Flowlet(_) => (),
        }
    }
}

/// One of `paths`, uniformly over random bits.
pub fn drawn(random: u64, paths: u32) -> u32 {
    ((u128::from(random) * u128::from(paths)) >> 64) as u32
}

/// The path of the packet with this number among those that a flow has sent, in turn: each path once, then each once again, in
/// the same order from another one on, as bits drawn for each such cycle say.
pub fn in_turn(number: u64, paths: u32, random_of_cycle: impl FnOnce(u64) -> u64) -> u32 {
    let (cycle, place) = (number / u64::from(paths), number % u64::from(paths));
    let first = drawn(random_of_cycle(cycle), paths);
    ((u64::from(first) + place) % u64::from(paths)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_its_turn_once_in_a_cycle() {
        for paths in [1_u32, 3, 4, 16] {
            for cycle in 0..5_u64 {
                let from = cycle * u64::from(paths);
                let random = |cycle: u64| cycle.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut taken: Vec<u32> =
                    (from..from + u64::from(paths)).map(|number| in_turn(number, paths, random)).collect();
                assert_eq!(taken[0], drawn(random(cycle), paths));
                taken.sort_unstable();
                assert_eq!(taken, (0..paths).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn draws_reach_the_first_path_and_the_last() {
        assert_eq!((drawn(0, 7), drawn(u64::MAX, 7), drawn(1 << 63, 8)), (0, 6, 4));
    }
}
