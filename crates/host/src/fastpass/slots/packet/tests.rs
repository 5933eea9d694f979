use super::*;
use proptest::prelude::*;

/// A packet in the making.
#[derive(Clone, Debug)]
pub struct Draft {
    pub v6: bool,
    pub udp: bool,
    /// Bytes of TCP options, a multiple of four.
    pub options: usize,
    pub flags: u8,
    pub sequence: u32,
    pub payload: Vec<u8>,
    /// The payload of a piece.
    pub segment: usize,
}

impl Draft {
    fn transport(&self) -> usize {
        if self.udp {
            8
        } else {
            20 + self.options
        }
    }

    /// The bytes that the device would give: a virtio header and the packet.
    pub fn bytes(&self) -> Vec<u8> {
        let network = if self.v6 { 40 } else { 20 };
        let length = self.transport() + self.payload.len();
        let protocol = if self.udp { UDP } else { TCP };
        let mut packet = if self.v6 {
            let mut header = vec![0x60, 0, 0, 0, 0, 0, protocol, 64];
            put(&mut header, 4, length as u16);
            header.extend((0..32).map(|at| at * 7));
            header
        } else {
            let mut header =
                vec![0x45, 0, 0, 0, 0xff, 0xfe, 0x40, 0, 64, protocol, 0, 0, 10, 1, 2, 3, 10, 4, 5, 6];
            put(&mut header, 2, (network + length) as u16);
            let sum = reference(&header);
            put(&mut header, 10, !sum);
            header
        };
        let mut transport = vec![0x30, 0x39, 0x14, 0x51];
        if self.udp {
            transport.extend((length as u16).to_be_bytes());
            transport.extend([0, 0]);
        } else {
            transport.extend(self.sequence.to_be_bytes());
            transport.extend([1, 2, 3, 4, ((5 + self.options / 4) << 4) as u8, self.flags, 9, 9, 0, 0, 0, 0]);
            transport.extend((0..self.options).map(|at| at as u8));
        }
        let checksum_at = if self.udp { 6 } else { 16 };
        let sum = pseudo(&packet, length);
        put(&mut transport, checksum_at, sum);
        packet.extend(transport);
        packet.extend(&self.payload);
        let mut virtio = vec![NEEDS_CHECKSUM, 0];
        let large = self.payload.len() > self.segment;
        virtio[1] = match (large, self.udp, self.v6) {
            (false, ..) => 0,
            (_, true, _) => GSO_UDP,
            (_, _, false) => GSO_TCP4,
            (_, _, true) => GSO_TCP6,
        };
        let segment = if large { self.segment } else { 0 };
        for value in [network + self.transport(), segment, network, checksum_at] {
            virtio.extend((value as u16).to_ne_bytes());
        }
        virtio.extend(packet);
        virtio
    }
}

/// The sum of RFC 1071, written to be obvious.
pub fn reference(bytes: &[u8]) -> u16 {
    let mut sum = 0_u64;
    for pair in bytes.chunks(2) {
        sum += u64::from(pair[0]) * 256 + u64::from(*pair.get(1).unwrap_or(&0));
    }
    while sum >= 65_536 {
        sum = sum % 65_536 + sum / 65_536;
    }
    sum as u16
}

/// The sum of a pseudo-header (RFC 793, RFC 8200) for a transport of `length` bytes.
fn pseudo(packet: &[u8], length: usize) -> u16 {
    let (addresses, protocol) =
        if packet[0] >> 4 == 6 { (&packet[8..40], packet[6]) } else { (&packet[12..20], packet[9]) };
    let mut header = addresses.to_vec();
    header.extend((length as u32).to_be_bytes());
    header.extend([0, 0, 0, protocol]);
    reference(&header)
}

/// Asserts that a packet is whole: its lengths are right, and its checksums are as soon as the kernel has completed the one that
/// is not.
pub fn assert_whole(packet: &[u8], checksum: Option<Unfinished>) {
    let network = if packet[0] >> 4 == 6 {
        assert_eq!(word(packet, 4) as usize + 40, packet.len(), "the length of IPv6");
        40
    } else {
        assert_eq!(word(packet, 2) as usize, packet.len(), "the length of IPv4");
        assert_eq!(reference(&packet[..20]), 0xffff, "the checksum of IPv4");
        20
    };
    let checksum = checksum.expect("a checksum to be completed");
    let mut completed = packet.to_vec();
    let (from, at) = (usize::from(checksum.start), usize::from(checksum.start + checksum.offset));
    let sum = reference(&completed[from..]);
    put(&mut completed, at, !sum);
    let transport = &completed[network..];
    let all = u32::from(reference(transport)) + u32::from(pseudo(packet, transport.len()));
    assert_eq!(fold(all), 0xffff, "the checksum of the transport");
}

/// Any packet that the device may give.
pub fn draft() -> impl Strategy<Value = Draft> {
    let kinds = (any::<bool>(), prop::bool::weighted(0.2), prop::sample::select(vec![0, 12]));
    let sizes = prop_oneof![0_usize..200, 0_usize..3000, 0_usize..60_000];
    (kinds, any::<u8>(), any::<u32>(), sizes, 100_usize..1300).prop_map(
        |((v6, udp, options), flags, sequence, length, segment)| {
            let payload = (0..length).map(|at| (at * 31 + (at >> 8)) as u8).collect();
            // A super-packet has no flags but these.
            let flags = if length > segment { flags & 0x99 | 0x10 } else { flags };
            Draft { v6, udp, options, flags, sequence, payload, segment }
        },
    )
}

proptest! {
    #[test]
    fn what_the_device_gives_is_read_and_written_alike(draft in draft()) {
        let bytes = draft.bytes();
        let shape = Shape::read(&bytes).unwrap();
        prop_assert_eq!(shape.large.is_some(), draft.payload.len() > draft.segment);
        assert_whole(&bytes[VIRTIO_BYTES..], shape.checksum);
        let (written, mut read) = (shape.to_bytes(), bytes[..VIRTIO_BYTES].to_vec());
        if shape.large.is_none() {
            read[2..4].fill(0);
        }
        prop_assert_eq!(&written[..], &read[..]);
    }

    #[test]
    fn any_bytes_are_a_shape_that_can_be_cut_or_none(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if bytes.len() > 10 {
            bytes[0] &= 1;
            bytes[1] %= 6;
            bytes[10] = if bytes[10] & 1 == 0 { 0x45 } else { 0x60 };
        }
        if let Ok(Shape { large: Some((headers, segment)), .. }) = Shape::read(&bytes) {
            let packet = &bytes[VIRTIO_BYTES..];
            prop_assert!(headers.payload_at + segment < packet.len());
            let mut header = packet[..headers.payload_at].to_vec();
            let whole = packet.len() - headers.payload_at;
            headers.change(&mut header, whole, Piece { from: segment, length: 1, segments: 1, last: false });
        }
    }
}

#[test]
fn a_fragment_another_protocol_and_a_short_header_are_not_cut() {
    let draft = Draft {
        v6: false,
        udp: false,
        options: 0,
        flags: 0x10,
        sequence: 1,
        payload: vec![1; 3000],
        segment: 1000,
    };
    let good = draft.bytes();
    assert!(Shape::read(&good).is_ok());
    // Behind the virtio header: fragments, protocol, the length of TCP's header; in it: no checksum, no segment, another kind.
    for (at, value) in [(16, 0x20), (17, 1), (19, 1), (42, 0x40), (0, 0), (4, 0), (1, 2)] {
        let mut bad = good.clone();
        bad[at] = value;
        if at == 4 {
            bad[5] = 0;
        }
        assert_eq!(Shape::read(&bad), Err(Malformed), "byte {at} is {value}");
    }
}
