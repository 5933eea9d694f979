//! Warnings about faults that never happen.

use clearway_proto::units::Time;

use crate::model::Scenario;
use crate::scenario::key::Shown;

/// A sentence for each fault that would begin when the run is over.
pub(super) fn of(scenario: &Scenario) -> impl Iterator<Item = String> + '_ {
    let end = Time::ZERO + scenario.duration;
    let late = (0..).zip(&scenario.fault_tables).filter(move |(_, fault)| fault.from >= end);
    late.map(|(number, fault)| {
        let (begins, duration) = (fault.from.since(Time::ZERO).shown(), scenario.duration.shown());
        format!(
            "fault[{number}]: never happens: the run ends at {duration}, and it would begin at {begins}; lengthen duration, or let it \
             begin earlier"
        )
    })
}
