//! What becomes of a lane whose port is paused without an end.

use clearway_proto::units::Time;

/// The watchdog of a lane: a port that is told to pause without an end holds up all that is behind it.
///
/// After that long of it what waits is dropped, and what comes, until the port has not been paused for as long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Watchdog {
    /// Since when the port has been paused without a break, or has not been; none before the first PAUSE.
    pub(super) since: Option<(Time, bool)>,
    /// Whether the port is given up: frames for it are dropped.
    pub(super) has_given_up: bool,
}
