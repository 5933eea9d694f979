//! The promises of FCP's bytes for every packet and for any bytes.

use clearway_proto::fastpass::fcp::header::{DecodeError, EncodeError, MAX_BYTES};
use clearway_proto::fastpass::fcp::message::{MOST_DEMANDS, MOST_GRANTED, MOST_GRANTS, MOST_REPORTS};
use clearway_proto::fastpass::fcp::{
    Allocation, Answer, Demand, Grant, Granted, Heard, List, Packet, PathReport, Request, Reset, Trial,
    Watchdog, MOST_GAP,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// Numbers of all lengths, the ends of the range of each among them.
fn number() -> impl Strategy<Value = u64> {
    (0..=64_u32, any::<u64>()).prop_map(|(bits, random)| match bits {
        0 => 0,
        _ => random >> (64 - bits),
    })
}

fn number32() -> impl Strategy<Value = u32> {
    (0..=32_u32, any::<u32>()).prop_map(|(bits, random)| random.checked_shr(32 - bits).unwrap_or(0))
}

/// Any mask; often the one of which no number is missing.
fn heard() -> impl Strategy<Value = Heard> {
    let whole = |latest: u32| (0..32).filter(|&i| latest > i + 1).fold(0, |mask, i| mask | 1 << i);
    (number32(), any::<bool>(), any::<u32>()).prop_map(move |(latest, all, before)| Heard {
        latest,
        before: if all { whole(latest) } else { before },
    })
}

/// Different destinations with counts, in any order.
fn counts(most: usize) -> impl Strategy<Value = Vec<(u16, u32)>> {
    (btree_set(any::<u16>(), 0..=most), vec(number32(), most)).prop_flat_map(|(destinations, counts)| {
        Just(destinations.into_iter().zip(counts).collect::<Vec<_>>()).prop_shuffle()
    })
}

/// Returns what requests and allocations both have: an endpoint, an incarnation, a term, a number, those heard, a slot.
fn common() -> impl Strategy<Value = (u16, u32, u32, u32, Heard, u64)> {
    (any::<u16>(), number32(), number32(), number32(), heard(), number())
}

fn request() -> impl Strategy<Value = Request> {
    let report = (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>())
        .prop_map(|(destination, path, sent, lost)| PathReport { destination, path, sent, lost });
    let ahead = proptest::option::of((0..32_u32, any::<i32>()).prop_map(|(bits, random)| random >> bits));
    (common(), ahead, counts(MOST_DEMANDS), vec(report, 0..=MOST_REPORTS)).prop_map(
        |((source, incarnation, term, seq, heard, slot), arbiter_ahead, demands, reports)| {
            let demand = |(destination, demanded)| Demand { destination, demanded };
            let demands = demands.into_iter().map(demand).collect();
            let reports = reports.into_iter().collect();
            Request { source, incarnation, term, seq, slot, arbiter_ahead, heard, demands, reports }
        },
    )
}

/// An allocation with these grants, which all have room.
fn with_grants(mut allocation: Allocation, grants: impl IntoIterator<Item = Grant>) -> Allocation {
    for grant in grants {
        assert!(allocation.grant(grant), "{grant:?} in {allocation:?}");
    }
    allocation
}

fn granted(to: &[(u16, u32)]) -> List<Granted, MOST_GRANTED> {
    to.iter().map(|&(destination, granted)| Granted { destination, granted }).collect()
}

/// Slots that rise by steps of all sizes, most of them small; each to one of the destinations listed.
fn grants() -> impl Strategy<Value = (Vec<(u16, u32)>, Vec<Grant>)> {
    let far = prop_oneof![1 => Just(2), 1 => Just(300), 1 => Just(MOST_GAP)];
    let each = (any::<u64>(), any::<proptest::sample::Index>(), any::<u16>());
    (counts(MOST_GRANTED), number(), 0..=16_u32, far, vec(each, 0..=MOST_GRANTS)).prop_map(
        |(to, base, bits, far, each)| {
            let mut slot = base;
            let mut grants = Vec::new();
            for (step, index, path) in each.into_iter().filter(|_| !to.is_empty()) {
                let path = (u32::from(path) >> (16 - bits)) as u16;
                grants.push(Grant { slot, destination: index.get(&to).0, path });
                slot = slot.saturating_add(step % (far + 1));
            }
            (to, grants)
        },
    )
}

fn allocation() -> impl Strategy<Value = Allocation> {
    (common(), grants(), any::<bool>(), 0..200_u64, any::<Option<u16>>()).prop_map(
        |((to, incarnation, term, seq, heard, slot), (counts, grants), near, ahead, back)| {
            let first = grants.first().map_or(0, |grant| grant.slot);
            let slot = if near { first.wrapping_sub(ahead) } else { slot };
            let granted = granted(&counts);
            let none = Allocation {
                to,
                incarnation,
                term,
                seq,
                slot,
                heard,
                back,
                granted,
                ..Allocation::default()
            };
            let allocation = with_grants(none, grants.iter().copied());
            assert_eq!(allocation.grants().collect::<Vec<_>>(), grants);
            allocation
        },
    )
}

fn packet() -> impl Strategy<Value = Packet> {
    let reset = any::<(u16, u64, u32, u64, Option<u16>)>();
    let watchdog = any::<(u32, u8, u64)>();
    let trial = any::<(u16, u8, Option<(u16, u16)>, u16, u32)>();
    let answer = any::<(u16, u8, u32)>();
    prop_oneof![
        4 => request().prop_map(Packet::Request),
        4 => allocation().prop_map(Packet::Allocation),
        1 => reset.prop_map(|(to, slot, term, first_slot, back)| {
            Packet::Reset(Reset { to, slot, term, first_slot, back })
        }),
        1 => watchdog.prop_map(|(term, rank, horizon)| Packet::Watchdog(Watchdog { term, rank, horizon })),
        1 => trial.prop_map(|(to, rank, on, back, token)| Packet::Trial(Trial { to, rank, on, back, token })),
        1 => answer.prop_map(|(source, rank, token)| Packet::Answer(Answer { source, rank, token })),
    ]
}

fn encode(packet: &Packet) -> Vec<u8> {
    let mut buffer = [0xff; MAX_BYTES];
    let len = packet.encode(&mut buffer).expect("a packet that a machine can make");
    assert_eq!(packet.bytes() as usize, len);
    buffer[..len].to_vec()
}

/// Puts the checksum right, as RFC 1071 describes it: the complement of the ones' complement sum of 16-bit words.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= 4 {
        bytes[2..4].fill(0);
        let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        let sum = bytes.chunks(2).map(word).fold(0, |sum, word| {
            let sum = sum + word;
            (sum & 0xffff) + (sum >> 16)
        });
        bytes[2..4].copy_from_slice(&(!sum as u16).to_be_bytes());
    }
    bytes
}

/// What the decoder takes, the encoder writes in the same way.
fn has_one_form(bytes: &[u8]) {
    match Packet::decode(bytes) {
        Ok(packet) => assert_eq!(encode(&packet), bytes),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_encoded_is_decoded(packet in packet()) {
        let bytes = encode(&packet);
        prop_assert_eq!(&sealed(bytes.clone()), &bytes, "the checksum");
        prop_assert_eq!(Packet::decode(&bytes), Ok(packet));
    }

    /// One bit off is an error, or with the checksum put right, an error or another packet: no bit is ignored.
    #[test]
    fn every_bit_matters(packet in packet(), bit in any::<proptest::sample::Index>()) {
        let mut bytes = encode(&packet);
        let bit = bit.index(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Packet::decode(&bytes).is_err());
        let sealed = sealed(bytes);
        if bit / 16 != 1 {
            prop_assert_ne!(Packet::decode(&sealed), Ok(packet));
        }
        has_one_form(&sealed);
    }

    /// Bytes changed here and there, dropped or appended.
    #[test]
    fn a_changed_packet_has_one_form_or_none(
        packet in packet(),
        changes in vec((any::<proptest::sample::Index>(), prop_oneof![Just(0), any::<u8>(), 0..16_u8]), 0..4),
        len in 0..MAX_BYTES,
        more in vec(any::<u8>(), 0..12),
        cut: bool,
    ) {
        let mut bytes = encode(&packet);
        if cut {
            bytes.truncate(len);
        }
        bytes.extend(more);
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        has_one_form(&bytes);
        has_one_form(&sealed(bytes));
    }

    #[test]
    fn any_bytes_have_one_form_or_none(kind in 0x10..0x19_u8, mut bytes in vec(any::<u8>(), 0..200)) {
        has_one_form(&bytes);
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        has_one_form(&sealed(bytes));
    }

    /// No part of a packet is a packet, so the length that the IP header gives is the packet's own.
    #[test]
    fn a_packet_cut_short_is_none(packet in packet(), len in any::<proptest::sample::Index>()) {
        let mut bytes = encode(&packet);
        bytes.truncate(len.index(bytes.len()));
        prop_assert!(Packet::decode(&sealed(bytes)).is_err());
    }
}

/// An allocation with each of its fields, byte by byte: numbers of 1 to 5 bytes, a mask, counts of 3 bytes, a first grant that
/// is 0x2a2b slots ahead, gaps of 0, 1, 16, 1026 and 15 slots, and paths of 4 bits.
fn allocation_by_hand() -> Vec<u8> {
    let fixed = [0x12, 5, 0, 0, 0x04, 0x05, 0b00_01_10_11, 0x80 | 4 << 4 | 1 << 2 | 2, 2 << 4 | 8 | 3];
    let numbers = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12];
    let slot = [0x13, 0x14, 0x15, 0x16, 0x17];
    let mask = [0x18, 0x19, 0x1a, 0x1b];
    let destinations = [0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29];
    let ahead = [0x2a, 0x2b];
    let grants = [0x10, 0x00, 0x20, 0x01, 0x10, 0x10, 0x24, 0x02, 0x10, 0x0f];
    let paths = [0x1f, 0x08, 0x20];
    [&fixed[..], &numbers, &slot, &mask, &destinations, &ahead, &grants, &paths].concat()
}

/// Returns that allocation without the grants that are more than 15 slots after the one before.
fn near_allocation_by_hand() -> Vec<u8> {
    let mut bytes = allocation_by_hand();
    (bytes[1], bytes[8]) = (3, 2 << 4 | 3);
    bytes.splice(40.., [0x10, 0x21, 0x1f, 0x1f, 0x20]);
    bytes
}

#[test]
fn an_allocation_is_written_as_the_table_says() {
    let base = 0x13_1415_1617 + 0x2a2b;
    let slots = [0, 1, 17, 17 + 1026, 17 + 1026 + 15];
    let (first, second) = (0x2021, 0x2526);
    let grants = slots.into_iter().zip([first, second, first, second, first]).zip([1, 15, 0, 8, 2]);
    let grants = grants.map(|((slot, destination), path)| Grant { slot: base + slot, destination, path });
    let none = Allocation {
        to: 0x0405,
        term: 0x09,
        incarnation: 0x0a0b,
        seq: 0x0c_0d0e,
        slot: 0x13_1415_1617,
        heard: Heard { latest: 0x0f10_1112, before: 0x1819_1a1b },
        granted: granted(&[(first, 0x22_2324), (second, 0x27_2829)]),
        ..Allocation::default()
    };
    let far = with_grants(none, grants.clone());
    assert_eq!(encode(&Packet::Allocation(far)), sealed(allocation_by_hand()));
    let third = Grant { slot: base + 16, destination: first, path: 2 };
    let near = with_grants(none, grants.take(2).chain([third]));
    assert_eq!(encode(&Packet::Allocation(near)), sealed(near_allocation_by_hand()));
}

#[test]
fn the_others_are_written_as_the_tables_say() {
    let report = PathReport { destination: 0x2021, path: 0x2223, sent: 0x2425, lost: 0x2627 };
    let request = Request {
        source: 0x0405,
        term: 0x0809_0a0b,
        incarnation: 0x0c_0d0e,
        seq: 0x0f10,
        slot: 0x1112_1314_1516_1718,
        arbiter_ahead: Some(0x191a),
        heard: Heard { latest: 1, before: 0 },
        demands: [Demand { destination: 0x1b1c, demanded: 0x1d1e }].into_iter().collect(),
        reports: [report].into_iter().collect(),
    };
    let mut bytes = vec![0x11, 0x11, 0, 0, 4, 5, 0b11_10_01_00, 7 << 4 | 2 << 2 | 1];
    bytes.extend(0x08..=0x10);
    bytes.push(1);
    bytes.extend(0x11..=0x1e);
    bytes.extend(0x20..=0x27);
    assert_eq!(encode(&Packet::Request(request)), sealed(bytes.clone()));
    // The arbiter's clock is behind, and the endpoint does not know.
    bytes[7] = 7 << 4 | 1 << 2 | 1;
    bytes.splice(26..28, [0x80]);
    let behind = Request { arbiter_ahead: Some(-128), ..request };
    assert_eq!(encode(&Packet::Request(behind)), sealed(bytes.clone()));
    bytes[7] = 7 << 4 | 1;
    bytes.remove(26);
    let unknown = Request { arbiter_ahead: None, ..request };
    assert_eq!(encode(&Packet::Request(unknown)), sealed(bytes));

    let (slot, first_slot) = (0x0c0d_0e0f_1011_1213, 0x1415_1617_1819_1a1b);
    let reset = Reset { to: 0x0405, term: 0x0809_0a0b, slot, first_slot, back: None };
    let mut bytes = vec![0x13, 0, 0, 0, 4, 5, 0, 0];
    bytes.extend(0x08..=0x1b);
    assert_eq!(encode(&Packet::Reset(reset)), sealed(bytes.clone()));
    // Requests are to take a path.
    (bytes[1], bytes[6], bytes[7]) = (1, 6, 7);
    assert_eq!(encode(&Packet::Reset(Reset { back: Some(0x0607), ..reset })), sealed(bytes));

    let watchdog = Watchdog { term: 0x0405_0607, rank: 1, horizon: 0x0809_0a0b_0c0d_0e0f };
    let mut bytes = vec![0x14, 1, 0, 0];
    bytes.extend(0x04..=0x0f);
    assert_eq!(encode(&Packet::Watchdog(watchdog)), sealed(bytes));

    let trial = Trial { to: 0x0405, rank: 2, on: None, back: 0x0607, token: 0x0809_0a0b };
    let mut bytes = vec![0x15, 2, 0, 0];
    bytes.extend(0x04..=0x0b);
    assert_eq!(encode(&Packet::Trial(trial)), sealed(bytes.clone()));
    bytes.extend(0x0c..=0x0f);
    bytes[0] = 0x17;
    let on = Trial { on: Some((0x0c0d, 0x0e0f)), ..trial };
    assert_eq!(encode(&Packet::Trial(on)), sealed(bytes.clone()));
    assert_eq!(Packet::decode(&sealed(bytes[..14].to_vec())), Err(DecodeError::Truncated(14)));

    let answer = Answer { source: 0x0405, rank: 3, token: 0x0809_0a0b };
    let bytes = vec![0x16, 3, 0, 0, 4, 5, 0, 0, 8, 9, 10, 11];
    assert_eq!(encode(&Packet::Answer(answer)), sealed(bytes.clone()));
    let reserved = [&bytes[..7], &[1], &bytes[8..]].concat();
    assert_eq!(Packet::decode(&sealed(reserved)), Err(DecodeError::Reserved(7)));
}

/// What an endpoint at full load sends and gets: the sizes that the share of control traffic follows from.
#[test]
fn sizes_are_as_computed_by_hand() {
    let heard = Heard { latest: 70_000, before: u32::MAX };
    let slot = 1_000_000;
    let demands = [(7, 70_000), (9, 300)].map(|(destination, demanded)| Demand { destination, demanded });
    let numbers = Request { term: 1, incarnation: 1, seq: 70_000, slot, heard, ..Request::default() };
    let one = Request { arbiter_ahead: Some(-3), demands: demands.into_iter().take(1).collect(), ..numbers };
    // 8, five numbers of 1, 1, 3, 3 and 3, one of 1, a destination of 5: no more than the shortest frame has room for.
    assert_eq!((Packet::Request(one).bytes(), Packet::Request(one).wire_bytes()), (25, 38 + 46));
    let two = Request { demands: demands.into_iter().collect(), ..one };
    assert_eq!((Packet::Request(two).bytes(), Packet::Request(two).wire_bytes()), (30, 38 + 20 + 30));
    let grants = (0..16).map(|i| Grant { slot: slot + 40 + i, destination: 7, path: (i % 4) as u16 });
    let none = Allocation {
        to: 3,
        term: 1,
        incarnation: 1,
        seq: 70_000,
        slot,
        heard,
        granted: granted(&[(7, 70_000)]),
        ..Allocation::default()
    };
    let allocation = Packet::Allocation(with_grants(none, grants));
    // 9, five numbers, a destination, how far ahead, 16 grants of a byte and 2 bits.
    assert_eq!((allocation.bytes(), allocation.wire_bytes()), (9 + 11 + 5 + 1 + 16 + 4, 38 + 20 + 46));
    let watchdog = Packet::Watchdog(Watchdog { term: 1, rank: 0, horizon: slot });
    assert_eq!((watchdog.bytes(), watchdog.wire_bytes()), (16, 84));
    assert_eq!(Packet::Reset(Reset::default()).wire_bytes(), 38 + 20 + 28);
}

/// Gaps of every length that is written in another way, in packets with every number of grants up to more than two times
/// eight, with paths of every width.
#[test]
fn slots_near_and_far_are_granted() {
    let to = [(1, 9), (2, 9)];
    for (gap, len) in [(0, 1), (15, 1), (16, 2), (255, 2), (MOST_GAP, 2)] {
        for count in 2..20 {
            for path in [0, 1, 3, 15, 255, u16::MAX] {
                let slot = |i: u64| 5 + i / 2 + if i == count - 1 { gap - (i / 2 - (i - 1) / 2) } else { 0 };
                let gap_is_there = gap > 0 || count % 2 == 0;
                let grants = (0..count).filter(|_| gap_is_there).map(|i| Grant {
                    slot: slot(i),
                    destination: 1 + (i % 2) as u16,
                    path: if i % 3 == 0 { path } else { 0 },
                });
                let none = Allocation { granted: granted(&to), ..Allocation::default() };
                let grants: Vec<_> = grants.collect();
                let packet = Packet::Allocation(with_grants(none, grants.iter().copied()));
                let bytes = encode(&packet);
                assert_eq!(Packet::decode(&bytes), Ok(packet));
                let Packet::Allocation(allocation) = packet else { unreachable!() };
                assert_eq!(allocation.grants().collect::<Vec<_>>(), grants);
                let bits = [0, 1, 2, 4, 8, 16]
                    [[0, 1, 3, 15, 255, u16::MAX].iter().position(|&p| p == path).unwrap()];
                let ahead = usize::from(!grants.is_empty());
                let paths = (grants.len() * bits).div_ceil(8);
                assert_eq!(bytes.len(), 9 + 5 + 2 * 3 + ahead + grants.len() * len + paths, "gap {gap}");
            }
        }
    }
}

#[test]
fn the_largest_packet_fits() {
    let destinations: Vec<_> = (0..MOST_GRANTED as u16).map(|destination| (destination, u32::MAX)).collect();
    let base = (1 << 63) + 1;
    let grants = (0..MOST_GRANTS as u64).map(|i| Grant {
        slot: base + i * MOST_GAP,
        destination: (i % 15) as u16,
        path: u16::MAX,
    });
    let heard = Heard { latest: u32::MAX, before: 1 };
    let (term, incarnation, seq) = (u32::MAX, u32::MAX, u32::MAX);
    let none = Allocation {
        incarnation,
        term,
        seq,
        slot: u64::MAX / 4,
        heard,
        granted: granted(&destinations),
        ..Allocation::default()
    };
    let packet = Packet::Allocation(with_grants(none, grants));
    let bytes = encode(&packet);
    assert_eq!(bytes.len(), 9 + 16 + 8 + 4 + 15 * 6 + 8 + 2 * 64 + 2 * 64);
    assert_eq!(Packet::decode(&bytes), Ok(packet));
}

#[test]
fn each_kind_of_nonsense_has_its_error() {
    let sound = allocation_by_hand();
    let with = |changes: &[(usize, u8)]| {
        let mut bytes = sound.clone();
        for &(at, byte) in changes {
            bytes[at] = byte;
        }
        Packet::decode(&sealed(bytes))
    };
    assert!(with(&[]).is_ok());
    for byte in [0x00, 0x10, 0x18, 0x22, 0xff] {
        assert_eq!(with(&[(0, byte)]), Err(DecodeError::VersionOrType(byte)));
    }
    assert_eq!(Packet::decode(&[]), Err(DecodeError::Truncated(0)));
    assert_eq!(Packet::decode(&[0x12; 7]), Err(DecodeError::Truncated(7)));
    assert!(matches!(Packet::decode(&sound), Err(DecodeError::Checksum { found: 0, .. })));
    // More grants, wider paths than there can be.
    assert_eq!(with(&[(1, 65)]), Err(DecodeError::Limit(1)));
    assert_eq!(with(&[(8, 0x2e)]), Err(DecodeError::Limit(8)));
    assert_eq!(with(&[(8, 0x27)]), Err(DecodeError::Limit(8)));
    // What fewer bytes would do for: incarnation, packet, heard, slot, mask, counts, how far ahead; the paths and the gaps.
    for at in [10, 12, 15, 19] {
        assert_eq!(with(&[(at, 0)]), Err(DecodeError::Longer(at)));
    }
    assert_eq!(with(&[(24, 0xff), (25, 0xff), (26, 0xff), (27, 0xff)]), Err(DecodeError::Longer(24)));
    assert_eq!(with(&[(30, 0), (35, 0)]), Err(DecodeError::Longer(7)));
    assert_eq!(with(&[(38, 0), (39, 0x7f)]), Err(DecodeError::Longer(38)));
    assert_eq!(with(&[(38, 0xff), (39, 0x80)]), Err(DecodeError::Longer(38)));
    assert_eq!(with(&[(50, 0x13), (51, 0), (52, 0x20)]), Err(DecodeError::Longer(8)));
    assert_eq!(with(&[(45, 0x0f), (46, 0x20)]), Err(DecodeError::Longer(8)));
    assert_eq!(with(&[(33, 0x20), (34, 0x21)]), Err(DecodeError::Repeated(0x2021)));
    assert_eq!(with(&[(52, 0x21)]), Err(DecodeError::Reserved(52)));
    // The first grant is not of the base slot; no destination; a third destination; a slot that is too late.
    assert_eq!(with(&[(41, 0x01)]), Err(DecodeError::Longer(40)));
    assert_eq!(with(&[(42, 0x00)]), Err(DecodeError::Destination(42)));
    assert_eq!(with(&[(46, 0x34)]), Err(DecodeError::Destination(46)));
    assert_eq!(with(&[(1, 4), (51, 0x00)]), Err(DecodeError::Excess(50)));
    let mut longer = sound.clone();
    longer.insert(50, 0x10);
    assert_eq!(Packet::decode(&sealed(longer)), Err(DecodeError::Excess(53)));
    let mut shorter = sound.clone();
    shorter.remove(49);
    assert_eq!(Packet::decode(&sealed(shorter)), Err(DecodeError::Truncated(52)));
    assert_eq!(Packet::decode(&sealed(sound[..30].to_vec())), Err(DecodeError::Truncated(30)));
    let bytes = |bytes: &[u8]| Packet::decode(&sealed(bytes.to_vec()));
    // An allocation of nothing is not ahead of anything, and has neither counts nor paths.
    let empty = |widths, width| bytes(&[0x12, 0, 0, 0, 0, 0, 0, widths, width, 0, 0, 0, 0, 0]);
    assert_eq!(empty(0, 0), Ok(Packet::Allocation(Allocation::default())));
    assert_eq!(empty(1, 0), Err(DecodeError::Longer(7)));
    assert_eq!(empty(4, 0), Err(DecodeError::Longer(7)));
    assert_eq!(empty(0, 1), Err(DecodeError::Longer(8)));
    assert_eq!(empty(0, 8), Err(DecodeError::Longer(8)));
    // A request of too many demands or reports; a reset with bits that must be zero.
    assert_eq!(bytes(&[0x11, 0xb0, 0, 0, 0, 0, 0, 0]), Err(DecodeError::Limit(1)));
    assert_eq!(bytes(&[0x11, 0x09, 0, 0, 0, 0, 0, 0]), Err(DecodeError::Limit(1)));
    // A path that requests are to take has a flag of its own, which is 0 or 1.
    for (at, byte, reserved) in [(1, 2, 1), (6, 1, 6), (7, 1, 6)] {
        let mut reset = [0; 28];
        (reset[0], reset[at]) = (0x13, byte);
        assert_eq!(bytes(&reset), Err(DecodeError::Reserved(reserved)));
    }
    assert_eq!(bytes(&[&[0x14][..], &[0; 16]].concat()), Err(DecodeError::Excess(16)));
}

#[test]
fn grants_that_cannot_be_have_their_errors() {
    let near = near_allocation_by_hand();
    let nearly = |at: usize, byte| {
        let mut bytes = near.clone();
        bytes[at] = byte;
        Packet::decode(&sealed(bytes))
    };
    assert_eq!(nearly(41, 0x01), Err(DecodeError::Destination(41)));
    assert_eq!(nearly(42, 0x31), Err(DecodeError::Destination(42)));
    assert_eq!(nearly(40, 0x11), Err(DecodeError::Longer(40)));
    let (sent, ahead) = (u64::MAX - 3, 2);
    let last = Grant { slot: u64::MAX, destination: 1, path: 0 };
    let late = with_grants(
        Allocation { slot: sent, ..Allocation::default() },
        [Grant { slot: sent + ahead, ..last }, last],
    );
    let mut late = encode(&Packet::Allocation(late));
    assert!(Packet::decode(&late).is_ok());
    *late.last_mut().expect("a byte") += 1;
    assert_eq!(Packet::decode(&sealed(late.clone())), Err(DecodeError::Slot(late.len() - 2)));
}

#[test]
fn what_no_machine_says_is_not_written() {
    let mut buffer = [0; MAX_BYTES];
    let mut encode = |allocation: Allocation| Packet::Allocation(allocation).encode(&mut buffer);
    let with = |to: &[(u16, u32)]| Allocation { granted: granted(to), ..Allocation::default() };
    assert_eq!(encode(with(&[(1, 1), (2, 1), (1, 1)])), Err(EncodeError::Repeated(1)));
    // The same ten lowest bits.
    assert!(encode(with(&[(1, 1), (1025, 1)])).is_ok());
    let third = with_grants(with(&[(1, 1), (2, 1)]), [Grant { slot: 1, destination: 3, path: 0 }]);
    assert!(encode(third).is_ok());
    let unlisted = Allocation { granted: granted(&[(1, 1), (2, 1)]), ..third };
    assert_eq!(encode(unlisted), Err(EncodeError::Destination(3)));
    let demands = [3, 5, 3].map(|destination| Demand { destination, demanded: 1 }).into_iter().collect();
    let request = Packet::Request(Request { demands, ..Request::default() });
    assert_eq!(request.encode(&mut buffer), Err(EncodeError::Repeated(3)));
    for error in [EncodeError::Repeated(1), EncodeError::Destination(1)] {
        assert!(!error.to_string().is_empty());
    }
}

/// What a packet has no room for leaves it as it is.
#[test]
fn grants_without_room_are_not_taken() {
    let grant = |slot, destination| Grant { slot, destination, path: 3 };
    let mut allocation = with_grants(Allocation::default(), [grant(7, 1), grant(7, 2)]);
    assert_eq!(allocation.granted, granted(&[(1, 0), (2, 0)]));
    let before = allocation;
    assert!(!allocation.grant(grant(6, 1)), "a slot before the last");
    assert!(!allocation.grant(grant(7 + MOST_GAP + 1, 3)), "a slot too far ahead");
    assert_eq!(allocation, before);
    assert!(allocation.grant(grant(7 + MOST_GAP, 3)));
    assert_eq!(allocation.grants().last(), Some(grant(7 + MOST_GAP, 3)));
    let full = with_grants(Allocation::default(), (0..MOST_GRANTED as u16).map(|to| grant(9, to)));
    assert!(!full.clone().grant(grant(9, 99)), "one destination too many");
    let full = with_grants(full, (MOST_GRANTED..MOST_GRANTS).map(|_| grant(9, 0)));
    assert!(!full.clone().grant(grant(9, 0)), "one grant too many");
}

/// Reading in place of another packet gives what reading anew gives.
#[test]
fn a_packet_is_read_in_place_of_any_other() {
    let granted = granted(&[(4, 1)]);
    let packets = [
        Packet::Request(Request { seq: 1, ..Request::default() }),
        Packet::Allocation(Allocation { seq: 2, granted, ..Allocation::default() }),
        Packet::Allocation(Allocation { seq: 3, ..Allocation::default() }),
        Packet::Reset(Reset { term: 4, ..Reset::default() }),
        Packet::Watchdog(Watchdog { term: 5, rank: 1, horizon: 6 }),
    ];
    for before in packets {
        for packet in packets {
            let mut place = before;
            assert_eq!(place.decode_into(&encode(&packet)), Ok(()));
            assert_eq!(place, packet);
        }
    }
}
