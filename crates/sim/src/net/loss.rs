//! Links that lose frames for some time.

use clearway_proto::units::Time;

use crate::random::Stream;

/// A time in which a link loses frames.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    /// The first instant.
    pub from: Time,
    /// The instant after the last.
    pub until: Time,
    /// The probability with which a frame is lost whose transmission begins in that time.
    pub probability: f64,
}

/// When a link loses frames, and which.
#[derive(Debug)]
pub struct Loss {
    /// The times in which it loses frames; they may overlap.
    pub windows: Vec<LossWindow>,
    /// The random stream that decides.
    pub stream: Stream,
}

impl Loss {
    /// Returns whether the frame is lost whose transmission begins at `now`, in picoseconds.
    pub fn strikes(&mut self, now: u64) -> bool {
        let now = Time::from_ps(now);
        let mut lost = false;
        for window in &self.windows {
            if window.from <= now && now < window.until {
                // Certain loss draws nothing, so a link that is down does not disturb one that is lossy.
                lost |= window.probability >= 1.0 || self.stream.unit() < window.probability;
            }
        }
        lost
    }
}
