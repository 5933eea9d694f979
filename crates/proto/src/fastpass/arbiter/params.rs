//! What an arbiter is built from.

use std::fmt;

use crate::fastpass::allocator::{AllocatorParams, ParamsError};
use crate::fastpass::fcp::Address;
use crate::fastpass::isolator::IsolatorParams;
use crate::fastpass::paths::{FatTreeShape, PathError, Racks};
use crate::fastpass::timeslots::Timeslots;
use crate::units::Span;

/// Parameters of an [`Arbiter`](super::Arbiter).
#[derive(Clone, Debug)]
pub struct ArbiterParams {
    /// How time is cut; the same for endpoints. Default: slots of 1251.28 ns.
    pub timeslots: Timeslots,
    /// The allocator's parameters, among them the number of endpoints and the slots of a batch. Default: the allocator's with
    /// batches of 16 slots, as in the release.
    pub allocator: AllocatorParams,
    /// What ways there are through the network. Default: one.
    pub paths: PathParams,
    /// Whether failed links are found from lost packets, and avoided. Without it reports change nothing, and every path is used:
    /// what the mechanism is worth. Default: true.
    pub fault_isolation: bool,
    /// When a link counts as failed, by what endpoints report; the length of a slot is taken from `timeslots`.
    pub isolator: IsolatorParams,
    /// The endpoint at whose link to the network the arbiter is, if it is at one: then it can try failed links, and keep its own
    /// packets off them. Default: none.
    pub address: Option<Address>,
    /// How many slots before its first slot begins a batch is allocated. Default: 40, as in the release.
    pub ahead: u32,
    /// How often an endpoint is sent an allocation.
    pub pacer: Pacer,
    /// An allocation that has not been acknowledged for this long is followed by one with the counts of now. Default: 200 us,
    /// as in the release.
    pub retransmit: Span,
    /// A request is acknowledged after this time at the latest, by an allocation without grants if need be. Default: 100
    /// us, half of what endpoints wait.
    pub acknowledge: Span,
    /// The time between two watchdogs (`T_w`). Default: 100 us, as in the paper.
    pub watchdog: Span,
    /// A standby that has heard no watchdog for this long takes over (`T_d`). Default: 200 us, as in the paper; the release has
    /// 2 ms.
    pub takeover: Span,
    /// Added to the slots that a new primary leaves out after those that the old one can have granted. Default: none.
    pub gap: Span,
    /// How long a primary of several grants no slots after one endpoint has said that it follows a newer term, once in a term:
    /// time for a second endpoint, or the newer primary itself, to say so. Default: none.
    pub doubt: Span,
    /// The place of this arbiter among the arbiters: the first of them that is alive takes over. Default: 0.
    pub rank: u8,
    /// Number of arbiters, 1 or more. Default: 1.
    pub arbiters: u8,
    /// Requests of one endpoint are read at this interval on average; more are ignored. Default: 2 us, somewhat less than
    /// endpoints leave between two.
    pub request_interval: Span,
    /// Requests of one endpoint that may come at once. Default: 64.
    pub request_burst: u32,
    /// A reset to an endpoint is not repeated before this time. Default: 20 us.
    pub reset_interval: Span,
}

/// How often an endpoint is sent an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacer {
    /// The least time between two. Default: 2 us, as in the release.
    pub gap: Span,
    /// The time between two on average. Default: 20 us, 50,000 a second, as in the release.
    pub interval: Span,
    /// How much sooner than on average one may follow. Default: 10 us, half an interval: the release's burst of 1.5.
    pub slack: Span,
}

/// What ways there are through the network.
#[derive(Clone, Debug, Default)]
pub enum PathParams {
    /// One, as in a single rack.
    #[default]
    Single,
    /// One through each spine switch.
    LeafSpine {
        /// The rack of each endpoint.
        racks: Racks,
        /// Number of spine switches.
        paths: usize,
    },
    /// One through each aggregation switch of a pod, and between pods through each of its core switches.
    FatTree {
        /// The rack of each endpoint.
        racks: Racks,
        /// The switches.
        shape: FatTreeShape,
    },
}

impl Default for Pacer {
    fn default() -> Pacer {
        Pacer { gap: Span::from_us(2), interval: Span::from_us(20), slack: Span::from_us(10) }
    }
}

impl Default for ArbiterParams {
    fn default() -> ArbiterParams {
        ArbiterParams {
            timeslots: Timeslots::new(Span::from_ps(1_251_280)),
            allocator: AllocatorParams { slots: 16, ..AllocatorParams::default() },
            paths: PathParams::Single,
            fault_isolation: true,
            isolator: IsolatorParams::default(),
            address: None,
            ahead: 40,
            pacer: Pacer::default(),
            retransmit: Span::from_us(200),
            acknowledge: Span::from_us(100),
            watchdog: Span::from_us(100),
            takeover: Span::from_us(200),
            gap: Span::ZERO,
            doubt: Span::ZERO,
            rank: 0,
            arbiters: 1,
            request_interval: Span::from_us(2),
            request_burst: 64,
            reset_interval: Span::from_us(20),
        }
    }
}

/// Why no arbiter can be built from some parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArbiterError {
    /// The allocator's parameters do not go together.
    Allocator(ParamsError),
    /// The network's do not.
    Paths(PathError),
    /// The racks are of this many endpoints, and the allocator has others.
    RacksOf(usize),
    /// There are ways to choose from, and nodes with room for several packets a slot, of which none are chosen.
    SeveralPackets,
    /// The rank, the first number, is not below the number of arbiters, the second.
    Rank(u8, u8),
    /// A standby takes over before the next watchdog can have come.
    Takeover,
}

impl ArbiterParams {
    /// Checks what the allocator and the paths, each right in itself, demand of the rest.
    pub(super) fn check_together(&self) -> Result<(), ArbiterError> {
        if self.rank >= self.arbiters {
            return Err(ArbiterError::Rank(self.rank, self.arbiters));
        }
        if self.takeover <= self.watchdog {
            return Err(ArbiterError::Takeover);
        }
        let racks = match &self.paths {
            PathParams::Single => return Ok(()),
            PathParams::LeafSpine { racks, .. } | PathParams::FatTree { racks, .. } => racks,
        };
        if racks.endpoints() != self.allocator.nodes {
            return Err(ArbiterError::RacksOf(racks.endpoints()));
        }
        let several = |node: &crate::fastpass::allocator::Node| node.sends > 1 || node.receives > 1;
        if self.allocator.capacities.as_ref().is_some_and(|capacities| capacities.nodes.iter().any(several)) {
            return Err(ArbiterError::SeveralPackets);
        }
        Ok(())
    }
}

impl fmt::Display for ArbiterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArbiterError::Allocator(error) => error.fmt(f),
            ArbiterError::Paths(error) => error.fmt(f),
            ArbiterError::RacksOf(endpoints) => {
                write!(f, "racks of {endpoints} endpoints: expected as many as the allocator has")
            }
            ArbiterError::SeveralPackets => {
                write!(f, "several paths, and a node with several packets a slot: paths are chosen for one")
            }
            ArbiterError::Rank(rank, arbiters) => write!(f, "rank {rank} of {arbiters} arbiters"),
            ArbiterError::Takeover => write!(f, "a takeover before the next watchdog: expected it later"),
        }
    }
}

impl std::error::Error for ArbiterError {}
