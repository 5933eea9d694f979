//! The keys of a port that cuts packets for which it has no room down to their headers.

use clearway_proto::units::Bytes;

use super::key::Key;
use super::reader::Section;
use super::shape::MAX_BYTES;
use crate::model::Trimming;

const OVERFLOW: &str = "What becomes of a frame that finds the buffer of its port full: it is dropped, or, if its transport \
                        understands that, it or the last one that waits is cut down to its header, which goes ahead of all else.";
const OVERFLOWS: &[(&str, bool)] = &[("drop", false), ("trim", true)];

/// The share of an overflowing port's cuts that htsim makes at the tail of its queue (`CompositeQueue::receivePacket`).
const TAIL: f64 = 0.5;

/// Reads what becomes of frames that find a port's own buffer, of this size, full. None if they are dropped.
pub(super) fn read(r: &mut Section, room: Bytes) -> Option<Trimming> {
    if !r.choice("overflow", OVERFLOW, Some("drop"), OVERFLOWS) {
        return None;
    }
    let doc = "What a packet weighs on the wire when it is cut down to its header.";
    let size = Key::new("trim_size", doc, Bytes::new(1)..=Bytes::new(1500));
    let size = r.get(&size.or(Bytes::new(64)));
    let doc = "Room at a port for headers that wait; what finds none is dropped.";
    let header_room = Key::new("trim_room", doc, Bytes::new(1)..=MAX_BYTES);
    let header_room = r.get(&header_room.or_as(Bytes::new(room.get() * 2), "twice buffer"));
    let doc = "Probability that the last packet that waits is cut instead of the one that comes.";
    let tail = r.get(&Key::new("trim_tail", doc, 0.0..=1.0).or(TAIL));
    let doc = "Headers after which a packet that waits goes: weighted round robin, 10 in NDP.";
    let headers_first = r.optional(&Key::new("trim_headers_first", doc, 1..=1000), "headers always go first");
    Some(Trimming { room, size, header_room, tail, headers_first })
}
