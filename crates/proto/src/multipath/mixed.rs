//! The selector that ultraethernet/uet-htsim takes by default (`UecMpMixed` in `htsim/sim/uec_mp.cpp`): a path again that was
//! good, and else the next one in turn that is not to be skipped.
//!
//! A path whose packet was acknowledged without a mark is taken once more, in the order of acknowledgements (`UecMpRepsLegacy`).
//! Where none is left, paths follow each other in turn. Each mark lets one turn of its path be skipped, each trimmed packet four
//! (`UecMpBitmap`). There a retransmission timeout counts against one path, the same for all flows; here it counts against none,
//! as nobody knows the path of what was lost.

use std::collections::VecDeque;

use super::draws::drawn;
use super::feedback::PathFeedback;

/// Turns that a path is skipped at most (`_max_penalty`).
const MOST_SKIPPED: u8 = 15;
/// Turns that a mark costs.
const FOR_A_MARK: u8 = 1;
/// Turns that a trimmed packet costs.
const FOR_A_TRIM: u8 = 4;
/// Good paths that are remembered at most; the oldest gives way. htsim has no limit.
const MOST_GOOD: usize = 1024;

/// The memory of one flow.
#[derive(Clone, Debug, Default)]
pub struct Mixed {
    /// Good paths, the first acknowledged first.
    good: VecDeque<u32>,
    /// For each path how many of its turns are to be skipped. Empty before the first packet.
    skipped: Vec<u8>,
    /// Paths that have had their turn in this cycle.
    place: u32,
    /// The path with which this cycle began: it is drawn for each.
    first: u32,
}

impl Mixed {
    /// A flow that has sent nothing.
    pub fn new() -> Mixed {
        Mixed::default()
    }

    /// See [`PathSelector::choose`](super::PathSelector::choose).
    pub(super) fn choose(&mut self, paths: u32, random: u64) -> u32 {
        if self.skipped.is_empty() {
            self.skipped = vec![0; paths as usize];
            self.first = drawn(random, paths);
        }
        self.good.pop_front().unwrap_or_else(|| self.next_in_turn(paths, random))
    }

    /// See [`PathSelector::handle_feedback`](super::PathSelector::handle_feedback).
    pub(super) fn handle_feedback(&mut self, path: u32, feedback: PathFeedback) {
        // Where there is but one path nothing is ever chosen.
        if self.skipped.is_empty() {
            return;
        }
        let penalty = match feedback {
            PathFeedback::Good => {
                if self.good.len() == MOST_GOOD {
                    self.good.pop_front();
                }
                self.good.push_back(path);
                return;
            }
            PathFeedback::Marked => FOR_A_MARK,
            PathFeedback::Trimmed => FOR_A_TRIM,
        };
        let skipped = &mut self.skipped[path as usize];
        *skipped = (*skipped + penalty).min(MOST_SKIPPED);
    }

    /// The next path that is not to be skipped. The first that is has one turn less to be skipped then, and those between are
    /// passed over without that; where all are to be skipped it is the first after all.
    fn next_in_turn(&mut self, paths: u32, random: u64) -> u32 {
        let turn = self.turn(paths);
        if self.skipped[turn as usize] > 0 {
            self.skipped[turn as usize] -= 1;
            for _ in 0..paths {
                self.advance(paths, random);
                if self.skipped[self.turn(paths) as usize] == 0 {
                    break;
                }
            }
        }
        let path = self.turn(paths);
        self.advance(paths, random);
        path
    }

    fn turn(&self, paths: u32) -> u32 {
        (self.first + self.place) % paths
    }

    fn advance(&mut self, paths: u32, random: u64) {
        self.place += 1;
        if self.place == paths {
            self.place = 0;
            self.first = drawn(random, paths);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: u32 = 4;
    /// Bits that draw the first of four paths, and the third.
    const DRAWS: [u64; 2] = [0, 1 << 63];

    fn take<const N: usize>(mixed: &mut Mixed, random: u64) -> [u32; N] {
        [(); N].map(|()| mixed.choose(PATHS, random))
    }

    #[test]
    fn paths_have_their_turn_from_a_drawn_one_on() {
        let mut mixed = Mixed::new();
        assert_eq!(take(&mut mixed, DRAWS[1]), [2, 3, 0]);
        // The fourth ends the cycle, with whose draw the next begins.
        assert_eq!(take(&mut mixed, DRAWS[0]), [1, 0, 1, 2, 3]);
    }

    #[test]
    fn good_paths_come_before_turns_and_in_the_order_of_acknowledgements() {
        let mut mixed = Mixed::new();
        assert_eq!(take(&mut mixed, 0), [0, 1]);
        mixed.handle_feedback(3, PathFeedback::Good);
        mixed.handle_feedback(0, PathFeedback::Good);
        assert_eq!(take(&mut mixed, 0), [3, 0, 2]);
    }

    #[test]
    fn a_mark_costs_a_turn_and_a_trim_four() {
        let mut mixed = Mixed::new();
        assert_eq!(take(&mut mixed, 0), [0]);
        mixed.handle_feedback(1, PathFeedback::Marked);
        mixed.handle_feedback(2, PathFeedback::Trimmed);
        // Path 1 is skipped once and path 2 with it, which costs that nothing.
        assert_eq!(take(&mut mixed, 0), [3, 0, 1]);
        assert_eq!(mixed.skipped, [0, 0, 4, 0]);
        assert_eq!(take(&mut mixed, 0), [3]);
        assert_eq!(mixed.skipped, [0, 0, 3, 0]);
        (0..3).for_each(|_| {
            take::<3>(&mut mixed, 0);
        });
        assert_eq!(take(&mut mixed, 0), [0, 1, 2, 3]);
    }

    #[test]
    fn where_all_are_to_be_skipped_one_is_taken_and_owes_less() {
        let mut mixed = Mixed::new();
        assert_eq!(take(&mut mixed, 0), [0, 1, 2, 3]);
        for path in 0..PATHS {
            (0..9).for_each(|_| mixed.handle_feedback(path, PathFeedback::Trimmed));
        }
        assert_eq!(mixed.skipped, [MOST_SKIPPED; 4]);
        assert_eq!(take(&mut mixed, 0), [0]);
        assert_eq!(mixed.skipped, [MOST_SKIPPED - 1, MOST_SKIPPED, MOST_SKIPPED, MOST_SKIPPED]);
    }

    #[test]
    fn a_flow_that_never_chooses_remembers_nothing() {
        let mut mixed = Mixed::new();
        for feedback in [PathFeedback::Good, PathFeedback::Marked, PathFeedback::Trimmed] {
            mixed.handle_feedback(0, feedback);
        }
        assert_eq!((mixed.good.len(), mixed.skipped.len()), (0, 0));
    }

    #[test]
    fn the_oldest_of_too_many_good_paths_gives_way() {
        let mut mixed = Mixed::new();
        take::<1>(&mut mixed, 0);
        mixed.handle_feedback(3, PathFeedback::Good);
        (0..MOST_GOOD).for_each(|_| mixed.handle_feedback(1, PathFeedback::Good));
        assert!((0..MOST_GOOD).all(|_| mixed.choose(PATHS, 0) == 1));
        assert_eq!(take(&mut mixed, 0), [1]);
    }
}
