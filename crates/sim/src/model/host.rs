//! What a host's work costs.

use clearway_proto::units::{Bytes, Rate, Span};

/// What a host's work costs.
#[derive(Clone, Debug, PartialEq)]
pub enum HostModel {
    /// Nothing: a frame is processed as it arrives, and an answer leaves at once.
    Ideal,
    /// One engine of each host serves every frame that comes or goes.
    Snap(SnapHost),
}

/// A host whose frames are all served by one engine, as Snap's are.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapHost {
    /// The engine's time for a data packet, without the time to copy its payload.
    pub receive_packet: Span,
    /// Speed at which payload is copied.
    pub copy_rate: Rate,
    /// Further time for a packet that ends an operation.
    pub operation: Span,
    /// The engine's time for an acknowledgement.
    pub receive_ack: Span,
    /// Further time for the acknowledgement of a packet that ends an operation.
    pub completion: Span,
    /// The engine's time to send a data packet.
    pub transmit: Span,
    /// The longest time that a frame takes from the stack to the NIC; each draws uniformly from zero to this.
    pub jitter: Span,
    /// Mean time from the end of a pause to the start of the next.
    pub pause_interval: Span,
    /// Mean length of a pause; zero for none.
    pub pause: Span,
    /// Room in the NIC's receive queue.
    pub receive_queue: Bytes,
}

impl Default for SnapHost {
    /// The named set: calibrated on figures of the Swift paper, as docs/DEVIATIONS.md says value by value.
    fn default() -> SnapHost {
        SnapHost {
            receive_packet: Span::from_ns(305),
            copy_rate: Rate::from_gbps(149),
            operation: Span::from_ns(250),
            receive_ack: Span::from_ns(300),
            completion: Span::from_ns(900),
            transmit: Span::ZERO,
            jitter: Span::from_us(9),
            pause_interval: Span::from_us(2500),
            pause: Span::from_us(20),
            receive_queue: Bytes::new(16_000_000),
        }
    }
}
