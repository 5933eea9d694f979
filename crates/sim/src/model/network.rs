//! The network's shape, the speed and length of its links, and what a frame weighs.

use clearway_proto::units::{Rate, Span};

use super::topology::Topology;

/// A path has fewer links than this: a frame counts those that it has crossed in few bits.
pub const MAX_LINKS: u32 = 32;

/// Nodes, links, and what a frame weighs.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The network's shape.
    pub topology: Topology,
    /// The rate of every link for which the topology gives no other.
    pub rate: Rate,
    /// The delay of every link for which the topology gives no other, one way; above zero.
    pub delay: Span,
    /// Largest payload of a frame, in bytes.
    pub mtu: u32,
    /// Bytes a frame takes on the wire beyond payload and header (preamble, gap, Ethernet header, FCS).
    pub framing: u32,
}
