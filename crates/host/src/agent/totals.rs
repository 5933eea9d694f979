//! What an agent has counted since its start: runs, flows by carrier, control channels, reloads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Buckets of round trips: the first ends at 2 us, each other at twice the one before, and the last has no end (`daemon::metrics`).
pub const RTT_BUCKETS: usize = 24;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Its controller ended it.
    Completed,
    /// This agent could not do what it asked for.
    Refused,
    /// Its controller went away, or fell silent, before its end.
    Lost,
    /// This agent was told to end.
    Left,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 4] = [Outcome::Completed, Outcome::Refused, Outcome::Lost, Outcome::Left];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Refused => "refused",
            Outcome::Lost => "lost",
            Outcome::Left => "left",
        }
    }
}

/// What the flows of a carrier have done, since the agent's start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowTotals {
    /// Flows of which all has arrived.
    pub finished: u64,
    /// Flows that failed.
    pub failed: u64,
    /// Flows that were active when their run ended.
    pub unfinished: u64,
    /// Bytes acknowledged.
    pub bytes: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Smoothed round trips of active flows, as often as they are sampled, by bucket.
    pub rtt: [u64; RTT_BUCKETS],
    /// The sum of these, in nanoseconds.
    pub rtt_sum_ns: u64,
}

impl FlowTotals {
    /// Adds a round trip, in nanoseconds.
    pub fn record_rtt(&mut self, ns: u64) {
        // Bucket b has what is at most 2^(b + 1) microseconds.
        let us = ns.div_ceil(1000).max(2);
        let bucket = (us - 1).ilog2() as usize;
        self.rtt[bucket.min(RTT_BUCKETS - 1)] += 1;
        self.rtt_sum_ns = self.rtt_sum_ns.saturating_add(ns);
    }
}

/// The totals of one carrier, which many flows add to.
#[derive(Clone, Debug, Default)]
pub struct OfCarrier(Arc<Mutex<FlowTotals>>);

impl OfCarrier {
    /// Adds to the totals.
    pub fn add(&self, what: impl FnOnce(&mut FlowTotals)) {
        what(&mut locked(&self.0));
    }

    /// The totals now.
    pub fn now(&self) -> FlowTotals {
        locked(&self.0).clone()
    }
}

/// What an agent counts beside flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs by the way they ended.
    pub runs: BTreeMap<Outcome, u64>,
    /// Control channels that were opened, by what for.
    pub channels: BTreeMap<&'static str, u64>,
    /// Control channels that were refused or did not come about, by the reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Reloads that went well, and those that changed nothing.
    pub reloads: [u64; 2],
    /// Whether the latest reload failed.
    pub is_reload_bad: bool,
}

/// All totals of an agent.
#[derive(Debug, Default)]
pub struct Totals {
    carriers: Mutex<BTreeMap<String, OfCarrier>>,
    counts: Mutex<Counts>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Totals {
    /// The totals of a carrier of this name.
    pub fn of_carrier(&self, name: &str) -> OfCarrier {
        locked(&self.carriers).entry(name.into()).or_default().clone()
    }

    /// What each carrier's flows have done, by its name.
    pub fn carriers(&self) -> BTreeMap<String, FlowTotals> {
        locked(&self.carriers).iter().map(|(name, totals)| (name.clone(), totals.now())).collect()
    }

    /// The counts beside those of flows.
    pub fn counts(&self) -> Counts {
        locked(&self.counts).clone()
    }

    /// A run has ended.
    pub fn run_ended(&self, outcome: Outcome) {
        *locked(&self.counts).runs.entry(outcome).or_default() += 1;
    }

    /// A control channel was opened.
    pub fn channel_opened(&self, purpose: &'static str) {
        *locked(&self.counts).channels.entry(purpose).or_default() += 1;
    }

    /// A control channel was refused.
    pub fn channel_refused(&self, reason: &'static str) {
        *locked(&self.counts).refused.entry(reason).or_default() += 1;
    }

    /// Settings were read again, or could not be.
    pub fn reloaded(&self, is_good: bool) {
        let mut counts = locked(&self.counts);
        counts.reloads[usize::from(!is_good)] += 1;
        counts.is_reload_bad = !is_good;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_in_the_bucket_that_ends_at_them_or_above() {
        let mut totals = FlowTotals::default();
        for (ns, bucket) in [(0, 0), (2000, 0), (2001, 1), (4000, 1), (4001, 2), (u64::MAX, 23)] {
            let before = totals.rtt[bucket];
            totals.record_rtt(ns);
            assert_eq!(totals.rtt[bucket], before + 1, "{ns}");
        }
    }

    #[test]
    fn a_carrier_has_one_account() {
        let totals = Totals::default();
        totals.of_carrier("tcp:cubic").add(|flows| flows.bytes += 3);
        totals.of_carrier("tcp:cubic").add(|flows| flows.bytes += 4);
        assert_eq!(totals.carriers()["tcp:cubic"].bytes, 7);
        totals.reloaded(false);
        assert!(totals.counts().is_reload_bad);
        totals.reloaded(true);
        assert_eq!((totals.counts().is_reload_bad, totals.counts().reloads), (false, [1, 1]));
    }
}
