//! What goes wrong with links and relays.

use clearway_proto::units::Time;

/// One `[[fault]]` table: what happens to one direction of a link. (The file may name both at once.)
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Names of the nodes it leads from and to.
    pub link: (String, String),
    /// When it begins.
    pub from: Time,
    /// When it ends; [`Time::NEVER`] for good.
    pub until: Time,
    /// Probability that a frame whose transmission starts in that time is lost; 1 for a link that is down.
    pub loss: f64,
}

/// A `[[fault]]` table about a relay, which fails: an optical bypass takes its place. What waits in it is lost, and from then on frames
/// and PAUSEs pass as on one long link, until the relay is back, which has heard nothing of what was said meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bypass {
    /// The node that is the relay.
    pub relay: u32,
    /// When the relay fails.
    pub from: Time,
    /// When it takes its place again; [`Time::NEVER`] for never.
    pub until: Time,
}
