//! A host whose packets leave in timeslots (Fastpass §6): what fills its slots, and how its endpoint lets it send.

use clearway_proto::fastpass::endpoint::Mode;
use clearway_proto::fastpass::filling::{Filling, Handle};

use super::receipts::Receipts;
use crate::engine::event::Frame;

/// What waits at a host for timeslots.
#[derive(Debug)]
pub struct Slots {
    /// The seat of the endpoint.
    pub seat: u32,
    /// The sending ends whose packets leave in timeslots, in rising order.
    pub ends: Vec<u32>,
    /// How the endpoint lets its flows send.
    pub mode: Mode,
    /// The queues; flows are sending ends.
    pub filling: Filling<Frame, u32>,
    /// Packets that are not acknowledged.
    pub receipts: Receipts,
}

impl Slots {
    /// Nothing waits.
    pub fn new(seat: u32, filling: Filling<Frame, u32>) -> Slots {
        Slots { seat, ends: Vec::new(), mode: Mode::Scheduled, filling, receipts: Receipts::default() }
    }
}

/// What a sending end has offered to its host's queues.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer {
    /// The flow in the queues, once it has waited.
    pub handle: Option<Handle>,
    /// Packets to be sent again that are offered.
    pub lost: u32,
    /// The packet after those that are offered and have not been sent.
    pub until: u32,
}
