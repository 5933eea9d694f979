//! The promises of FCP's bytes for every packet and for any bytes.

use clearway_proto::fastpass::fcp::header::{DecodeError, EncodeError, MAX_BYTES};
use clearway_proto::fastpass::fcp::message::{MOST_DEMANDS, MOST_GRANTED, MOST_GRANTS, MOST_REPORTS};
use clearway_proto::fastpass::fcp::{
    Allocation, Demand, Grant, Granted, Heard, Packet, PathReport, Request, Reset, Watchdog,
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

fn request() -> impl Strategy<Value = Request> {
    let report = (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>())
        .prop_map(|(destination, path, sent, lost)| PathReport { destination, path, sent, lost });
    let numbers = (any::<u16>(), number32(), number32(), number32(), heard());
    (numbers, counts(MOST_DEMANDS), vec(report, 0..=MOST_REPORTS)).prop_map(
        |((source, incarnation, term, seq, heard), demands, reports)| {
            let demand = |(destination, demanded)| Demand { destination, demanded };
            let demands = demands.into_iter().map(demand).collect();
            Request { source, incarnation, term, seq, heard, demands, reports: reports.into_iter().collect() }
        },
    )
}

/// Slots that rise by steps of all sizes, most of them small; each to one of the destinations listed.
fn grants() -> impl Strategy<Value = (Vec<(u16, u32)>, Vec<Grant>)> {
    let step = prop_oneof![8 => 0..3_u64, 4 => 0..300_u64, 1 => number()];
    let each = (step, any::<proptest::sample::Index>(), any::<u16>());
    (counts(MOST_GRANTED), number(), 0..=16_u32, vec(each, 0..=MOST_GRANTS)).prop_map(
        |(to, base, bits, each)| {
            let mut slot = base;
            let mut grants = Vec::new();
            for (i, (step, index, path)) in each.into_iter().enumerate().filter(|_| !to.is_empty()) {
                slot = slot.saturating_add(if i == 0 { 0 } else { step });
                let path = (u32::from(path) >> (16 - bits)) as u16;
                grants.push(Grant { slot, destination: index.get(&to).0, path });
            }
            (to, grants)
        },
    )
}

fn allocation() -> impl Strategy<Value = Allocation> {
    let numbers = (any::<u16>(), number32(), number32(), number32(), heard());
    (numbers, grants()).prop_map(|((to, incarnation, term, seq, heard), (granted, grants))| {
        let count = |(destination, granted)| Granted { destination, granted };
        let granted = granted.into_iter().map(count).collect();
        Allocation { to, incarnation, term, seq, heard, granted, grants: grants.into_iter().collect() }
    })
}

fn packet() -> impl Strategy<Value = Packet> {
    let reset = (any::<u16>(), any::<u32>(), any::<u64>());
    prop_oneof![
        4 => request().prop_map(Packet::Request),
        4 => allocation().prop_map(Packet::Allocation),
        1 => reset.prop_map(|(to, term, first_slot)| Packet::Reset(Reset { to, term, first_slot })),
        1 => any::<(u32, u8)>().prop_map(|(term, rank)| Packet::Watchdog(Watchdog { term, rank })),
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
    fn any_bytes_have_one_form_or_none(kind in 0x10..0x16_u8, mut bytes in vec(any::<u8>(), 0..200)) {
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

/// An allocation with each of its fields, byte by byte: numbers of 1 to 4 bytes, a mask, counts of 3 bytes, a base slot of 5
/// bytes, gaps of 0, 1, 16, 1026 and 15 slots, and paths of 4 bits.
fn allocation_by_hand() -> Vec<u8> {
    let fixed = [0x12, 5, 0, 0, 0x04, 0x05, 0b00_01_10_11, 0x80 | 3 << 2 | 2, 2 << 4 | 4];
    let numbers = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12];
    let mask = [0x13, 0x14, 0x15, 0x16];
    let destinations = [0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20];
    let base = [0x21, 0x22, 0x23, 0x24, 0x25];
    let near = [0x10, 0x21, 0x01, 0x10];
    let far = [0x0f, 0, 0, 0, 0, 0, 0, 0, 64, 0x22, 0x1f];
    let paths = [0x1f, 0x08, 0x20];
    [&fixed[..], &numbers, &mask, &destinations, &base, &near, &far, &paths].concat()
}

#[test]
fn an_allocation_is_written_as_the_table_says() {
    let base = 0x21_2223_2425;
    let slots = [0, 1, 17, 17 + 1026, 17 + 1026 + 15];
    let (first, second) = (0x1718, 0x1c1d);
    let grants = slots.into_iter().zip([first, second, first, second, first]).zip([1, 15, 0, 8, 2]);
    let packet = Packet::Allocation(Allocation {
        to: 0x0405,
        term: 0x09,
        incarnation: 0x0a0b,
        seq: 0x0c_0d0e,
        heard: Heard { latest: 0x0f10_1112, before: 0x1314_1516 },
        granted: [(first, 0x19_1a1b), (second, 0x1e_1f20)]
            .map(|(destination, granted)| Granted { destination, granted })
            .into_iter()
            .collect(),
        grants: grants
            .map(|((slot, destination), path)| Grant { slot: base + slot, destination, path })
            .collect(),
    });
    assert_eq!(encode(&packet), sealed(allocation_by_hand()));
}

#[test]
fn the_others_are_written_as_the_tables_say() {
    let request = Packet::Request(Request {
        source: 0x0405,
        term: 0x0809_0a0b,
        incarnation: 0x0c_0d0e,
        seq: 0x0f10,
        heard: Heard { latest: 1, before: 0 },
        demands: [Demand { destination: 0x1213, demanded: 0x1415 }].into_iter().collect(),
        reports: [PathReport { destination: 0x1617, path: 0x1819, sent: 0x1a1b, lost: 0x1c1d }]
            .into_iter()
            .collect(),
    });
    let mut bytes = vec![0x11, 0x11, 0, 0, 4, 5, 0b11_10_01_00, 1];
    bytes.extend(0x08..=0x10);
    bytes.push(1);
    bytes.extend(0x12..=0x1d);
    assert_eq!(encode(&request), sealed(bytes));

    let reset = Packet::Reset(Reset { to: 0x0405, term: 0x0809_0a0b, first_slot: 0x0c0d_0e0f_1011_1213 });
    let mut bytes = vec![0x13, 0, 0, 0, 4, 5, 0, 0];
    bytes.extend(0x08..=0x13);
    assert_eq!(encode(&reset), sealed(bytes));

    let watchdog = Packet::Watchdog(Watchdog { term: 0x0405_0607, rank: 1 });
    assert_eq!(encode(&watchdog), sealed(vec![0x14, 1, 0, 0, 4, 5, 6, 7]));
}

/// What an endpoint at full load sends and gets: the sizes that the share of control traffic follows from.
#[test]
fn sizes_are_as_computed_by_hand() {
    let heard = Heard { latest: 70_000, before: u32::MAX };
    let demands = [(7, 70_000), (9, 300)].map(|(destination, demanded)| Demand { destination, demanded });
    let numbers = Request { term: 1, incarnation: 1, seq: 70_000, heard, ..Request::default() };
    let two = Packet::Request(Request { demands: demands.into_iter().collect(), ..numbers });
    // 8, four numbers of 1, 1, 3 and 3, two destinations of 5: no more than the shortest frame has room for.
    assert_eq!((two.bytes(), two.wire_bytes()), (26, 38 + 46));
    let one_more = Packet::Request(Request {
        demands: demands.into_iter().chain([Demand { destination: 1, demanded: 1 }]).collect(),
        ..numbers
    });
    assert_eq!((one_more.bytes(), one_more.wire_bytes()), (31, 38 + 20 + 31));
    let grants =
        (0..16).map(|i| Grant { slot: 1_000_000 + i, destination: 7, path: (i % 4) as u16 }).collect();
    let granted = [Granted { destination: 7, granted: 70_000 }].into_iter().collect();
    let allocation = Packet::Allocation(Allocation {
        term: 1,
        incarnation: 1,
        seq: 70_000,
        heard,
        granted,
        grants,
        to: 3,
    });
    // 9, four numbers, a destination, the base slot, 16 grants of a byte and 2 bits.
    assert_eq!((allocation.bytes(), allocation.wire_bytes()), (9 + 8 + 5 + 3 + 16 + 4, 38 + 20 + 45));
    let watchdog = Packet::Watchdog(Watchdog { term: 1, rank: 0 });
    assert_eq!((watchdog.bytes(), watchdog.wire_bytes()), (8, 84));
    assert_eq!(Packet::Reset(Reset::default()).wire_bytes(), 84);
}

/// Skips of every length that is written in another way, at every place of the eight that are read at once.
#[test]
fn far_slots_are_granted() {
    let gaps = [0, 1, 15, 16, 17, 31, 239, 240, 255, 4096, u64::from(u32::MAX)];
    let granted: clearway_proto::fastpass::fcp::List<Granted, MOST_GRANTED> =
        [1, 2].into_iter().map(|destination| Granted { destination, granted: 9 }).collect();
    for gap in gaps {
        for place in 1..20 {
            let slot = |i: u64| 5 + i + if i >= place { gap } else { 0 };
            let grants =
                (0..20).map(|i| Grant { slot: slot(i), destination: 1 + (i % 2) as u16, path: 0 }).collect();
            let packet = Packet::Allocation(Allocation { granted, grants, ..Allocation::default() });
            let bytes = encode(&packet);
            assert_eq!(Packet::decode(&bytes), Ok(packet));
            let skip = [0, 1, 9][usize::from(gap + 1 > 15) + usize::from(gap + 1 >= 240)];
            assert_eq!(bytes.len(), 9 + 4 + 2 * 3 + 1 + 20 + skip, "gap {gap}");
        }
    }
}

#[test]
fn the_largest_packet_fits() {
    let destinations = 0..MOST_GRANTED as u16;
    let granted = destinations.map(|destination| Granted { destination, granted: u32::MAX }).collect();
    let far = |i: u64| if i == 0 { 0 } else { (1 << 63) + i * 256 };
    let grants =
        (0..MOST_GRANTS as u64).map(|i| Grant { slot: far(i), destination: 1, path: u16::MAX }).collect();
    let heard = Heard { latest: u32::MAX, before: 1 };
    let (term, incarnation, seq) = (u32::MAX, u32::MAX, u32::MAX);
    let packet = Packet::Allocation(Allocation { to: 0, incarnation, term, seq, heard, granted, grants });
    let bytes = encode(&packet);
    assert_eq!(bytes.len(), 9 + 16 + 4 + 15 * 6 + 1 + 2 * 64 + 10 * 63 + 1);
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
    for byte in [0x00, 0x10, 0x15, 0x22, 0xff] {
        assert_eq!(with(&[(0, byte)]), Err(DecodeError::VersionOrType(byte)));
    }
    assert_eq!(Packet::decode(&[]), Err(DecodeError::Truncated(0)));
    assert_eq!(Packet::decode(&[0x12; 7]), Err(DecodeError::Truncated(7)));
    assert!(matches!(Packet::decode(&sound), Err(DecodeError::Checksum { found: 0, .. })));
    // More grants, wider paths, a longer base slot than there can be.
    assert_eq!(with(&[(1, 65)]), Err(DecodeError::Limit(1)));
    assert_eq!(with(&[(7, 0x80 | 6 << 2 | 2)]), Err(DecodeError::Limit(7)));
    assert_eq!(with(&[(8, 2 << 4 | 8)]), Err(DecodeError::Limit(8)));
    // Term, incarnation and packet of fewer bytes; the mask that would be meant without one; counts, base slot, paths.
    for (at, byte, error) in [(10, 0, 10), (12, 0, 12), (15, 0, 15), (33, 0, 33)] {
        assert_eq!(with(&[(at, byte)]), Err(DecodeError::Longer(error)));
    }
    assert_eq!(with(&[(19, 0xff), (20, 0xff), (21, 0xff), (22, 0xff)]), Err(DecodeError::Longer(19)));
    assert_eq!(with(&[(25, 0), (30, 0)]), Err(DecodeError::Longer(7)));
    assert_eq!(with(&[(53, 0x13), (54, 0), (55, 0x20)]), Err(DecodeError::Longer(7)));
    assert_eq!(with(&[(28, 0x17), (29, 0x18)]), Err(DecodeError::Repeated(0x1718)));
    assert_eq!(with(&[(55, 0x21)]), Err(DecodeError::Reserved(55)));
    // The first grant is not of the base slot; no skip; a third destination; two skips; a long skip that is short, and one
    // that is too long.
    assert_eq!(with(&[(38, 0x11)]), Err(DecodeError::Longer(38)));
    assert_eq!(with(&[(40, 0x00)]), Err(DecodeError::Longer(40)));
    assert_eq!(with(&[(39, 0x31)]), Err(DecodeError::Destination(39)));
    assert_eq!(with(&[(41, 0x01)]), Err(DecodeError::Destination(41)));
    assert_eq!(with(&[(50, 14)]), Err(DecodeError::Longer(42)));
    assert_eq!(with(&[(43, 0x10)]), Err(DecodeError::Slot(42)));
    assert_eq!(with(&[(1, 4), (55, 0x00)]), Err(DecodeError::Excess(52)));
    let mut longer = sound.clone();
    longer.insert(53, 0x10);
    assert_eq!(Packet::decode(&sealed(longer)), Err(DecodeError::Excess(53)));
    let mut shorter = sound.clone();
    shorter.remove(52);
    assert_eq!(Packet::decode(&sealed(shorter)), Err(DecodeError::Truncated(52)));
    assert_eq!(Packet::decode(&sealed(sound[..39].to_vec())), Err(DecodeError::Destination(36)));
    let bytes = |bytes: &[u8]| Packet::decode(&sealed(bytes.to_vec()));
    // An allocation of nothing has neither a base slot nor paths.
    let empty = [0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(bytes(&empty), Ok(Packet::Allocation(Allocation::default())));
    assert_eq!(bytes(&[0x12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), Err(DecodeError::Longer(8)));
    assert_eq!(bytes(&[0x12, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0]), Err(DecodeError::Longer(7)));
    assert_eq!(bytes(&[0x12, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]), Err(DecodeError::Longer(7)));
    // A request of too many demands or reports, with a reserved bit; likewise a reset.
    assert_eq!(bytes(&[0x11, 0xb0, 0, 0, 0, 0, 0, 0]), Err(DecodeError::Limit(1)));
    assert_eq!(bytes(&[0x11, 0x09, 0, 0, 0, 0, 0, 0]), Err(DecodeError::Limit(1)));
    assert_eq!(bytes(&[0x11, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]), Err(DecodeError::Reserved(7)));
    for at in [1, 6, 7] {
        let mut reset = [0x13; 1].iter().chain(&[0; 19]).copied().collect::<Vec<u8>>();
        reset[at] = 1;
        assert_eq!(bytes(&reset), Err(DecodeError::Reserved(at)));
    }
    assert_eq!(bytes(&[0x14, 0, 0, 0, 0, 0, 0, 0, 0]), Err(DecodeError::Excess(8)));
}

#[test]
fn what_no_machine_says_is_not_written() {
    let mut buffer = [0; MAX_BYTES];
    let granted = |to: &[u16]| to.iter().map(|&destination| Granted { destination, granted: 1 }).collect();
    let grant = |slot, destination| Grant { slot, destination, path: 0 };
    let mut allocation = |to: &[u16], grants: &[Grant]| {
        let grants = grants.iter().copied().collect();
        Packet::Allocation(Allocation { granted: granted(to), grants, ..Allocation::default() })
            .encode(&mut buffer)
    };
    assert_eq!(allocation(&[1, 2, 1], &[]), Err(EncodeError::Repeated(1)));
    assert_eq!(allocation(&[1, 2], &[grant(1, 3)]), Err(EncodeError::Destination(3)));
    // The same eight lowest bits.
    assert_eq!(allocation(&[1, 2], &[grant(1, 258); 9]), Err(EncodeError::Destination(258)));
    assert_eq!(allocation(&[1, 2], &[grant(7, 1), grant(6, 1)]), Err(EncodeError::Order(6)));
    assert!(allocation(&[1, 2], &[grant(7, 1), grant(7, 2)]).is_ok(), "several packets a slot");
    let demands = [3, 5, 3].map(|destination| Demand { destination, demanded: 1 }).into_iter().collect();
    let request = Packet::Request(Request { demands, ..Request::default() });
    assert_eq!(request.encode(&mut buffer), Err(EncodeError::Repeated(3)));
    for error in [EncodeError::Repeated(1), EncodeError::Destination(1), EncodeError::Order(1)] {
        assert!(!error.to_string().is_empty());
    }
}

/// Reading in place of another packet gives what reading anew gives.
#[test]
fn a_packet_is_read_in_place_of_any_other() {
    let granted = [Granted { destination: 4, granted: 1 }].into_iter().collect();
    let packets = [
        Packet::Request(Request { seq: 1, ..Request::default() }),
        Packet::Allocation(Allocation { seq: 2, granted, ..Allocation::default() }),
        Packet::Allocation(Allocation { seq: 3, ..Allocation::default() }),
        Packet::Reset(Reset { term: 4, ..Reset::default() }),
        Packet::Watchdog(Watchdog { term: 5, rank: 1 }),
    ];
    for before in packets {
        for packet in packets {
            let mut place = before;
            assert_eq!(place.decode_into(&encode(&packet)), Ok(()));
            assert_eq!(place, packet);
        }
    }
}
