//! The packets that a scenario records, against arithmetic.
//!
//! Star, 80 Gb/s, 1 us a link: a frame of 1000 B takes 100 ns, and an acknowledgement of 64 B 6.4 ns.

use std::collections::BTreeSet;

use clearway_proto::fastpass::fcp::Packet;
use clearway_sim::check::load_text;

use crate::experiment::{figure, floats, integers, run, run_on, summary, table, texts, Outcome};

/// Picoseconds of a frame on a link.
const FRAME: u64 = 100_000;
/// Picoseconds from one end of a link to the other.
const DELAY: u64 = 1_000_000;
/// Picoseconds of an acknowledgement on a link.
const ACK: u64 = 6_400;

fn star(hosts: u32, rest: &str) -> String {
    format!(
        "format = 1\nname = 'packets'\nduration = '5ms'\nstop_when_complete = true\n[network]\ntopology = 'star'\n\
         hosts = {hosts}\nrate = '80Gbps'\ndelay = '1us'\nmtu = '1000B'\nframing = '0B'\n\
         [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '64B'\nrto = '50us'\n{rest}\n"
    )
}

/// A flow of three packets from the first host to the second, and another of two packets back.
fn two_flows(record: &str) -> String {
    star(
        2,
        &format!(
            "[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\nbytes = '3000B'\n\
             [[traffic]]\npattern = 'incast'\nfrom = 1\nto = 0\nbytes = '2000B'\nstart = '100us'\n\
             [record.packets]\n{record}"
        ),
    )
}

/// A row: begun, arrived, link, kind, flow and sequence number.
type Row = (u64, u64, String, String, f64, u64);

fn rows(outcome: &Outcome) -> Vec<Row> {
    let of = |name| integers(outcome, "packets", name);
    let (link, kind) = (texts(outcome, "packets", "link"), texts(outcome, "packets", "kind"));
    let flow = floats(outcome, "packets", "flow");
    let row = |at: usize| {
        (of("begun_ps")[at], of("time_ps")[at], link[at].into(), kind[at].into(), flow[at], of("seq")[at])
    };
    (0..link.len()).map(row).collect()
}

/// The rows of packet `seq` of a flow of which packet 0 leaves at `start`, and of its acknowledgement: each crosses two links.
fn there_and_back(flow: u32, [from, to]: [&str; 2], start: u64, seq: u64) -> Vec<Row> {
    let begun = start + seq * FRAME;
    let at_switch = begun + FRAME + DELAY;
    let at_host = at_switch + FRAME + DELAY;
    let back = at_host + ACK + DELAY;
    let row = |begun: u64, end: u64, link: String, kind: &str| {
        (begun, end, link, kind.to_string(), f64::from(flow), seq)
    };
    vec![
        row(begun, at_switch, format!("{from}>tor0"), "data"),
        row(at_switch, at_host, format!("tor0>{to}"), "data"),
        row(at_host, back, format!("{to}>tor0"), "ack"),
        row(back, back + ACK + DELAY, format!("tor0>{from}"), "ack"),
    ]
}

/// All rows of the two flows.
fn expected() -> Vec<Row> {
    let first = (0..3).flat_map(|seq| there_and_back(0, ["h0", "h1"], 0, seq));
    let second = (0..2).flat_map(|seq| there_and_back(1, ["h1", "h0"], 100_000_000, seq));
    let mut rows: Vec<Row> = first.chain(second).collect();
    // Links are in the order of their numbers at one instant: no two arrive at one here.
    rows.sort_by_key(|row| row.1);
    rows
}

#[test]
fn each_packet_has_a_row_for_each_link_at_the_time_that_arithmetic_says() {
    let outcome = run(&two_flows(""));
    assert_eq!(rows(&outcome), expected());
    assert_eq!(outcome.packet_hops, 20);
    assert_eq!(figure(&outcome, "packets"), 20.0);
    assert_eq!(summary(&outcome, "packets_until_us"), None);
    let is_data = texts(&outcome, "packets", "kind").into_iter().map(|kind| kind == "data");
    for (at, is_data) in is_data.enumerate() {
        let (of, text) =
            (|name| integers(&outcome, "packets", name)[at], |name| texts(&outcome, "packets", name)[at]);
        assert_eq!((of("payload_bytes"), of("wire_bytes")), if is_data { (1000, 1000) } else { (0, 64) });
        assert_eq!(of("cumulative"), if is_data { 0 } else { of("seq") + 1 });
        let (first, there) = (floats(&outcome, "packets", "flow")[at] == 0.0, ["h0", "h1"]);
        let [from, to] = if first == is_data { there } else { ["h1", "h0"] };
        assert_eq!((text("from"), text("to"), text("lost"), text("class")), (from, to, "", ""));
        let crossed = if text("link").starts_with("tor0") { 2 } else { 1 };
        assert_eq!(of("hops"), crossed);
        assert_eq!(of("sent_ps"), of("seq") * FRAME + if first { 0 } else { 100_000_000 });
    }
}

#[test]
fn a_record_changes_nothing_of_the_run() {
    let (with, without) = (run(&two_flows("")), run(&two_flows("").replace("[record.packets]", "")));
    assert_eq!((&with.digest, with.packet_hops), (&without.digest, without.packet_hops));
    assert!(without.tables.iter().all(|table| table.name != "packets"));
    assert_eq!(summary(&without, "packets"), None);
}

#[test]
fn only_what_is_asked_for_has_rows() {
    let of = |record: &str, holds: &dyn Fn(&Row) -> bool| {
        let expected: Vec<Row> = expected().into_iter().filter(holds).collect();
        assert!(!expected.is_empty() && expected.len() < 20, "{record}");
        assert_eq!(rows(&run(&two_flows(record))), expected, "{record}");
    };
    of("flows = 1", &|row| row.4 == 1.0);
    of("flows = '0..1'", &|row| row.4 == 0.0);
    of("links = 'h0-tor0'", &|row| ["h0>tor0", "tor0>h0"].contains(&row.2.as_str()));
    of("links = ['h0>tor0', 'tor0>h1']", &|row| ["h0>tor0", "tor0>h1"].contains(&row.2.as_str()));
    of("flows = [1]\nlinks = ['h0>tor0']", &|row| row.4 == 1.0 && row.2 == "h0>tor0");
    of("from = '50us'", &|row| row.1 >= 50_000_000);
    // The first packet arrives at the switch at 1.1 us: `from` is included, and `until` is not.
    of("from = '1100ns'\nuntil = '1200ns'", &|row| row.1 == FRAME + DELAY);
    of("until = '1100001ps'", &|row| row.1 == FRAME + DELAY);
}

#[test]
fn at_its_limit_the_record_ends_and_the_summary_says_when() {
    for limit in [1, 7, 19] {
        let outcome = run(&two_flows(&format!("limit = {limit}")));
        assert_eq!(rows(&outcome), expected()[..limit]);
        assert_eq!(figure(&outcome, "packets"), limit as f64);
        assert_eq!(figure(&outcome, "packets_until_us"), expected()[limit - 1].1 as f64 / 1e6);
    }
    let whole = run(&two_flows("limit = 20"));
    assert_eq!(summary(&whole, "packets_until_us"), None);
}

/// Seven senders of 20 packets each into a buffer of 10.
fn incast(record: &str) -> String {
    let rest = "[switch.default]\nbuffer = '10kB'\n[[traffic]]\npattern = 'incast'\nfrom = '0..7'\nto = 7\nbytes = '20kB'\n";
    star(8, &format!("{rest}[record.packets]\n{record}"))
}

#[test]
fn dropped_frames_have_rows_at_the_port_that_had_no_room() {
    let outcome = run(&incast(""));
    let lost: Vec<usize> = texts(&outcome, "packets", "lost")
        .iter()
        .enumerate()
        .filter(|(_, why)| !why.is_empty())
        .map(|(at, _)| at)
        .collect();
    assert!(!lost.is_empty());
    assert_eq!(lost.len() as f64, figure(&outcome, "drops"));
    let of = |name| integers(&outcome, "packets", name);
    let (links, why) = (texts(&outcome, "packets", "link"), texts(&outcome, "packets", "lost"));
    let (flow, seq) = (floats(&outcome, "packets", "flow"), of("seq"));
    for at in lost {
        assert_eq!((links[at], why[at], of("hops")[at]), ("tor0>h7", "no room", 1));
        assert_eq!(of("begun_ps")[at], of("time_ps")[at]);
        // It arrived at the switch at that instant, and is sent again later.
        let same = |other: &usize| flow[*other] == flow[at] && seq[*other] == seq[at];
        let mut others = (0..links.len()).filter(same).filter(|&other| links[other] != "tor0>h7");
        assert!(others.any(|other| of("time_ps")[other] == of("time_ps")[at]));
        let delivered = |&other: &usize| links[other] == "tor0>h7" && why[other].is_empty();
        assert!((0..links.len())
            .filter(same)
            .filter(delivered)
            .any(|other| of("sent_ps")[other] > of("sent_ps")[at]));
    }
    assert_eq!(links.len() as u64, outcome.packet_hops + figure(&outcome, "drops") as u64);
}

#[test]
fn the_record_is_the_same_on_any_number_of_threads_with_and_without_a_limit() {
    let lossy = "[[fault]]\nkind = 'loss'\nlink = 'h1-tor0'\nprobability = 0.2\n";
    for record in ["", "limit = 100", "limit = 333", "from = '3us'\nuntil = '60us'\nlinks = 'h7-tor0'"] {
        let text = incast(record).replace("[record.packets]", &format!("{lossy}[record.packets]"));
        let one = run_on(&text, None, 1);
        for threads in [2, 3] {
            let other = run_on(&text, None, threads);
            assert_eq!(table(&other, "packets"), table(&one, "packets"), "{record}, {threads} threads");
            assert_eq!(other.summary, one.summary);
        }
    }
}

#[test]
fn frames_that_a_link_loses_have_rows_from_when_they_begin_to_leave() {
    let fault = "[[fault]]\nkind = 'loss'\nlink = 'h0>tor0'\nprobability = 1\nuntil = '150ns'\n";
    let outcome =
        run(&two_flows("flows = 0").replace("[record.packets]", &format!("{fault}[record.packets]")));
    let why = texts(&outcome, "packets", "lost");
    let lost: Vec<Row> = rows(&outcome)
        .into_iter()
        .zip(&why)
        .filter(|(_, why)| **why == "on the link")
        .map(|(row, _)| row)
        .collect();
    let row = |seq: u64| (seq * FRAME, seq * FRAME, "h0>tor0".to_string(), "data".to_string(), 0.0, seq);
    assert_eq!(lost, [row(0), row(1)]);
}

/// Two senders at the rate of the link that they share, in a network that pauses them.
const PAUSED: &str =
    "[switch.default]\nsharing = 'shared'\nbuffer = '1MB'\npfc = 'static'\npfc_xoff = '3kB'\npfc_response = '3us'\n\
    [[traffic]]\npattern = 'incast'\nfrom = '0..2'\nto = 2\nbytes = '50kB'\n[record.packets]\n";

#[test]
fn pauses_and_resumes_have_rows_and_are_as_many_as_the_table_of_pauses_counts() {
    let outcome = run(&star(3, PAUSED));
    let kinds = texts(&outcome, "packets", "kind");
    let of = |name| integers(&outcome, "packets", name);
    let told: Vec<usize> = (0..kinds.len()).filter(|&at| ["pause", "resume"].contains(&kinds[at])).collect();
    // A PAUSE and a RESUME for each of the two senders.
    assert_eq!(told.len(), 4);
    assert_eq!(told.len() as u64, integers(&outcome, "pauses", "pfc_frames").iter().sum::<u64>());
    assert!(of("time_ps").contains(&of("begun_ps")[told[0]]), "the first PAUSE begins when a frame arrives");
    for at in told {
        assert!(floats(&outcome, "packets", "flow")[at].is_nan());
        assert_eq!(of("wire_bytes")[at], 84);
        assert_eq!(of("sent_ps")[at] == 0, kinds[at] == "resume");
        // 84 bytes take 8.4 ns, the link 1 us, and the PAUSE 3 us to act.
        assert_eq!(of("time_ps")[at] - of("begun_ps")[at], 8_400 + DELAY + 3_000_000);
        assert!(texts(&outcome, "packets", "link")[at].starts_with("tor0>h"));
    }
}

#[test]
fn a_record_that_names_nothing_that_is_there_is_refused() {
    for (record, says) in [
        ("flows = 2", "record.packets.flows: names flow 2, "),
        ("flows = 'all'", "record.packets.flows"),
        ("flows = '5..5'", "5..5 is an empty range"),
        ("links = 'h0-h1'", "no link joins h0 and h1; h0 is linked to tor0"),
        ("links = ['h0-tor0', 'h9>tor0']", "there is no node h9"),
        ("limit = 0", "record.packets.limit"),
        ("limit = 1000000001", "record.packets.limit"),
        ("from = '2us'\nuntil = '1us'", "record.packets.until: 1us is not after from, 2us"),
        ("until = '0us'", "record.packets.until"),
        ("frm = '1us'", "from"),
    ] {
        // Another key of the table above is known still.
        let text =
            two_flows(record).replace("[record.packets]", "[record]\nqueues = '1ms'\n[record.packets]");
        let Err(error) = load_text(&text, "x", std::path::Path::new("."), &[], None) else {
            panic!("{record} is accepted")
        };
        assert!(error.to_string().contains(says), "{record}: {error}");
        assert_eq!(error.problems.len(), 1, "{error}");
    }
}

#[test]
fn the_limit_counts_in_the_estimate_of_memory() {
    let of = |text: &str| {
        let loaded = load_text(text, "x", std::path::Path::new("."), &[], None).expect("a good scenario");
        clearway_sim::check::estimate_bytes(&loaded.scenario)
    };
    let a_packet = |scenario: fn(&str) -> String| {
        (of(&scenario("limit = 2000000")) - of(&scenario("limit = 1000000"))) / 1_000_000
    };
    let (without, with) = (a_packet(two_flows), a_packet(timeslots));
    assert!((200..1000).contains(&without), "{without} bytes a packet");
    // A piece of a control packet is text of 128 digits, of which Python has four bytes each.
    assert!((without + 700..without + 1500).contains(&with), "{with} bytes a packet");
}

/// Each of 19 hosts of two racks sends to each other, in timeslots of an arbiter at the twentieth.
fn timeslots(record: &str) -> String {
    format!(
        "format = 1\nname = 'timeslots'\nduration = '5ms'\nstop_when_complete = true\n\
         [network]\ntopology = 'leaf_spine'\nleaves = 2\nspines = 2\nhosts_per_leaf = 10\n\
         [transport.t]\nprotocol = 'fastpass'\n[arbiter]\nat = 'h19'\n\
         [[traffic]]\npattern = 'all_to_all'\nhosts = '0..19'\nbytes = '20kB'\n[record.packets]\n{record}\n"
    )
}

/// The control packets of a run by row, decoded.
fn control_packets(outcome: &Outcome) -> Vec<(usize, Packet)> {
    let of_row = integers(outcome, "control_packets", "packet");
    let pieces = texts(outcome, "control_packets", "contents");
    let mut packets: Vec<(usize, String)> = Vec::new();
    for (row, piece) in of_row.iter().zip(pieces) {
        match packets.last_mut() {
            Some((last, digits)) if *last == *row as usize => {
                assert_eq!(digits.len() % 128, 0, "only the last piece has fewer than 64 bytes");
                digits.push_str(piece);
            }
            _ => packets.push((*row as usize, piece.to_string())),
        }
    }
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).expect("ASCII"), 16).expect("digits");
    let decoded = |digits: &str| {
        let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(byte).collect();
        Packet::decode(&bytes).expect("what an agent has sent")
    };
    packets.iter().map(|(row, digits)| (*row, decoded(digits))).collect()
}

#[test]
fn control_packets_say_what_their_rows_and_the_endpoints_say() {
    let outcome = run(&timeslots(""));
    let (kinds, sizes) = (texts(&outcome, "packets", "kind"), integers(&outcome, "packets", "wire_bytes"));
    let (link, lost) = (texts(&outcome, "packets", "link"), texts(&outcome, "packets", "lost"));
    let packets = control_packets(&outcome);
    let known = ["request", "allocation", "reset", "watchdog", "trial", "answer"];
    assert_eq!(packets.len(), kinds.iter().filter(|kind| known.contains(kind)).count());
    assert!(packets.len() > 100);
    let mut granted = BTreeSet::new();
    for (row, packet) in packets {
        assert_eq!(u64::from(packet.wire_bytes()), sizes[row]);
        match packet {
            Packet::Request(request) => {
                assert_eq!(kinds[row], "request");
                assert!(request.source < 19);
            }
            Packet::Allocation(allocation) => {
                assert_eq!(kinds[row], "allocation");
                let arrives = link[row].ends_with(&format!(">h{}", allocation.to)) && lost[row].is_empty();
                let of = |grant: clearway_proto::fastpass::fcp::Grant| (allocation.to, grant.slot);
                granted.extend(allocation.grants().filter(|_| arrives).map(of));
            }
            Packet::Reset(_) => assert_eq!(kinds[row], "reset"),
            other => panic!("one arbiter and no fault, and yet {other:?}"),
        }
    }
    let slots: u64 = integers(&outcome, "endpoints", "slots_granted").iter().sum();
    assert_eq!((granted.len() as u64, slots > 1000), (slots, true));
}

#[test]
fn a_control_packet_counts_to_the_limit_once_for_each_64_bytes() {
    let whole = run(&timeslots(""));
    let pieces = integers(&whole, "control_packets", "packet");
    let weights: Vec<u64> = (0..texts(&whole, "packets", "kind").len() as u64)
        .map(|row| pieces.iter().filter(|piece| **piece == row).count().max(1) as u64)
        .collect();
    let heavy =
        weights.iter().position(|weight| *weight > 1).expect("a control packet of more than 64 bytes");
    // As many as come before it, and one piece of it, which is not enough.
    let limit: u64 = weights[..heavy].iter().sum::<u64>() + 1;
    for (limit, kept) in [(limit - 1, heavy), (limit, heavy), (limit + 1, heavy + 1)] {
        for threads in [1, 2] {
            let cut = run_on(&timeslots(&format!("limit = {limit}")), None, threads);
            assert_eq!(figure(&cut, "packets"), kept as f64, "limit {limit}");
            let last = integers(&cut, "control_packets", "packet").iter().max();
            assert_eq!(last, pieces.iter().filter(|row| **row < kept as u64).max());
        }
    }
}

#[test]
fn a_run_without_an_arbiter_has_no_table_of_control_packets() {
    let has = |text: &str| run(text).tables.iter().any(|table| table.name == "control_packets");
    assert!(!has(&two_flows("")));
    assert!(has(&timeslots("flows = 0")), "empty, as control packets are of no flow");
}
