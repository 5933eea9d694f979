//! What a link of a network is called.

use core::fmt;

use crate::fastpass::fcp::Address;

/// A link, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// From a rack to a spine switch, or to an aggregation switch of its pod.
    FromRack {
        /// The rack.
        rack: usize,
        /// The spine or aggregation switch.
        switch: usize,
    },
    /// From a spine or aggregation switch to a rack.
    ToRack {
        /// The rack.
        rack: usize,
        /// The spine or aggregation switch.
        switch: usize,
    },
    /// From an aggregation switch to a core switch.
    ToCore {
        /// The pod of the aggregation switch.
        pod: usize,
        /// The aggregation switch, of those in the pod.
        aggregation: usize,
        /// The core switch, of those that the aggregation switch reaches.
        core: usize,
    },
    /// From a core switch to an aggregation switch.
    FromCore {
        /// The pod of the aggregation switch.
        pod: usize,
        /// The aggregation switch, of those in the pod.
        aggregation: usize,
        /// The core switch, of those that the aggregation switch reaches.
        core: usize,
    },
    /// From an endpoint to its rack. No other path avoids it.
    FromEndpoint(Address),
    /// From a rack to an endpoint.
    ToEndpoint(Address),
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Link::FromRack { rack, switch } => write!(f, "rack {rack} to switch {switch}"),
            Link::ToRack { rack, switch } => write!(f, "switch {switch} to rack {rack}"),
            Link::ToCore { pod, aggregation, core } => {
                write!(f, "switch {aggregation} of pod {pod} to core {core}")
            }
            Link::FromCore { pod, aggregation, core } => {
                write!(f, "core {core} to switch {aggregation} of pod {pod}")
            }
            Link::FromEndpoint(address) => write!(f, "endpoint {address} to its rack"),
            Link::ToEndpoint(address) => write!(f, "rack to endpoint {address}"),
        }
    }
}
