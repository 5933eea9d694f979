//! Events, in four words each. A frame under way is its own arrival event and is carried by value, so a hop follows
//! no pointer.

use crate::model::MAX_LINKS;

/// What happens. Two events of one node at one instant happen in the order of their kinds and then of their ids,
/// SO THE ORDER OF THESE MATTERS: a port that falls idle at some instant is free for a frame that arrives in that
/// instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A port's transmission ends; the id is the port's.
    Wake,
    /// A frame's last bit arrives; the id is the link's.
    Arrival,
    /// A flow starts; the id is the sending end's, as in the next three.
    Start,
    /// A flow stops offering data.
    Stop,
    /// A paced sender may send.
    Pace,
    /// A sender's timer runs out.
    Timeout,
    /// A receiver's timer runs out; the id is the receiving end's.
    AckDelay,
    /// A host's processor is done with the frame at the head of its receive queue; the id is the processor's.
    Process,
    /// A host's processor may send; the id is the processor's.
    Grant,
    /// A data frame leaves its host's stack; the id is the sending end's.
    Depart,
    /// An acknowledgement leaves its host's stack; the id is the receiving end's.
    DepartAck,
    /// A batch of frames that have left a host's stack reaches its NIC; the id is the processor's.
    Release,
    /// An initiator's next operation is due; the id is the initiator's.
    Issue,
    /// A target has served a read; the id is that of the sending end of its answer.
    Answer,
    /// A rank of a job begins; the id is the rank's.
    Begin,
    /// What a rank of a job computes or copies has taken its time; the id is that of the stream on which it does.
    Elapse,
    /// An agent's timer runs out; the id is the seat's.
    Act,
    /// A PAUSE or RESUME takes effect at the end of a link, whose number is the id.
    Pause,
    /// A bypass takes the place of a relay, or gives it back; the id is that of a port of the relay.
    Bypass,
    /// A PAUSE may have to be repeated; the id is that of the port that sends it.
    Repeat,
    /// A PAUSE may have run out; the id is that of the port that it holds.
    Expire,
    /// A link dies, lives again or has another rate; the id is that of the port that feeds it.
    Change,
    /// The pacer of a NIC may grant credit; the id is that of the NIC among those that do.
    Pull,
}

/// Every kind, by its number.
const KINDS: [Kind; 23] = [
    Kind::Wake,
    Kind::Arrival,
    Kind::Start,
    Kind::Stop,
    Kind::Pace,
    Kind::Timeout,
    Kind::AckDelay,
    Kind::Process,
    Kind::Grant,
    Kind::Depart,
    Kind::DepartAck,
    Kind::Release,
    Kind::Issue,
    Kind::Answer,
    Kind::Begin,
    Kind::Elapse,
    Kind::Act,
    Kind::Pause,
    Kind::Bypass,
    Kind::Repeat,
    Kind::Expire,
    Kind::Change,
    Kind::Pull,
];

/// The bit at which the time begins in an event's order in its window; below are its kind and id.
pub const TIME_AT: u32 = 32;
/// Bits of an event's key that its id takes.
const ID_BITS: u32 = 27;
/// Ids (ports, links, ends of flows) are below this.
pub const MAX_ID: u32 = 1 << ID_BITS;

/// A frame as it stands in a queue or in an event: 24 bytes of meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The time at which a data packet was sent; an acknowledgement's echo of that.
    pub stamp: u64,
    /// The number of the frame's route in the upper half, its sequence number in the lower.
    pub route_seq: u64,
    /// Size, hops and flags.
    pub meta: Meta,
}

impl Frame {
    /// The number of the route that it takes (see [`crate::net::routes`]).
    #[inline]
    pub fn route(&self) -> u32 {
        (self.route_seq >> 32) as u32
    }

    /// Its sequence number, or for an acknowledgement the one that it acknowledges.
    #[inline]
    pub fn seq(&self) -> u32 {
        self.route_seq as u32
    }
}

/// Size, hops and flags of a frame in 32 bits: 17 of wire size, 5 of links crossed, 5 of echoed hop count, and
/// five flags. A data frame echoes nothing: there the five bits say whether a switch may cut its payload off, or has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta(pub u32);

const SIZE_BITS: u32 = 17;
const HOP_BITS: u32 = 5;
/// A frame weighs less than this many bytes on the wire.
pub const MAX_FRAME: u32 = 1 << SIZE_BITS;
const _: () = assert!(MAX_LINKS == 1 << HOP_BITS);

impl Meta {
    /// The frame is an acknowledgement, or the answer to a probe: it takes its route's way back.
    pub const ACK: u32 = 1 << 27;
    /// The frame has met congestion; on an acknowledgement: the packet that it acknowledges had.
    pub const CE: u32 = 1 << 28;
    /// The packet ends a message; on an acknowledgement: the packet that caused it does.
    pub const LAST: u32 = 1 << 29;
    /// The frame's content is in the pool of parcels: its sequence number is the place there.
    pub const POOLED: u32 = 1 << 30;
    /// The frame may be marked instead of dropped early.
    pub const ECT: u32 = 1 << 31;

    /// A switch may cut the payload of this data frame off.
    pub const TRIMMABLE: u32 = (MAX_LINKS - 1) << (SIZE_BITS + HOP_BITS);

    /// A frame of `size` bytes on the wire that has crossed no link yet.
    #[inline]
    pub fn new(size: u32, flags: u32) -> Meta {
        debug_assert!(size < MAX_FRAME);
        Meta(size | flags)
    }

    /// Bytes on the wire.
    #[inline]
    pub fn size(self) -> u32 {
        self.0 & (MAX_FRAME - 1)
    }

    /// Links crossed.
    #[inline]
    pub fn hop(self) -> u32 {
        (self.0 >> SIZE_BITS) & (MAX_LINKS - 1)
    }

    /// Returns this with one more link crossed.
    #[inline]
    #[must_use]
    pub fn crossed(self) -> Meta {
        Meta(self.0 + (1 << SIZE_BITS))
    }

    /// The echoed hop count.
    #[inline]
    pub fn echoed_hops(self) -> u32 {
        (self.0 >> (SIZE_BITS + HOP_BITS)) & (MAX_LINKS - 1)
    }

    /// Returns this with an echoed hop count.
    #[inline]
    #[must_use]
    pub fn echoing(self, hops: u32) -> Meta {
        debug_assert!(hops < MAX_LINKS);
        Meta(self.0 | hops << (SIZE_BITS + HOP_BITS))
    }

    /// Returns whether a switch may cut its payload off.
    #[inline]
    pub fn is_trimmable(self) -> bool {
        self.0 & (Meta::ACK | Meta::TRIMMABLE) == Meta::TRIMMABLE
    }

    /// Returns this after a switch has cut its payload off, which leaves `size` bytes. What the frame says is then in the pool
    /// of parcels.
    #[inline]
    #[must_use]
    pub fn trimmed(self, size: u32) -> Meta {
        debug_assert!(self.is_trimmable() && size < self.size() && self.hop() > 0);
        let rest = self.0 & !(Meta::TRIMMABLE | (MAX_FRAME - 1));
        Meta(rest | size).echoing(self.hop()).with(Meta::POOLED)
    }

    /// Links that it had crossed when a switch cut its payload off; none if none did.
    #[inline]
    pub fn trimmed_after(self) -> Option<u32> {
        let trimmed = !self.contains(Meta::ACK) && self.contains(Meta::POOLED);
        Some(self.echoed_hops()).filter(|&hops| trimmed && hops > 0 && hops < MAX_LINKS - 1)
    }

    /// [`Meta::LAST`] if it is set, or nothing.
    #[inline]
    pub fn last(self) -> u32 {
        self.0 & Meta::LAST
    }

    /// Returns whether all of `flags` are set.
    #[inline]
    pub fn contains(self, flags: u32) -> bool {
        self.0 & flags == flags
    }

    /// Returns this without `flags`.
    #[inline]
    #[must_use]
    pub fn without(self, flags: u32) -> Meta {
        Meta(self.0 & !flags)
    }

    /// Returns this with `flags` set.
    #[inline]
    #[must_use]
    pub fn with(self, flags: u32) -> Meta {
        Meta(self.0 | flags)
    }
}

/// Something that happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it happens, in picoseconds.
    pub time: u64,
    /// The stamp of the frame that it carries; meaningless for kinds that carry none.
    pub stamp: u64,
    /// Route and sequence number of the frame that it carries; meaningless for kinds that carry none.
    pub route_seq: u64,
    /// Kind and id in the upper half; the frame's [`Meta`] in the lower.
    pub key: u64,
}

/// Kind and id of an event, as they stand in the upper half of its key.
#[inline]
pub fn key(kind: Kind, id: u32) -> u32 {
    (kind as u32) << ID_BITS | id
}

/// The id in such a key.
#[inline(always)]
pub fn id_of(key: u32) -> u32 {
    key & (MAX_ID - 1)
}

/// Returns whether such a key is an arrival's.
#[inline(always)]
pub fn is_key_of_arrival(key: u32) -> bool {
    key >> ID_BITS == Kind::Arrival as u32
}

impl Event {
    /// Something that happens to `frame`, with its kind and id as a [`key`].
    #[inline]
    pub fn carrying(time: u64, key: u32, frame: &Frame) -> Event {
        let key = u64::from(key) << 32 | u64::from(frame.meta.0);
        Event { time, stamp: frame.stamp, route_seq: frame.route_seq, key }
    }

    /// Something that carries no frame.
    #[inline]
    pub fn bare(time: u64, kind: Kind, id: u32) -> Event {
        Event { time, stamp: 0, route_seq: 0, key: u64::from(key(kind, id)) << 32 }
    }

    /// Returns whether a frame arrives.
    #[inline(always)]
    pub fn is_arrival(&self) -> bool {
        is_key_of_arrival((self.key >> 32) as u32)
    }

    /// Returns what happens.
    #[inline]
    pub fn kind(&self) -> Kind {
        KINDS[(self.key >> (32 + ID_BITS)) as usize]
    }

    /// Returns whether it carries a frame.
    #[inline]
    pub fn carries(&self) -> bool {
        matches!(self.kind(), Kind::Arrival | Kind::Depart | Kind::DepartAck)
    }

    /// The port, link, end, processor, initiator or seat to which it happens.
    #[inline]
    pub fn id(&self) -> u32 {
        id_of((self.key >> 32) as u32)
    }

    /// The size, hops and flags of the frame that it carries.
    #[inline]
    pub fn meta(&self) -> Meta {
        Meta(self.key as u32)
    }

    /// A frame with this `meta` goes on over another link, at whose end it arrives at `time`, with the key of such arrivals. What
    /// else there is to know of the frame it carries already.
    #[inline(always)]
    pub fn go_on(&mut self, time: u64, arrival_key: u32, meta: Meta) {
        self.time = time;
        self.key = u64::from(arrival_key) << 32 | u64::from(meta.crossed().0);
    }

    /// The frame that it carries meets congestion.
    #[inline]
    pub fn mark(&mut self) {
        self.key |= u64::from(Meta::CE);
    }

    /// The route of the frame that it carries.
    #[inline]
    pub fn route(&self) -> u32 {
        (self.route_seq >> 32) as u32
    }

    /// The frame that it carries.
    #[inline]
    pub fn frame(&self) -> Frame {
        Frame { stamp: self.stamp, route_seq: self.route_seq, meta: self.meta() }
    }

    /// Its place among the events of its node in a window that begins at `start` and is shorter than 2^32 ps: by time,
    /// kind and id. Two that are equal in it are the same timer, set twice for one instant, or two reads that one flow
    /// answers.
    #[inline]
    pub fn order_since(&self, start: u64) -> u64 {
        (self.time - start) << TIME_AT | self.key >> 32
    }

    /// The event that carries no frame and has this place.
    #[inline]
    pub fn ordered(start: u64, order: u64) -> Event {
        Event { time: start + (order >> TIME_AT), stamp: 0, route_seq: 0, key: order << 32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_four_words() {
        assert_eq!(size_of::<Event>(), 32);
    }

    #[test]
    fn a_frame_survives_its_event() {
        let meta = Meta::new(MAX_FRAME - 1, Meta::ACK | Meta::ECT).crossed().crossed().echoing(31);
        let frame = Frame { stamp: u64::MAX, route_seq: 7 << 32 | 9, meta };
        let event = Event::carrying(5, key(Kind::Arrival, MAX_ID - 1), &frame);
        assert_eq!((event.kind(), event.id(), event.frame()), (Kind::Arrival, MAX_ID - 1, frame));
        assert_eq!((meta.size(), meta.hop(), meta.echoed_hops()), (MAX_FRAME - 1, 2, 31));
        assert_eq!((frame.route(), event.route(), frame.seq()), (7, 7, 9));
    }

    #[test]
    fn a_trimmed_frame_keeps_what_is_not_payload() {
        let whole = Meta::new(4150, Meta::TRIMMABLE | Meta::ECT | Meta::LAST).crossed().crossed();
        let header = whole.trimmed(64);
        assert!(whole.is_trimmable() && !header.is_trimmable());
        assert_eq!((whole.trimmed_after(), header.trimmed_after()), (None, Some(2)));
        let later = header.crossed();
        assert_eq!((later.size(), later.hop(), later.trimmed_after()), (64, 3, Some(2)));
        assert!(later.contains(Meta::ECT | Meta::LAST | Meta::POOLED));
        // What an acknowledgement echoes means no such thing.
        let ack = Meta::new(64, Meta::ACK | Meta::POOLED).echoing(31);
        assert!(
            !ack.is_trimmable()
                && Meta::new(64, Meta::ACK | Meta::POOLED).echoing(2).trimmed_after().is_none()
        );
    }

    #[test]
    fn every_kind_comes_back() {
        for (number, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(number, kind as usize);
            assert_eq!(Event::bare(0, kind, MAX_ID - 1).kind(), kind);
        }
    }

    #[test]
    fn order_is_by_time_then_kind_then_id() {
        let mut events = [
            Event::bare(2, Kind::Wake, 0),
            Event::bare(1, Kind::Pace, 0),
            Event::bare(1, Kind::Wake, 9),
            Event::bare(1, Kind::Wake, 3),
        ];
        events.sort_by_key(|event| event.order_since(1));
        assert_eq!(Event::ordered(1, events[3].order_since(1)), events[3]);
        assert_eq!(events.map(|e| (e.time, e.id())), [(1, 3), (1, 9), (1, 0), (2, 0)]);
    }
}
