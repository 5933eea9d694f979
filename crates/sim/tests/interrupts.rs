//! Hosts whose received frames wait for an interrupt: against arithmetic.
//!
//! Star, 10 Gb/s, 1 us a link, frames of 1500 + 38 B and acknowledgements of 84 B: 1230.4 ns and 67.2 ns a link.

use crate::experiment::{figure, floats, integers, link_value, picoseconds, run, run_on, texts};

/// Picoseconds there and back on the empty path: 2 x (1230.4 ns + 1 us) and 2 x (67.2 ns + 1 us).
const PATH: u64 = 6_595_200;

/// Returns a star of `hosts` hosts that wait for interrupts, each 70 us after the last, which their stacks answer after 3 us.
fn star(hosts: u32, duration: &str, host: &str, rest: &str) -> String {
    let default = ["wake_interval = '70us'", "wake_spread = 0.0", "softirq = '3us'", "softirq_mean = '0us'"];
    let default = default.iter().filter(|line| {
        let key = line.split(' ').next().expect("a key");
        host.lines().all(|given| given.split(' ').next() != Some(key))
    });
    let default: Vec<&str> = default.copied().collect();
    format!(
        "format = 1\nname = 'interrupts'\nduration = '{duration}'\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         rate = '10Gbps'\ndelay = '1us'\nmtu = '1500B'\nframing = '0B'\n[host.default]\nmodel = 'interrupts'\n{}\n{host}\n\
         {rest}\n",
        default.join("\n")
    )
}

/// A transport without congestion control.
const NONE: &str = "[transport.t]\nprotocol = 'none'\nwindow = 1\nheader = '38B'\nack = '84B'\n";

/// Writes of one packet from host 0 to host 1, one at a time: how long each took, but for the first two.
fn round_trips(host: &str) -> Vec<u64> {
    let table = "[[traffic]]\npattern = 'closed_loop'\nfrom = 0\nto = 1\nbytes = '1500B'\n[record]\noperations = true";
    let outcome = run(&star(2, "20ms", host, &format!("{NONE}{table}")));
    let latency = picoseconds(&outcome, "operations", "latency_us");
    // The last is still open.
    latency[2..latency.len() - 1].to_vec()
}

#[test]
fn a_lone_frame_waits_for_its_stacks_and_not_for_an_interval() {
    // Each interrupts as it comes: either end takes 3 us, and 8 us to send.
    let latency = round_trips("wake_interval = '0us'\nsend_delay = '8us'");
    assert!(latency.len() > 500);
    assert!(latency.iter().all(|&latency| latency == PATH + 2 * 3_000_000 + 2 * 8_000_000), "{latency:?}");
    // An interval that is over when the next frame comes is as none.
    let short = round_trips("wake_interval = '28us'\nsend_delay = '8us'");
    assert_eq!(short, latency);
}

#[test]
fn frames_that_come_too_early_wait_until_the_interval_is_over() {
    // A round trip would take 12.6 us: either host is woken every 70 us.
    let latency = round_trips("");
    assert!(latency.len() > 250);
    assert!(latency.iter().all(|&latency| latency == 70_000_000), "{latency:?}");
}

#[test]
fn frames_of_a_stream_wait_half_an_interval_on_average() {
    let paced = NONE.replace("window = 1", "rate = '6Gbps'");
    let table = "[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n";
    let outcome = run(&star(2, "50ms", "", &format!("{paced}{table}")));
    // From one wake-up to the next there are 70 us, and a frame comes at any time between.
    let mean = figure(&outcome, "nic_delay_mean_us");
    assert!((mean - 35.0).abs() < 1.1, "{mean}");
    // With exponential times to answer, those are 70 us and the difference of two such times: E(x^2) / 2 E(x).
    let random = run(&star(2, "50ms", "softirq_mean = '20us'", &format!("{paced}{table}")));
    let mean = figure(&random, "nic_delay_mean_us");
    // 700 wake-ups of a standard deviation of 28 us, to which the waits before them are near.
    assert!((mean - (70.0 * 70.0 + 2.0 * 400.0) / 140.0).abs() < 4.0, "{mean}");
    // All wait in the NIC: 70 us at 6 Gb/s are 34.1 frames of 1538 B.
    let peak = integers(&outcome, "hosts", "receive_queue_peak_bytes")[1];
    assert!((34 * 1538..=36 * 1538).contains(&peak), "{peak}");
    assert_eq!(floats(&outcome, "hosts", "utilisation"), [0.0, 0.0]);
}

#[test]
fn waits_are_the_hosts_and_not_the_fabrics() {
    let table = "[[traffic]]\npattern = 'closed_loop'\nfrom = 0\nto = 1\nbytes = '1500B'\n";
    let swift = NONE.replace("protocol = 'none'\nwindow = 1", "protocol = 'swift'");
    let outcome = run(&star(2, "50ms", "send_delay = '8us'", &format!("{swift}{table}")));
    // What a frame takes to the NIC is the fabric's, as no timestamp tells; what it waits in it is not, to a microsecond.
    let fabric = figure(&outcome, "fabric_rtt_mean_us");
    assert!((fabric - PATH as f64 / 1e6 - 16.0).abs() <= 1.0, "{fabric}");
    assert!((figure(&outcome, "rtt_mean_us") - 70.0).abs() < 0.1);
}

#[test]
fn all_flows_of_a_host_together_send_no_faster_than_it_can() {
    let window = NONE.replace("window = 1", "window = 64");
    let table = "[[traffic]]\npattern = 'incast'\nfrom = 0\nto = '1..3'\nflows_per_pair = 2\n";
    let outcome =
        run(&star(3, "20ms", "send_rate = '4.5Gbps'", &format!("{window}{table}").replace("'1..3'", "1")));
    // 4.5 Gb/s on the wire, less what was on its way at the start: 20 us of 20 ms.
    let sent = link_value(&outcome, "h0>tor0", "utilisation");
    assert!((sent - 0.45).abs() < 0.001, "{sent}");
    let goodput = figure(&outcome, "goodput_gbps");
    assert!((goodput - 4.5 * 1500.0 / 1538.0).abs() < 0.02, "{goodput}");
}

#[test]
fn a_stack_that_stands_still_neither_takes_nor_sends() {
    let host = "wake_interval = '0us'\nstall_interval = '4ms'\nstall = '1ms'";
    let paced = NONE.replace("window = 1", "rate = '1Gbps'");
    let table = "[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n[record]\nlinks = '100us'\n";
    let outcome = run(&star(2, "1s", host, &format!("{paced}{table}")));
    let waits = figure(&outcome, "nic_delay_mean_us");
    // A frame in a stall of length l waits l / 2 on average beside: E(l^2) / (2 * 5 ms), with E(l^2) = (13 / 12) ms^2.
    let expected = 3.0 + 1000.0 * (13.0 / 12.0) / 10.0;
    assert!((waits - expected).abs() < 0.12 * expected, "{waits}, expected {expected}");
    // Nor does host 0 send then: of 5 ms it sends nothing for 1 ms, less the two parts of 100 us that a stall only touches
    // and the frame every 12 us. 200 pairs of times have a standard error of 7 %.
    let bytes = integers(&outcome, "links_series", "sent_bytes");
    let links = texts(&outcome, "links_series", "link");
    let sends = links.iter().zip(bytes).filter(|(link, sent)| **link == "tor0>h1" && **sent > 0).count();
    let idle = 1.0 - sends as f64 / 10_000.0;
    assert!((idle - 0.2 * 0.9).abs() < 0.04, "{idle}");
}

#[test]
fn the_outcome_is_the_same_on_any_number_of_threads() {
    let host = "wake_spread = 0.1\nsoftirq_mean = '2us'\nstall_interval = '1ms'\nstall = '100us'\nsend_delay = '8us'\n\
                send_rate = '5Gbps'\nreceive_queue = '200kB'\n[host.snap]\nhosts = 3\nmodel = 'snap'";
    let table = "[transport.r]\nprotocol = 'reno'\n[[traffic]]\npattern = 'all_to_all'\nbytes = '200kB'\ntransport = 'r'\n\
                 [[traffic]]\npattern = 'open_loop'\ntransport = 't'\nfrom = '0..6'\nto = '0..6'\nremote = false\n\
                 operation = 'read'\nbytes = '64B'\nrate = '5k/s'";
    let table = table.replace("remote = false\n", "");
    let text = star(7, "10ms", host, &format!("{NONE}{table}"));
    let alone = run_on(&text, None, 1);
    assert!(figure(&alone, "operations") > 100.0);
    for threads in [2, 3, 7] {
        assert_eq!(alone.digest, run_on(&text, None, threads).digest);
    }
}
