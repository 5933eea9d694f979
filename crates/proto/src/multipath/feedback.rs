//! What acknowledgements say of paths.

/// The news of a path that a packet brings which took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFeedback {
    /// The packet has met no congestion there.
    Good,
    /// It has arrived with a congestion mark.
    Marked,
    /// A switch on the path has cut its payload off.
    Trimmed,
}
