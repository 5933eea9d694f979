//! The packets that wait for one destination, and the bytes of the wire that they will take.
//!
//! # When a queue is full
//!
//! A packet for which there is no room is dropped, as in a switch, and TCP lowers its window. The other way would be to stop
//! reading the device: the kernel then refuses packets as it queues them there, which TCP does not take for a loss. But all
//! destinations share the device, so one that gets few slots would hold up all others; and the kernel hands a packet over for good
//! when it enters the device (`skb_orphan`), so its own limit on what a socket may queue does not hold there. A device has as many
//! rings as it has queues, but only a BPF program could choose the ring by destination. So back-pressure is by drops, destination
//! by destination, and the limit is in bytes and short in time. What is dropped here has taken nothing
//! of the network. Eight flows to one destination at 1 Gb/s fill their slots with a limit of 4 ms, but send a quarter of their
//! segments again, 7 % with 8 ms and none with 16. Marks (ECN) from half of the limit on did not help with 4 ms: as much was sent
//! again, and super-packets were a sixth as long.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::packet::{Headers, Shape, VIRTIO_BYTES};
use super::wire::{Unfinished, Wire, AROUND_PACKET, HEADER_BYTES, RECORD_BYTES};

/// Bytes of a buffer that takes the longest super-packet.
pub const LARGE_BUFFER: usize = VIRTIO_BYTES + 65_535;
/// A packet up to this length is copied out of the buffer that it was read into, which then takes the next.
const COPIED: usize = 4096;
/// Large buffers that are kept for reuse.
const MOST_KEPT: usize = 256;

/// A packet that waits.
#[derive(Debug)]
pub struct Packet {
    /// The packet, behind [`VIRTIO_BYTES`].
    buffer: Vec<u8>,
    /// The length of the packet.
    length: usize,
    /// The checksum that has still to be computed.
    pub checksum: Option<Unfinished>,
    /// The headers of a super-packet, and the payload in bytes of each piece that it is cut into.
    pub large: Option<(Headers, usize)>,
    /// Bytes of its payload that have left, for a super-packet.
    pub sent: usize,
    /// Bytes that what is left of it is reckoned to take on the wire.
    cost: usize,
}

impl Packet {
    /// The packet of what the device has given: a buffer with a virtio header and a packet, used up to `filled`.
    pub fn new(buffer: Vec<u8>, filled: usize, shape: &Shape) -> Packet {
        let length = filled - VIRTIO_BYTES;
        Packet { buffer, length, checksum: shape.checksum, large: shape.large, sent: 0, cost: 0 }
    }

    /// The whole packet.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[VIRTIO_BYTES..][..self.length]
    }

    /// Bytes of the wire for the rest of it, if that begins a datagram of its own.
    fn alone(&self, wire: Wire) -> usize {
        let Some((headers, segment)) = self.large else { return wire.cost(AROUND_PACKET + self.length) };
        let around = RECORD_BYTES + headers.payload_at;
        let payload = self.length - headers.payload_at - self.sent;
        let (pieces, rest) = (payload / segment, payload % segment);
        // Short pieces share datagrams.
        let together = (wire.longest.saturating_sub(HEADER_BYTES) / (around + segment)).max(1);
        let shared = pieces % together * (around + segment) + if rest > 0 { around + rest } else { 0 };
        let full = wire.cost(HEADER_BYTES + together * (around + segment));
        pieces / together * full + if shared > 0 { wire.cost(HEADER_BYTES + shared) } else { 0 }
    }
}

/// The packets that wait for one destination. One thread at a time sends of it: the driver's in slots, a reader of the device otherwise.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    /// Held by who sends, so that packets keep their order when sending passes from one thread to another.
    sending: Mutex<()>,
    /// Bytes on the wire of all that waits, for those who only want to know.
    cost: AtomicU64,
    /// Slots that the driver has been told of.
    pub told: AtomicU32,
}

/// The packets of a queue.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Packets, the oldest first.
    pub packets: VecDeque<Packet>,
    cost: usize,
    /// Room in the last datagram, as the waiting packets are reckoned to be packed.
    room: usize,
}

impl Queue {
    /// Appends a packet; gives it back if the queue has no room for it.
    pub fn push(&self, mut packet: Packet, wire: Wire, limit: usize) -> Result<(), Packet> {
        let mut waiting = lock(&self.waiting);
        if waiting.cost > 0 && waiting.cost + packet.length > limit {
            return Err(packet);
        }
        packet.cost = waiting.reckon(&packet, wire);
        waiting.cost += packet.cost;
        waiting.packets.push_back(packet);
        self.cost.store(waiting.cost as u64, Ordering::SeqCst);
        Ok(())
    }

    /// Bytes that what waits is reckoned to take on the wire.
    pub fn cost(&self) -> u64 {
        self.cost.load(Ordering::SeqCst)
    }

    /// Makes the caller the one who sends, as long as it holds the guard.
    pub fn claim(&self) -> MutexGuard<'_, ()> {
        lock(&self.sending)
    }

    /// Calls `take` with what waits. Nothing is added meanwhile, so it is to be quick.
    pub fn with<T>(&self, take: impl FnOnce(&mut Waiting) -> T) -> T {
        let mut waiting = lock(&self.waiting);
        let taken = take(&mut waiting);
        self.cost.store(waiting.cost as u64, Ordering::SeqCst);
        taken
    }
}

impl Waiting {
    /// Bytes of the wire that a packet adds when it is packed behind those that wait.
    fn reckon(&mut self, packet: &Packet, wire: Wire) -> usize {
        let room = if self.packets.is_empty() { 0 } else { self.room };
        let record = RECORD_BYTES + packet.length;
        if packet.large.is_some() {
            self.room = 0;
            return packet.alone(wire);
        }
        if record <= room {
            self.room = room - record;
            return record;
        }
        self.room = wire.longest.saturating_sub(HEADER_BYTES + record);
        packet.alone(wire)
    }

    /// Takes the first packet.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.cost -= packet.cost;
        Some(packet)
    }

    /// Puts back a packet, of which a part may have left.
    pub fn put_back(&mut self, mut packet: Packet, wire: Wire) {
        packet.cost = packet.alone(wire);
        self.cost += packet.cost;
        self.packets.push_front(packet);
    }
}

/// Buffers that are used again.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<Vec<u8>>>);

impl Pool {
    /// A buffer for the longest packet.
    pub fn take(&self) -> Vec<u8> {
        lock(&self.0).pop().unwrap_or_else(|| vec![0; LARGE_BUFFER])
    }

    /// Takes back the buffers of packets that are no longer needed.
    pub fn give(&self, packets: impl Iterator<Item = Packet>) {
        let mut kept = lock(&self.0);
        for packet in packets {
            if packet.buffer.len() == LARGE_BUFFER && kept.len() < MOST_KEPT {
                kept.push(packet.buffer);
            }
        }
    }

    /// The packet that was read into `buffer`: a copy if it is short, and else the buffer itself, in whose place there is then
    /// another.
    pub fn packet(&self, buffer: &mut Vec<u8>, filled: usize, shape: &Shape) -> Packet {
        if filled <= COPIED {
            return Packet::new(buffer[..filled].to_vec(), filled, shape);
        }
        Packet::new(std::mem::replace(buffer, self.take()), filled, shape)
    }
}

/// A lock that holds although a thread has panicked with it: what is behind these locks is whole at any time.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
