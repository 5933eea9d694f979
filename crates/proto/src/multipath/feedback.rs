//! What acknowledgements say of paths.

/// What is known of a path from a packet that took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFeedback {
    /// The packet has met no congestion there.
    Good,
    /// It has arrived with a congestion mark.
    Marked,
    /// A switch on the path has cut its payload off.
    Trimmed,
}
