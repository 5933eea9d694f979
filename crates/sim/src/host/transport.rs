//! What the flows of one transport have in common.

use clearway_proto::units::Bytes;

use crate::model::{Network, Protocol, Transport};
use crate::schemes::{AnyReceiver, AnySender};

/// Makes the senders and receivers of one transport of a scenario.
#[derive(Debug)]
pub struct Maker {
    /// The sender of a flow that has not begun.
    sender: AnySender,
    /// What makes the receiver of a flow that has not begun.
    protocol: Protocol,
    /// Bytes of a full data frame.
    pub data_frame: u32,
    /// Bytes of a data frame beside its payload.
    pub overhead: u32,
    /// Bytes of an acknowledgement's frame.
    pub ack_frame: u32,
    /// Its data may be marked instead of dropped early.
    pub ecn_capable: bool,
    /// Its packets leave in timeslots.
    pub slotted: bool,
    /// But not those of flows of at most so many bytes.
    pub unscheduled: u64,
}

impl Maker {
    /// The maker of this transport in this network.
    pub fn new(transport: &Transport, network: &Network) -> Maker {
        let protocol = &transport.protocol;
        let overhead = transport.header + network.framing;
        let data_frame = network.mtu + overhead;
        Maker {
            sender: protocol.sender(network.mtu, Bytes::new(data_frame.into())),
            protocol: protocol.clone(),
            data_frame,
            overhead,
            ack_frame: transport.ack + network.framing,
            ecn_capable: protocol.ecn_capable(),
            slotted: matches!(protocol, Protocol::Fastpass(_)),
            unscheduled: match protocol {
                Protocol::Fastpass(params) => u64::from(params.unscheduled) * u64::from(network.mtu),
                _ => 0,
            },
        }
    }

    /// A sender of a new flow.
    pub fn sender(&self) -> AnySender {
        self.sender.clone()
    }

    /// A receiver of a new flow.
    pub fn receiver(&self) -> AnyReceiver {
        self.protocol.receiver()
    }
}
