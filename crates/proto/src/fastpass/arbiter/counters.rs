//! What an arbiter counts.

/// What an arbiter has done and what it has rejected since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArbiterCounters {
    /// Requests that were read.
    pub requests: u64,
    /// Slots demanded of the allocator.
    pub demanded: u64,
    /// Slots granted; what was demanded is granted, forgotten or outstanding.
    pub granted: u64,
    /// Slots demanded and not granted of endpoints that started anew, or in terms that have ended.
    pub forgotten: u64,
    /// Allocations sent.
    pub allocations: u64,
    /// Allocations that carried no grant: acknowledgements and repeated counts.
    pub empty_allocations: u64,
    /// Allocations whose counts were said again because no endpoint had acknowledged them.
    pub retransmissions: u64,
    /// Resets sent.
    pub resets: u64,
    /// Watchdogs sent.
    pub watchdogs: u64,
    /// Batches allocated.
    pub batches: u64,
    /// Batches left out because their slots had begun.
    pub late_batches: u64,
    /// Grants dropped because an endpoint could not be told of them soon enough.
    pub overdue_grants: u64,
    /// Times that other paths were used than before, as a link failed or is tried again.
    pub paths_changed: u64,
    /// Times that this arbiter became the primary.
    pub takeovers: u64,
    /// Times that it ceased to be the primary because it heard a newer term.
    pub stepped_down: u64,
    /// Times that it granted nothing for a while, as one endpoint claimed to follow a newer term.
    pub doubts: u64,
    /// Times that it found that it had stood still for so long that another may have taken over.
    pub woke_late: u64,
    /// Times that it moved its slots because most endpoints' clocks are elsewhere.
    pub clock_moved: u64,
    /// Times that it began to translate slots for an endpoint whose clock is far from most.
    pub clock_translated: u64,
    /// Requests of addresses that there are not.
    pub unknown_source: u64,
    /// Requests ignored because one endpoint sent too many.
    pub flooding: u64,
    /// Requests that came twice, or so late that nobody knows whether they had come.
    pub duplicate_requests: u64,
    /// Requests of an earlier incarnation of an endpoint.
    pub stale_incarnation: u64,
    /// Requests of an older term, or of none: answered by a reset.
    pub stale_term: u64,
    /// Requests of a newer term than this arbiter's.
    pub newer_term: u64,
    /// Requests of terms too far from this arbiter's to be true.
    pub absurd_term: u64,
    /// Requests of endpoints with clocks too far from this arbiter's to be true.
    pub absurd_clock: u64,
    /// Demands of destinations that there are not.
    pub unknown_destination: u64,
    /// Demands of an endpoint for itself.
    pub own_destination: u64,
    /// Demands that went back without a restart.
    pub backwards: u64,
    /// Demands of more slots than a pair may wait for.
    pub over_limit: u64,
    /// Path reports of addresses that there are not, or of more packets lost than sent.
    pub bad_reports: u64,
    /// Watchdogs of ranks that there are not, of this arbiter's own rank, or of terms that are not theirs.
    pub bad_watchdogs: u64,
}

impl ArbiterCounters {
    /// Requests, demands, reports and watchdogs that could not be true or were too many.
    pub fn rejected(&self) -> u64 {
        let requests = self.unknown_source + self.flooding + self.absurd_term + self.absurd_clock;
        let demands = self.unknown_destination + self.own_destination + self.backwards + self.over_limit;
        requests + demands + self.bad_reports + self.bad_watchdogs
    }

    /// Slots that were demanded, and are neither granted nor forgotten.
    pub fn outstanding(&self) -> u64 {
        self.demanded.saturating_sub(self.granted + self.forgotten)
    }
}
