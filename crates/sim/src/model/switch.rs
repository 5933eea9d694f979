//! What switches are for, and the buffers and marking of their ports.

use clearway_proto::units::Bytes;

use super::pfc::Pfc;

/// What a switch is for; a topology gives each of its switches one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchRole {
    /// Joins hosts (edge switches of a fat tree too).
    Tor,
    /// The middle tier of a fat tree.
    Aggregation,
    /// The top tier (spine of a leaf-spine, core of a fat tree).
    Spine,
    /// Joins a datacenter to others.
    Dci,
    /// The port of such a switch that faces another datacenter, or a relay: no switch of its own, but buffers, marking and
    /// flow control.
    Long,
    /// Swing's relay: a box of two ports between such a switch and the fibre. What is set here is its port L, to the switch.
    Relay,
    /// The part of a network card that joins a host with several links to them: to the host itself it has one link more.
    Nic,
}

impl SwitchRole {
    /// Every role.
    pub const ALL: [SwitchRole; 7] = [
        SwitchRole::Tor,
        SwitchRole::Aggregation,
        SwitchRole::Spine,
        SwitchRole::Dci,
        SwitchRole::Long,
        SwitchRole::Relay,
        SwitchRole::Nic,
    ];

    /// The role of a port of such a switch that faces a switch of role `peer`, or a host.
    #[must_use]
    pub fn of_port(self, peer: Option<SwitchRole>) -> SwitchRole {
        match (self, peer) {
            (SwitchRole::Dci, Some(SwitchRole::Dci | SwitchRole::Relay)) => SwitchRole::Long,
            _ => self,
        }
    }
}

/// What the switches of each role do.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchKinds {
    /// The switches of [`SwitchRole::Tor`].
    pub tor: SwitchKind,
    /// The switches of [`SwitchRole::Aggregation`].
    pub aggregation: SwitchKind,
    /// The switches of [`SwitchRole::Spine`].
    pub spine: SwitchKind,
    /// The switches of [`SwitchRole::Dci`], towards their own datacenter.
    pub dci: SwitchKind,
    /// Their ports towards other datacenters, [`SwitchRole::Long`].
    pub long: SwitchKind,
    /// The relays, [`SwitchRole::Relay`].
    pub relay: SwitchKind,
    /// The cards of hosts with several links, [`SwitchRole::Nic`].
    pub nic: SwitchKind,
}

impl SwitchKinds {
    /// Switches that are all of this kind.
    pub fn alike(kind: SwitchKind) -> SwitchKinds {
        SwitchKinds {
            tor: kind.clone(),
            aggregation: kind.clone(),
            spine: kind.clone(),
            dci: kind.clone(),
            long: kind.clone(),
            relay: kind.clone(),
            nic: kind,
        }
    }

    /// Returns whether any of them has flow control.
    pub fn any_pfc(&self) -> bool {
        SwitchRole::ALL.iter().any(|&role| self.of(role).pfc.is_some())
    }

    /// Returns whether any of them cuts packets.
    pub fn any_trimming(&self) -> bool {
        SwitchRole::ALL.iter().any(|&role| self.of(role).trimming().is_some())
    }

    /// The flow control of ports that have a relay inside the switch.
    pub fn relay_inside(&self) -> Option<&Pfc> {
        self.long.pfc.as_ref().filter(|pfc| pfc.relay.is_some())
    }

    /// The kind of the switches of this role.
    pub fn of(&self, role: SwitchRole) -> &SwitchKind {
        match role {
            SwitchRole::Tor => &self.tor,
            SwitchRole::Aggregation => &self.aggregation,
            SwitchRole::Spine => &self.spine,
            SwitchRole::Dci => &self.dci,
            SwitchRole::Long => &self.long,
            SwitchRole::Relay => &self.relay,
            SwitchRole::Nic => &self.nic,
        }
    }
}

/// Buffer, marking and flow control of a switch's ports.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchKind {
    /// How frames are admitted; those of lossless classes take room of their own, or of what is shared.
    pub buffer: Buffer,
    /// How ECN-capable frames are marked.
    pub ecn: Ecn,
    /// How lossless classes are kept lossless; none where frames of every class may be dropped.
    pub pfc: Option<Pfc>,
}

impl SwitchKind {
    /// How a port cuts packets for which it has no room; none if it drops them.
    pub fn trimming(&self) -> Option<&Trimming> {
        match &self.buffer {
            Buffer::Trimming(trimming) => Some(trimming),
            _ => None,
        }
    }
}

/// Where a frame that must wait finds room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// Each port has its own; the frame in transmission counts until its last bit has left.
    PerPort(Bytes),
    /// Each port has its own, and cuts packets that find no room down to their headers, which have room of their own.
    Trimming(Trimming),
    /// All ports of a switch share one: a port, or with classes each of its queues, may hold at most `alpha` times
    /// what is free (dynamic threshold).
    Shared {
        /// The buffer of the whole switch.
        size: Bytes,
        /// A queue's share of the free space.
        alpha: f64,
    },
}

/// What a port does that cuts packets for which it has no room (packet trimming).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trimming {
    /// Room for what waits in full, with the frame in transmission.
    pub room: Bytes,
    /// What a packet weighs on the wire when its payload is cut off.
    pub size: Bytes,
    /// Room for headers that wait; acknowledgements wait with them where the network has no classes.
    pub header_room: Bytes,
    /// Probability that the last packet that waits is cut instead of the one that comes; in [0, 1].
    pub tail: f64,
    /// Headers after which a packet goes while both wait, above zero; none where headers always go first.
    pub headers_first: Option<u32>,
}

/// When a queue marks frames as having met congestion. What is compared is the queue's length where it is looked at,
/// a [`MarkPoint`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ecn {
    /// It never marks.
    Off,
    /// It marks when the queue is above the threshold.
    Step {
        /// Frames that meet a longer queue are marked.
        threshold: Bytes,
        /// Where they meet it.
        at: MarkPoint,
    },
    /// It never marks up to `min`, always above `max`, and between them with a probability that rises linearly to
    /// `pmax`.
    Red {
        /// Nothing is marked up to this queue length.
        min: Bytes,
        /// Every frame is marked above this queue length.
        max: Bytes,
        /// The probability at `max`; in [0, 1].
        pmax: f64,
        /// Where frames meet the queue.
        at: MarkPoint,
    },
}

/// Where a frame meets the queue by whose length it is marked, and which bytes that are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkPoint {
    /// The frame is judged as its transmission begins, by the bytes that wait behind it.
    Dequeue,
    /// The frame is judged as it arrives, by the bytes before it, with the frame in transmission.
    Enqueue,
}
