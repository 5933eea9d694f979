//! What a relay has to say out of a port and has not said yet, in the order in which it was decided.
//!
//! Each PAUSE and RESUME is kept for itself, up to [`MOST_OF_A_PRIORITY`] of a priority. That is four times what one call of a
//! relay decides, so a driver that sends after every call never comes near. For one that does not, a bound must hold
//! all the same, and must not cost a PAUSE: what is left out to make room is the oldest RESUME, as a newer signal of
//! its priority follows it. The far end is then paused where it would have been let go for as long as it takes to send one PFC
//! frame: it may send less, never more. Where only PAUSEs wait, the newest says what the oldest does and holds longer.

use std::collections::VecDeque;

/// The most that ever waits of a priority.
pub(super) const MOST_OF_A_PRIORITY: usize = 8;

/// A PFC frame of one priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pfc {
    /// The number of the priority, from 0.
    pub priority: usize,
    /// How long to pause; zero: resume.
    pub quanta: u16,
}

/// PFC frames to be sent out of a port.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    waiting: VecDeque<Pfc>,
}

impl Signals {
    /// Returns an empty queue, with room for all that `priorities` priorities may have to say.
    pub(super) fn new(priorities: usize) -> Signals {
        Signals { waiting: VecDeque::with_capacity(priorities * MOST_OF_A_PRIORITY) }
    }

    /// Adds what was decided last.
    pub(super) fn push(&mut self, pfc: Pfc) {
        let of_priority = |other: &Pfc| other.priority == pfc.priority;
        if self.waiting.iter().filter(|&other| of_priority(other)).count() == MOST_OF_A_PRIORITY {
            let resume = self.waiting.iter().position(|other| of_priority(other) && other.quanta == 0);
            let oldest = resume.or_else(|| self.waiting.iter().position(of_priority));
            self.waiting.remove(oldest.expect("as many wait as may"));
        }
        self.waiting.push_back(pfc);
    }

    /// Takes what was decided first.
    pub(super) fn pop(&mut self) -> Option<Pfc> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(quanta: &[u16]) -> Vec<u16> {
        let mut signals = Signals::new(1);
        for &quanta in quanta {
            signals.push(Pfc { priority: 0, quanta });
        }
        std::iter::from_fn(|| signals.pop()).map(|pfc| pfc.quanta).collect()
    }

    #[test]
    fn each_signal_is_kept_in_order() {
        assert_eq!(pushed(&[7, 0, 0, 9, 9, 0]), [7, 0, 0, 9, 9, 0]);
        let mut signals = Signals::new(2);
        let all = [(1, 5), (0, 6), (1, 0), (0, 0)].map(|(priority, quanta)| Pfc { priority, quanta });
        for pfc in all {
            signals.push(pfc);
        }
        assert_eq!(std::iter::from_fn(|| signals.pop()).collect::<Vec<_>>(), all);
    }

    #[test]
    fn beyond_the_bound_resumes_go_first_and_what_is_said_last_stays() {
        assert_eq!(pushed(&[1, 0, 2, 0, 3, 0, 4, 0, 5]), [1, 2, 0, 3, 0, 4, 0, 5]);
        assert_eq!(pushed(&[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 8]), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(pushed(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), [3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(pushed(&[0; 20]), [0; MOST_OF_A_PRIORITY]);
    }

    #[test]
    fn no_sequence_exceeds_the_bound_or_lets_the_far_end_send_more() {
        // Every sequence of PAUSE and RESUME of 14, as bits.
        for bits in 0..1_u32 << 14 {
            let said: Vec<u16> = (0..14).map(|at| if bits >> at & 1 == 1 { at + 1 } else { 0 }).collect();
            let kept = pushed(&said);
            assert!(kept.len() <= MOST_OF_A_PRIORITY);
            assert_eq!(kept.last(), said.last(), "the far end is left in another state");
            // A PAUSE is left out only where no RESUME is kept before the next.
            let pauses: Vec<u16> = said.iter().copied().filter(|&quanta| quanta > 0).collect();
            let kept_pauses: Vec<u16> = kept.iter().copied().filter(|&quanta| quanta > 0).collect();
            assert!(pauses.ends_with(&kept_pauses));
            if kept_pauses.len() < pauses.len() {
                let until_first = kept.iter().take_while(|&&quanta| quanta == 0).count();
                assert!(until_first == 0, "{said:?} became {kept:?}");
            }
        }
    }

    #[test]
    fn priorities_make_room_for_themselves_alone() {
        let mut signals = Signals::new(2);
        signals.push(Pfc { priority: 1, quanta: 0 });
        (0..40).for_each(|at| signals.push(Pfc { priority: 0, quanta: at % 2 }));
        assert_eq!(signals.pop(), Some(Pfc { priority: 1, quanta: 0 }));
        assert_eq!(signals.waiting.len(), MOST_OF_A_PRIORITY);
    }
}
