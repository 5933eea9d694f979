//! A named transport: a protocol and what its frames weigh.

use super::protocol::Protocol;

/// A named transport: a protocol and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// The name in `[transport.NAME]`.
    pub name: String,
    /// Protocol and parameters.
    pub protocol: Protocol,
    /// Bytes of a data frame beside payload and framing.
    pub header: u32,
    /// Bytes of an acknowledgement beside framing.
    pub ack: u32,
    /// Index of its data's class among the scenario's classes; 0 where there are none.
    pub class: usize,
    /// Index of its acknowledgements' class.
    pub ack_class: usize,
}
