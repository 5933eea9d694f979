//! A Fastpass endpoint where it runs: at a host of the network.

use clearway_proto::fastpass::endpoint::Endpoint;

/// An endpoint and where it is.
#[derive(Debug)]
pub struct EndpointHost {
    /// The machine.
    pub machine: Endpoint,
    /// The place of its host in the domain.
    pub host: u32,
    /// Its place among all endpoints of the run.
    pub number: usize,
}
