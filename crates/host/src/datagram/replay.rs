//! Which datagrams of a session have been here: a window of counters below the highest one (RFC 4303 §3.4.3).

/// How far below the highest counter a datagram may come and be told from a replay.
pub const REPLAY_WINDOW: u64 = 8192;

const WORDS: usize = (REPLAY_WINDOW / 64) as usize;

/// The counters that have been seen.
#[derive(Debug)]
pub(super) struct Replay {
    /// One above the highest counter that was noted.
    top: u64,
    /// Bit `counter % REPLAY_WINDOW` of the counters from `top - REPLAY_WINDOW` on.
    seen: Box<[u64; WORDS]>,
}

impl Default for Replay {
    fn default() -> Replay {
        Replay { top: 0, seen: Box::new([0; WORDS]) }
    }
}

fn place(counter: u64) -> (usize, u64) {
    let bit = counter % REPLAY_WINDOW;
    ((bit / 64) as usize, 1 << (bit % 64))
}

impl Replay {
    /// Returns whether this counter has not been noted; one that is too old to tell counts as noted.
    pub(super) fn is_new(&self, counter: u64) -> bool {
        if counter >= self.top {
            return counter < u64::MAX;
        }
        let (word, bit) = place(counter);
        self.top - counter <= REPLAY_WINDOW && self.seen[word] & bit == 0
    }

    /// Notes a counter that is new.
    pub(super) fn note(&mut self, counter: u64) {
        if counter >= self.top {
            let passed = (counter - self.top).min(REPLAY_WINDOW);
            for skipped in counter - passed..counter {
                let (word, bit) = place(skipped);
                self.seen[word] &= !bit;
            }
            self.top = counter + 1;
        }
        let (word, bit) = place(counter);
        self.seen[word] |= bit;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Beside a set of all counters that were noted.
        #[test]
        fn a_counter_is_new_once(steps in prop::collection::vec((0..20_000_u64, any::<bool>()), 1..300)) {
            let (mut replay, mut noted, mut top) = (Replay::default(), BTreeSet::new(), 0_u64);
            for (step, back) in steps {
                let counter = if back { top.saturating_sub(step) } else { top + step % 700 };
                let old = top > counter && top - counter > REPLAY_WINDOW;
                prop_assert_eq!(replay.is_new(counter), !old && !noted.contains(&counter));
                if replay.is_new(counter) {
                    replay.note(counter);
                    noted.insert(counter);
                    top = top.max(counter + 1);
                }
            }
        }
    }

    #[test]
    fn the_highest_counter_there_is_cannot_be_used() {
        assert!(!Replay::default().is_new(u64::MAX));
    }
}
