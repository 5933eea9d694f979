//! Small writes share timeslots: how many are granted, against the fewest that what is sent fits into, and what a bulk flow
//! beside them has.

use crate::experiment::{figure, floats, integers, run, Outcome};

/// Bytes of a frame beside its payload, and of an acknowledgement's frame.
const OVERHEAD: u64 = 90;
const ACK: u64 = 90;
/// Payload of a full frame, and its bits.
const MTU: u64 = 1500;
/// Bytes that fit into a slot: a full frame and 1 %.
const ROOM: u64 = 1606;
/// Slots in a second, of 1590 B at 10 Gb/s over 0.99.
const SLOTS: f64 = 10e9 * 0.99 / (1590.0 * 8.0);

/// Sizes of writes, and how many a second there are: 12, 8 or 2 fit into a slot, and of the last only one.
const WRITES: [(u64, &str); 4] = [(40, "1M/s"), (100, "1M/s"), (700, "400k/s"), (800, "250k/s")];

fn network(traffic: &str) -> Outcome {
    run(&format!(
        "format = 1\nname = 'packing'\nduration = '10ms'\nwarmup = '1ms'\n[network]\ntopology = 'star'\nhosts = 4\n\
         rate = '10Gbps'\ndelay = '1us'\nmtu = '{MTU}B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n\
         [arbiter]\nat = 'h3'\n{traffic}"
    ))
}

fn writes(from: u32, to: u32, (bytes, rate): (u64, &str), flows: u32) -> String {
    format!(
        "[[traffic]]\npattern = 'open_loop'\nfrom = {from}\nto = {to}\nbytes = '{bytes}B'\nrate = '{rate}'\n\
         flows_per_pair = {flows}\n"
    )
}

fn bulk(to: u32) -> String {
    format!("[[traffic]]\npattern = 'incast'\nfrom = 0\nto = {to}\n")
}

/// Writes of a size that came from a host.
fn written(outcome: &Outcome, from: u64, bytes: u64) -> f64 {
    let delivered =
        integers(outcome, "flows", "from").iter().zip(integers(outcome, "flows", "delivered_bytes"));
    let all: u64 = delivered.filter(|(host, _)| **host == from).map(|(_, delivered)| *delivered).sum();
    all as f64 / bytes as f64
}

/// A figure of a host's endpoint.
fn of_host(outcome: &Outcome, host: u64, column: &str) -> f64 {
    let place = integers(outcome, "endpoints", "host").iter().position(|&other| other == host);
    integers(outcome, "endpoints", column)[place.expect("an endpoint")] as f64
}

/// Returns the fewest slots that `writes` writes of `bytes` bytes and `acks` acknowledgements fit into, whatever the order: the
/// best mixture of two of the ways to fill a slot.
fn fewest(bytes: u64, writes: f64, acks: f64) -> f64 {
    let frame = bytes + OVERHEAD;
    let ways: Vec<_> =
        (0..=ROOM / frame).map(|writes| (writes as f64, ((ROOM - writes * frame) / ACK) as f64)).collect();
    let slots = |share: f64, one: (f64, f64), other: (f64, f64)| {
        let (data, ack) = (share * one.0 + (1.0 - share) * other.0, share * one.1 + (1.0 - share) * other.1);
        let needs = |count: f64, in_one: f64| if count == 0.0 { 0.0 } else { count / in_one };
        needs(writes, data).max(needs(acks, ack))
    };
    let pairs = ways.iter().flat_map(|one| ways.iter().map(move |other| (*one, *other)));
    let mixtures =
        pairs.flat_map(|(one, other)| (0..=200).map(move |part| slots(f64::from(part) / 200.0, one, other)));
    mixtures.fold(f64::INFINITY, f64::min)
}

/// At most 5 % more are granted than are needed, and three for what had just been demanded at the end.
fn assert_granted(outcome: &Outcome, host: u64, least: f64, what: &str) {
    assert_granted_within(outcome, host, 1.05 * least + 3.0, least, what);
}

fn assert_granted_within(outcome: &Outcome, host: u64, most: f64, least: f64, what: &str) {
    let granted = of_host(outcome, host, "slots_granted");
    assert!(granted <= most, "{what}: h{host} is granted {granted} and needs {least}");
    assert!(granted >= least * 0.99, "{what}: h{host} is granted {granted} and needs {least}");
}

#[test]
fn small_writes_are_granted_what_they_fill() {
    for write in WRITES {
        for flows in [1, 8] {
            let outcome = network(&writes(0, 1, write, flows));
            let count = written(&outcome, 0, write.0);
            let what = format!("{write:?} over {flows}");
            assert_granted(&outcome, 0, fewest(write.0, count, 0.0), &what);
            // Only 20 or so acknowledgements of large writes come in the time in which a slot does, which is one slot and a bit.
            let least = fewest(write.0, 0.0, count);
            assert_granted_within(&outcome, 1, 1.2 * least, least, &what);
        }
    }
}

#[test]
fn writes_both_ways_are_granted_what_they_and_their_acknowledgements_fill() {
    for write in WRITES {
        for flows in [1, 8] {
            let traffic = writes(0, 1, write, flows) + &writes(1, 0, write, flows);
            let outcome = network(&traffic);
            let (there, back) = (written(&outcome, 0, write.0), written(&outcome, 1, write.0));
            let what = format!("{write:?} over {flows}, both ways");
            assert_granted(&outcome, 0, fewest(write.0, there, back), &what);
            assert_granted(&outcome, 1, fewest(write.0, back, there), &what);
        }
    }
}

/// The goodput of the bulk flow, the last of the flows.
fn bulk_gbps(outcome: &Outcome) -> f64 {
    *floats(outcome, "flows", "goodput_gbps").last().expect("flows")
}

fn assert_bulk_has_what_is_left(outcome: &Outcome, taken: f64, what: &str) {
    let left = (SLOTS - taken) * (MTU * 8) as f64 / 1e9;
    let bulk = bulk_gbps(outcome);
    assert!(bulk > 0.97 * left, "{what}: {bulk} Gb/s of {left}");
    assert_eq!(figure(outcome, "drops"), 0.0);
    // Who has always something to send leaves no slot out, but for a few at the start.
    assert!(figure(outcome, "slots_unused") <= 10.0, "{what}: {}", figure(outcome, "slots_unused"));
}

/// Writes a second in the time that is measured.
fn rate(outcome: &Outcome, flows: usize, bytes: u64) -> f64 {
    let gbps: f64 = floats(outcome, "flows", "goodput_gbps")[..flows].iter().sum();
    gbps * 1e9 / 8.0 / bytes as f64
}

#[test]
fn a_bulk_flow_has_what_small_writes_leave() {
    for write in WRITES {
        for to in [1, 2] {
            let outcome = network(&(writes(0, 1, write, 1) + &bulk(to)));
            let written = rate(&outcome, 1, write.0);
            let what = format!("{write:?}, bulk to h{to}");
            assert_bulk_has_what_is_left(&outcome, fewest(write.0, written, 0.0), &what);
        }
    }
}

#[test]
fn a_bulk_flow_has_what_small_writes_both_ways_leave() {
    for write in WRITES {
        for to in [1, 2] {
            let outcome = network(&(writes(0, 1, write, 1) + &writes(1, 0, write, 1) + &bulk(to)));
            let written = rate(&outcome, 2, write.0) / 2.0;
            let what = format!("{write:?} both ways, bulk to h{to}");
            assert_bulk_has_what_is_left(&outcome, fewest(write.0, written, written), &what);
        }
    }
}

/// A few writes beside a bulk flow to the same host take little of it, and wait for no more than the bulk flow's turn.
#[test]
fn writes_beside_a_bulk_flow_to_the_same_host_do_not_starve() {
    for rate in ["1k/s", "20k/s"] {
        let outcome = network(&(writes(0, 1, (100, rate), 1) + &bulk(1)));
        let left = SLOTS * (MTU * 8) as f64 / 1e9;
        assert!(bulk_gbps(&outcome) > 0.96 * left, "{rate}: {}", bulk_gbps(&outcome));
        // 32 slots of 1.28 us, and the acknowledgement's wait for a slot of its own.
        let latency = figure(&outcome, "latency_p999_us");
        assert!(latency < 200.0, "{rate}: {latency}");
    }
}
