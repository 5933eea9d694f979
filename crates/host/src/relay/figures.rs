//! What a relay counts.

use serde::Serialize;

/// Frames that came over a port and were not passed on, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Frames for which there was no room.
    pub overflow: u64,
    /// Frames dropped as the port that they leave on was paused without an end.
    pub given_up: u64,
    /// PFC frames that end too early, have bits of no priority, or another destination.
    pub malformed: u64,
    /// PAUSE frames of the whole link, and MAC control frames of other kinds.
    pub not_pfc: u64,
    /// Priorities in PFC frames that are not lossless here.
    pub not_lossless: u64,
}

/// The counts of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortFigures {
    /// PAUSEs that came, by priority and frame.
    pub pauses_received: u64,
    /// RESUMEs that came.
    pub resumes_received: u64,
    /// PAUSEs sent.
    pub pauses_sent: u64,
    /// RESUMEs sent.
    pub resumes_sent: u64,
    /// Frames that came in and were stored.
    pub stored: u64,
    /// Frames that came in and were not passed on.
    pub refused: Refused,
}

/// The state of a lane: what waits in it, and what its ports are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaneFigures {
    /// Bytes that wait, as the link counts them.
    pub waiting: u64,
    /// The most bytes that ever waited.
    pub peak: u64,
    /// Frames that wait.
    pub frames: u64,
    /// Whether its port is told to pause.
    pub is_paused: bool,
    /// Whether the other end of the port that it comes in on is held by the relay's own rules.
    pub is_held: bool,
    /// Whether its frames are dropped, as its port is paused without an end.
    pub is_given_up: bool,
    /// Bytes that both ends count differently ([`Relay::drift`]); none where the relay does not count what it grants.
    ///
    /// [`Relay::drift`]: clearway_proto::swing::relay::Relay::drift
    pub drift: Option<u64>,
}

/// The state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is up, and has a carrier.
    Up,
    /// It was set down.
    Down,
    /// It is up, and nothing is at the other end.
    NoCarrier,
    /// There is no such device any more.
    Gone,
}

impl State {
    /// The state in words.
    pub fn words(self) -> &'static str {
        match self {
            State::Up => "up",
            State::Down => "down",
            State::NoCarrier => "without a carrier",
            State::Gone => "gone",
        }
    }
}
