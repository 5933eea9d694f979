//! The key that all hosts have whose received frames wait.

use clearway_proto::units::Bytes;

use super::key::Key;
use super::reader::Section;

/// Room in the NIC of a host whose received frames wait.
pub(crate) fn receive_queue(r: &mut Section, default: Bytes) -> Bytes {
    let doc = "Room for frames that wait for the processor, or for an interrupt.";
    let queue = Key::new("receive_queue", doc, Bytes::new(100)..=Bytes::new(4_000_000_000));
    r.get(&queue.or(default))
}
