//! What it costs to write and to read a packet of Fastpass's control protocol: a request of ten demands and eight reports, and
//! allocations of 16 slots (what an endpoint gets every 20 us at full load) and of the most there can be.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. The bar is 100 ns for each.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use clearway_proto::fastpass::fcp::header::MAX_BYTES;
use clearway_proto::fastpass::fcp::message::{MOST_DEMANDS, MOST_GRANTED, MOST_GRANTS, MOST_REPORTS};
use clearway_proto::fastpass::fcp::{
    Allocation, Demand, Grant, Granted, Grants, Heard, Packet, PathReport, Request, Reset, Watchdog,
};

/// Different packets of each measurement, so that no branch can be learned.
const PACKETS: usize = 64;
/// Times that each of them is written and read in one repeat.
const ROUNDS: usize = 50;
/// Repeats of the measurement, of which least and median are shown.
const REPEATS: usize = 41;

type Draw = fn(&mut Random) -> Packet;

const KINDS: [(&str, Draw); 7] = [
    ("request, 2 demands", |random| request(random, 2, 0)),
    ("request, 10 demands, 8 reports", |random| request(random, MOST_DEMANDS, MOST_REPORTS)),
    ("allocation, 16 slots, 2 destinations", |random| allocation(random, 2, 16, 80)),
    ("allocation, 64 slots, 15 destinations", |random| allocation(random, MOST_GRANTED, MOST_GRANTS, 80)),
    ("the same, 5 % of a link's slots", |random| allocation(random, MOST_GRANTED, MOST_GRANTS, 5)),
    ("reset", |random| {
        let slot = 1_000_000 + random.below(1 << 20);
        Packet::Reset(Reset {
            to: random.below(1024) as u16,
            slot,
            term: 2,
            first_slot: slot + 100,
            back: None,
        })
    }),
    ("watchdog", |random| {
        Packet::Watchdog(Watchdog {
            term: random.below(1 << 10) as u32,
            rank: 1,
            horizon: random.below(1 << 30),
        })
    }),
];

fn main() {
    println!("FCP, ns a packet, least (median) of {REPEATS}; must be 100:");
    println!("  {:<40} {:<16}{:<16}{:<8}on Ethernet", "", "encode", "decode", "bytes");
    for (name, draw) in KINDS {
        let mut random = Random(1);
        let packets: Vec<Packet> = (0..PACKETS).map(|_| draw(&mut random)).collect();
        let written: Vec<Vec<u8>> = packets.iter().map(write).collect();
        let mut buffer = [0; MAX_BYTES];
        let encode = measure(|i| {
            black_box(black_box(&packets[i]).encode(black_box(&mut buffer))).expect("a sound packet");
        });
        let mut packet = packets[0];
        let decode = measure(|i| {
            black_box(black_box(&mut packet).decode_into(black_box(&written[i]))).expect("a packet");
        });
        let mean = |of: fn(&Packet) -> u32| packets.iter().map(of).sum::<u32>() as usize / PACKETS;
        let (bytes, wire) = (mean(Packet::bytes), mean(Packet::wire_bytes));
        println!("  {name:<40} {encode:<16}{decode:<16}{bytes:<8}{wire}");
    }
}

/// Least and median of the nanoseconds for one packet.
fn measure(mut each: impl FnMut(usize)) -> String {
    let mut ns: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let started = Instant::now();
            for _ in 0..ROUNDS {
                (0..PACKETS).for_each(&mut each);
            }
            started.elapsed().as_nanos() as f64 / (PACKETS * ROUNDS) as f64
        })
        .collect();
    ns.sort_by(f64::total_cmp);
    format!("{:.1} ({:.1})", ns[0], ns[REPEATS / 2])
}

fn write(packet: &Packet) -> Vec<u8> {
    let mut buffer = [0; MAX_BYTES];
    let len = packet.encode(&mut buffer).expect("a sound packet");
    assert_eq!(Packet::decode(&buffer[..len]).as_ref(), Ok(packet));
    buffer[..len].to_vec()
}

fn heard(random: &mut Random) -> Heard {
    let before = if random.below(10) == 0 { random.below(1 << 32) as u32 } else { u32::MAX };
    Heard { latest: 50_000 + random.below(1 << 16) as u32, before }
}

/// Different destinations.
fn destinations(random: &mut Random, count: usize) -> Vec<u16> {
    let first = random.below(1024) as u16;
    (0..count as u16).map(|i| (first + i * 67) % 1024).collect()
}

fn request(random: &mut Random, demands: usize, reports: usize) -> Packet {
    let to = destinations(random, demands);
    let (seq, heard) = (100_000 + random.below(1 << 16) as u32, heard(random));
    let demands = to
        .iter()
        .map(|&destination| Demand { destination, demanded: random.below(1 << 20) as u32 })
        .collect();
    let reports = (0..reports)
        .map(|i| PathReport {
            destination: to[i],
            path: random.below(4) as u16,
            sent: 100,
            lost: random.below(3) as u16,
        })
        .collect();
    let slot = 1_000_000 + random.below(1 << 20);
    let arbiter_ahead = Some(random.below(8) as i32 - 4);
    Packet::Request(Request {
        source: 5,
        incarnation: 1,
        term: 1,
        seq,
        slot,
        arbiter_ahead,
        heard,
        demands,
        reports,
    })
}

/// Returns an allocation of slots of a link that is busy `busy` percent of the time.
fn allocation(random: &mut Random, destinations: usize, slots: usize, busy: u64) -> Packet {
    let to = self::destinations(random, destinations);
    let granted = to
        .iter()
        .map(|&destination| Granted { destination, granted: random.below(1 << 20) as u32 })
        .collect();
    let sent = 1_000_000 + random.below(1 << 20);
    let mut slot = sent + 40;
    let drawn: Vec<Grant> = (0..slots)
        .map(|_| {
            slot += 1;
            while random.below(100) >= busy {
                slot += 1;
            }
            let destination = to[random.below(destinations as u64) as usize];
            Grant { slot, destination, path: random.below(4) as u16 }
        })
        .collect();
    let (seq, heard) = (100_000 + random.below(1 << 16) as u32, heard(random));
    let grants = Grants::default();
    let mut allocation =
        Allocation { to: 5, incarnation: 1, term: 1, seq, slot: sent, heard, back: None, granted, grants };
    for grant in drawn {
        assert!(allocation.grant(grant), "{grant:?} in {allocation:?}");
    }
    Packet::Allocation(allocation)
}

/// A small generator of packets.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 31) % n
    }
}
