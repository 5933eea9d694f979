//! What agents have sent and taken, counted for the audit.

/// Frames and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub frames: u64,
    pub bytes: u64,
}

impl Amount {
    pub(super) fn add(&mut self, frames: u64, bytes: u64) {
        self.frames += frames;
        self.bytes += bytes;
    }

    pub(super) fn and(self, other: Amount) -> Amount {
        Amount { frames: self.frames + other.frames, bytes: self.bytes + other.bytes }
    }
}

/// Control packets sent and taken, in one direction of a conversation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchanged {
    /// Packets that left here.
    pub sent: Amount,
    /// Packets that arrived here.
    pub taken: Amount,
}

impl Exchanged {
    /// Both together.
    pub(super) fn and(self, other: Exchanged) -> Exchanged {
        Exchanged { sent: self.sent.and(other.sent), taken: self.taken.and(other.taken) }
    }
}
