//! Who exchanges Fastpass's control packets with whom.

use clearway_proto::fastpass::fcp;

use super::domain_index::DomainIndex;
use crate::net::served::Served;

/// Who exchanges control packets with whom. A conversation of an endpoint with an arbiter leads from the endpoint to the
/// arbiter, and one of two arbiters from the one of the lower rank to the other. Two endpoints exchange nothing but trials of
/// links.
#[derive(Debug)]
pub struct ControlPlan {
    /// The first of these conversations; they follow those of the probes.
    pub first: u32,
    /// The node of each arbiter, by rank.
    pub arbiters: Vec<u32>,
    /// The hosts that arbiters serve; an endpoint's address is its host's place among them.
    pub served: Served,
    /// The hosts that have endpoints, in rising order.
    pub endpoints: Vec<u32>,
    /// The endpoints that send each other trials, by their places among all: the lower one first, in rising order.
    pub neighbours: Vec<(u32, u32)>,
    /// The seat of each endpoint.
    pub endpoint_seats: Vec<DomainIndex>,
    /// The seat of each arbiter.
    pub arbiter_seats: Vec<DomainIndex>,
    /// Aggregation switches of a fat tree's pod; the spine switches of other networks.
    pub aggregations: u32,
    /// Core switches that each of them reaches; 1 but in a fat tree.
    pub cores: u32,
}

impl ControlPlan {
    /// Returns how many conversations there are.
    pub fn conversations(&self) -> u32 {
        let arbiters = self.arbiters.len() as u32;
        self.endpoints.len() as u32 * arbiters + arbiters * (arbiters - 1) / 2 + self.neighbours.len() as u32
    }

    /// The nodes between which each conversation is, and their seats.
    pub fn ends(&self) -> impl Iterator<Item = ([u32; 2], [DomainIndex; 2])> + '_ {
        let ranks = 0..self.arbiters.len();
        let arbiter = |rank: usize| (self.arbiters[rank], self.arbiter_seats[rank]);
        let of_endpoints = self.endpoints.iter().zip(&self.endpoint_seats).flat_map(move |(&host, &seat)| {
            (0..self.arbiters.len()).map(move |rank| ((host, seat), arbiter(rank)))
        });
        let of_arbiters =
            ranks.flat_map(move |a| (a + 1..self.arbiters.len()).map(move |b| (arbiter(a), arbiter(b))));
        let endpoint = |at: u32| (self.endpoints[at as usize], self.endpoint_seats[at as usize]);
        let of_neighbours = self.neighbours.iter().map(move |&(a, b)| (endpoint(a), endpoint(b)));
        of_endpoints.chain(of_arbiters).chain(of_neighbours).map(|(a, b)| ([a.0, b.0], [a.1, b.1]))
    }

    /// The conversation of an endpoint, by its place among them, with an arbiter.
    pub(super) fn of_endpoint(&self, endpoint: usize, rank: usize) -> u32 {
        self.first + (endpoint * self.arbiters.len() + rank) as u32
    }

    /// The conversation of two arbiters, the lower rank first.
    pub(super) fn of_arbiters(&self, a: usize, b: usize) -> u32 {
        let count = self.arbiters.len();
        let before = a * (2 * count - a - 1) / 2;
        self.first + (self.endpoints.len() * count + before + b - a - 1) as u32
    }

    /// The conversation of two endpoints, by their places among all, and whether it leads from the second to the first. `None` if
    /// they are no neighbours.
    pub(super) fn of_neighbours(&self, from: usize, to: usize) -> Option<(u32, bool)> {
        let (a, b) = (from.min(to) as u32, from.max(to) as u32);
        let at = self.neighbours.binary_search(&(a, b)).ok()?;
        let before = self.conversations() - self.neighbours.len() as u32;
        Some((self.first + before + at as u32, from > to))
    }

    /// Returns which of the `count` routes between two hosts a path is.
    pub fn route_index(&self, path: fcp::Path, count: u32) -> u32 {
        let (path, aggregations) = (u32::from(path), self.aggregations);
        match count {
            1 => 0,
            // Within a pod of a fat tree a route is an aggregation switch.
            _ if count == aggregations => path / self.cores,
            _ => path,
        }
    }

    /// The place of the endpoint with this address among all; `None` if its host has none.
    pub fn endpoint_of(&self, address: fcp::Address) -> Option<usize> {
        self.endpoints.binary_search(&self.served.host(address)).ok()
    }
}
