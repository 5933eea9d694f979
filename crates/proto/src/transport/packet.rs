//! Packets as machines see them: meaning, without bytes.

use crate::units::{Bytes, Span, Time};

/// Packets above the cumulative acknowledgement that an [`Ack`] reports on.
pub const SACK_BITS: u32 = 64;

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Position in the flow, in packets from 0.
    pub seq: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// It ends a message.
    pub last: bool,
    /// When the sender's stack handed it out (t1 in Swift §3.2), by the sender's clock. The receiver echoes it
    /// and makes nothing else of it.
    pub sent: Time,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The packet whose arrival caused it.
    pub seq: u32,
    /// Every packet before this one has arrived.
    pub cumulative: u32,
    /// Bit i: packet `cumulative + 1 + i` has arrived. (Packet `cumulative` has not, by definition.)
    pub sack: u64,
    /// [`Data::sent`] of the packet that caused it.
    pub echo: Time,
    /// The packet that caused it had met congestion (ECN CE).
    pub congestion_experienced: bool,
    /// Switches that the packet passed: initial less received TTL.
    pub hops: u8,
    /// What the packet waited in the remote host, t4 - t2 (Swift §3.2), in whole microseconds as on the wire.
    pub remote_queuing_us: u32,
}

/// What a data packet asks its receiver for, where the receiver grants the credit on which packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Credit up to which the sender has a use for more, counted from the flow's beginning in the quanta of
    /// [`PullTerms`](super::PullTerms).
    pub target: u64,
    /// The sender has waited in vain: the receiver is to say again how much it has granted.
    pub again: bool,
}

/// The unit in which credit is granted (`UEC_PULL_QUANTUM` in `htsim/sim/uecpacket.h` of ultraethernet/uet-htsim).
pub const CREDIT_QUANTUM: Bytes = Bytes::new(256);

/// A negative acknowledgement: of a data packet only the header has come, as a switch has cut its payload off (packet trimming).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nack {
    /// The packet.
    pub seq: u32,
    /// [`Data::sent`] of the packet.
    pub echo: Time,
    /// What the header waited in the remote host, in whole microseconds as on the wire.
    pub remote_queuing_us: u32,
    /// The switch that cut it was the last on its way: another path would have led to the same queue.
    pub last_hop: bool,
}

impl Nack {
    /// Returns what the header waited in the remote host.
    pub fn remote_queuing(&self) -> Span {
        Span::from_us(u64::from(self.remote_queuing_us))
    }
}

impl Ack {
    /// A congestion notification packet (CNP): packet `data` met congestion. It goes the way of acknowledgements and is told
    /// from them by what none can say, that the packet which caused it is missing.
    pub fn notification(data: &Data, hops: u8) -> Ack {
        Ack {
            seq: data.seq,
            cumulative: data.seq,
            sack: 0,
            echo: data.sent,
            congestion_experienced: true,
            hops,
            remote_queuing_us: 0,
        }
    }

    /// It is no acknowledgement but a [notification](Self::notification).
    #[inline]
    pub fn is_notification(&self) -> bool {
        self.seq == self.cumulative && self.congestion_experienced
    }

    /// The packet that caused it had come before one that is still missing.
    #[inline]
    pub fn tells_of_gap(&self) -> bool {
        self.seq > self.cumulative
    }

    /// Returns what the packet waited in the remote host.
    pub fn remote_queuing(&self) -> Span {
        Span::from_us(u64::from(self.remote_queuing_us))
    }
}
