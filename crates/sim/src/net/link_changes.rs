//! When a link dies, lives again, or has another rate, as its port is told.

use clearway_proto::units::{Rate, Time};

use super::forwarding::DeadTime;

/// When a port's link changes, in picoseconds.
#[derive(Clone, Debug, Default)]
pub struct LinkChanges {
    /// The times in which it is dead.
    pub dead: Vec<DeadTime>,
    /// The times in which it has another rate.
    pub rates: Vec<(u64, u64, Rate)>,
    /// The kind of the port at the usual rate.
    pub usual: u16,
    /// When the frame that was in transmission at the last change of the rate has left, in picoseconds, and the rate at which it leaves.
    pub under_way: Option<(u64, Rate)>,
}

impl LinkChanges {
    /// Every instant at which something changes.
    pub fn instants(&self) -> Vec<u64> {
        let dead = self.dead.iter().flat_map(|time| [time.from, time.noticed, time.until]);
        let mut all: Vec<u64> =
            dead.chain(self.rates.iter().flat_map(|&(from, until, _)| [from, until])).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|&at| at != Time::NEVER.as_ps());
        all
    }

    /// The fault by which the link dies at this instant, if it does.
    pub fn dies(&self, now: u64) -> Option<u32> {
        self.dead.iter().find(|time| time.from == now).map(|time| time.fault)
    }

    /// Returns whether the nodes at the link's ends come to know at this instant that it is dead.
    pub fn is_noticed(&self, now: u64) -> bool {
        self.dead.iter().any(|time| time.noticed == now && now < time.until)
    }

    /// Returns whether the link lives again from this instant on.
    pub fn returns(&self, now: u64) -> bool {
        self.dead.iter().any(|time| time.until == now)
    }

    /// The lowest of the rates that the link has at this instant; `None` where that is its usual one.
    pub fn rate(&self, now: u64) -> Option<Rate> {
        let rates = self.rates.iter().filter(|(from, until, _)| (*from..*until).contains(&now));
        rates.map(|(.., rate)| *rate).min()
    }
}
