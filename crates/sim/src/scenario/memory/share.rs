//! A part of the memory that a run takes, and what a person can do about it.

/// Something that takes memory.
pub(super) struct Share {
    /// Memory in bytes.
    pub(super) bytes: f64,
    /// What takes it: "9 flows".
    pub(super) what: String,
    /// The key to blame.
    pub(super) key: String,
    /// What to do about it.
    pub(super) remedy: &'static str,
}
