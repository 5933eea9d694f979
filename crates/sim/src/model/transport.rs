//! A named transport: a protocol and what its frames weigh.

use clearway_proto::baseline::rdma::control::{Congestion, CongestionParams};

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
    /// Which paths its packets take.
    pub spray: Spray,
}

impl Transport {
    /// Returns whether the packets of a flow take more than one path.
    pub fn has_several_paths(&self) -> bool {
        self.spray == Spray::Packet || matches!(self.protocol, Protocol::Fastpass(_))
    }

    /// Congestion control of an RDMA transport; `None` of any other.
    pub fn rdma_congestion(&self) -> Option<&CongestionParams> {
        match &self.protocol {
            Protocol::Roce(params) => Some(&params.congestion),
            Protocol::Irn(params) => Some(&params.congestion),
            _ => None,
        }
    }

    /// Returns whether receivers send congestion notifications (CNPs).
    pub fn has_notifications(&self) -> bool {
        self.rdma_congestion().is_some_and(|params| params.congestion == Congestion::Dcqcn)
    }
}

/// Which of the shortest paths between two hosts packets take, data and acknowledgements alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Spray {
    /// All of a flow's packets take one path each way, drawn once.
    #[default]
    Flow,
    /// Each packet takes one of all, drawn uniformly; there are at most [`Spray::MOST_PATHS`].
    Packet,
}

impl Spray {
    /// The largest number of shortest paths between two hosts over which packets are sprayed.
    pub const MOST_PATHS: u32 = 1024;
}
