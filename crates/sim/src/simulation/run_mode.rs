//! Whether the domains of a run happen on threads of their own, or one after the other on the caller's.
//!
//! Threads meet between windows. Where something else on the machine keeps a core busy, they mostly wait for the one that
//! lacks a core, and one thread is quicker than several. So when a thread waits much, the other mode is tried for a
//! stretch, and the quicker one is taken. The outcome of the run is the same.

use std::time::Duration;

/// Packet-hops of a stretch: several milliseconds, longer than a scheduler mostly leaves a thread without a core.
pub(super) const STRETCH: u64 = 200_000;
/// Stretches after which the other mode is tried again, at first and at most.
const PATIENCE: [u32; 2] = [2, 64];

/// How the domains of a run get their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunMode {
    /// Each on a thread of its own.
    Threads,
    /// One after the other.
    InTurn,
}

/// What came of a stretch, or of a part of one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stretch {
    pub packet_hops: u64,
    pub took: Duration,
    /// How long the thread waited for others that waited longest.
    pub waited: Duration,
}

/// Finds out which mode is quicker.
#[derive(Debug)]
pub(super) struct Choice {
    /// The mode that was quicker last.
    settled: RunMode,
    /// Its packet-hops a second in its last stretch.
    speed: f64,
    /// The other mode is being tried.
    trying: bool,
    /// Stretches before the other mode is tried.
    left: u32,
    patience: u32,
    /// What came of this stretch up to now.
    sofar: Stretch,
}

impl Choice {
    /// Threads, until they wait.
    pub(super) fn new() -> Choice {
        Choice {
            settled: RunMode::Threads,
            speed: 0.0,
            trying: false,
            left: 0,
            patience: PATIENCE[0],
            sofar: Stretch::default(),
        }
    }

    /// Returns a choice that stays with this mode.
    #[cfg(test)]
    pub(super) fn only(mode: RunMode) -> Choice {
        Choice { settled: mode, left: u32::MAX, ..Choice::new() }
    }

    /// Returns the mode to run in now.
    pub(super) fn mode(&self) -> RunMode {
        match (self.settled, self.trying) {
            (RunMode::Threads, false) | (RunMode::InTurn, true) => RunMode::Threads,
            (RunMode::InTurn, false) | (RunMode::Threads, true) => RunMode::InTurn,
        }
    }

    /// Takes note of what came of running in that mode.
    pub(super) fn note(&mut self, part: Stretch) {
        self.sofar.packet_hops += part.packet_hops;
        self.sofar.took += part.took;
        self.sofar.waited += part.waited;
        if self.sofar.packet_hops >= STRETCH {
            let stretch = std::mem::take(&mut self.sofar);
            self.conclude(stretch);
        }
    }

    fn conclude(&mut self, stretch: Stretch) {
        let speed = stretch.packet_hops as f64 / stretch.took.as_secs_f64();
        if self.trying {
            let better = speed > self.speed;
            self.patience = if better { PATIENCE[0] } else { (self.patience * 2).min(PATIENCE[1]) };
            self.settled = if better { self.mode() } else { self.settled };
            self.trying = false;
            self.left = self.patience;
            self.speed = self.speed.max(speed);
            return;
        }
        self.speed = speed;
        let waits = self.settled == RunMode::InTurn || stretch.waited * 4 > stretch.took;
        self.trying = waits && self.left == 0;
        self.left = self.left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs some stretches; `speed` gives packet-hops a microsecond and the share of waiting in a mode. Returns the modes it
    /// chose.
    fn go(choice: &mut Choice, stretches: usize, speed: impl Fn(RunMode) -> (u64, f64)) -> Vec<RunMode> {
        (0..stretches)
            .map(|_| {
                let mode = choice.mode();
                let (hops, waiting) = speed(mode);
                let took = Duration::from_micros(STRETCH / hops);
                // In two parts, as looks of the observer cut stretches.
                let half =
                    Stretch { packet_hops: STRETCH / 2, took: took / 2, waited: took.mul_f64(waiting / 2.0) };
                choice.note(half);
                choice.note(half);
                mode
            })
            .collect()
    }

    #[test]
    fn threads_that_do_not_wait_go_on() {
        let modes = go(&mut Choice::new(), 500, |_| (50, 0.2));
        assert!(modes.iter().all(|&mode| mode == RunMode::Threads));
    }

    #[test]
    fn one_after_the_other_where_threads_wait_and_are_slower_and_back_when_they_are_not() {
        let mut choice = Choice::new();
        let crowded = |mode| if mode == RunMode::Threads { (20, 0.5) } else { (25, 0.0) };
        let modes = go(&mut choice, 500, crowded);
        assert_eq!(modes[..2], [RunMode::Threads, RunMode::InTurn]);
        let tried = modes[2..].iter().filter(|&&mode| mode == RunMode::Threads).count();
        assert!((8..=20).contains(&tried), "threads were tried {tried} times");
        let alone = |mode| if mode == RunMode::Threads { (45, 0.1) } else { (25, 0.0) };
        let modes = go(&mut choice, 200, alone);
        let back = modes.iter().position(|&mode| mode == RunMode::Threads).expect("threads are tried again");
        assert!(back <= 65 && modes[back..].iter().all(|&mode| mode == RunMode::Threads));
    }

    #[test]
    fn threads_that_wait_and_are_quicker_all_the_same_go_on() {
        let uneven = |mode| if mode == RunMode::Threads { (35, 0.5) } else { (25, 0.0) };
        let modes = go(&mut Choice::new(), 500, uneven);
        let tried = modes.iter().filter(|&&mode| mode == RunMode::InTurn).count();
        assert!((8..=20).contains(&tried), "it was tried {tried} times");
    }
}
