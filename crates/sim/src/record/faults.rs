//! The table and the figures of faults: what each has cost, and when goodput was back.

use clearway_proto::units::{Span, Time};

use super::definitions::table;
use super::jobs::Times;
use super::measured::Measured;
use super::outcome::{Column, Table, Value};
use crate::model::{FaultTable, Scenario};

table! {
    /// A row for each `[[fault]]` of a link, a switch or a host, in the order of the file. No such table where
    /// there is none.
    Faults as "faults" {
        /// The number of its table in the file, from 0 on.
        fault: Nothing,
        /// Its kind, as in the file.
        kind: Nothing,
        /// The link, switch or host, as in the file.
        place: Nothing,
        /// When it began.
        at_us: Nothing,
        /// When it ended; NaN if it had no end.
        until_us: Nothing,
        /// Frames of any kind that were lost by it: on the link, in the queue of a link that died, or at a
        /// switch that knew of no way. A frame that several faults would have lost counts with the first.
        lost_frames: Run,
        /// Bytes on the wire of these frames.
        lost_bytes: Run,
        /// Payload that receivers took over the time of ten steps before it, each byte counted once. A step is a
        /// thousandth of `duration`, or 10 us if that is longer.
        goodput_before_gbps: Run,
        /// The lowest goodput in a step from its beginning on, until goodput was back; NaN if it began too late
        /// for a step.
        goodput_least_gbps: Run,
        /// Time from its beginning to the end of the first step, after goodput was below 90 % of that before, in
        /// which it was not; 0 if it never was below, and NaN if it was not back when the run ended or there had
        /// been none.
        recovery_us: Run,
        /// Time of the iteration in which it began over that of the iteration before, as the table `iterations`
        /// has them: of the job for which that is most. NaN without a job that ended both.
        iteration_slowdown: Run,
    }
}

/// The number and the table of each fault of a link, a switch or a host.
fn of_network(scenario: &Scenario) -> Vec<(usize, &FaultTable)> {
    scenario.fault_tables.iter().enumerate().filter(|(_, table)| table.is_of_network()).collect()
}

/// The time of the iteration in which a fault began over that of the one before; NaN if no job ended both.
fn iteration_slowdown(measured: &Measured, from: Time) -> f64 {
    let slowdown = |(number, record)| {
        let times = Times::of(measured, number, &record);
        let at = times.ended.iter().position(|ended| *ended > from).filter(|at| *at > 0)?;
        let took: Vec<Span> = times.all().collect();
        Some(took[at].as_us_f64() / took[at - 1].as_us_f64())
    };
    measured.simulation.jobs().enumerate().filter_map(slowdown).fold(f64::NAN, f64::max)
}

/// The table of faults; none where there is none of a link, a switch or a host.
pub(super) fn faults(measured: &Measured) -> Option<Table> {
    let (rows, steps) = (of_network(measured.scenario), &measured.goodput);
    let lost = measured.simulation.fault_losses(measured.scenario.fault_tables.len());
    let integers = |value: &dyn Fn(usize) -> u64| {
        Column::Integers(rows.iter().map(|(number, _)| value(*number)).collect())
    };
    let us = |at: Time| if at == Time::NEVER { f64::NAN } else { at.as_us_f64() };
    let floats = |value: &dyn Fn(&FaultTable) -> f64| {
        Column::Floats(rows.iter().map(|(_, table)| value(table)).collect())
    };
    let columns = Faults {
        fault: integers(&|number| number as u64),
        kind: Column::Texts(rows.iter().map(|(_, table)| table.kind).collect()),
        place: Column::Texts(rows.iter().map(|(_, table)| table.place.as_str()).collect()),
        at_us: floats(&|table| us(table.from)),
        until_us: floats(&|table| us(table.until)),
        lost_frames: integers(&|number| lost[number][0]),
        lost_bytes: integers(&|number| lost[number][1]),
        goodput_before_gbps: floats(&|table| steps.course(table.from)[0]),
        goodput_least_gbps: floats(&|table| steps.course(table.from)[1]),
        recovery_us: floats(&|table| steps.course(table.from)[2]),
        iteration_slowdown: floats(&|table| iteration_slowdown(measured, table.from)),
    };
    (!rows.is_empty()).then(|| columns.table())
}

/// The figures of all faults together; none where there is none of a link, a switch or a host.
pub(super) fn figures(measured: &Measured) -> Vec<(String, Value)> {
    let (rows, steps) = (of_network(measured.scenario), &measured.goodput);
    if rows.is_empty() {
        return Vec::new();
    }
    let lost = measured.simulation.fault_losses(measured.scenario.fault_tables.len());
    let recoveries: Vec<f64> = rows.iter().map(|(_, table)| steps.course(table.from)[2]).collect();
    let longest = recoveries.iter().copied().fold(0.0, f64::max);
    let recovery = if recoveries.iter().any(|recovery| recovery.is_nan()) {
        Value::Missing("goodput was not back after some fault, or there had been none")
    } else {
        Value::Float(longest)
    };
    vec![
        ("fault_lost_bytes".into(), Value::Integer(lost.iter().map(|[_, bytes]| bytes).sum())),
        ("fault_recovery_max_us".into(), recovery),
    ]
}
