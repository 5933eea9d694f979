//! What a scheme says of itself: which machines its two ends are, and what these have to know.

use std::sync::Arc;

use super::{Common, CongestionControl, Receiver, Recovery, Sender};
use crate::units::{Bytes, Rate, Span};

/// The sender of a scheme.
pub type SenderOf<P> = Sender<<P as Scheme>::Control, <P as Scheme>::Recovery>;

/// What a scheme's flows have to know of the path that their packets take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// What a full packet weighs, with everything that takes time on the wire.
    pub frame: Bytes,
    /// The rate of the NIC's link.
    pub rate: Rate,
    /// The time from the start of a full packet's transmission to the arrival of its acknowledgement where nothing else is
    /// on the way; none where nobody knows.
    pub base_rtt: Option<Span>,
    /// What a full packet weighs beside its payload; nothing where nobody says.
    pub header: Bytes,
}

impl Path {
    /// A path of which no more is known than that it begins with a link of this rate, on which a full packet weighs `frame`.
    pub fn new(frame: Bytes, rate: Rate) -> Path {
        Path { frame, rate, base_rtt: None, header: Bytes::new(0) }
    }

    /// The path with a base round trip. It is rounded up to what whole full packets take at the NIC, so that paths which
    /// are nearly alike become one.
    #[must_use]
    pub fn with_base_rtt(self, rtt: Span) -> Path {
        let packet = self.rate.transmission(self.frame);
        Path { base_rtt: Some(packet * rtt.as_ps().div_ceil(packet.as_ps().max(1))), ..self }
    }

    /// The path of packets of which this much is no payload.
    #[must_use]
    pub fn with_header(self, header: Bytes) -> Path {
        Path { header, ..self }
    }

    /// The bandwidth-delay product in full packets: how many the NIC transmits in a base round trip.
    pub fn bdp(&self) -> Option<f64> {
        self.base_rtt.map(|rtt| rtt.as_ps_f64() / self.rate.transmission(self.frame).as_ps_f64())
    }
}

/// How the receiver of a flow grants credit for packets that are to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PullTerms {
    /// The most credit that is granted at a time, in quanta: of [`CREDIT_QUANTUM`](super::CREDIT_QUANTUM), or of a packet where
    /// it is granted by arrival.
    pub each: u64,
    /// The most credit beyond what its sender asked for that a flow may be granted while no flow asks for any, in quanta. Nothing where
    /// it is granted by arrival.
    pub ahead: u64,
    /// Each packet that arrives, whole or cut to its header, brings one quantum, if the sender has a use for it. Otherwise all that
    /// the sender asked for is granted.
    pub by_arrival: bool,
    /// The time for which the NIC grants no more after a quantum.
    pub quantum: Span,
}

/// A scheme, by its parameters: it names the sender, as a congestion control and a recovery from loss, and the receiver
/// that goes with it.
pub trait Scheme {
    /// The congestion control of one flow.
    type Control: CongestionControl;
    /// How its sender recovers from loss.
    type Recovery: Recovery;
    /// The receiving machine of one flow. It must answer what the recovery asks of it: selective repeat lives from
    /// acknowledgements of what came out of order, go-back-N from NACKs.
    type Receiver: Receiver;

    /// What a data frame carries beside payload and framing, unless a scenario says otherwise.
    const HEADER: Bytes;

    /// Returns whether data may be marked where it would be dropped early (ECN).
    fn ecn_capable(&self) -> bool {
        false
    }

    /// Returns whether switches may cut the payload of its data packets off, so that the header alone arrives (packet
    /// trimming). Its receiver then says so, and its recovery takes the packet for lost.
    fn trimmable(&self) -> bool {
        false
    }

    /// Returns how receivers grant credit, without which senders stop after the first round trip; none where they grant none. The
    /// receiving NIC has a rate of `nic`, and senders have this path to it.
    fn pull_terms(&self, _path: Path, _nic: Rate) -> Option<PullTerms> {
        None
    }

    /// Returns what the flows on such a path share.
    fn shared(&self, path: Path) -> <Self::Control as CongestionControl>::Shared;

    /// Returns how far ahead of the lowest unacknowledged packet a sender may be, in packets.
    fn reach(&self) -> u32;

    /// For how many packets, from the lowest unacknowledged one on, each end may have to keep a note of its own. Zero for
    /// go-back-N.
    fn tracked_packets(&self) -> u32 {
        self.reach()
    }

    /// The largest that the window can be, in packets.
    fn max_window(&self) -> f64 {
        f64::from(self.reach())
    }

    /// Packets that must have arrived above a hole before it counts as lost. One where a flow keeps to one path.
    fn dup_threshold(&self) -> u32 {
        1
    }

    /// The recovery of a sender whose packets are all under way.
    fn recovery(&self) -> Self::Recovery;

    /// A receiver to which nothing has come yet. It acknowledges as the scheme wants.
    fn receiver(&self) -> Self::Receiver;

    /// A sender with nothing to send yet, of packets with up to `mtu` bytes of payload that take this path.
    /// Flows of one transport on such paths are clones of one sender: they share what [`Self::shared`] gives.
    fn sender(&self, mtu: u32, path: Path) -> SenderOf<Self> {
        let (reach, recovery) = (self.reach(), self.recovery());
        Sender::new(Arc::new(Common { mtu, reach, recovery, control: self.shared(path) }))
    }
}
