//! The header's promises for every packet and for any bytes.

use clearway_proto::swift::header::{HeaderError, Packet, HEADER_BYTES};
use clearway_proto::transport::{Ack, Data};
use clearway_proto::units::Time;
use proptest::prelude::*;

const LEN: usize = HEADER_BYTES as usize;

fn packet() -> impl Strategy<Value = Packet> {
    let data = (0..u32::MAX, any::<u32>(), any::<bool>(), any::<u64>())
        .prop_map(|(seq, payload, last, sent)| Data { seq, payload, last, sent: Time::from_ps(sent) });
    let ack =
        (0..u32::MAX, any::<u32>(), any::<u64>(), any::<u64>(), any::<bool>(), any::<u8>(), any::<u32>())
            .prop_map(|(seq, cumulative, sack, echo, congestion_experienced, hops, remote_queuing_us)| Ack {
                seq,
                cumulative,
                sack,
                echo: Time::from_ps(echo),
                congestion_experienced,
                hops,
                remote_queuing_us,
            });
    prop_oneof![data.prop_map(Packet::Data), ack.prop_map(Packet::Ack)]
}

fn encode(packet: &Packet, flow: u32) -> [u8; LEN] {
    let mut bytes = [0xff; LEN];
    packet.encode(flow, &mut bytes);
    bytes
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(packet in packet(), flow: u32) {
        prop_assert_eq!(Packet::decode(&encode(&packet, flow)), Ok((flow, packet)));
    }

    /// One bit off is an error or another header, and never the same one: no bit is ignored.
    #[test]
    fn every_bit_matters(packet in packet(), flow: u32, bit in 0..LEN * 8) {
        let mut bytes = encode(&packet, flow);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert_ne!(Packet::decode(&bytes), Ok((flow, packet)));
    }

    /// What the decoder takes, the encoder can have written; what it does not take does not panic.
    #[test]
    fn any_bytes_are_a_header_or_an_error(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..2 * LEN),
        first in prop_oneof![Just(None), Just(Some(0x11)), Just(Some(0x12))],
        reserved_zero: bool,
    ) {
        if let (Some(first), Some(byte)) = (first, bytes.first_mut()) {
            *byte = first;
        }
        if reserved_zero && bytes.len() > 3 {
            bytes[1] &= 0b10;
            bytes[3] = 0;
        }
        match Packet::decode(&bytes) {
            Ok((flow, packet)) => prop_assert_eq!(&encode(&packet, flow)[..], &bytes[..LEN]),
            Err(HeaderError::Truncated(len)) => prop_assert!(len == bytes.len() && len < LEN),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn each_kind_of_nonsense_has_its_error() {
    let data = encode(&Packet::Data(Data { seq: 1, payload: 9, last: false, sent: Time::ZERO }), 5);
    let with = |at: usize, byte: u8| {
        let mut bytes = data;
        bytes[at] = byte;
        Packet::decode(&bytes)
    };
    for byte in [0x00, 0x10, 0x13, 0x21, 0xff] {
        assert_eq!(with(0, byte), Err(HeaderError::VersionOrType(byte)));
    }
    // The flag of an acknowledgement, hops, the reserved byte, the selective acknowledgement, remote queuing.
    for at in [1, 2, 3, 24, 31, 32, 35] {
        assert_eq!(with(at, 0b10), Err(HeaderError::Reserved(at)));
    }
    let mut never = data;
    never[8..12].fill(0xff);
    assert_eq!(Packet::decode(&never), Err(HeaderError::Sequence(u32::MAX)));
    for len in 0..LEN {
        assert_eq!(Packet::decode(&data[..len]), Err(HeaderError::Truncated(len)));
    }
}
