//! The datagram's promises for every meaning and for any bytes.

use clearway_host::daemon::layout::Layout;
use clearway_host::daemon::packet::{
    Body, Datagram, Finish, Finished, Open, PacketError, Reason, Verdict, PREFIX_BYTES,
};
use clearway_proto::swift::header::{HeaderError, Packet};
use clearway_proto::transport::{Ack, Data};
use clearway_proto::units::Time;
use proptest::collection::vec;
use proptest::prelude::*;

/// A datagram and what follows its header: data has its payload, an open its filling.
fn datagram() -> impl Strategy<Value = (Datagram, Vec<u8>)> {
    let open = (any::<(u64, u64, u32, u32, u32)>(), vec(any::<u8>(), 0..40)).prop_map(
        |((operations, size, mtu, flows, reach), filling)| {
            (Body::Open(Open { layout: Layout { operations, size, mtu, flows }, reach }), filling)
        },
    );
    let data = (any::<u32>(), 0..u32::MAX, any::<bool>(), any::<u64>(), vec(any::<u8>(), 0..40)).prop_map(
        |(flow, seq, last, sent, payload)| {
            let sent = Time::from_ps(sent);
            let data = Data { seq, payload: payload.len() as u32, last, sent };
            (Body::Flow(flow, Packet::Data(data)), payload)
        },
    );
    let ack = (any::<(u32, u32, u64, u64, bool, u8, u32)>(), 0..u32::MAX).prop_map(
        |((flow, cumulative, sack, echo, congestion_experienced, hops, remote_queuing_us), seq)| {
            let echo = Time::from_ps(echo);
            let ack = Ack { seq, cumulative, sack, echo, congestion_experienced, hops, remote_queuing_us };
            Body::Flow(flow, Packet::Ack(ack))
        },
    );
    let verdict = prop_oneof![Just(Verdict::Whole), Just(Verdict::Differs), Just(Verdict::NotKept)];
    let reason = prop_oneof![
        Just(Reason::Done),
        Just(Reason::Busy),
        Just(Reason::Layout),
        Just(Reason::File),
        Just(Reason::Interrupted)
    ];
    let bare =
        prop_oneof![
            ack,
            Just(Body::Accept),
            any::<(u64, u64)>().prop_map(|(sent, digest)| Body::Finish(Finish { sent, digest })),
            (verdict, any::<(u64, u64)>()).prop_map(|(verdict, (arrived, digest))| Body::Finished(
                Finished { verdict, arrived, digest }
            )),
            reason.prop_map(Body::Close),
        ];
    (any::<u64>(), prop_oneof![open, data, bare.prop_map(|body| (body, Vec::new()))])
        .prop_map(|(connection, (body, rest))| (Datagram { connection, body }, rest))
}

fn encode(datagram: &Datagram, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xff; PREFIX_BYTES];
    datagram.encode(&mut bytes);
    bytes.extend(rest);
    bytes
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded((datagram, rest) in datagram()) {
        let bytes = encode(&datagram, &rest);
        prop_assert_eq!(Datagram::decode(&bytes), Ok((datagram, &rest[..])));
    }

    /// One bit off is an error or another datagram, and never the same one: no bit is ignored.
    #[test]
    fn every_bit_matters((datagram, rest) in datagram(), bit in 0..PREFIX_BYTES * 8) {
        let mut bytes = encode(&datagram, &rest);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert_ne!(Datagram::decode(&bytes).map(|(found, _)| found), Ok(datagram));
    }

    /// Whatever is cut off, or put behind anything but an open, makes an error.
    #[test]
    fn every_byte_is_accounted_for((datagram, rest) in datagram(), cut in 1..40_usize) {
        let mut bytes = encode(&datagram, &rest);
        let open = matches!(datagram.body, Body::Open(_));
        bytes.push(0);
        prop_assert_eq!(Datagram::decode(&bytes).is_ok(), open);
        bytes.truncate(bytes.len().saturating_sub(cut + 1));
        prop_assert_eq!(Datagram::decode(&bytes).is_ok(), open && bytes.len() >= PREFIX_BYTES);
    }

    /// What the decoder takes, the encoder can have written; what it does not take does not panic.
    #[test]
    fn any_bytes_are_a_datagram_or_an_error(
        mut bytes in vec(prop_oneof![3 => Just(0_u8), 1 => any::<u8>()], 0..2 * PREFIX_BYTES),
        kind in 0x10..0x19_u8,
    ) {
        if let Some(byte) = bytes.get_mut(8) {
            *byte = kind;
        }
        match Datagram::decode(&bytes) {
            Ok((datagram, rest)) => prop_assert_eq!(encode(&datagram, rest), bytes),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn each_kind_of_nonsense_has_its_error() {
    let close = encode(&Datagram { connection: 5, body: Body::Close(Reason::Done) }, &[]);
    let with = |at: usize, byte: u8| {
        let mut bytes = close.clone();
        bytes[at] = byte;
        Datagram::decode(&bytes).map(|(datagram, _)| datagram)
    };
    assert_eq!(with(8, 0x27), Err(PacketError::Version(2)));
    assert_eq!(with(8, 0x18), Err(PacketError::Header(HeaderError::VersionOrType(0x18))));
    assert_eq!(with(9, 5), Err(PacketError::Field(9)));
    assert_eq!(with(43, 1), Err(PacketError::Field(43)));
    assert_eq!(Datagram::decode(&close[..43]), Err(PacketError::Truncated(43)));
    let data = Data { seq: 0, payload: 3, last: true, sent: Time::ZERO };
    let data = Datagram { connection: 5, body: Body::Flow(0, Packet::Data(data)) };
    assert_eq!(Datagram::decode(&encode(&data, b"four")), Err(PacketError::Payload(4)));
}
