//! What the receiving machine of a scheme has to do.

use std::fmt::Debug;

use crate::machine::Readiness;
use crate::transport::{Ack, Data, Nack};
use crate::units::Time;

/// What a data packet was to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A packet that had not arrived before.
    New,
    /// A duplicate: this packet had arrived.
    Duplicate,
    /// A packet too far ahead for the receiver to keep a note of it: ignored, not acknowledged.
    BeyondReach,
    /// A packet ahead of one that is missing, at a receiver that takes packets in order only: thrown away.
    OutOfOrder,
}

/// What arrives of a data packet whose payload a switch has cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The packet, of which no payload has come.
    pub data: Data,
    /// Switches that it passed.
    pub hops: u8,
    /// The switch that cut it was the last on its way.
    pub last_hop: bool,
}

/// The receiving machine of one flow: takes packets, counts each byte once, and says what has arrived.
pub trait Receiver: Debug {
    /// A data packet arrived at the NIC at `received` (t2) and is processed `now` (t3), after `hops` switches,
    /// with or without a congestion mark.
    fn handle_data(
        &mut self,
        now: Time,
        received: Time,
        data: &Data,
        congestion_experienced: bool,
        hops: u8,
    ) -> Arrival;

    /// The header of a data packet arrived at the NIC at `received` (t2) and is processed `now` (t3); its payload is cut off.
    /// Returns what the sender is to be told at once; none if the packet has arrived before, which an acknowledgement says
    /// then. Panics where packets are not [`trimmable`](crate::transport::Scheme::trimmable).
    fn handle_header(&mut self, _now: Time, _received: Time, _header: &Header) -> Option<Nack> {
        unreachable!("nobody cuts packets of this scheme")
    }

    /// A timer may have run out, such as the one of an acknowledgement that waits.
    fn handle_timeout(&mut self, now: Time);

    /// Returns when [`Self::handle_timeout`] is wanted.
    fn poll_timeout(&self) -> Option<Time>;

    /// Messages wholly arrived since this was last asked.
    fn poll_completed(&mut self) -> u32;

    /// Returns whether an acknowledgement is to be sent.
    fn readiness(&self) -> Readiness;

    /// The acknowledgement that is due, sent `now` (t4). To be called when [`Self::readiness`] is `Ready`.
    fn transmit(&mut self, now: Time) -> Ack;

    /// Bytes of payload taken, each counted once.
    fn payload(&self) -> u64;

    /// Packets that came again although they had arrived before: each was retransmitted needlessly.
    fn duplicates(&self) -> u64;
}
