//! The sizes that slots are filled by.

/// Sizes that slots are filled by, in bytes on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Room in a slot.
    pub(super) room: u32,
    /// The largest acknowledgement.
    pub(super) ack: u32,
    /// Acknowledgements that fill a slot.
    pub(super) acks: u64,
}
