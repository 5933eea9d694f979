//! An open loop of operations: each initiator issues them at times of its own.

use super::contract::{cross, OperationCount, TrafficPattern};
use super::loops::{self, StartsWith};
use crate::model::{Offered, Operations};
use crate::net::shape::host_rates;
use crate::traffic::flow::{Demand, FlowSpec};
use crate::traffic::table::Table;

/// See [`Pattern::OpenLoop`](crate::model::Pattern::OpenLoop).
pub(super) struct OpenLoop<'a> {
    pub(super) operations: &'a Operations,
    pub(super) offered: Offered,
    pub(super) backlog: u32,
}

impl TrafficPattern for OpenLoop<'_> {
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        loops::add_flows(table, self.operations, StartsWith::Initiator, Demand::OpenLoop, flows);
    }

    fn flows(&self, _: &Table<'_>) -> f64 {
        loops::flows(self.operations)
    }

    fn largest_bytes(&self) -> u64 {
        u64::MAX
    }

    fn list_bytes(&self) -> f64 {
        loops::list_bytes(self.operations)
    }

    fn operations(&self, table: &Table<'_>) -> Option<OperationCount> {
        let all = self.arrivals(table);
        let open = all.min(self.operations.from.len() as f64 * f64::from(self.backlog));
        let remedy = "lower backlog, offer less, or shorten duration";
        Some(OperationCount { open, all, key: "backlog", remedy })
    }

    fn some_pairs(&self, _: usize) -> Vec<(u32, u32)> {
        cross(&self.operations.from, &self.operations.to)
    }

    fn endless(&self) -> Option<&'static str> {
        Some("an open loop never completes: give stop")
    }
}

impl OpenLoop<'_> {
    /// How many operations the initiators issue at most, but for luck beyond five standard deviations.
    fn arrivals(&self, table: &Table<'_>) -> f64 {
        let rates = host_rates(&table.scenario.network);
        let active = table.traffic.active(table.scenario.duration).as_ps() as f64;
        let each = |host: &u32| active / self.offered.gap_ps(self.operations.bytes, rates.get(*host)) + 1.0;
        let expected: f64 = self.operations.from.iter().map(each).sum();
        expected + 5.0 * expected.sqrt()
    }
}
