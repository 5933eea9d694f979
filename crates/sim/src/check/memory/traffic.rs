//! The memory of flows and operations.

use super::share::Share;
use crate::record::tables::{flow_row_bytes, OPERATION_ROW};
use crate::simulation::footprint::{flow_bytes, CHANNEL, OPEN_OPERATION, OPERATION, STEERED_ROUTE};
use crate::topology::shape;
use crate::traffic::pattern::{self, OperationCount};
use crate::traffic::Table;

/// Packets of the largest flow of this table, or of what it can have under way.
fn packets(table: &Table<'_>) -> u64 {
    let bytes = pattern::of(&table.traffic.pattern).largest_bytes();
    bytes.div_ceil(u64::from(table.scenario.network.mtu))
}

/// Packets that a flow of this table can have under way.
pub(super) fn window(table: &Table<'_>) -> f64 {
    let window = table.scenario.transports[table.traffic.transport].protocol.max_window().ceil();
    window.min(packets(table) as f64)
}

/// Flows of a table at most, except in runs of one in millions.
pub(super) fn flows(table: &Table<'_>) -> f64 {
    pattern::of(&table.traffic.pattern).most_flows(table)
}

/// Returns the memory in bytes for `flows` flows of this table: their ends, one route there and back, and their rows.
fn bytes(table: &Table<'_>, flows: f64) -> f64 {
    let transport = &table.scenario.transports[table.traffic.transport];
    let shape = shape::of(&table.scenario.network.topology);
    let steps = if table.scenario.routing.is_some() { STEERED_ROUTE } else { 0.0 };
    let route = shape.path_bytes() + steps;
    flows * (flow_bytes(transport, packets(table)) + route + flow_row_bytes(transport.name.len()))
}

/// The shares of a table's flows, of operations that are open, and of those that are recorded.
pub(super) fn shares(table: &Table<'_>) -> Vec<Share> {
    let (pattern, path) = (pattern::of(&table.traffic.pattern), table.path());
    let flows = flows(table);
    let (key, remedy) = pattern.blame();
    let mut shares = vec![Share {
        bytes: bytes(table, flows) + pattern.list_bytes(),
        what: format!("{flows:.0} flows"),
        key: format!("{path}.{key}"),
        remedy,
    }];
    let Some(OperationCount { channels, open, all, key, remedy }) = pattern.operation_count(table) else {
        return shares;
    };
    shares.push(Share {
        bytes: channels * CHANNEL + open * OPEN_OPERATION,
        what: format!("{open:.0} operations that can be open"),
        key: format!("{path}.{key}"),
        remedy,
    });
    if table.scenario.record.operations {
        shares.push(Share {
            bytes: all * (OPERATION + OPERATION_ROW),
            what: format!("{all:.0} rows of operations"),
            key: "record.operations".into(),
            remedy: "do not record each, or shorten duration",
        });
    }
    shares
}
