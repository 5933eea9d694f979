use super::*;
use crate::fastpass::slots::packet::tests::{assert_whole, draft, Draft};
use crate::fastpass::slots::packet::Piece;
use crate::fastpass::slots::wire::Unfinished;
use proptest::prelude::*;

type Owned = (Vec<u8>, Option<Unfinished>);

/// The pieces of a packet, as they arrive.
fn pieces(draft: &Draft) -> Vec<Owned> {
    let bytes = draft.bytes();
    let shape = Shape::read(&bytes).unwrap();
    let packet = &bytes[VIRTIO_BYTES..];
    let Some((headers, segment)) = shape.large else { return vec![(packet.to_vec(), shape.checksum)] };
    let (header, payload) = packet.split_at(headers.payload_at);
    let cut = payload.chunks(segment).enumerate().map(|(number, piece)| {
        let mut whole = header.to_vec();
        let from = number * segment;
        let last = from + piece.len() == payload.len();
        headers.change(
            &mut whole,
            payload.len(),
            Piece { from, length: piece.len(), segments: number, last },
        );
        whole.extend(piece);
        (whole, shape.checksum)
    });
    cut.collect()
}

/// The packets written to the device when these arrive.
fn written(records: &[Owned], udp: bool) -> Vec<Vec<u8>> {
    let (mut joiner, mut written) = (Joiner::new(udp), Vec::new());
    let mut write = |buffers: &[IoSlice<'_>]| {
        written.push(buffers.iter().flat_map(|buffer| buffer.iter().copied()).collect());
    };
    for (packet, checksum) in records {
        joiner.add(Record { packet, checksum: *checksum }, &mut write);
    }
    joiner.finish(&mut write);
    written
}

/// The bytes of a TCP flow that packets carry, with the sequence numbers of their first.
fn payloads(written: &[Vec<u8>]) -> Vec<(u32, Vec<u8>)> {
    let of = |bytes: &Vec<u8>| {
        let (shape, packet) = (Shape::read(bytes).unwrap(), &bytes[VIRTIO_BYTES..]);
        assert_whole(packet, shape.checksum);
        let start = shape.checksum.unwrap().start.into();
        let headers = Headers::read(packet, start).unwrap();
        (headers.sequence(packet), packet[headers.payload_at..].to_vec())
    };
    written.iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_pieces_of_a_packet_are_that_packet_again(draft in draft()) {
        let all = written(&pieces(&draft), true);
        prop_assert_eq!(all.len(), 1);
        let (shape, was) = (Shape::read(&all[0]).unwrap(), draft.bytes());
        prop_assert_eq!(shape, Shape::read(&was).unwrap());
        prop_assert_eq!(&all[0][VIRTIO_BYTES..], &was[VIRTIO_BYTES..]);
    }

    #[test]
    fn what_arrives_of_a_packet_is_written_in_order_and_nothing_else(
        draft in draft(), lost in prop::collection::vec(any::<bool>(), 600)
    ) {
        let draft = Draft { udp: false, ..draft };
        let mut arrived = pieces(&draft);
        let mut at = 0;
        arrived.retain(|_| { at += 1; !lost[at % lost.len()] });
        let written = payloads(&written(&arrived, true));
        let mut expected = Vec::new();
        for (packet, checksum) in &arrived {
            let start = checksum.unwrap().start.into();
            let headers = Headers::read(packet, start).unwrap();
            let first = headers.sequence(packet).wrapping_sub(draft.sequence);
            expected.extend((first..).zip(packet[headers.payload_at..].iter().copied()));
        }
        let told = written.iter().flat_map(|(first, bytes)| {
            (first.wrapping_sub(draft.sequence)..).zip(bytes.iter().copied())
        });
        prop_assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn packets_of_many_flows_keep_their_order(drafts in prop::collection::vec(draft(), 1..6)) {
        let arrived: Vec<Owned> = drafts.iter().flat_map(pieces).collect();
        let written = written(&arrived, false);
        let bytes: Vec<u8> = arrived.iter().flat_map(|(packet, checksum)| {
            let start = usize::from(checksum.unwrap().start);
            packet[Headers::read(packet, start).map_or(0, |headers| headers.payload_at)..].to_vec()
        }).collect();
        let told: Vec<u8> = written.iter().flat_map(|bytes| {
            let (shape, packet) = (Shape::read(bytes).unwrap(), &bytes[VIRTIO_BYTES..]);
            assert_whole(packet, shape.checksum);
            let start = usize::from(shape.checksum.unwrap().start);
            packet[Headers::read(packet, start).map_or(0, |headers| headers.payload_at)..].to_vec()
        }).collect();
        prop_assert_eq!(told, bytes);
    }

    #[test]
    fn any_packets_do_no_harm(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 40..80), 1..9)) {
        let like = |mut packet: Vec<u8>| {
            // As near to a TCP segment as chance allows.
            packet[0] = if packet[0] & 1 == 0 { 0x45 } else { 0x60 };
            (packet[6], packet[7], packet[9]) = if packet[0] == 0x60 { (6, 0, 6) } else { (0, 0, 6) };
            let at = if packet[0] == 0x60 { 40 } else { 20 };
            if let Some(byte) = packet.get_mut(at + 12) {
                *byte = 0x50;
            }
            let length = packet.len() as u16 - if at == 40 { 40 } else { 0 };
            let said = if at == 40 { 4 } else { 2 };
            packet[said..said + 2].copy_from_slice(&length.to_be_bytes());
            (packet, Some(Unfinished { start: at as u16, offset: 16 }))
        };
        let arrived: Vec<Owned> = packets.into_iter().map(like).collect();
        let all = written(&arrived, true);
        prop_assert!(all.len() <= arrived.len());
    }
}

#[test]
fn what_differs_in_more_than_a_piece_does_is_not_joined() {
    let draft = Draft {
        v6: false,
        udp: false,
        options: 12,
        flags: 0x10,
        sequence: u32::MAX - 1500,
        payload: vec![5; 3000],
        segment: 1000,
    };
    let good = pieces(&draft);
    assert_eq!(written(&good, true).len(), 1);
    // The type of service, TTL, an address, a port, the acknowledgement, the window, an option, the flags SYN and CWR.
    for at in [1, 8, 15, 19, 20, 28, 34, 45] {
        let mut bad = good.clone();
        bad[1].0[at] ^= 1;
        assert_eq!(written(&bad, true).len(), 3, "byte {at}");
    }
    // A segment with CWR begins a super-packet.
    for (flag, count) in [(2, 3), (0x80, 2)] {
        let mut bad = good.clone();
        bad[1].0[33] ^= flag;
        assert_eq!(written(&bad, true).len(), count, "flag {flag}");
    }
    let mut bad = good.clone();
    bad[1].1 = None;
    assert_eq!(written(&bad, true).len(), 3, "its checksum is complete, and nobody has looked at it");
}

#[test]
fn super_packets_of_udp_are_for_devices_that_take_them() {
    let draft = Draft {
        v6: true,
        udp: true,
        options: 0,
        flags: 0,
        sequence: 0,
        payload: vec![5; 2500],
        segment: 1000,
    };
    assert_eq!((written(&pieces(&draft), true).len(), written(&pieces(&draft), false).len()), (1, 3));
}
