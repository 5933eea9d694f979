//! A closed loop of operations: each pair keeps some open, and issues a new one when one completes.

use super::contract::{cross, OperationCount, OperationLoop, TrafficPattern};
use super::loops::{self, channels, StartsWith};
use crate::model::Operations;
use crate::topology::shape::{host_rates, least_delay};
use crate::traffic::flow::{Demand, FlowSpec};
use crate::traffic::table::Table;

/// See [`Pattern::ClosedLoop`](crate::model::Pattern::ClosedLoop).
pub(super) struct ClosedLoop<'a> {
    pub(super) operations: &'a Operations,
    pub(super) outstanding: u32,
}

impl TrafficPattern for ClosedLoop<'_> {
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        loops::add_flows(table, self.operations, StartsWith::Itself, Demand::ClosedLoop, flows);
    }

    fn flows(&self, _: &Table<'_>) -> f64 {
        loops::flows(self.operations)
    }

    fn largest_bytes(&self) -> u64 {
        self.operations.bytes.get().saturating_mul(u64::from(self.outstanding))
    }

    fn list_bytes(&self) -> f64 {
        loops::list_bytes(self.operations)
    }

    fn operation_loop(&self) -> Option<OperationLoop<'_>> {
        let Self { operations, outstanding } = *self;
        Some(OperationLoop { operations, outstanding, backlog: u32::MAX, issued: None })
    }

    fn operation_count(&self, table: &Table<'_>) -> Option<OperationCount> {
        let channels = channels(self.operations);
        let open = channels * f64::from(self.outstanding);
        let all = self.completions(table, open);
        Some(OperationCount { channels, open, all, key: "outstanding", remedy: "lower outstanding" })
    }

    /// Flows of answers start with those of requests.
    fn members(&self, _: &Table<'_>) -> f64 {
        channels(self.operations)
    }

    fn some_pairs(&self, _: usize) -> Vec<(u32, u32)> {
        cross(&self.operations.from, &self.operations.to)
    }

    fn endless(&self) -> Option<&'static str> {
        Some("a closed loop never completes: give stop")
    }
}

impl ClosedLoop<'_> {
    /// Operations that can complete: as many as the links of initiators or targets can carry, and no more than one for
    /// each that is open in the time that light needs over two links each way.
    fn completions(&self, table: &Table<'_>, open: f64) -> f64 {
        let (scenario, traffic) = (table.scenario, table.traffic);
        let (network, active) = (&scenario.network, traffic.active(scenario.duration));
        let rates = host_rates(network);
        let header = scenario.transports[traffic.transport].header;
        let bytes = self.operations.bytes.get();
        let frames = bytes.div_ceil(u64::from(network.mtu)) as f64;
        let wire = bytes as f64 + frames * f64::from(header + network.framing);
        let slower_side = rates.sum_bps(&self.operations.from).min(rates.sum_bps(&self.operations.to));
        let carried = slower_side * active.as_secs_f64() / (8.0 * wire);
        let trips = active.as_secs_f64() / (4.0 * least_delay(network).as_secs_f64()) + 1.0;
        carried.min(trips * open)
    }
}
