//! Priority flow control (IEEE 802.1Qbb): when a switch pauses what sends to it.

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::swing::relay::VirtualQueue;
use clearway_proto::units::{Bytes, Rate, Span};

/// How the switches of a role keep lossless classes lossless. What arrives over a link in such a class has an *account* there,
/// from its arrival until its last bit has left the switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Pfc {
    /// Above this the account's link is paused.
    pub xoff: Xoff,
    /// The link goes on when the account is this far below XOFF, or empty.
    pub hysteresis: Bytes,
    /// Room of each account for what comes after XOFF; none: as the link needs it.
    pub headroom: Option<Bytes>,
    /// How long a PAUSE holds, in quanta of 512 bit times; it is repeated when half of that has passed.
    pub quanta: u16,
    /// Time from the arrival of a PAUSE until its receiver begins no further frame.
    pub response: Span,
    /// A PAUSE or RESUME takes the place of one before it that has not left yet.
    pub replaces_unsent: bool,
    /// What Swing's relay does besides; none where there is none, and at a relay if all of it is as usual.
    pub relay: Option<Relay>,
}

/// Port R of a relay, which faces the fibre, for each lossless class. Absent values depend on the fibre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Relay {
    /// Room for what comes over the fibre; none: at a box a BDP, a fortieth of one, and the frames that a PAUSE waits for, inside
    /// a switch what it lets the far end send.
    pub buffer: Option<Bytes>,
    /// The far end is held while what waits and what it was granted in a round trip exceed this.
    pub safety: Option<Safety>,
    /// The far end is held for a short queue.
    pub virtual_queue: Option<VirtualQueue>,
}

/// A limit of what waits and is granted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Safety {
    /// The lowest that lets an idle link send at once.
    Least,
    /// This many bytes.
    Bytes(Bytes),
}

/// The threshold above which a link is paused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Xoff {
    /// A number of bytes, which each account has to itself.
    Static(Bytes),
    /// This many times what is free of the switch's shared buffer.
    Dynamic(f64),
}

impl Pfc {
    /// Returns what headroom depends on of a link with this rate and delay whose end has this flow control: no frame on it is
    /// longer than `frame`, and `classes` classes are lossless.
    pub fn lossless_link(&self, (rate, delay): (Rate, Span), frame: Bytes, classes: usize) -> LosslessLink {
        LosslessLink {
            response: self.response,
            priorities: classes as u8,
            hysteresis: self.hysteresis,
            ..LosslessLink::new(rate, delay, frame)
        }
    }
}
