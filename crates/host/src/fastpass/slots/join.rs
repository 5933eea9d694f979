//! Joining what has come: pieces of one flow that follow one another are written to the device as one super-packet, whose
//! headers are computed from those of the first and the last piece.
//!
//! Nothing of it rests on what a sender says besides the packets themselves: pieces are joined as the kernel's GRO joins them, if
//! their headers are alike and their sequence numbers consecutive. If a piece between two is lost they are two super-packets.

use std::io::IoSlice;

use super::packet::{Headers, Shape, Transport, VIRTIO_BYTES};
use super::wire::Record;

/// The longest super-packet.
const MOST_BYTES: usize = 65_535;
/// The most pieces of one; calls take up to 1024 buffers.
const MOST_PIECES: usize = 1000;

/// Packets that are on their way to the device.
#[derive(Debug)]
pub struct Joiner<'a> {
    /// Whether the device takes super-packets of UDP.
    udp: bool,
    /// The pieces joined so far, of one super-packet.
    records: Vec<Record<'a>>,
    joined: Option<Joined>,
}

#[derive(Clone, Copy, Debug)]
struct Joined {
    headers: Headers,
    /// The payload of the first piece, which all but the last have.
    segment: usize,
    /// The payload of all of them, in bytes.
    payload: usize,
    /// The sequence number that the next has, for TCP.
    next: u32,
    /// Whether another can follow.
    open: bool,
}

impl<'a> Joiner<'a> {
    /// Nothing has come yet.
    pub fn new(udp: bool) -> Joiner<'a> {
        Joiner { udp, records: Vec::with_capacity(MOST_PIECES), joined: None }
    }

    /// Takes a packet, after it has given to `write` what that cannot be joined with: buffers with a virtio header and one packet.
    pub fn add(&mut self, record: Record<'a>, write: &mut dyn FnMut(&[IoSlice<'_>])) {
        let headers = self.headers(&record);
        if let (Some(headers), Some(joined), Some(first)) = (headers, &mut self.joined, self.records.first())
        {
            let payload = record.packet.len() - headers.payload_at;
            let follows = joined.open
                && headers == joined.headers
                && record.checksum == first.checksum
                && payload <= joined.segment
                && headers.payload_at + joined.payload + payload <= MOST_BYTES
                && self.records.len() < MOST_PIECES
                && (headers.transport == Transport::Udp || headers.sequence(record.packet) == joined.next)
                && headers.alike(first.packet, record.packet);
            if follows {
                joined.payload += payload;
                joined.next = joined.next.wrapping_add(payload as u32);
                joined.open = payload == joined.segment && Headers::goes_on(headers.flags(record.packet));
                self.records.push(record);
                return;
            }
        }
        self.finish(write);
        self.joined = headers.map(|headers| {
            let payload = record.packet.len() - headers.payload_at;
            Joined {
                headers,
                segment: payload,
                payload,
                next: sequence(headers, record.packet).wrapping_add(payload as u32),
                open: Headers::goes_on(headers.flags(record.packet)),
            }
        });
        self.records.push(record);
    }

    /// The headers of a packet that may be a piece: it has a payload, its length is what its headers say, and its checksum is
    /// that of its transport and not complete. (One that is complete would have to be computed to know that it is right.)
    fn headers(&self, record: &Record<'_>) -> Option<Headers> {
        let checksum = record.checksum?;
        let headers = Headers::read(record.packet, checksum.start.into())?;
        let offset = match headers.transport {
            Transport::Tcp => 16,
            Transport::Udp if self.udp => 6,
            Transport::Udp => return None,
        };
        let says = headers.total_length(record.packet);
        let fits = checksum.offset == offset && says == record.packet.len();
        (fits && record.packet.len() > headers.payload_at).then_some(headers)
    }

    /// Gives what is left to `write`.
    pub fn finish(&mut self, write: &mut dyn FnMut(&[IoSlice<'_>])) {
        let Some(first) = self.records.first().copied() else { return };
        let large = self.joined.filter(|_| self.records.len() > 1);
        let shape =
            Shape { checksum: first.checksum, large: large.map(|joined| (joined.headers, joined.segment)) };
        let virtio: [u8; VIRTIO_BYTES] = shape.to_bytes();
        if let Some(Joined { headers, segment, payload, .. }) = large {
            let mut header = [0; 128];
            let header = &mut header[..headers.payload_at];
            header.copy_from_slice(&first.packet[..headers.payload_at]);
            let last = self.records[self.records.len() - 1].packet;
            headers.join(header, segment, payload, headers.flags(last));
            let mut buffers = Vec::with_capacity(self.records.len() + 2);
            buffers.extend([IoSlice::new(&virtio), IoSlice::new(header)]);
            buffers.extend(self.records.iter().map(|it| IoSlice::new(&it.packet[headers.payload_at..])));
            write(&buffers);
        } else {
            write(&[IoSlice::new(&virtio), IoSlice::new(first.packet)]);
        }
        self.records.clear();
        self.joined = None;
    }
}

fn sequence(headers: Headers, packet: &[u8]) -> u32 {
    match headers.transport {
        Transport::Tcp => headers.sequence(packet),
        Transport::Udp => 0,
    }
}

#[cfg(test)]
mod tests;
