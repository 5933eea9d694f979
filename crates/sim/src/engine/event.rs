//! An event, in four words. A packet under way is its own arrival event and is carried by value, so a hop
//! follows no pointer.

/// What happens. Ties at one instant are settled by class and then by id, SO THE ORDER OF THESE MATTERS: a port
/// that falls idle at some instant is free for a packet that arrives in that instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A port's transmission ends and something waits; the id is the port's.
    Wake,
    /// A packet's last bit arrives; the id is the link's.
    Arrival,
    /// A flow starts; the id is the flow's, as in all that follow.
    Start,
    /// A flow stops offering data.
    Stop,
    /// A paced sender may send.
    Pace,
    /// A sender's timer.
    Timeout,
    /// A receiver's timer.
    AckDelay,
    /// A host's engine is done with the frame at the head of its receive queue; the id is the host's.
    Process,
    /// A host's engine may send; the id is the host's.
    Grant,
    /// A data frame reaches its host's NIC; the id is the flow's.
    Depart,
    /// An acknowledgement reaches its host's NIC; the id is the flow's.
    DepartAck,
    /// An initiator's next operation is due; the id is the initiator's.
    Issue,
}

/// Every class, by its number.
const CLASSES: [Class; 12] = [
    Class::Wake,
    Class::Arrival,
    Class::Start,
    Class::Stop,
    Class::Pace,
    Class::Timeout,
    Class::AckDelay,
    Class::Process,
    Class::Grant,
    Class::Depart,
    Class::DepartAck,
    Class::Issue,
];

/// Bits of an event's key that its id takes.
const ID_BITS: u32 = 28;
/// Ids (ports, links, flows) are below this.
pub const MAX_ID: u32 = 1 << ID_BITS;

/// A packet's frame as it stands in a queue or in an event: 24 bytes of meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Data: when it was sent. Acknowledgement: the echo of that.
    pub stamp: u64,
    /// Flow in the upper half, sequence number in the lower.
    pub flow_seq: u64,
    /// Size, hops and flags.
    pub meta: Meta,
}

impl Frame {
    /// The flow it belongs to.
    #[inline]
    pub fn flow(&self) -> u32 {
        (self.flow_seq >> 32) as u32
    }

    /// Its sequence number, or for an acknowledgement the one it speaks of.
    #[inline]
    pub fn seq(&self) -> u32 {
        self.flow_seq as u32
    }
}

/// Size, hops and flags of a frame in 32 bits: 17 of wire size, 5 of links crossed, 5 of echoed hop count, and
/// five flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta(pub u32);

const SIZE_BITS: u32 = 17;
const HOP_BITS: u32 = 5;
/// A frame weighs less than this many bytes on the wire.
pub const MAX_FRAME: u32 = 1 << SIZE_BITS;
/// A path has fewer links than this.
pub const MAX_LINKS: u32 = 1 << HOP_BITS;

impl Meta {
    /// It is an acknowledgement.
    pub const ACK: u32 = 1 << 27;
    /// It has met congestion; on an acknowledgement: the packet it speaks of had.
    pub const CE: u32 = 1 << 28;
    /// It ends a message; on an acknowledgement: the packet that caused it does.
    pub const LAST: u32 = 1 << 29;
    /// An acknowledgement whose particulars are in the side pool: its sequence number is their place there.
    pub const POOLED: u32 = 1 << 30;
    /// It may be marked instead of dropped early.
    pub const ECT: u32 = 1 << 31;

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

    /// The same, one link on.
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

    /// The same with an echoed hop count.
    #[inline]
    #[must_use]
    pub fn echoing(self, hops: u32) -> Meta {
        debug_assert!(hops < MAX_LINKS);
        Meta(self.0 | hops << (SIZE_BITS + HOP_BITS))
    }

    /// [`Meta::LAST`] if it is set, or nothing.
    #[inline]
    pub fn last(self) -> u32 {
        self.0 & Meta::LAST
    }

    /// Whether all of `flags` are set.
    #[inline]
    pub fn has(self, flags: u32) -> bool {
        self.0 & flags == flags
    }

    /// The same with `flags` set.
    #[inline]
    #[must_use]
    pub fn with(self, flags: u32) -> Meta {
        Meta(self.0 | flags)
    }
}

/// Something that happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in picoseconds.
    pub time: u64,
    /// Of the frame that arrives; meaningless for other classes.
    pub stamp: u64,
    /// Of the frame that arrives; meaningless for other classes.
    pub flow_seq: u64,
    /// Class, id, and the frame's [`Meta`].
    pub key: u64,
}

/// Class and id of an event, in its key's upper half.
#[inline]
pub fn key(class: Class, id: u32) -> u64 {
    (class as u64) << (32 + ID_BITS) | u64::from(id) << 32
}

impl Event {
    /// The arrival of `frame` over link `link`.
    #[inline]
    pub fn arrival(time: u64, link: u32, frame: &Frame) -> Event {
        Event::carrying(time, Class::Arrival, link, frame)
    }

    /// Something that happens to `frame`.
    #[inline]
    pub fn carrying(time: u64, class: Class, id: u32, frame: &Frame) -> Event {
        let key = key(class, id) | u64::from(frame.meta.0);
        Event { time, stamp: frame.stamp, flow_seq: frame.flow_seq, key }
    }

    /// Something that carries nothing.
    #[inline]
    pub fn bare(time: u64, class: Class, id: u32) -> Event {
        Event { time, stamp: 0, flow_seq: 0, key: key(class, id) }
    }

    /// What happens.
    #[inline]
    pub fn class(&self) -> Class {
        CLASSES[(self.key >> (32 + ID_BITS)) as usize]
    }

    /// Whether a frame arrives: most events.
    #[inline]
    pub fn is_arrival(&self) -> bool {
        self.key >> (32 + ID_BITS) == Class::Arrival as u64
    }

    /// Whether it carries a frame.
    #[inline]
    pub fn carries(&self) -> bool {
        matches!(self.class(), Class::Arrival | Class::Depart | Class::DepartAck)
    }

    /// To whom.
    #[inline]
    pub fn id(&self) -> u32 {
        (self.key >> 32) as u32 & (MAX_ID - 1)
    }

    /// The frame that arrives.
    #[inline]
    pub fn frame(&self) -> Frame {
        Frame { stamp: self.stamp, flow_seq: self.flow_seq, meta: Meta(self.key as u32) }
    }

    /// Where it stands among all events. No two events are equal in it.
    #[inline]
    pub fn order(&self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.key)
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
        let frame = Frame { stamp: u64::MAX, flow_seq: 7 << 32 | 9, meta };
        let event = Event::arrival(5, MAX_ID - 1, &frame);
        assert_eq!((event.class(), event.id(), event.frame()), (Class::Arrival, MAX_ID - 1, frame));
        assert_eq!((meta.size(), meta.hop(), meta.echoed_hops()), (MAX_FRAME - 1, 2, 31));
        assert_eq!((frame.flow(), frame.seq()), (7, 9));
    }

    #[test]
    fn every_class_comes_back() {
        for (number, class) in CLASSES.into_iter().enumerate() {
            assert_eq!(number, class as usize);
            assert_eq!(Event::bare(0, class, MAX_ID - 1).class(), class);
        }
    }

    #[test]
    fn order_is_by_time_then_class_then_id() {
        let mut events = [
            Event::bare(2, Class::Wake, 0),
            Event::bare(1, Class::Pace, 0),
            Event::bare(1, Class::Wake, 9),
            Event::bare(1, Class::Wake, 3),
        ];
        events.sort_by_key(Event::order);
        assert_eq!(events.map(|e| (e.time, e.id())), [(1, 3), (1, 9), (1, 0), (2, 0)]);
    }
}
