//! Memory from which ports take room for the frames that they hold.

use crate::random::Stream;

/// A switch's memory with a dynamic threshold: a queue, which is a port or a class at a port, may hold at most `alpha`
/// times what is free (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998).
#[derive(Clone, Copy, Debug)]
pub struct SharedBuffer {
    /// The size of the whole memory, in bytes.
    pub size: u64,
    /// Bytes taken.
    pub used: u64,
    /// The share of the free bytes that a queue may hold.
    pub alpha: f64,
}

impl SharedBuffer {
    /// Returns whether a queue that holds `held` bytes may take `size` more.
    #[inline]
    pub fn admits(&self, held: u32, size: u32) -> bool {
        let free = self.size - self.used;
        u64::from(size) <= free && f64::from(held + size) <= self.alpha * free as f64
    }
}

/// How a port cuts packets.
#[derive(Debug)]
pub struct Trimming {
    /// Bytes that may wait whole, with the frame in transmission.
    pub room: u32,
    /// Bytes of a packet on the wire whose payload is cut off.
    pub size: u32,
    /// Bytes of headers that may wait.
    pub header_room: u32,
    /// Probability that the last packet that waits is cut instead of the one that comes.
    pub tail: f64,
    /// The random stream that decides.
    pub stream: Stream,
}

/// The memory that a ruled port uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A buffer of its own, of this many bytes; a frame that finds the port idle needs none.
    Own(u32),
    /// The shared buffer of this index in its domain.
    Shared(u32),
    /// A buffer of its own at a port that cuts packets for which it has no room, as the entry of this index in its domain says.
    Trimming(u32),
}
