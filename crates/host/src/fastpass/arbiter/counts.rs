//! An arbiter's counts by their names, and whether it has too much to do.

use clearway_proto::fastpass::arbiter::ArbiterCounters;
use tracing::warn;

/// Counts with the name and the meaning that metrics give them.
pub fn named(counters: &ArbiterCounters) -> [(&'static str, &'static str, u64); 23] {
    let c = counters;
    [
        ("requests", "Requests that were read.", c.requests),
        ("slots_demanded", "Timeslots that were demanded.", c.demanded),
        ("slots_granted", "Timeslots that were granted.", c.granted),
        (
            "slots_forgotten",
            "Timeslots that were demanded by endpoints that started anew, or in terms that have ended.",
            c.forgotten,
        ),
        ("allocations", "Allocations sent.", c.allocations),
        ("allocations_empty", "Allocations without a grant.", c.empty_allocations),
        ("retransmissions", "Allocations whose counts were said again.", c.retransmissions),
        ("resets", "Resets sent.", c.resets),
        ("watchdogs", "Watchdogs sent.", c.watchdogs),
        ("batches", "Batches of timeslots allocated.", c.batches),
        (
            "batches_late",
            "Batches left out, as their timeslots had begun: the arbiter has too much to do, or stood still.",
            c.late_batches,
        ),
        (
            "grants_overdue",
            "Grants dropped because an endpoint could not be told soon enough.",
            c.overdue_grants,
        ),
        ("paths_changed", "Times that other paths were used than before.", c.paths_changed),
        ("takeovers", "Times that this arbiter became the primary.", c.takeovers),
        (
            "doubts",
            "Times that it granted nothing for a while, as one endpoint claimed to follow a newer term.",
            c.doubts,
        ),
        ("stepped_down", "Times that it ceased to be that, as it heard a newer term.", c.stepped_down),
        ("woke_late", "Times that it stood still for so long that another may have taken over.", c.woke_late),
        (
            "clock_moved",
            "Times that it moved its timeslots to where most endpoints' clocks are.",
            c.clock_moved,
        ),
        (
            "clock_translated",
            "Times that it began to translate timeslots for an endpoint whose clock is far from most.",
            c.clock_translated,
        ),
        ("requests_shed", "Requests ignored because one endpoint sent too many.", c.flooding),
        ("demands_shed", "Demands refused because a pair may wait for no more timeslots.", c.over_limit),
        (
            "rejected",
            "Requests, demands, reports and watchdogs that could not be true, and those that were shed.",
            c.rejected(),
        ),
        (
            "requests_stale",
            "Requests of older terms and earlier lives of endpoints.",
            c.stale_term + c.stale_incarnation,
        ),
    ]
}

/// Tells when there is more to do than can be done, once when it begins and once when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overload {
    before: ArbiterCounters,
    is_over: bool,
}

impl Overload {
    /// Compares with the look before.
    pub fn look(&mut self, counters: &ArbiterCounters) {
        let late_batches = counters.late_batches - self.before.late_batches;
        let requests_shed = counters.flooding - self.before.flooding;
        let overdue_grants = counters.overdue_grants - self.before.overdue_grants;
        let is_over = late_batches + requests_shed + overdue_grants > 0;
        if is_over && !self.is_over {
            warn!(
                late_batches,
                requests_shed,
                overdue_grants,
                "arbiter is overloaded: who was served least recently is served first"
            );
        } else if self.is_over && !is_over {
            warn!("arbiter is no longer overloaded");
        }
        (self.before, self.is_over) = (*counters, is_over);
    }
}
