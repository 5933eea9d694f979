//! What a way of recovering from loss has to say.

use std::fmt::Debug;

use crate::transport::{Ack, Nack};
use crate::units::Time;

/// What a sender knows of its packets from `una`, the lowest that is not cumulatively acknowledged, up to `next`, the
/// next that was never sent.
///
/// A sender takes a copy of [`Scheme::recovery`](crate::transport::Scheme::recovery) when the first acknowledgement out of
/// order or the first timeout comes, and asks it only until it [is over](Self::is_over): while all of `una..next` is under
/// way, a sender counts by itself, without a call.
pub trait Recovery: Clone + Debug {
    /// An acknowledgement arrived that the sender [believes](crate::transport::Sender::believes). `una` is as it was before;
    /// afterwards it is the larger one of `una` and the acknowledgement's cumulative number.
    fn handle_ack(&mut self, una: u32, next: u32, ack: &Ack) -> Change;

    /// Takes note that the timer ran out at `now`: everything that is not known to have arrived is lost, or at least packet
    /// `una` is.
    fn give_up(&mut self, now: Time, una: u32, next: u32);

    /// Takes word from below the transport that the last transmission of a packet was lost; `again` if that was not its first. A
    /// way of recovering that knows of no such word goes by acknowledgements alone.
    fn mark_lost(&mut self, _una: u32, _next: u32, _seq: u32, _again: bool) {}

    /// Takes word from the receiver that only the header of a packet has come, whose payload a switch has cut off. Returns whether
    /// the packet is lost for all that is known, and was under way before. A way of recovering whose packets nobody cuts is
    /// not told so.
    fn handle_nack(&mut self, _una: u32, _next: u32, _nack: &Nack) -> bool {
        false
    }

    /// The lost packet to be sent next, which is under way from now on; `None` if no packet is lost.
    fn take_lost(&mut self, una: u32, next: u32) -> Option<u32>;

    /// Packets that are given up and wait to be sent again.
    fn lost(&self, next: u32) -> u32;

    /// Packets that are under way: neither known to have arrived nor given up.
    fn under_way(&self, una: u32, next: u32) -> u32;

    /// Returns whether a timeout has left one packet to send at once, to ask what has become of the others. It is the next lost
    /// one, and the window does not hold it back.
    fn asks(&self) -> bool {
        false
    }

    /// All of `una..next` is under way, as far as is known.
    fn is_over(&self) -> bool;
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Change {
    /// Packets known for the first time to have arrived.
    pub acked: u32,
    /// Packets newly given up.
    pub lost: u32,
    /// It was a NACK: the receiver misses the packet of its cumulative number, and has not had it since.
    pub nack: bool,
}
