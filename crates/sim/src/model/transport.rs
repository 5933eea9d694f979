//! A named transport: a protocol and what its frames weigh.

use clearway_proto::baseline::rdma::control::{Congestion, CongestionParams};
use clearway_proto::multipath::{Flowlet, Mixed, PathSelector, Reps, FLOWLET_GAP, REPS_FREEZE};

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
    /// How many paths each flow has drawn, over which its packets are sprayed; `None`: all shortest ones.
    pub paths: Option<u32>,
}

impl Transport {
    /// How many paths a flow's packets are sprayed over where two hosts have `shortest` paths between them.
    pub fn sprayed_over(&self, shortest: u32) -> u32 {
        self.paths.unwrap_or(shortest)
    }

    /// Returns whether the packets of a flow take more than one path.
    pub fn has_several_paths(&self) -> bool {
        self.spray != Spray::Flow || matches!(self.protocol, Protocol::Fastpass(_))
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
    /// Each packet takes one of all, drawn uniformly; there are at most [`Spray::MOST_PATHS`], as for those that follow.
    Packet,
    /// Each packet takes the next one.
    RoundRobin,
    /// Packets take paths again that were good, and else one of all, drawn uniformly (REPS).
    Reps,
    /// Packets take paths again that were good, and else each the next one that was not marked (the mixed selector of htsim).
    Mixed,
    /// Packets that follow each other closely take one path, drawn uniformly.
    Flowlet,
    /// Each switch chooses: the port that is soonest free, of those on shortest paths.
    Adaptive,
}

impl Spray {
    /// The largest number of shortest paths between two hosts over which packets are sprayed.
    pub const MOST_PATHS: u32 = 1024;

    /// What a flow's sender remembers of its paths; none where it remembers nothing.
    pub fn selector(self) -> Option<PathSelector> {
        match self {
            Spray::Reps => Some(PathSelector::Reps(Reps::new(REPS_FREEZE))),
            Spray::Mixed => Some(PathSelector::Mixed(Mixed::new())),
            Spray::Flowlet => Some(PathSelector::Flowlet(Flowlet::new(FLOWLET_GAP))),
            Spray::Flow | Spray::Packet | Spray::RoundRobin | Spray::Adaptive => None,
        }
    }

    /// Returns whether packets of a flow overtake each other even where it sends them without pauses.
    pub fn reorders(self) -> bool {
        !matches!(self, Spray::Flow | Spray::Flowlet)
    }
}
