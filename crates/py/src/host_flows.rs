//! The flows of a scenario for agents on real hosts, as columns.

use clearway_proto::units::{Bytes, Time};
use clearway_sim::model::Scenario;
use clearway_sim::traffic::{on_hosts, Beyond, HostFlow};
use pyo3::prelude::*;

use crate::errors::ScenarioError;

/// One flow: its number, its traffic table, whether it is an operation, source, destination, start and stop in nanoseconds, bytes,
/// and whether it starts again when it is complete.
pub type Row = (u32, u32, bool, u32, u32, u64, Option<u64>, Option<u64>, bool);

/// Returns the flows of a scenario that agents on real hosts are to send, at most `most`.
pub fn host_flows(scenario: &Scenario, most: usize) -> PyResult<Vec<Row>> {
    let nanoseconds = |time: Time| time.as_ps() / 1000;
    let flows = on_hosts(scenario, most).map_err(|beyond| {
        ScenarioError::new_err(match beyond {
            Beyond::Reads(table) => format!(
                "traffic[{table}].operation: found \"read\", but agents on hosts do not answer\n  write instead: operation = \"write\""
            ),
            Beyond::Job(table) => format!(
                "{}: a job's messages wait for each other, which agents on hosts do not know\n  leave [[job]] out",
                scenario.path_of_table(table)
            ),
            Beyond::TooMany(table) => format!(
                "traffic[{table}]: brings more than the {most} flows and operations that agents on hosts can have\n  shorten \
                 duration, or offer less"
            ),
        })
    })?;
    let row = |flow: HostFlow| {
        let HostFlow { flow: number, table, is_operation, from, to, start, bytes, stop, again } = flow;
        let (stop, bytes) = (stop.map(nanoseconds), bytes.map(Bytes::get));
        (number, table, is_operation, from, to, nanoseconds(start), stop, bytes, again)
    };
    Ok(flows.into_iter().map(row).collect())
}
