//! What the flows of one transport have in common.

use std::collections::BTreeMap;

use clearway_proto::transport::{Path, PullTerms};
use clearway_proto::units::{Bytes, Rate, Span};

use crate::engine::event::Meta;
use crate::model::{Network, Protocol, Spray, Transport};
use crate::schemes::{AnyReceiver, AnySender, AnyTelemetry};

/// Makes the senders and receivers of one transport of a scenario.
#[derive(Debug)]
pub struct Maker {
    /// What makes the two ends of a flow.
    protocol: Protocol,
    /// Bytes of payload in a full data frame.
    mtu: u32,
    /// Bytes of a full data frame.
    pub data_frame: u32,
    /// Bytes of a data frame beside its payload.
    pub overhead: u32,
    /// Bytes of an acknowledgement's frame.
    pub ack_frame: u32,
    /// Its data may be marked instead of dropped early.
    pub ecn_capable: bool,
    /// The flags of each of its data frames.
    pub data_flags: u32,
    /// Which paths its packets take.
    pub spray: Spray,
    /// Its packets leave in timeslots.
    pub slotted: bool,
    /// Flows of at most this many bytes send at once even if `slotted`.
    pub unscheduled: u64,
}

impl Maker {
    /// The maker of this transport in this network.
    pub fn new(transport: &Transport, network: &Network) -> Maker {
        let protocol = &transport.protocol;
        let overhead = transport.header + network.framing;
        let data_frame = network.mtu + overhead;
        Maker {
            protocol: protocol.clone(),
            mtu: network.mtu,
            data_frame,
            overhead,
            ack_frame: transport.ack + network.framing,
            ecn_capable: protocol.ecn_capable(),
            data_flags: if protocol.ecn_capable() { Meta::ECT } else { 0 }
                | if protocol.trimmable() { Meta::TRIMMABLE } else { 0 },
            spray: transport.spray,
            slotted: matches!(protocol, Protocol::Fastpass(_)),
            unscheduled: match protocol {
                Protocol::Fastpass(params) => u64::from(params.unscheduled) * u64::from(network.mtu),
                _ => 0,
            },
        }
    }

    /// The path of a flow over these links, of which the first is its NIC's, and back over the same.
    pub fn path(&self, links: &[(Rate, Span)]) -> Path {
        let crossing = |(rate, delay): &(Rate, Span)| self.there_and_back(*rate, *delay);
        let base_rtt = links.iter().map(crossing).fold(Span::ZERO, |sum, each| sum + each);
        let frame = Bytes::new(self.data_frame.into());
        Path::new(frame, links[0].0).with_base_rtt(base_rtt).with_header(Bytes::new(self.overhead.into()))
    }

    /// Returns the time that a link of this rate and delay adds to a base round trip: a full data frame there, and its acknowledgement back.
    pub fn there_and_back(&self, rate: Rate, delay: Span) -> Span {
        let [frame, ack] = [self.data_frame, self.ack_frame].map(|bytes| Bytes::new(bytes.into()));
        rate.transmission(frame) + rate.transmission(ack) + delay * 2
    }

    /// A sender of a new flow on this path.
    pub fn sender(&self, path: Path) -> AnySender {
        self.protocol.sender(self.mtu, path)
    }

    /// How the receiver of a flow grants credit, over a path to a NIC whose link has this rate; none if it grants none.
    pub fn pull_terms(&self, path: Path, nic: Rate) -> Option<PullTerms> {
        self.protocol.pull_terms(path, nic)
    }

    /// Returns whether switches write telemetry into its data frames.
    pub fn has_telemetry(&self) -> bool {
        self.protocol.has_telemetry()
    }

    /// The telemetry of a data frame into which no switch has written yet.
    pub fn telemetry(&self) -> AnyTelemetry {
        self.protocol.telemetry()
    }

    /// A receiver of a new flow.
    pub fn receiver(&self) -> AnyReceiver {
        self.protocol.receiver()
    }
}

/// The senders of flows that have not begun, one for each transport and kind of path: flows share what is alike.
#[derive(Debug, Default)]
pub struct NewSenders {
    made: BTreeMap<(u32, Path), AnySender>,
}

impl NewSenders {
    /// A sender of a new flow on this path, of the transport with this number and maker.
    pub fn sender(&mut self, transport: u32, maker: &Maker, path: Path) -> AnySender {
        self.made.entry((transport, path)).or_insert_with(|| maker.sender(path)).clone()
    }
}
