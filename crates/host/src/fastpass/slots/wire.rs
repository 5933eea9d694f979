//! The format in which packets travel between endpoints: UDP datagrams, each with a [`Header`] and one or several packets.
//!
//! All numbers are in network byte order. A datagram is a header of [`HEADER_BYTES`],
//!
//! | bytes | what |
//! |---|---|
//! | 0 | version, 1 |
//! | 1 | flags: bit 0 says that it was sent in a slot, or as a probe, and that the slot header means something; bit 1 that it is a receipt, whose slot header tells only what has come; others are zero |
//! | 2 to 3 | the endpoint that sent it |
//! | 4 to 27 | the header of the slot ([`SlotHeader::to_bytes`]), or zeros |
//!
//! and records until its end, each of [`RECORD_BYTES`] and an IP packet:
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 1 | length of the packet |
//! | 2 to 3 | where in the packet a checksum is to be computed from; 0 if all its checksums are complete |
//! | 4 to 5 | where that checksum is, counted from there: it holds the sum of a pseudo-header, as a network card gets it |
//! | 6 on | the packet |
//!
//! A packet is complete in its datagram, and a super-packet (which the kernel would have let a network card cut) is cut before it
//! leaves: a lost datagram costs what is in it and nothing else. The receiver joins what follows one another.
//!
//! Nothing of it is sealed, as with VXLAN: whoever can send from the address of an endpoint can send into the hosts behind
//! another. Deploy it where that is so anyway, inside of one's own network.

use clearway_proto::fastpass::fcp::Address;
use clearway_proto::fastpass::receipts::SlotHeader;

/// Bytes of the header of a datagram.
pub const HEADER_BYTES: usize = 4 + SlotHeader::BYTES as usize;
/// Bytes of the header of a record.
pub const RECORD_BYTES: usize = 6;
/// Bytes around a packet that is alone in its datagram.
pub const AROUND_PACKET: usize = HEADER_BYTES + RECORD_BYTES;

const VERSION: u8 = 1;
const IN_SLOT: u8 = 1;
const RECEIPT: u8 = 2;
/// An Ethernet frame takes this many bytes on the wire besides its payload: preamble, header, check sequence and gap.
const FRAME_BYTES: usize = 38;
/// The shortest payload of an Ethernet frame.
const LEAST_PAYLOAD: usize = 46;
/// The shortest packet: an IPv4 header.
const LEAST_PACKET: usize = 20;

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The endpoint that sent it.
    pub source: Address,
    /// The header of the slot that it was sent in; none if there was no arbiter.
    pub slot: Option<SlotHeader>,
    /// Whether it is a receipt: the slot header has no number.
    pub is_receipt: bool,
}

impl Header {
    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = VERSION;
        bytes[2..4].copy_from_slice(&self.source.to_be_bytes());
        if let Some(slot) = self.slot {
            bytes[1] = if self.is_receipt { RECEIPT } else { IN_SLOT };
            bytes[4..].copy_from_slice(&slot.to_bytes());
        }
        bytes
    }

    /// Reads the header of a datagram, and returns its records; `None` if it has none, or is of another version.
    pub fn read(datagram: &[u8]) -> Option<(Header, Records<'_>)> {
        let (header, records) = datagram.split_first_chunk::<HEADER_BYTES>()?;
        let slot = match header[..2] {
            [VERSION, IN_SLOT | RECEIPT] => {
                Some(SlotHeader::from_bytes(header[4..].try_into().expect("24 bytes are left")))
            }
            [VERSION, 0] => None,
            _ => return None,
        };
        let source = u16::from_be_bytes([header[2], header[3]]);
        let is_receipt = header[1] == RECEIPT;
        Some((Header { source, slot, is_receipt }, Records { rest: records }))
    }
}

/// The place of a checksum that has still to be computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The byte of the packet from which on it is computed.
    pub start: u16,
    /// The place of the checksum, from there.
    pub offset: u16,
}

impl Unfinished {
    /// Returns whether the checksum lies in a packet of this length.
    pub fn fits(self, length: usize) -> bool {
        usize::from(self.start) + usize::from(self.offset) + 2 <= length
    }
}

/// Appends the header of a record.
pub fn write_record(length: usize, checksum: Option<Unfinished>, out: &mut Vec<u8>) {
    let length = u16::try_from(length).expect("a packet fits into a datagram");
    let Unfinished { start, offset } = checksum.unwrap_or_default();
    for word in [length, start, offset] {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

/// A packet of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The IP packet.
    pub packet: &'a [u8],
    /// The checksum that is not complete.
    pub checksum: Option<Unfinished>,
}

/// The records of a datagram, of which one that is malformed is the last.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
}

/// A record that says of itself what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.read();
        if record.is_err() {
            self.rest = &[];
        }
        Some(record)
    }
}

impl<'a> Records<'a> {
    fn read(&mut self) -> Result<Record<'a>, Malformed> {
        let (head, rest) = self.rest.split_first_chunk::<RECORD_BYTES>().ok_or(Malformed)?;
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        let length = usize::from(word(0));
        let (packet, rest) = rest.split_at_checked(length).ok_or(Malformed)?;
        let checksum = (word(2) != 0).then(|| Unfinished { start: word(2), offset: word(4) });
        let is_ip = packet.first().is_some_and(|first| matches!(first >> 4, 4 | 6));
        if length < LEAST_PACKET || !is_ip || checksum.is_some_and(|checksum| !checksum.fits(length)) {
            return Err(Malformed);
        }
        self.rest = rest;
        Ok(Record { packet, checksum })
    }
}

/// The cost of datagrams on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Bytes of the IP and UDP headers of a datagram.
    pub outer: usize,
    /// The longest datagram, in bytes, without them.
    pub longest: usize,
}

impl Wire {
    /// Bytes that a datagram takes on an Ethernet link, everything counted.
    pub fn cost(self, datagram: usize) -> usize {
        FRAME_BYTES + (self.outer + datagram).max(LEAST_PAYLOAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn datagram(header: Header, packets: &[(Vec<u8>, Option<Unfinished>)]) -> Vec<u8> {
        let mut bytes = header.to_bytes().to_vec();
        for (packet, checksum) in packets {
            write_record(packet.len(), *checksum, &mut bytes);
            bytes.extend_from_slice(packet);
        }
        bytes
    }

    fn packet() -> impl Strategy<Value = (Vec<u8>, Option<Unfinished>)> {
        (any::<bool>(), prop::collection::vec(any::<u8>(), 40..200), any::<bool>()).prop_map(
            |(v6, mut packet, partial)| {
                packet[0] = if v6 { 0x60 } else { 0x45 };
                (packet, partial.then_some(Unfinished { start: 20, offset: 16 }))
            },
        )
    }

    proptest! {
        #[test]
        fn a_datagram_is_read_as_it_was_written(
            source: u16, number: Option<u32>, is_receipt: bool, packets in prop::collection::vec(packet(), 1..5)
        ) {
            let slot = number.map(|number| SlotHeader { number, ..SlotHeader::default() });
            let header = Header { source, slot, is_receipt: is_receipt && slot.is_some() };
            let bytes = datagram(header, &packets);
            let (read, records) = Header::read(&bytes).unwrap();
            prop_assert_eq!(read, header);
            let records: Vec<_> = records.map(|it| it.map(|it| (it.packet.to_vec(), it.checksum))).collect();
            prop_assert_eq!(records, packets.into_iter().map(Ok).collect::<Vec<_>>());
        }

        #[test]
        fn a_datagram_cut_short_gives_only_packets_that_are_whole(
            packets in prop::collection::vec(packet(), 1..4), at: prop::sample::Index
        ) {
            let bytes = datagram(Header { source: 1, slot: None, is_receipt: false }, &packets);
            let cut = &bytes[..at.index(bytes.len())];
            if let Some((_, records)) = Header::read(cut) {
                let records: Vec<_> = records.collect();
                for (record, packet) in records.iter().zip(&packets) {
                    if let Ok(record) = record {
                        prop_assert_eq!(record.packet, &packet.0[..]);
                    }
                }
                prop_assert!(records.len() <= packets.len());
            } else {
                prop_assert!(cut.len() < HEADER_BYTES);
            }
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), valid: bool) {
            let mut bytes = bytes;
            if valid && bytes.len() > 1 {
                bytes[..2].copy_from_slice(&[VERSION, IN_SLOT]);
            }
            if let Some((_, records)) = Header::read(&bytes) {
                for record in records.flatten() {
                    prop_assert!(record.packet.len() >= LEAST_PACKET);
                    prop_assert!(record.checksum.is_none_or(|it| it.fits(record.packet.len())));
                }
            }
        }
    }

    #[test]
    fn another_version_and_unknown_flags_are_refused() {
        let bytes = datagram(Header { source: 3, slot: None, is_receipt: false }, &[]);
        for (at, value) in [(0, 0), (0, 2), (1, 4), (1, 3), (1, 0x80)] {
            let mut other = bytes.clone();
            other[at] = value;
            assert!(Header::read(&other).is_none(), "byte {at} is {value}");
        }
    }

    #[test]
    fn a_frame_takes_no_less_than_84_bytes() {
        let wire = Wire { outer: 28, longest: 1472 };
        assert_eq!((wire.cost(1472), wire.cost(1)), (1538, 84));
    }
}
