//! What the flows of one transport have in common.

use clearway_proto::transport::Nic;
use clearway_proto::units::{Bytes, Rate};

use crate::model::{Network, Protocol, Transport};
use crate::schemes::{AnyReceiver, AnySender};

/// Makes the senders and receivers of one transport of a scenario.
#[derive(Debug)]
pub struct Maker {
    /// The sender of a flow that has not begun, for hosts whose links have each of these rates.
    senders: Vec<(Rate, AnySender)>,
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
    /// The maker of this transport in this network, whose hosts' links have these rates.
    pub fn new(transport: &Transport, network: &Network, rates: &[Rate]) -> Maker {
        let protocol = &transport.protocol;
        let overhead = transport.header + network.framing;
        let data_frame = network.mtu + overhead;
        let sender = |&rate: &Rate| {
            (rate, protocol.sender(network.mtu, Nic::new(Bytes::new(data_frame.into()), rate)))
        };
        Maker {
            senders: rates.iter().map(sender).collect(),
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

    /// A sender of a new flow from a host whose link has this rate, one of those that the maker was told of.
    pub fn sender(&self, rate: Rate) -> AnySender {
        let of_rate = self.senders.iter().find(|(its, _)| *its == rate);
        of_rate.expect("a rate that some host's link has").1.clone()
    }

    /// A receiver of a new flow.
    pub fn receiver(&self) -> AnyReceiver {
        self.protocol.receiver()
    }
}
