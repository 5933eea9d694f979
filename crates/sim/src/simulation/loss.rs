//! Losses of frames: the time, the link and the reason of each.

/// The reason why a frame was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// A port had no room for it.
    NoRoom = 1,
    /// The link lost or damaged it, by a `[[fault]]`.
    OnLink = 2,
    /// It waited for a link that died, or in a relay that failed.
    Dead = 3,
    /// A switch knew no way for it around links that are dead.
    NoWay = 4,
    /// It had arrived, and the receive queue of its host was full.
    AtHost = 5,
}

/// The loss of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The instant in picoseconds. A frame that a link loses has that at which it begins to leave.
    pub at: u64,
    /// The link that the frame was to cross; a frame that had arrived has the one that it came over.
    pub link: u32,
    /// The reason.
    pub reason: Reason,
}
