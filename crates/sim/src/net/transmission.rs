//! What becomes of frames at a ruled port: what is sent next, what has begun to leave, and what waits.

/// What a port sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextToSend {
    /// The first frame that waits in this class.
    Queue(usize),
    /// What this class's sources at the host have to send, which asked for the port.
    Pull(usize),
    /// What flow control has to say to the link's other end.
    Signal,
}

/// A transmission of a frame that waited has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The slot of the frame, as it was before it crosses the link.
    pub slot: u32,
    /// What becomes of it.
    pub leaves: Leaves,
}

/// What becomes of a frame that begins to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Its last bit arrives at the link's end at this time, in picoseconds.
    Arriving(u64),
    /// Its last bit arrives at this time, and telemetry is to be written into it before.
    Written(u64),
    /// The link loses it.
    Lost,
}

/// What became of a frame for which there is room at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// Its transmission has begun.
    Begun(Leaves),
    /// It waits.
    Waits,
}

/// What became of a frame that comes to a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// It goes on at once.
    Goes {
        /// When it arrives, in picoseconds.
        arrives: u64,
        /// The end of its transmission has to be an event.
        watched: bool,
    },
    /// It waits.
    Waits {
        /// The end of what the port transmits has to be an event.
        watched: bool,
    },
    /// Nothing yet: it may be lost, written into, or marked where it comes.
    Rarely,
}
