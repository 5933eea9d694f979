//! Filling a slot: which packets, and pieces of super-packets, leave in it, and how they are packed into datagrams.

use std::io::IoSlice;
use std::ops::Range;

use super::packet::Piece;
use super::queue::{Packet, Waiting};
use super::wire::{write_record, Header, Wire, HEADER_BYTES, RECORD_BYTES};

/// The most datagrams that the kernel takes joined: 64 before Linux 6.9.
const MOST_JOINED: usize = 64;
/// The most bytes that it takes joined: an IPv4 packet without its header and that of UDP.
pub const MOST_BYTES: usize = 65_507;

/// Bytes that leave.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Headers, of `Fill::heads`.
    Head(Range<usize>),
    /// Bytes of the packet of this index.
    Body(usize, Range<usize>),
}

/// A datagram: its parts and its length.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Datagram {
    parts: Range<usize>,
    length: usize,
    /// Datagrams of the super-packet that begins with this one, this one included; 1 for what is not the first of one.
    pieces: usize,
}

/// The datagrams that leave in a slot. It is kept, so that its memory is used again.
#[derive(Debug, Default)]
pub struct Fill {
    heads: Vec<u8>,
    parts: Vec<Part>,
    datagrams: Vec<Datagram>,
    /// The packets that leave, of which the last may stay in part.
    packets: Vec<Packet>,
    /// Whether it does.
    stays: bool,
    /// Bytes of the datagrams on the wire.
    cost: usize,
    /// Packets that are longer than any datagram.
    oversized: usize,
}

/// Datagrams that leave with one call: all but the last have the length of the first.
pub struct Run<'a> {
    /// Their bytes.
    pub pieces: Vec<IoSlice<'a>>,
    /// The length of the first.
    pub segment: usize,
    /// The number of datagrams.
    pub count: usize,
    /// The bytes of all.
    pub bytes: usize,
}

impl Fill {
    /// Takes from a queue what fits into `budget` bytes on the wire, in the queue's order, and returns whether anything does.
    /// The datagrams of the slot before are dropped.
    pub fn take(&mut self, waiting: &mut Waiting, header: Header, wire: Wire, budget: usize) -> bool {
        self.clear();
        while let Some(packet) = waiting.pop() {
            let went = if packet.large.is_some() {
                self.add_pieces(packet, header, wire, budget)
            } else {
                self.add_packet(packet, header, wire, budget)
            };
            match went {
                Ok(true) => {}
                Ok(false) => break,
                Err(packet) => {
                    waiting.put_back(*packet, wire);
                    break;
                }
            }
        }
        !self.datagrams.is_empty()
    }

    /// Forgets what it holds.
    fn clear(&mut self) {
        self.heads.clear();
        self.parts.clear();
        self.datagrams.clear();
        self.packets.clear();
        (self.stays, self.cost, self.oversized) = (false, 0, 0);
    }

    /// Adds a packet that goes whole; gives it back if it does not fit into what is left.
    fn add_packet(
        &mut self,
        packet: Packet,
        header: Header,
        wire: Wire,
        budget: usize,
    ) -> Result<bool, Box<Packet>> {
        let length = packet.bytes().len();
        if HEADER_BYTES + RECORD_BYTES + length > wire.longest {
            self.oversized += 1;
            return Ok(true);
        }
        let Some(from) = self.open(RECORD_BYTES + length, header, wire, budget) else {
            return Err(Box::new(packet));
        };
        write_record(length, packet.checksum, &mut self.heads);
        self.add_parts(from, self.packets.len(), 0..length);
        self.packets.push(packet);
        Ok(true)
    }

    /// Adds pieces of a super-packet, as many as fit into what is left: returns whether all do. Gives it back if none does.
    fn add_pieces(
        &mut self,
        mut packet: Packet,
        header: Header,
        wire: Wire,
        budget: usize,
    ) -> Result<bool, Box<Packet>> {
        let (headers, segment) = packet.large.expect("a super-packet");
        let whole = packet.bytes().len() - headers.payload_at;
        if HEADER_BYTES + RECORD_BYTES + headers.payload_at + segment.min(whole) > wire.longest {
            self.oversized += 1;
            return Ok(true);
        }
        let (before, first) = (packet.sent, self.datagrams.len());
        while packet.sent < whole {
            let length = segment.min(whole - packet.sent);
            let record = headers.payload_at + length;
            let Some(from) = self.open(RECORD_BYTES + record, header, wire, budget) else { break };
            write_record(record, packet.checksum, &mut self.heads);
            let at = self.heads.len();
            self.heads.extend_from_slice(&packet.bytes()[..headers.payload_at]);
            let last = packet.sent + length == whole;
            let piece = Piece { from: packet.sent, length, segments: packet.sent / segment, last };
            headers.change(&mut self.heads[at..], whole, piece);
            let body = headers.payload_at + packet.sent;
            self.add_parts(from, self.packets.len(), body..body + length);
            packet.sent += length;
        }
        if packet.sent == before {
            return Err(Box::new(packet));
        }
        let pieces = self.datagrams.len() - first;
        if let Some(first) = self.datagrams.get_mut(first) {
            first.pieces = pieces;
        }
        self.stays = packet.sent < whole;
        self.packets.push(packet);
        Ok(!self.stays)
    }

    /// Makes room for a record in the last datagram, or in another that it begins. Returns where what is written next begins in
    /// `heads`; `None` if the budget does not allow it.
    fn open(&mut self, record: usize, header: Header, wire: Wire, budget: usize) -> Option<usize> {
        if let Some(last) = self.datagrams.last_mut().filter(|last| last.length + record <= wire.longest) {
            let cost = self.cost - wire.cost(last.length) + wire.cost(last.length + record);
            if cost > budget {
                return None;
            }
            last.length += record;
            self.cost = cost;
            return Some(self.heads.len());
        }
        let length = HEADER_BYTES + record;
        let cost = self.cost + wire.cost(length);
        if cost > budget {
            return None;
        }
        let from = self.heads.len();
        self.heads.extend_from_slice(&header.to_bytes());
        let at = self.parts.len();
        self.datagrams.push(Datagram { parts: at..at, length, pieces: 1 });
        self.cost = cost;
        Some(from)
    }

    /// Adds headers from byte `from` on and a part of a packet to the last datagram.
    fn add_parts(&mut self, from: usize, packet: usize, body: Range<usize>) {
        self.parts.push(Part::Head(from..self.heads.len()));
        self.parts.push(Part::Body(packet, body));
        if let Some(last) = self.datagrams.last_mut() {
            last.parts.end = self.parts.len();
        }
    }

    /// Sets the header of the slot, which is not known before it is known that something leaves.
    pub fn set_header(&mut self, header: Header) {
        for datagram in &self.datagrams {
            let Part::Head(range) = &self.parts[datagram.parts.start] else {
                unreachable!("a datagram begins with its header")
            };
            self.heads[range.start..][..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        }
    }

    /// The datagrams from `from` on that leave together; with `joined` false one.
    pub fn run(&self, from: usize, joined: bool) -> Option<Run<'_>> {
        let first = self.datagrams.get(from)?;
        let (mut count, mut bytes) = (1, first.length);
        let most = if joined { MOST_JOINED } else { 1 };
        while let Some(next) = self.datagrams.get(from + count).filter(|_| count < most) {
            let full = self.datagrams[from + count - 1].length == first.length;
            // A super-packet that fits into a run of its own is not divided between two: it could not be joined any more.
            let fits = bytes + next.pieces * next.length <= MOST_BYTES && count + next.pieces <= MOST_JOINED;
            if !full || next.length > first.length || !fits {
                break;
            }
            bytes += next.length;
            count += 1;
        }
        let parts = first.parts.start..self.datagrams[from + count - 1].parts.end;
        let pieces = self.parts[parts].iter().map(|part| match part {
            Part::Head(range) => IoSlice::new(&self.heads[range.clone()]),
            Part::Body(packet, range) => IoSlice::new(&self.packets[*packet].bytes()[range.clone()]),
        });
        Some(Run { pieces: pieces.collect(), segment: first.length, count, bytes })
    }

    /// Packets that were longer than any datagram, and are dropped.
    pub fn oversized(&self) -> usize {
        self.oversized
    }

    /// Gives the packet back of which a part stays.
    pub fn stays(&mut self) -> Option<Packet> {
        std::mem::take(&mut self.stays).then(|| self.packets.pop())?
    }

    /// The packets that have left.
    pub fn done(&mut self) -> impl Iterator<Item = Packet> + '_ {
        self.parts.clear();
        self.datagrams.clear();
        self.packets.drain(..)
    }
}

#[cfg(test)]
mod tests;
