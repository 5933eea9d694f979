//! Every host sends to every other.

use clearway_proto::units::Bytes;

use super::contract::{cross, endless, size, sized, TrafficPattern, LISTED_HOST};
use crate::traffic::flow::FlowSpec;
use crate::traffic::table::Table;

/// See [`Pattern::AllToAll`](crate::model::Pattern::AllToAll).
pub(super) struct AllToAll<'a> {
    pub(super) hosts: &'a [u32],
    pub(super) flows_per_pair: u32,
    pub(super) bytes: Option<Bytes>,
}

impl TrafficPattern for AllToAll<'_> {
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        let pairs = self.hosts.iter().flat_map(|&a| self.hosts.iter().map(move |&b| (a, b)));
        table.add_pairs(pairs.filter(|(a, b)| a != b), self.flows_per_pair, sized(self.bytes), flows);
    }

    fn flows(&self, _: &Table<'_>) -> f64 {
        let hosts = self.hosts.len() as f64;
        hosts * (hosts - 1.0) * f64::from(self.flows_per_pair)
    }

    fn largest_bytes(&self) -> u64 {
        size(self.bytes)
    }

    fn list_bytes(&self) -> f64 {
        self.hosts.len() as f64 * LISTED_HOST
    }

    fn some_pairs(&self, _: usize) -> Vec<(u32, u32)> {
        cross(self.hosts, self.hosts)
    }

    fn endless(&self) -> Option<&'static str> {
        endless(self.bytes)
    }
}
