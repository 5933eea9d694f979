//! A part of the memory that a run takes, and how it can be reduced.

/// Something that takes memory.
pub(super) struct Share {
    /// Memory in bytes.
    pub(super) bytes: f64,
    /// What takes it, such as "9 flows".
    pub(super) what: String,
    /// The key to blame.
    pub(super) key: String,
    /// How it can be reduced.
    pub(super) remedy: &'static str,
}
