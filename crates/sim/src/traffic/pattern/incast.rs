//! Many senders, one receiver.

use clearway_proto::units::Bytes;

use super::contract::{cross, endless, size, sized, TrafficPattern, LISTED_HOST};
use crate::traffic::flow::FlowSpec;
use crate::traffic::table::Table;

/// See [`Pattern::Incast`](crate::model::Pattern::Incast).
pub(super) struct Incast<'a> {
    pub(super) from: &'a [u32],
    pub(super) to: u32,
    pub(super) flows_per_pair: u32,
    pub(super) bytes: Option<Bytes>,
}

impl TrafficPattern for Incast<'_> {
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        let pairs = self.from.iter().map(|&from| (from, self.to));
        table.add_pairs(pairs, self.flows_per_pair, sized(self.bytes), flows);
    }

    fn flows(&self, _: &Table<'_>) -> f64 {
        self.from.len() as f64 * f64::from(self.flows_per_pair)
    }

    fn largest_bytes(&self) -> u64 {
        size(self.bytes)
    }

    fn list_bytes(&self) -> f64 {
        self.from.len() as f64 * LISTED_HOST
    }

    fn some_pairs(&self, _: usize) -> Vec<(u32, u32)> {
        cross(self.from, &[self.to])
    }

    fn endless(&self) -> Option<&'static str> {
        endless(self.bytes)
    }
}
