//! What agents tell each other.

use clearway_proto::units::Time;

/// What agents say to each other in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number in the conversation.
    pub seq: u32,
    /// When it was sent, on the first sender's clock; an answer echoes it.
    pub stamp: Time,
    /// What its frame weighs on the wire.
    pub bytes: u32,
    /// It goes back on the way that the conversation's first message came.
    pub answers: bool,
}
