use super::*;
use crate::fastpass::slots::packet::tests::{assert_whole, draft, Draft};
use crate::fastpass::slots::packet::{Shape, VIRTIO_BYTES};
use crate::fastpass::slots::queue::{Pool, Queue};
use crate::fastpass::slots::wire::Unfinished;
use clearway_proto::fastpass::receipts::SlotHeader;
use proptest::prelude::*;

const WIRE: Wire = Wire { outer: 28, longest: 1472 };
const HEADER: Header = Header { source: 7, slot: None, is_receipt: false };

fn queued(drafts: &[Draft]) -> Queue {
    let (queue, pool) = (Queue::default(), Pool::default());
    for draft in drafts {
        let mut bytes = draft.bytes();
        let (filled, shape) = (bytes.len(), Shape::read(&bytes).unwrap());
        let packet = pool.packet(&mut bytes, filled, &shape);
        assert!(queue.push(packet, WIRE, usize::MAX).is_ok());
    }
    queue
}

/// A packet as it left.
type Left = (Vec<u8>, Option<Unfinished>);

/// The datagrams of a fill, as they would leave, run by run, and the packets in them.
fn leaves(fill: &Fill, joined: bool) -> (Vec<usize>, Vec<Left>) {
    let (mut lengths, mut packets, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(run) = fill.run(at, joined) {
        at += run.count;
        let bytes: Vec<u8> = run.pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        assert_eq!(bytes.len(), run.bytes);
        assert!(run.bytes <= MOST_BYTES && run.count <= if joined { MOST_JOINED } else { 1 });
        assert_eq!(bytes.chunks(run.segment).count(), run.count, "the kernel cuts where a datagram ends");
        for datagram in bytes.chunks(run.segment) {
            lengths.push(datagram.len());
            let (header, records) = Header::read(datagram).unwrap();
            assert_eq!(header, HEADER);
            packets.extend(records.map(|record| record.map(|it| (it.packet.to_vec(), it.checksum)).unwrap()));
        }
    }
    (lengths, packets)
}

/// Takes slots until nothing waits, and returns what left in them.
fn drain(queue: &Queue, budget: usize, joined: bool) -> Vec<Left> {
    let (mut fill, mut all) = (Fill::default(), Vec::new());
    while queue.with(|waiting| fill.take(waiting, HEADER, WIRE, budget)) {
        let (lengths, packets) = leaves(&fill, joined);
        let cost: usize = lengths.iter().map(|length| (length + 28).max(46) + 38).sum();
        assert!(cost <= budget, "{cost} bytes in a slot of {budget}");
        assert!(lengths.iter().all(|length| *length <= WIRE.longest));
        assert_eq!(fill.oversized(), 0);
        all.extend(packets);
        if let Some(packet) = fill.stays() {
            queue.with(|waiting| waiting.put_back(packet, WIRE));
        }
        fill.done().for_each(drop);
    }
    assert_eq!((queue.cost(), queue.with(|waiting| waiting.packets.len())), (0, 0));
    all
}

/// Asserts that the packets that left are those of the drafts, cut.
fn assert_cut(drafts: &[Draft], left: &[Left]) {
    let mut left = left.iter();
    for draft in drafts {
        let bytes = draft.bytes();
        let (whole, around) = (&bytes[VIRTIO_BYTES..], bytes.len() - VIRTIO_BYTES - draft.payload.len());
        let network = if draft.v6 { 40 } else { 20 };
        let mut payload: Vec<u8> = Vec::new();
        for piece in 0..draft.payload.len().div_ceil(draft.segment).max(1) {
            let (packet, checksum) = left.next().expect("a piece");
            assert_whole(packet, *checksum);
            if draft.payload.len() > draft.segment && !draft.udp {
                let last = payload.len() + draft.segment >= draft.payload.len();
                let sequence = u32::from_be_bytes(packet[network + 4..network + 8].try_into().unwrap());
                assert_eq!(sequence, draft.sequence.wrapping_add(payload.len() as u32));
                let cleared = if last { 0 } else { 0x09 } | if piece > 0 { 0x80 } else { 0 };
                assert_eq!(packet[network + 13], draft.flags & !cleared, "piece {piece}");
            }
            if !draft.v6 {
                let number = u16::from_be_bytes([packet[4], packet[5]]);
                assert_eq!(number, 0xfffe_u16.wrapping_add(piece as u16));
            }
            assert_eq!(packet[8], whole[8]);
            payload.extend(&packet[around..]);
        }
        assert_eq!(payload, draft.payload);
    }
    assert!(left.next().is_none(), "a packet that nobody sent");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_slot_is_never_overfilled_and_all_that_waits_leaves_in_order(
        drafts in prop::collection::vec(draft(), 1..12), more in 0_usize..80_000, joined: bool
    ) {
        let least = WIRE.cost(WIRE.longest);
        let left = drain(&queued(&drafts), least + more, joined);
        assert_cut(&drafts, &left);
    }

    #[test]
    fn the_need_is_not_less_than_what_leaves(drafts in prop::collection::vec(draft(), 1..12)) {
        let queue = queued(&drafts);
        let (reckoned, mut fill) = (queue.cost(), Fill::default());
        prop_assert!(queue.with(|waiting| fill.take(waiting, HEADER, WIRE, usize::MAX)));
        prop_assert!(fill.cost as u64 <= reckoned);
        // What is too much of it is room in a packet's last datagram, or in the one before it.
        prop_assert!(reckoned <= fill.cost as u64 + 200 * drafts.len() as u64);
    }
}

#[test]
fn small_packets_share_datagrams() {
    let small = Draft {
        v6: false,
        udp: false,
        options: 12,
        flags: 0x10,
        sequence: 1,
        payload: vec![],
        segment: 1000,
    };
    let queue = queued(&vec![small; 100]);
    let mut fill = Fill::default();
    assert!(queue.with(|waiting| fill.take(waiting, HEADER, WIRE, usize::MAX)));
    // 28 bytes of a header, then 58 for each packet.
    let (lengths, packets) = leaves(&fill, true);
    assert_eq!(
        (lengths, packets.len()),
        (vec![28 + 24 * 58, 28 + 24 * 58, 28 + 24 * 58, 28 + 24 * 58, 28 + 4 * 58], 100)
    );
    assert_eq!(queue.cost(), 0);
}

#[test]
fn the_header_of_a_slot_is_in_all_its_datagrams() {
    let large = Draft {
        v6: true,
        udp: false,
        options: 0,
        flags: 0x10,
        sequence: 1,
        payload: vec![3; 40_000],
        segment: 1300,
    };
    let queue = queued(&[large]);
    let mut fill = Fill::default();
    assert!(queue.with(|waiting| fill.take(waiting, HEADER, WIRE, 62_000)));
    let slot = Some(SlotHeader { number: 77, ..SlotHeader::default() });
    fill.set_header(Header { slot, ..HEADER });
    let run = fill.run(0, true).unwrap();
    let bytes: Vec<u8> = run.pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
    let read = bytes.chunks(run.segment).map(|datagram| Header::read(datagram).unwrap().0.slot);
    assert_eq!(read.collect::<Vec<_>>(), vec![slot; 31]);
}

#[test]
fn a_packet_longer_than_any_datagram_is_dropped_and_holds_nobody_up() {
    let draft = |length| Draft {
        v6: false,
        udp: false,
        options: 0,
        flags: 0x10,
        sequence: 1,
        payload: vec![3; length],
        segment: 1500,
    };
    let queue = queued(&[draft(1450), draft(3000), draft(10)]);
    let mut fill = Fill::default();
    assert!(queue.with(|waiting| fill.take(waiting, HEADER, WIRE, usize::MAX)));
    assert_eq!((fill.oversized(), leaves(&fill, true).1.len(), queue.cost()), (2, 1, 0));
}

#[test]
fn a_queue_that_is_full_gives_a_packet_back_but_takes_one_when_it_is_empty() {
    let draft = Draft {
        v6: false,
        udp: false,
        options: 0,
        flags: 0x10,
        sequence: 1,
        payload: vec![3; 500],
        segment: 1000,
    };
    let packet = || {
        let bytes = draft.bytes();
        let (filled, shape) = (bytes.len(), Shape::read(&bytes).unwrap());
        Packet::new(bytes, filled, &shape)
    };
    let queue = Queue::default();
    assert!(queue.push(packet(), WIRE, 100).is_ok());
    assert!(queue.push(packet(), WIRE, 1000).is_err());
    assert!(queue.push(packet(), WIRE, 2000).is_ok());
}
