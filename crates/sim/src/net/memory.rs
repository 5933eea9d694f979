//! Memory from which ports take room for the frames that they hold.

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

/// The memory that a ruled port uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A buffer of its own, of this many bytes; a frame that finds the port idle needs none.
    Own(u32),
    /// The shared buffer of this index in its domain.
    Shared(u32),
}
