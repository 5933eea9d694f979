//! What goes wrong with links, switches, hosts and relays, and what the network does about it.

use clearway_proto::units::{Rate, Span, Time};

/// A `[[fault]]` table as the file has it, for those who tell of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultTable {
    /// The name of its kind in the file.
    pub kind: &'static str,
    /// The link, the node, the relay or the arbiter to which it happens, as the file names it.
    pub place: String,
    /// When it begins.
    pub from: Time,
    /// When it ends; [`Time::NEVER`] for good.
    pub until: Time,
}

impl FaultTable {
    /// Returns whether it is a fault of a link, a switch or a host.
    pub fn is_of_network(&self) -> bool {
        !["crash", "bypass"].contains(&self.kind)
    }
}

/// What a `[[fault]]` table does to one direction of a link. (The file may name both at once.)
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The number of its table in the file, from 0 on.
    pub table: u32,
    /// Names of the nodes it leads from and to.
    pub link: (String, String),
    /// When it begins.
    pub from: Time,
    /// When it ends; [`Time::NEVER`] for good.
    pub until: Time,
    /// The effect on frames in that time.
    pub effect: LinkEffect,
}

/// What a fault does to frames on one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkEffect {
    /// A frame whose transmission starts in that time is lost with this probability; 1 for a link that is down.
    Loss(f64),
    /// Each bit of a frame whose transmission starts in that time is wrong with this probability, and the next receiver drops a frame
    /// with a wrong bit.
    BitErrors(f64),
    /// Frames whose transmission starts in that time leave at this rate.
    Rate(Rate),
}

/// A `[[fault]]` table by which links are dead, and the network notices: see [`Routing`]. What is on such a link or waits for it is
/// lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// The number of its table in the file, from 0 on.
    pub table: u32,
    /// The directed links, by number: all of a node's, or one or both directions of a cable.
    pub links: Vec<u32>,
    /// When they die.
    pub from: Time,
    /// When they live again; [`Time::NEVER`] for never.
    pub until: Time,
}

/// How switches route around dead links, and when: the table `[routing]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routing {
    /// Time from a link's death, or return, until the nodes at its ends know of it.
    pub detect: Span,
    /// Time from a link's death, or return, until all switches have routes without it, or with it. At least `detect`.
    pub converge: Span,
    /// Which flows change their next hop when one of several is gone.
    pub rehash: Rehash,
}

/// How a flow's next hop is chosen when there are fewer than without faults (RFC 2991, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rehash {
    /// Flows of a next hop that is gone choose by the highest random weight among the others; all other flows stay.
    Minimal,
    /// Every flow chooses anew, by a hash modulo the number of next hops.
    Modulo,
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
