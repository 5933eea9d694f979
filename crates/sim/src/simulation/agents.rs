//! The agents of a domain: probes, and the machines of Fastpass.

use clearway_proto::fastpass::rotation::Rotation;

use super::exchanged::Exchanged;
use crate::host::agent::Seat;

/// The agents of a domain, and what they say to each other.
#[derive(Debug, Default)]
pub(super) struct Agents {
    pub seats: Vec<Seat>,
    /// For each conversation of control packets what was sent and taken in this domain: there, and back.
    pub exchanged: Vec<[Exchanged; 2]>,
    /// Which way the next packet takes, in both directions of each.
    pub rotations: Vec<[Rotation; 2]>,
}
