//! What can be wrong with a network, a slot or a set of failed paths.

use std::fmt;

use super::link::Link;
use super::slot::{MAX_ENDPOINTS, MAX_PATHS, MAX_RACKS};

/// Why no paths can be selected. Whatever held before still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    /// A number of racks or pods that is zero or above [`MAX_RACKS`].
    Racks(usize),
    /// A number of endpoints that is zero or above [`MAX_ENDPOINTS`].
    Endpoints(usize),
    /// An endpoint in a rack that there is not.
    RackOfEndpoint {
        /// The endpoint.
        endpoint: usize,
        /// Its rack.
        rack: usize,
    },
    /// A number of paths that is zero or above [`MAX_PATHS`].
    Paths(usize),
    /// A number of racks a pod that is zero or does not divide the number of racks.
    RacksPerPod(usize),
    /// A link that there is not.
    UnknownLink(Link),
    /// Dead links of a network with other numbers of racks or switches.
    OtherNetwork,
    /// More packets in a slot than there are endpoints, so that they are no matching.
    TooManyPairs(usize),
    /// A packet from or to an endpoint that there is not.
    UnknownEndpoint(u16),
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathError::Racks(n) => write!(f, "{n} racks or pods: 1 to {MAX_RACKS} are possible"),
            PathError::Endpoints(n) => write!(f, "{n} endpoints: 1 to {MAX_ENDPOINTS} are possible"),
            PathError::RackOfEndpoint { endpoint, rack } => {
                write!(f, "endpoint {endpoint} is in rack {rack}, which there is not")
            }
            PathError::Paths(n) => write!(f, "{n} paths: 1 to {MAX_PATHS} are possible"),
            PathError::RacksPerPod(n) => write!(f, "{n} racks a pod do not divide the racks into pods"),
            PathError::UnknownLink(link) => write!(f, "there is no link {link:?}"),
            PathError::OtherNetwork => write!(f, "the dead links are those of a network of another shape"),
            PathError::TooManyPairs(n) => {
                write!(f, "{n} packets in one slot are more than there are endpoints")
            }
            PathError::UnknownEndpoint(n) => write!(f, "there is no endpoint {n}"),
        }
    }
}

impl std::error::Error for PathError {}
