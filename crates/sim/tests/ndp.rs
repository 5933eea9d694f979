//! NDP in whole networks, against arithmetic, the figures of its paper (Handley et al., SIGCOMM 2017) and those of Broadcom/csg-htsim.

use crate::experiment::{figure, floats, integers, link_count, picoseconds, run, run_on, Outcome};

/// The paper's fat tree (§3.2, §6): 10 Gb/s, 9 kB packets with headers of 64 B, ports that hold eight and as many bytes of headers, ten
/// of which go before a packet.
fn fat_tree(k: u32, duration: &str, rest: &str) -> String {
    let scenario = include_str!("../../../scenarios/ndp_incast.toml");
    let (head, _) = scenario.split_once("[[traffic]]").expect("a table of traffic");
    let head = head.replace("k = 8", &format!("k = {k}")).replace("\"100ms\"", &format!("\"{duration}\""));
    format!("{head}{rest}")
}

/// Hosts around a switch of that kind.
fn star(hosts: u32, keys: &str, rest: &str) -> String {
    let text = fat_tree(4, "1s", rest)
        .replace("topology = \"fat_tree\"\nk = 4", &format!("topology = \"star\"\nhosts = {hosts}"));
    text.replace("[transport.ndp]\n", &format!("[transport.ndp]\n{keys}\n"))
}

/// A full packet at 10 Gb/s, in us.
const PACKET_US: f64 = 7.2;
/// An acknowledgement, a NACK or a pull.
const SHORT_US: f64 = 0.0512;
const PAYLOAD: u32 = 8936;

fn last(outcome: &Outcome) -> f64 {
    floats(outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max)
}

fn one(packets: u32) -> String {
    format!("[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 1\nbytes = '{}B'\n", packets * PAYLOAD)
}

fn incast(packets: u32) -> String {
    format!("[[traffic]]\npattern = 'incast'\nto = 0\nbytes = '{}B'\n", packets * PAYLOAD)
}

/// Over two links of 1 us a round trip with its acknowledgement and its pull is 18.6 us, and three packets fill it. Alone, a flow takes as
/// long as one that nothing holds back.
#[test]
fn alone_a_flow_takes_its_size_and_half_a_round_trip() {
    let free = star(2, "", &one(1000)).replace("\"ndp\"", "\"none\"\nheader = \"64B\"");
    for window in [3, 30] {
        let outcome = run(&star(2, &format!("initial_window = {window}"), &one(1000)));
        assert_eq!(picoseconds(&outcome, "flows", "fct_us"), picoseconds(&run(&free), "flows", "fct_us"));
        let expected = 1001.0 * PACKET_US + 2.0;
        assert!((last(&outcome) - expected).abs() < 0.001, "{} of {expected}", last(&outcome));
        assert_eq!((figure(&outcome, "trims"), figure(&outcome, "retransmissions")), (0.0, 0.0));
    }
}

/// A window below the bandwidth-delay product leaves once in a round trip, from the first bit of a packet to its pull, which follows
/// the acknowledgement.
#[test]
fn a_window_below_the_bandwidth_delay_product_leaves_once_a_round_trip() {
    let round = 2.0 * (PACKET_US + 1.0) + 2.0 + 3.0 * SHORT_US;
    for window in [1, 2] {
        let outcome = run(&star(2, &format!("initial_window = {window}"), &one(1000)));
        let expected = f64::from(1000 / window - 1) * round + f64::from(window + 1) * PACKET_US + 2.0;
        assert!((last(&outcome) - expected).abs() < 0.001, "{window}: {} of {expected}", last(&outcome));
    }
}

/// §6.2, figure 20: the last flow of an incast ends within 2 % of N times its size at the rate of the link. Nothing is lost, so no timer
/// runs out that waits for as long as headers do of which ten go before a packet, 10 ms for those of 432 windows; and whatever is cut is
/// sent again once.
#[test]
fn an_incast_ends_when_the_receivers_link_has_carried_it() {
    for (senders, packets) in [(8, 30), (8, 300), (100, 15), (432, 30)] {
        let text = star(senders + 1, "rto = \"20ms\"", &incast(packets));
        let outcome = run(&text.replace("trim_room = \"72kB\"", "trim_room = \"10MB\""));
        let best = f64::from(senders * packets + 1) * PACKET_US + 2.0;
        let ratio = last(&outcome) / best;
        assert!((1.0..1.02).contains(&ratio), "{senders} of {packets}: {ratio}");
        assert_eq!((figure(&outcome, "drops"), figure(&outcome, "timeouts_whole")), (0.0, 0.0), "{senders}");
        let trims = figure(&outcome, "trims");
        assert!(trims > 0.0 && figure(&outcome, "retransmissions") == trims, "{senders}: {trims}");
        assert_eq!(link_count(&outcome, "tor0>h0", "trims"), trims as u64);
        assert_eq!(figure(&outcome, "needless_retransmissions"), 0.0, "{senders}");
    }
}

/// §3.2.4: headers that find no room are lost, and the timer finds them while the receiver pulls others.
#[test]
fn an_incast_that_loses_headers_ends_as_soon() {
    let outcome = run(&star(433, "", &incast(30)));
    assert!(figure(&outcome, "drops") > 1000.0 && figure(&outcome, "timeouts_whole") > 0.0);
    let ratio = last(&outcome) / (f64::from(432 * 30 + 1) * PACKET_US + 2.0);
    assert!((1.0..1.02).contains(&ratio), "{ratio}");
}

/// §6.1, figure 14: a permutation fills 92 % of a fat tree of 432 hosts; §6.2 has 98 % of one of 128, which is this one.
#[test]
fn a_permutation_fills_the_fat_tree() {
    let outcome = run(&fat_tree(8, "100ms", "[[traffic]]\npattern = 'permutation'\nbytes = '9MB'\n"));
    let times = floats(&outcome, "flows", "fct_us");
    let best = (9e6 / f64::from(PAYLOAD)).ceil() * PACKET_US;
    let mean = times.iter().map(|time| best / time).sum::<f64>() / times.len() as f64;
    assert!(mean > 0.9, "{mean}");
    assert_eq!((figure(&outcome, "drops"), figure(&outcome, "timeouts_whole")), (0.0, 0.0));
}

/// §6.2, figure 21: A sends to B, C, D and E, and F to E. The pulls for A are not wasted: the links from A and to E are full, the flows
/// from A have equal parts, and F has what A leaves.
#[test]
fn senders_that_are_slow_waste_no_pulls() {
    let flow = |from: u32, to: u32, bytes: &str| {
        format!("[[traffic]]\npattern = 'incast'\nfrom = [{from}]\nto = {to}\nbytes = '{bytes}'\n")
    };
    let [b, c, d, e] = [1, 2, 3, 4].map(|to| flow(0, to, "20MB"));
    let outcome = run(&star(6, "", &format!("{b}{c}{d}{e}{}", flow(5, 4, "60MB"))));
    let times = floats(&outcome, "flows", "fct_us");
    let bytes = integers(&outcome, "flows", "bytes");
    let rates: Vec<f64> = times.iter().zip(bytes).map(|(time, &bytes)| bytes as f64 * 8e-3 / time).collect();
    assert!(rates[..4].iter().all(|rate| (2.3..2.6).contains(rate)), "{rates:?}");
    assert!((7.3..7.7).contains(&rates[4]), "{rates:?}");
}

/// A message that comes later on the same flow is pushed as the first was: it takes as long.
#[test]
fn every_message_of_a_flow_is_pushed() {
    let traffic = "[[traffic]]\npattern = 'closed_loop'\nfrom = 0\nto = 1\nbytes = '89360B'\nstop = '10ms'\n";
    let outcome = run(&star(2, "", traffic));
    // Ten packets, the last one's way, and the acknowledgement that lets the next message begin.
    let each = 11.0 * PACKET_US + 4.0 + 2.0 * SHORT_US;
    let done = figure(&outcome, "operations");
    assert!((done - 10_000.0 / each).abs() < 2.0, "{done} of {}", 10_000.0 / each);
}

/// Corrupted packets and headers wait for the timer of 1 ms, lost pulls for the next one.
#[test]
fn lost_packets_headers_and_pulls_are_made_good() {
    let losses = "[[fault]]\nkind = 'loss'\nlink = 'h0-tor0'\nprobability = 0.01\n";
    let outcome = run(&star(17, "", &format!("{}{losses}", incast(100))));
    assert_eq!(figure(&outcome, "completed"), 16.0);
    assert!(figure(&outcome, "fault_losses") > 20.0 && figure(&outcome, "timeouts_whole") > 0.0);
    let best = 1600.0 * PACKET_US;
    assert!(last(&outcome) < 1.5 * best + 10_000.0, "{} of {best}", last(&outcome));
}

/// The receiver's link, or the way of pulls alone, is dead for a while; and a link of the fabric for good, which is routed around.
#[test]
fn flows_end_when_links_die() {
    let flow = "[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 15\nbytes = '9MB'\n";
    for link in ["tor7-h15", "tor7>h15", "h15>tor7", "h0-tor0"] {
        let fault = format!("[[fault]]\nkind = 'down'\nlink = '{link}'\nat = '2ms'\nuntil = '4ms'\n");
        let outcome = run(&fat_tree(4, "100ms", &format!("{flow}{fault}")));
        assert_eq!(figure(&outcome, "completed"), 1.0, "{link}");
        let best = 1008.0 * PACKET_US + 2000.0;
        assert!((best - 100.0..best + 3000.0).contains(&last(&outcome)), "{link}: {}", last(&outcome));
    }
    let dead = "[routing]\ndetect = '1ms'\nconverge = '2ms'\n[[fault]]\nkind = 'down'\nlink = 'tor0-agg0'\nat = '500us'\n";
    let everybody = "[[traffic]]\npattern = 'permutation'\nbytes = '3MB'\n";
    let outcome = run(&fat_tree(4, "100ms", &format!("{everybody}{dead}")));
    assert_eq!(figure(&outcome, "completed"), 16.0);
    assert!(figure(&outcome, "fault_losses") > 0.0);
}

/// §3.1: 432 senders push 30 packets each in 216 us, and nearly all are cut. Where headers always go first, nothing else leaves for the
/// 600 us that they take; where ten of them go before a packet, packets have 7.2 us of 7.7.
#[test]
fn headers_keep_no_packet_waiting_for_long() {
    let packets = |keys: &str| {
        let text = star(433, "", &incast(30)).replace("trim_headers_first = 10\n", keys);
        let text =
            text.replace("\"1s\"", "\"600us\"").replace("trim_room = \"72kB\"", "trim_room = \"10MB\"");
        let outcome = run(&text);
        let [bytes, frames] = ["wire_bytes", "frames"].map(|of| link_count(&outcome, "tor0>h0", of));
        (bytes - 64 * frames) / u64::from(PAYLOAD)
    };
    assert!(packets("") < 10, "{}", packets(""));
    for headers in [10, 100] {
        let of = packets(&format!("trim_headers_first = {headers}\n"));
        let expected = 590.0 / (PACKET_US + f64::from(headers) * SHORT_US);
        assert!((of as f64 / expected - 1.0).abs() < 0.03, "{headers}: {of} of {expected}");
    }
}

/// Pacers and headers act at places whose events have one order whoever simulates them.
#[test]
fn any_number_of_threads_gives_the_same_outcome() {
    let rest = "[[traffic]]\npattern = 'incast'\nto = 13\nbytes = '300kB'\n[[traffic]]\npattern = 'permutation'\nbytes = '1MB'\n\
                [[fault]]\nkind = 'loss'\nlink = 'agg0-spine0'\nprobability = 0.01\n\
                [[fault]]\nkind = 'down'\nlink = 'tor6-h13'\nat = '400us'\nuntil = '900us'\n";
    for host in ["", "[host.default]\nmodel = 'snap'\n"] {
        for spray in ["round_robin", "packet", "reps", "adaptive"] {
            let text = fat_tree(4, "100ms", &format!("{rest}{host}"));
            let text = text.replace("spray = \"round_robin\"", &format!("spray = \"{spray}\""));
            let alone = run_on(&text, None, 1);
            assert_eq!(figure(&alone, "completed"), 31.0, "{spray} {host}");
            for threads in [2, 3, 7] {
                let together = run_on(&text, None, threads);
                assert_eq!(alone.digest, together.digest, "{spray} {threads} {host}");
                assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables), "{spray} {host}");
            }
        }
    }
}
