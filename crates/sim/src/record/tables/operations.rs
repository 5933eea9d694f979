//! Tables about operations, and about what was not finished.

use std::collections::BTreeMap;

use crate::record::definitions::table;
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::simulation::OperationRecord;
use clearway_proto::units::{Span, Time};

table! {
    /// A row for each operation that was issued: first those that are complete, in the order of completion,
    /// then those that were open when the run ended, by flow. One that could not be issued, as too many were
    /// open, has none.
    Operations as "operations" {
        /// The flow that carries it from its initiator.
        flow: Nothing,
        /// Its number among those of the flow, from 0 on.
        operation: Nothing,
        /// The number of the host that issued it.
        initiator: Nothing,
        /// The number of the host that it was for.
        target: Nothing,
        /// Payload that it moves: what a write carries, or the answer to a read.
        bytes: Nothing,
        /// When it was issued, also if it had to wait for those before it.
        issued_us: Run,
        /// When its initiator knew that it was complete: a write when all of it is acknowledged, a read when
        /// its answer has arrived; NaN while it is open.
        completed_us: Run,
        /// Time between these two, with every wait; NaN while it is open.
        latency_us: Run,
        /// Time from its issue to the end of the run, if it was open then; NaN if it was complete.
        age_us: Run,
        /// 1 if it took, or has taken by the end of the run, longer than its deadline, and 0 if not or if it
        /// has none.
        failed: Run,
    }
}

/// The table of operations, if each is recorded: first those that are complete, in the order of completion, then those
/// that are open, by flow, with an age instead of a latency. One that could not be issued is not among them.
pub(in crate::record) fn operations(measured: &Measured) -> Option<Table> {
    let (simulation, specs) = (measured.simulation, measured.simulation.specs());
    let mut rows = simulation.operation_records()?;
    rows.extend(simulation.open_operations());
    let spec = |row: &OperationRecord| &specs[row.flow as usize];
    let integers =
        |value: &dyn Fn(&OperationRecord) -> u64| Column::Integers(rows.iter().map(value).collect());
    let floats = |value: &dyn Fn(&OperationRecord) -> f64| Column::Floats(rows.iter().map(value).collect());
    let if_done = |row: &OperationRecord, value: f64| if row.done == Time::NEVER { f64::NAN } else { value };
    let age = |row: &OperationRecord| measured.end.since(row.issued).as_us_f64();
    let columns = Operations {
        flow: integers(&|row| u64::from(row.flow)),
        operation: integers(&|row| u64::from(row.number)),
        initiator: integers(&|row| u64::from(spec(row).from)),
        target: integers(&|row| u64::from(spec(row).to)),
        bytes: integers(&|row| simulation.operation_bytes(row.flow).get()),
        issued_us: floats(&|row| row.issued.as_us_f64()),
        completed_us: floats(&|row| if_done(row, row.done.as_us_f64())),
        latency_us: floats(&|row| if_done(row, row.done.since(row.issued).as_us_f64())),
        age_us: floats(&|row| if row.done == Time::NEVER { age(row) } else { f64::NAN }),
        failed: integers(&|row| u64::from(simulation.is_late(row))),
    };
    Some(columns.table())
}

table! {
    /// A row for each `[[traffic]]` table of which something was under way when the run ended. No such table
    /// where nothing was.
    Unfinished as "unfinished" {
        /// The table's number, from 0 on.
        traffic: Nothing,
        /// Its flows with a size that had started and were not complete.
        flows: Run,
        /// The age of the oldest of these; 0 of none.
        oldest_flow_us: Run,
        /// Its operations that were issued in the measured interval and were open when the run ended.
        operations: Measured,
        /// The age of the oldest of these when the run ended; 0 of none.
        oldest_operation_us: Measured,
    }
}

/// The table of what is unfinished: a row for each traffic table of which a sized flow, or an operation of the measured
/// time, was under way at the end, with how many were and the age of the oldest, 0 of none; no table where nothing was.
pub(in crate::record) fn unfinished(measured: &Measured) -> Option<Table> {
    let specs = measured.simulation.specs();
    let mut rows: BTreeMap<u32, [(u64, Span); 2]> = BTreeMap::new();
    let mut add = |table: u32, kind: usize, age: Span| {
        let (count, oldest) = &mut rows.entry(table).or_default()[kind];
        *count += 1;
        *oldest = age.max(*oldest);
    };
    for (flow, spec) in (0..).zip(specs) {
        if let Some(age) = measured.age(flow) {
            add(spec.table, 0, age);
        }
    }
    for operation in measured.open_operations() {
        add(specs[operation.flow as usize].table, 1, measured.end.since(operation.issued));
    }
    let counts = |kind: usize| Column::Integers(rows.values().map(|row| row[kind].0).collect());
    let oldest = |kind: usize| Column::Floats(rows.values().map(|row| row[kind].1.as_us_f64()).collect());
    let columns = Unfinished {
        traffic: Column::Integers(rows.keys().map(|&table| u64::from(table)).collect()),
        flows: counts(0),
        oldest_flow_us: oldest(0),
        operations: counts(1),
        oldest_operation_us: oldest(1),
    };
    (!rows.is_empty()).then(|| columns.table())
}
