//! An open loop of operations: each initiator issues them at times of its own.

use super::contract::{cross, MostOffered, OfferedLoad, OperationCount, OperationLoop, TrafficPattern};
use super::loops::{self, channels, StartsWith};
use crate::model::{Arrivals, Offered, OperationKind, Operations};
use crate::topology::shape::host_rates;
use crate::traffic::flow::{Demand, FlowSpec};
use crate::traffic::table::Table;

/// How far a Poisson number may lie above its mean before it is no longer to be expected in any run: ten standard
/// deviations, and some for small means.
const SURELY_BELOW: (f64, f64) = (10.0, 50.0);

/// See [`Pattern::OpenLoop`](crate::model::Pattern::OpenLoop).
pub(super) struct OpenLoop<'a> {
    pub(super) operations: &'a Operations,
    pub(super) arrivals: Arrivals,
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

    fn operation_loop(&self) -> Option<OperationLoop<'_>> {
        let Self { operations, arrivals, offered, backlog } = *self;
        Some(OperationLoop { operations, outstanding: 0, backlog, issued: Some((arrivals, offered)) })
    }

    fn operation_count(&self, table: &Table<'_>) -> Option<OperationCount> {
        let channels = channels(self.operations);
        let all = self.arrivals(table);
        let open = all.min(self.operations.from.len() as f64 * f64::from(self.backlog));
        let remedy = "lower backlog, offer less, or shorten duration";
        Some(OperationCount { channels, open, all, key: "backlog", remedy })
    }

    fn offered(&self, table: &Table<'_>) -> Option<OfferedLoad> {
        let Operations { ref from, ref to, bytes, kind, .. } = *self.operations;
        let rates = host_rates(&table.scenario.network);
        let bps = |&host| bytes.get() as f64 * 8e12 / self.offered.gap_ps(bytes, rates.get(host));
        let comes_back = matches!(kind, OperationKind::Read(_));
        let bps = from.iter().map(bps).collect();
        Some(OfferedLoad { from: from.clone(), to: to.clone(), bps, comes_back })
    }

    /// An initiator is one.
    fn members(&self, _: &Table<'_>) -> f64 {
        self.operations.from.len() as f64
    }

    fn some_pairs(&self, _: usize) -> Vec<(u32, u32)> {
        cross(&self.operations.from, &self.operations.to)
    }

    fn endless(&self) -> Option<&'static str> {
        Some("an open loop never completes: give stop")
    }

    fn most_offered(&self, table: &Table<'_>, targets: &[u64]) -> Option<MostOffered> {
        let (scenario, operations) = (table.scenario, self.operations);
        let rates = host_rates(&scenario.network);
        let active = table.traffic.active(scenario.duration).as_ps() as f64;
        let request = match operations.kind {
            OperationKind::Write => 0,
            OperationKind::Read(request) => request.get(),
        };
        let packets = operations.bytes.get().max(request).div_ceil(u64::from(scenario.network.mtu)) as f64;
        let mut most = MostOffered { shortest_gap_ps: f64::INFINITY, packets_a_flow: 0.0 };
        for (&host, &targets) in operations.from.iter().zip(targets) {
            let gap = self.offered.gap_ps(operations.bytes, rates.get(host));
            let mean = active / gap / (targets as f64 * f64::from(operations.flows_per_pair));
            let offered = (mean + SURELY_BELOW.0 * mean.sqrt() + SURELY_BELOW.1) * packets;
            most.shortest_gap_ps = most.shortest_gap_ps.min(gap);
            most.packets_a_flow = most.packets_a_flow.max(offered);
        }
        Some(most)
    }
}

impl OpenLoop<'_> {
    /// Returns how many operations the initiators issue at most; what is drawn stays below with five standard deviations.
    fn arrivals(&self, table: &Table<'_>) -> f64 {
        let rates = host_rates(&table.scenario.network);
        let active = table.traffic.active(table.scenario.duration).as_ps() as f64;
        let each = |host: &u32| active / self.offered.gap_ps(self.operations.bytes, rates.get(*host)) + 1.0;
        let expected: f64 = self.operations.from.iter().map(each).sum();
        expected + 5.0 * expected.sqrt()
    }
}
