//! The round-trip times of each transport since they were last taken, for kinds of samples that take them at instants of their own.

use crate::simulation::Simulation;

/// Some round-trip times, in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) sum: u128,
    pub(super) count: u64,
    pub(super) max: u64,
}

impl Times {
    /// Mean and largest in microseconds; NaN where there is none.
    pub(super) fn mean_and_max_us(self) -> [f64; 2] {
        let us = |ps: f64| if self.count > 0 { ps / 1e6 } else { f64::NAN };
        [us(self.sum as f64 / self.count as f64), us(self.max as f64)]
    }

    /// These times and some others.
    pub(super) fn with(self, other: Times) -> Times {
        Times { sum: self.sum + other.sum, count: self.count + other.count, max: self.max.max(other.max) }
    }
}

/// The round-trip times of each transport since they were last taken.
#[derive(Debug)]
pub(super) struct RoundTrips {
    /// The simulation's counts when these were last taken, without a longest.
    last: Vec<Times>,
    /// The round-trip times that the simulation has forgotten since then, and the longest of all since then.
    kept: Vec<Times>,
}

impl RoundTrips {
    pub(super) fn new(simulation: &Simulation) -> RoundTrips {
        let none = vec![Times::default(); simulation.transports()];
        RoundTrips { last: none.clone(), kept: none }
    }

    /// These are the longest of each transport since they were last noted; see [`longest`].
    pub(super) fn note_longest(&mut self, longest: &[u64]) {
        for (kept, &longest) in self.kept.iter_mut().zip(longest) {
            kept.max = kept.max.max(longest);
        }
    }

    /// Keeps what there is, as the simulation is about to forget it.
    pub(super) fn keep(&mut self, simulation: &Simulation) {
        for transport in 0..self.kept.len() {
            self.kept[transport] = self.since_last(simulation, transport);
        }
        self.last.fill(Times::default());
    }

    /// Takes those of a transport.
    pub(super) fn take(&mut self, simulation: &Simulation, transport: usize) -> Times {
        let since = self.since_last(simulation, transport);
        self.kept[transport] = Times::default();
        since
    }

    fn since_last(&mut self, simulation: &Simulation, transport: usize) -> Times {
        let (last, kept) = (&mut self.last[transport], self.kept[transport]);
        let (sum, count) = simulation.rtt_so_far(transport);
        let since = Times { sum: sum - last.sum, count: count - last.count, max: 0 };
        *last = Times { sum, count, max: 0 };
        since.with(kept)
    }
}

/// The longest round-trip time of each transport since this was last asked, in picoseconds. Who takes round-trip times at other
/// instants has to be told, too.
pub(super) fn longest(simulation: &mut Simulation) -> Vec<u64> {
    (0..simulation.transports()).map(|transport| simulation.take_recent_max_rtt(transport)).collect()
}
