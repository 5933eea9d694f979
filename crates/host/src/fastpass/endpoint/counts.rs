//! An endpoint's counts by their names.

use clearway_proto::fastpass::endpoint::EndpointCounters;

/// Counts with the name and the meaning that metrics give them.
pub fn named(counters: &EndpointCounters) -> [(&'static str, &'static str, u64); 15] {
    let c = counters;
    [
        ("requests", "Requests sent.", c.requests),
        ("retransmissions", "Demands said again, as no arbiter had acknowledged them.", c.retransmissions),
        ("slots_demanded", "Timeslots demanded.", c.demanded),
        ("slots_granted", "Granted timeslots that came.", c.granted),
        ("slots_used", "Timeslots in whose time packets could leave.", c.used),
        ("slots_lost", "Timeslots granted in packets that did not come.", c.lost),
        ("slots_late", "Granted timeslots refused, as they had begun too long ago.", c.refused_late),
        ("slots_early", "Granted timeslots refused, as they are too far ahead.", c.refused_early),
        (
            "slots_refused",
            "Granted timeslots refused for another reason.",
            c.refused_duplicate + c.refused_overfull + c.refused_address,
        ),
        ("slots_fenced", "Granted timeslots dropped, as a new primary may grant them to others.", c.fenced),
        ("allocations", "Allocations that were taken.", c.allocations),
        (
            "allocations_refused",
            "Allocations of other terms, other lives, or that came twice.",
            c.foreign_allocations + c.misdirected + c.duplicate_allocations,
        ),
        ("resets", "Times that a new primary was followed.", c.resets),
        (
            "fallbacks",
            "Times that the endpoint began to send without timeslots, as no arbiter was heard.",
            c.fallbacks,
        ),
        ("returns", "Times that it came back to timeslots.", c.returns),
    ]
}
