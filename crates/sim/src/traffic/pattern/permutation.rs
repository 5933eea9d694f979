//! Every host sends to one other and receives from one other, drawn from the table's stream.

use clearway_proto::units::Bytes;

use super::contract::{cross, endless, size, sized, TrafficPattern, LISTED_HOST};
use crate::random::{Entity, Stream};
use crate::traffic::flow::FlowSpec;
use crate::traffic::table::Table;

/// See [`Pattern::Permutation`](crate::model::Pattern::Permutation).
pub(super) struct Permutation<'a> {
    pub(super) hosts: &'a [u32],
    pub(super) flows_per_pair: u32,
    pub(super) bytes: Option<Bytes>,
}

impl TrafficPattern for Permutation<'_> {
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        let receivers = derangement(self.hosts, &mut table.stream(Entity::TrafficTable, 0));
        let pairs = self.hosts.iter().copied().zip(receivers);
        table.add_pairs(pairs, self.flows_per_pair, sized(self.bytes), flows);
    }

    fn flows(&self, _: &Table<'_>) -> f64 {
        self.hosts.len() as f64 * f64::from(self.flows_per_pair)
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

/// The hosts in an order that leaves none in its place, uniformly from all such orders: shuffles until one
/// is. One shuffle in e is. (A cyclic shuffle would take one, but reaches only the orders that are a single
/// cycle.)
fn derangement(hosts: &[u32], stream: &mut Stream) -> Vec<u32> {
    assert!(hosts.len() > 1, "a permutation of one host");
    let mut order = hosts.to_vec();
    loop {
        stream.shuffle(&mut order);
        if order.iter().zip(hosts).all(|(to, from)| to != from) {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_uniform_over_derangements() {
        // Four hosts have nine derangements; six are one cycle, three are two swaps.
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..9000 {
            *counts.entry(derangement(&[0, 1, 2, 3], &mut stream)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 9);
        // Standard deviation sqrt(9000 * 1/9 * 8/9) = 29.8.
        assert!(counts.values().all(|count| count.abs_diff(1000) < 90), "{counts:?}");
    }
}
