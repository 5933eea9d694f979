//! What an endpoint counts.

/// What an endpoint has done and what it has refused since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointCounters {
    /// Requests sent.
    pub requests: u64,
    /// Demands said again because no arbiter had acknowledged them.
    pub retransmissions: u64,
    /// Slots demanded.
    pub demanded: u64,
    /// Grants taken.
    pub granted: u64,
    /// Slots given to the driver to send a packet in.
    pub used: u64,
    /// Slots that the arbiter has granted in packets that did not come, or not yet.
    pub lost: u64,
    /// Grants refused because their slots began too long ago, when they came or when their turn came.
    pub refused_late: u64,
    /// Grants refused because their slots are too far ahead.
    pub refused_early: u64,
    /// Grants refused because the endpoint holds one for the same slot and destination.
    pub refused_duplicate: u64,
    /// Grants refused because there are more than an endpoint can hold.
    pub refused_overfull: u64,
    /// Grants, and counts of granted slots, to the endpoint itself or to addresses that there are not.
    pub refused_address: u64,
    /// Grants dropped because a new primary may grant their slots to others.
    pub fenced: u64,
    /// Allocations that were taken.
    pub allocations: u64,
    /// Allocations that came twice, or so late that nobody knows whether they had come.
    pub duplicate_allocations: u64,
    /// Allocations of another term than the one that the endpoint follows.
    pub foreign_allocations: u64,
    /// Allocations and resets for other endpoints or for earlier lives of this one.
    pub misdirected: u64,
    /// Counts of granted slots beyond what was demanded.
    pub bad_counts: u64,
    /// Resets that were followed.
    pub resets: u64,
    /// Resets of a term that the endpoint follows already, or of an older one.
    pub stale_resets: u64,
    /// Times that the endpoint began to send without slots.
    pub fallbacks: u64,
    /// Times that it came back to slots.
    pub returns: u64,
}
