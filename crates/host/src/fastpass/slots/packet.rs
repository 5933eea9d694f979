//! A packet as the TUN device gives it: behind a virtio header, and often a super-packet of up to 64 kB that is to be cut into
//! TCP segments or UDP datagrams of one length.

use super::wire::Unfinished;

/// Bytes of the virtio header in front of each packet of the device.
pub const VIRTIO_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_UDP: u8 = 5;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The flags of TCP that only the last segment of several has, and the one that only the first has.
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;
const IPV6_HEADER: usize = 40;

/// The transport protocol of a packet that can be cut or joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Cut into segments, by sequence numbers.
    Tcp,
    /// Cut into datagrams (USO).
    Udp,
}

/// The headers of a packet that can be cut or joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// IPv6, or else IPv4.
    pub v6: bool,
    /// The protocol above it.
    pub transport: Transport,
    /// The byte at which the header of the transport begins.
    pub transport_at: usize,
    /// The byte at which the payload begins.
    pub payload_at: usize,
}

/// A packet that cannot be what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The form of a packet of the device, by its virtio header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The checksum that has still to be computed.
    pub checksum: Option<Unfinished>,
    /// The headers of a super-packet, and the payload in bytes of each piece that it is cut into.
    pub large: Option<(Headers, usize)>,
}

impl Headers {
    /// The headers of a packet whose transport begins at a byte; `None` if it is not one that can be cut: a fragment, another
    /// protocol, a header that is not all there. Extension headers of IPv6 are taken as they are.
    pub fn read(packet: &[u8], transport_at: usize) -> Option<Headers> {
        let v6 = packet.first()? >> 4 == 6;
        let transport = if v6 {
            // With extension headers it is not said here which protocol comes last, and they are not cut.
            (transport_at == IPV6_HEADER).then(|| packet.get(6).copied())??
        } else {
            let is_fragment = packet.get(6)? & 0x3f | packet.get(7)? != 0;
            let length = usize::from(packet[0] & 15) * 4;
            (!is_fragment && length >= 20 && transport_at == length).then(|| packet.get(9).copied())??
        };
        let (transport, length) = match transport {
            TCP => (Transport::Tcp, usize::from(packet.get(transport_at + 12)? >> 4) * 4),
            UDP => (Transport::Udp, 8),
            _ => return None,
        };
        let least = if transport == Transport::Tcp { 20 } else { 8 };
        let payload_at = transport_at + length;
        let is_whole = length >= least && packet.len() >= payload_at;
        is_whole.then_some(Headers { v6, transport, transport_at, payload_at })
    }

    /// Changes the headers of a super-packet to those of a piece of it: the payload from byte `from` on. `whole` and `piece` are
    /// bytes of payload, `segments` the number of pieces before this one; `last` says that nothing follows.
    pub fn change(
        self,
        header: &mut [u8],
        whole: usize,
        Piece { from, length: piece, segments, last }: Piece,
    ) {
        let transport_header = self.payload_at - self.transport_at;
        self.set_length(header, piece);
        if !self.v6 {
            add_to(header, 4, segments);
            finish_ipv4(&mut header[..self.transport_at]);
        }
        let transport = &mut header[self.transport_at..];
        let checksum_at = match self.transport {
            Transport::Tcp => {
                let sequence = word(transport, 4) << 16 | word(transport, 6);
                let sequence = sequence.wrapping_add(from as u32);
                transport[4..8].copy_from_slice(&sequence.to_be_bytes());
                let flags = transport[13];
                let kept = if last { flags } else { flags & !FIN_PSH };
                transport[13] = if from > 0 { kept & !CWR } else { kept };
                16
            }
            Transport::Udp => 6,
        };
        // The pseudo-header has the length, and nothing else of it changes.
        let sum = word(transport, checksum_at)
            + u32::from(!((transport_header + whole) as u16))
            + (transport_header + piece) as u32;
        put(transport, checksum_at, fold(sum));
    }

    /// The length that the IP header of a packet says it has.
    pub fn total_length(self, packet: &[u8]) -> usize {
        let said = word(packet, if self.v6 { 4 } else { 2 }) as usize;
        if self.v6 {
            said + IPV6_HEADER
        } else {
            said
        }
    }

    /// Sets the lengths that headers have for a payload of `payload` bytes.
    fn set_length(self, header: &mut [u8], payload: usize) {
        let total = self.payload_at + payload;
        if self.v6 {
            put(header, 4, (total - IPV6_HEADER) as u16);
        } else {
            put(header, 2, total as u16);
        }
        if self.transport == Transport::Udp {
            put(header, self.transport_at + 4, (total - self.transport_at) as u16);
        }
    }

    /// Changes the headers of a first piece to those of all pieces together: `one` is its payload, `all` that of all, and `flags`
    /// the TCP flags of the last.
    pub fn join(self, header: &mut [u8], one: usize, all: usize, flags: u8) {
        let whole = Piece { from: 0, length: all, segments: 0, last: true };
        self.change(header, one, whole);
        if self.transport == Transport::Tcp {
            header[self.transport_at + 13] |= flags & FIN_PSH;
        }
    }

    /// The sequence number of a TCP segment.
    pub fn sequence(self, packet: &[u8]) -> u32 {
        word(packet, self.transport_at + 4) << 16 | word(packet, self.transport_at + 6)
    }

    /// The flags of a TCP segment.
    pub fn flags(self, packet: &[u8]) -> u8 {
        match self.transport {
            Transport::Tcp => packet[self.transport_at + 13],
            Transport::Udp => 0,
        }
    }

    /// Returns whether a segment with these flags can be followed by another of the same super-packet.
    pub fn goes_on(flags: u8) -> bool {
        flags & FIN_PSH == 0
    }

    /// Returns whether a packet with the same headers differs from another only in what pieces of one super-packet differ in.
    pub fn alike(self, one: &[u8], other: &[u8]) -> bool {
        // Lengths, checksums, the identification of IPv4, sequence numbers and flags.
        let network: &[(usize, usize)] = if self.v6 { &[(4, 6)] } else { &[(2, 6), (10, 12)] };
        let transport: &[(usize, usize)] = match self.transport {
            Transport::Tcp => &[(4, 8), (13, 14), (16, 18)],
            Transport::Udp => &[(4, 8)],
        };
        let shifted = transport.iter().map(|(from, to)| (from + self.transport_at, to + self.transport_at));
        let mut at = 0;
        let ends = (self.payload_at, self.payload_at);
        let mut same = network.iter().copied().chain(shifted).chain([ends]).all(|(from, to)| {
            let same = one[at..from] == other[at..from];
            at = to;
            same
        });
        if self.transport == Transport::Tcp {
            // Of flags only those of the first and the last piece may differ.
            same &= (self.flags(one) ^ self.flags(other)) & !(FIN_PSH | CWR) == 0;
            same &= self.flags(other) & CWR == 0;
        }
        same
    }
}

/// A piece of a super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The byte of the payload at which it begins.
    pub from: usize,
    /// Its payload in bytes.
    pub length: usize,
    /// Pieces before it.
    pub segments: usize,
    /// Whether nothing follows it.
    pub last: bool,
}

impl Shape {
    /// Reads the virtio header of what the device gave: that and a packet.
    pub fn read(bytes: &[u8]) -> Result<Shape, Malformed> {
        let (header, packet) = bytes.split_first_chunk::<VIRTIO_BYTES>().ok_or(Malformed)?;
        let native = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        let checksum = Unfinished { start: native(6), offset: native(8) };
        let checksum = (header[0] & NEEDS_CHECKSUM != 0).then_some(checksum);
        if checksum.is_some_and(|checksum| checksum.start == 0 || !checksum.fits(packet.len())) {
            return Err(Malformed);
        }
        let large = match header[1] {
            0 => None,
            GSO_TCP4 | GSO_TCP6 | GSO_UDP => {
                let start = checksum.ok_or(Malformed)?.start;
                let headers = Headers::read(packet, start.into()).ok_or(Malformed)?;
                let segment = usize::from(native(4));
                // Of a super-packet that has one piece there is nothing to cut.
                let pieces = (packet.len() - headers.payload_at).div_ceil(segment.max(1));
                if segment == 0 {
                    return Err(Malformed);
                }
                (pieces > 1).then_some((headers, segment))
            }
            _ => return Err(Malformed),
        };
        Ok(Shape { checksum, large })
    }

    /// The virtio header for a packet of this shape.
    pub fn to_bytes(self) -> [u8; VIRTIO_BYTES] {
        let mut bytes = [0; VIRTIO_BYTES];
        let mut native =
            |at: usize, value: usize| bytes[at..at + 2].copy_from_slice(&(value as u16).to_ne_bytes());
        if let Some(Unfinished { start, offset }) = self.checksum {
            native(6, start.into());
            native(8, offset.into());
        }
        if let Some((headers, segment)) = self.large {
            native(2, headers.payload_at);
            native(4, segment);
            bytes[1] = match (headers.transport, headers.v6) {
                (Transport::Tcp, false) => GSO_TCP4,
                (Transport::Tcp, true) => GSO_TCP6,
                (Transport::Udp, _) => GSO_UDP,
            };
        }
        bytes[0] = if self.checksum.is_some() { NEEDS_CHECKSUM } else { 0 };
        bytes
    }
}

/// The 16 bits at a byte, in network byte order.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn add_to(bytes: &mut [u8], at: usize, more: usize) {
    let value = word(bytes, at) as u16;
    put(bytes, at, value.wrapping_add(more as u16));
}

/// Folds a sum of words into one, as the checksum of IP wants it (RFC 1071).
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Computes the checksum of an IPv4 header.
fn finish_ipv4(header: &mut [u8]) {
    put(header, 10, 0);
    let sum = (0..header.len()).step_by(2).map(|at| word(header, at)).sum();
    put(header, 10, !fold(sum));
}

#[cfg(test)]
pub mod tests;
