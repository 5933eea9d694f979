//! Closed forms that need no theory, exact to the picosecond: what a frame weighs, how long it takes, and what a
//! window makes of that.

use crate::experiment::{self, integers, picoseconds, run};

/// A link as this file counts: bits a second, and picoseconds one way.
type Link = (u64, u64);

/// `ceil(bits / rate)` in picoseconds.
fn transmission(bytes: u64, rate: u64) -> u64 {
    u64::try_from((u128::from(bytes) * 8 * 1_000_000_000_000).div_ceil(u128::from(rate))).expect("hours")
}

/// One frame over store-and-forward links.
fn crossing(bytes: u64, links: &[Link]) -> u64 {
    links.iter().map(|&(rate, delay)| transmission(bytes, rate) + delay).sum()
}

/// The longest transmission on the way.
fn slowest(bytes: u64, links: &[Link]) -> u64 {
    links.iter().map(|&(rate, _)| transmission(bytes, rate)).max().expect("a link")
}

/// A network and the links from one of its hosts to another.
struct TestPath {
    network: &'static str,
    from: u32,
    to: u32,
    links: Vec<Link>,
}

const GBPS: u64 = 1_000_000_000;

/// Returns a path across each topology. The uplinks of the leaf-spine: 3 hosts * 33.3 Gb/s / (2 spines * 1.5).
fn ways() -> Vec<TestPath> {
    let fat_tree = "topology = 'fat_tree'\nk = 4\nrate = '7Gbps'\ndelay = '333ns'";
    let leaf_spine = "topology = 'leaf_spine'\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\n\
                      oversubscription = 1.5\nrate = '33.3Gbps'\ndelay = '2us'";
    let uplink = 3 * 33_300_000_000 / 3;
    let way = |network, from, to, links| TestPath { network, from, to, links };
    vec![
        way("topology = 'star'\nhosts = 3\nrate = '7Gbps'\ndelay = '1.5us'", 0, 2, vec![(7 * GBPS, 1_500_000); 2]),
        way(
            "topology = 'dumbbell'\nleft = 2\nright = 2\nrate = '100Gbps'\ndelay = '1us'\nbottleneck = '33.3Gbps'\n\
             bottleneck_delay = '77777ps'",
            1,
            2,
            vec![(100 * GBPS, 1_000_000), (33_300_000_000, 77_777), (100 * GBPS, 1_000_000)],
        ),
        way(leaf_spine, 0, 1, vec![(33_300_000_000, 2_000_000); 2]),
        way(
            leaf_spine,
            0,
            5,
            vec![
                (33_300_000_000, 2_000_000),
                (uplink, 2_000_000),
                (uplink, 2_000_000),
                (33_300_000_000, 2_000_000),
            ],
        ),
        way(fat_tree, 0, 1, vec![(7 * GBPS, 333_000); 2]),
        way(fat_tree, 0, 2, vec![(7 * GBPS, 333_000); 4]),
        way(fat_tree, 0, 15, vec![(7 * GBPS, 333_000); 6]),
        way(
            "topology = 'file'\nfile = 'odd_rates.toml'",
            0,
            1,
            vec![(33_300_000_000, 123_457), (7 * GBPS, 1_000_000), (11 * GBPS, 1), (99_999_999_999, 700_000)],
        ),
        // Hosts with two links each: a card is half of the delay away, and stores packets once more.
        way(
            "topology = 'file'\nfile = 'two_homes.toml'\nrate = '7Gbps'\ndelay = '333ns'",
            0,
            2,
            [166_500, 166_500, 333_000, 333_000, 166_500, 166_500].map(|delay| (7 * GBPS, delay)).to_vec(),
        ),
    ]
}

/// What a frame weighs beside its payload, and how large that may be.
#[derive(Clone, Copy)]
struct Weights {
    mtu: u64,
    framing: u64,
    header: u64,
    ack: u64,
}

const WEIGHTS: Weights = Weights { mtu: 1000, framing: 38, header: 28, ack: 64 };

impl Weights {
    fn data(&self, payload: u64) -> u64 {
        payload + self.header + self.framing
    }

    fn acknowledgement(&self) -> u64 {
        self.ack + self.framing
    }
}

/// One flow from end to end, alone in the network.
fn lone_flow(way: &TestPath, weights: Weights, window: Option<u64>, demand: &str, duration: &str) -> String {
    let Weights { mtu, framing, header, ack } = weights;
    let window = window.map_or(String::new(), |packets| format!("window = {packets}"));
    let TestPath { network, from, to, .. } = way;
    format!(
        "format = 1\nname = 'lone'\nduration = '{duration}'\n[network]\n{network}\nmtu = '{mtu}B'\n\
         framing = '{framing}B'\n[transport.t]\nprotocol = 'none'\nheader = '{header}B'\nack = '{ack}B'\n{window}\n\
         [[traffic]]\npattern = 'incast'\nfrom = {from}\nto = {to}\n{demand}"
    )
}

/// From a lone flow's start to the arrival of its last byte.
fn completion(way: &TestPath, weights: Weights, window: Option<u64>, bytes: u64) -> u64 {
    let outcome =
        run(&lone_flow(way, weights, window, &format!("bytes = '{bytes}B'\nstart = '3us'"), "100ms"));
    picoseconds(&outcome, "flows", "fct_us")[0]
}

#[test]
fn one_packet_takes_the_sum_of_its_hops() {
    for way in ways() {
        for payload in [1, 63, 999, 1000] {
            let expected = crossing(WEIGHTS.data(payload), &way.links);
            assert_eq!(completion(&way, WEIGHTS, None, payload), expected, "{} {payload}", way.network);
        }
    }
}

#[test]
fn a_burst_adds_the_slowest_transmission_for_each_further_packet() {
    for way in ways() {
        for packets in [2, 3, 64, 1001] {
            let frame = WEIGHTS.data(WEIGHTS.mtu);
            let expected = crossing(frame, &way.links) + (packets - 1) * slowest(frame, &way.links);
            let took = completion(&way, WEIGHTS, None, packets * WEIGHTS.mtu);
            assert_eq!(took, expected, "{} {packets}", way.network);
        }
    }
}

#[test]
fn each_part_of_a_frame_weighs_what_it_is_said_to() {
    let way = &ways()[7];
    let weights = |mtu, framing, header, ack| Weights { mtu, framing, header, ack };
    for weights in [
        weights(1000, 0, 28, 64),
        weights(1000, 38, 0, 64),
        weights(1000, 0, 0, 64),
        weights(1000, 38, 28, 0),
        weights(1, 0, 0, 1),
        weights(9000, 38, 28, 64),
    ] {
        let frame = weights.data(weights.mtu);
        let Weights { mtu, framing, header, ack } = weights;
        let shown = format!("mtu {mtu} framing {framing} header {header} ack {ack}");
        let burst = crossing(frame, &way.links) + 9 * slowest(frame, &way.links);
        assert_eq!(completion(way, weights, None, 10 * mtu), burst, "{shown}");
        // One packet under way at a time: the acknowledgement's weight shows too.
        let back = crossing(weights.acknowledgement(), &way.links);
        let alternating = 10 * crossing(frame, &way.links) + 9 * back;
        assert_eq!(completion(way, weights, Some(1), 10 * mtu), alternating, "{shown}");
    }
}

/// Returns when packet `i` of a lone flow with a window arrives, counted from the flow's start: packets arrive in trains of
/// a window, one slowest transmission apart; trains follow each other after a round trip, or at once.
fn arrival(i: u64, window: u64, weights: Weights, way: &TestPath) -> u64 {
    let frame = weights.data(weights.mtu);
    let there = crossing(frame, &way.links);
    let round_trip = there + crossing(weights.acknowledgement(), &way.links);
    let spacing = slowest(frame, &way.links);
    there + i / window * round_trip.max(window * spacing) + i % window * spacing
}

#[test]
fn a_window_limits_a_lone_flow_to_a_window_a_round_trip() {
    for way in ways() {
        for window in [1, 2, 7, 20, 100, 1000] {
            for packets in [window, 5000] {
                let expected = arrival(packets - 1, window, WEIGHTS, &way);
                let took = completion(&way, WEIGHTS, Some(window), packets * WEIGHTS.mtu);
                assert_eq!(took, expected, "{} window {window}, {packets} packets", way.network);
            }
        }
    }
}

#[test]
fn throughput_is_the_lesser_of_line_rate_and_window_over_round_trip() {
    const DURATION_PS: u64 = 20_000_000_000;
    for way in ways() {
        for window in [1, 7, 100, 1000] {
            let outcome = run(&lone_flow(&way, WEIGHTS, Some(window), "", "20ms"));
            let delivered = integers(&outcome, "flows", "delivered_bytes")[0];
            let arrived =
                (0..1_000_000).take_while(|&i| arrival(i, window, WEIGHTS, &way) <= DURATION_PS).count();
            assert_eq!(delivered, arrived as u64 * WEIGHTS.mtu, "{} window {window}", way.network);
            // The same as a rate: what the first round trip and a last train can take away is a window each.
            let frame = WEIGHTS.data(WEIGHTS.mtu);
            let there = crossing(frame, &way.links);
            let round_trip = there + crossing(WEIGHTS.acknowledgement(), &way.links);
            let line = 1.0 / slowest(frame, &way.links) as f64;
            let rate = line.min(window as f64 / round_trip as f64);
            let off = arrived as f64 - rate * (DURATION_PS - there) as f64;
            assert!(off.abs() <= window as f64, "{} window {window}: {off} packets off", way.network);
        }
    }
}

#[test]
fn two_flows_with_equal_windows_get_equal_shares_of_a_port() {
    for (window, rate) in [(1, "100Gbps"), (8, "100Gbps"), (100, "33.3Gbps"), (1000, "7Gbps")] {
        for duration in ["1ms", "1234567ns", "7ms"] {
            let outcome = run(&format!(
                "format = 1\nname = 'two'\nduration = '{duration}'\n[network]\ntopology = 'star'\nhosts = 3\n\
                 rate = '{rate}'\nmtu = '1000B'\n[transport.t]\nprotocol = 'none'\nwindow = {window}\n\
                 [[traffic]]\npattern = 'incast'\nto = 2"
            ));
            let delivered = integers(&outcome, "flows", "delivered_bytes");
            let apart = delivered[0].abs_diff(delivered[1]);
            assert!(apart <= 1000, "window {window} at {rate} for {duration}: {delivered:?}");
            assert!(delivered[0] > 100_000, "window {window} at {rate}: {delivered:?}");
        }
    }
}

#[test]
fn alone_and_unlimited_a_flow_has_a_slowdown_of_one() {
    for way in ways() {
        for bytes in [1, 999, 1000, 1001, 65_000, 3_000_001] {
            let demand = format!("bytes = '{bytes}B'");
            let outcome = run(&lone_flow(&way, WEIGHTS, None, &demand, "100ms"));
            let ideal = picoseconds(&outcome, "flows", "ideal_us")[0];
            assert_eq!(picoseconds(&outcome, "flows", "fct_us")[0], ideal, "{} {bytes}", way.network);
            assert_eq!(experiment::floats(&outcome, "flows", "slowdown")[0], 1.0, "{} {bytes}", way.network);
        }
    }
}

/// Returns when the last of a train of frames has crossed store-and-forward links, all of them ready at once.
fn train(frames: &[u64], links: &[Link]) -> u64 {
    let mut ready = vec![0; frames.len()];
    for &(rate, delay) in links {
        let mut free = 0;
        for (at, &bytes) in ready.iter_mut().zip(frames) {
            free = free.max(*at) + transmission(bytes, rate);
            *at = free + delay;
        }
    }
    ready[frames.len() - 1]
}

/// Operations on one flow, alone in the network.
fn lone_loop(way: &TestPath, keys: &str, duration: &str) -> experiment::Outcome {
    let demand = keys.to_string() + "\n[record]\noperations = true";
    run(&lone_flow(way, WEIGHTS, None, &demand, duration).replace("'incast'", "'closed_loop'"))
}

/// Returns when operations that were issued at 3 us or after were done, counted from there.
fn done(outcome: &experiment::Outcome) -> Vec<u64> {
    let done = experiment::floats(outcome, "operations", "completed_us").iter().filter(|us| us.is_finite());
    done.map(|us| (us * 1e6).round() as u64 - 3_000_000).collect()
}

#[test]
fn a_lone_write_takes_its_burst_and_the_last_acknowledgement() {
    for way in ways() {
        for packets in [1, 2, 64] {
            let frame = WEIGHTS.data(WEIGHTS.mtu);
            let expected = crossing(frame, &way.links)
                + (packets - 1) * slowest(frame, &way.links)
                + crossing(WEIGHTS.acknowledgement(), &way.links);
            let keys = format!("start = '3us'\nstop = '4us'\nbytes = '{}B'", packets * WEIGHTS.mtu);
            let outcome = lone_loop(&way, &keys, "10ms");
            assert_eq!(picoseconds(&outcome, "operations", "latency_us"), [expected], "{}", way.network);
        }
    }
}

/// The request's acknowledgement leaves the target before the answer does.
#[test]
fn a_lone_read_takes_its_request_and_its_answer() {
    for way in ways() {
        let back: Vec<Link> = way.links.iter().rev().copied().collect();
        for (request, packets) in [(64, 1), (1, 2), (1000, 64)] {
            let frame = WEIGHTS.data(WEIGHTS.mtu);
            let mut frames = vec![WEIGHTS.acknowledgement()];
            frames.resize(1 + packets as usize, frame);
            let expected = crossing(WEIGHTS.data(request), &way.links) + train(&frames, &back);
            let keys = format!(
                "start = '3us'\nstop = '4us'\noperation = 'read'\nrequest_bytes = '{request}B'\nbytes = '{}B'",
                packets * WEIGHTS.mtu
            );
            let outcome = lone_loop(&way, &keys, "10ms");
            assert_eq!(picoseconds(&outcome, "operations", "latency_us"), [expected], "{}", way.network);
            if way.links.len() == 2 {
                // Over like links the acknowledgement costs its transmission at the target, and nothing after that.
                let closed = crossing(WEIGHTS.data(request), &way.links)
                    + transmission(WEIGHTS.acknowledgement(), way.links[0].0)
                    + crossing(frame, &way.links)
                    + (packets - 1) * slowest(frame, &way.links);
                assert_eq!(closed, expected, "{}", way.network);
            }
        }
    }
}

#[test]
fn a_loop_does_as_many_operations_as_fit_one_after_another() {
    const DURATION_PS: u64 = 1_000_000_000;
    let (ack, request, frame) = (WEIGHTS.acknowledgement(), WEIGHTS.data(64), WEIGHTS.data(WEIGHTS.mtu));
    for way in ways() {
        let back: Vec<Link> = way.links.iter().rev().copied().collect();
        // What a read's answer brought is acknowledged before the next request leaves.
        let answer = train(&[ack, frame, frame, frame], &back);
        let reads = [crossing(request, &way.links) + answer, train(&[ack, request], &way.links) + answer];
        let write = train(&[frame; 3], &way.links) + crossing(ack, &back);
        for (operation, [first, period]) in [("write", [write; 2]), ("read", reads)] {
            let keys = format!("operation = '{operation}'\nstart = '3us'\nbytes = '3000B'");
            let outcome = lone_loop(&way, &keys, "1ms");
            let fitting = (DURATION_PS - 3_000_000 - first).div_ceil(period);
            let expected: Vec<u64> = (0..fitting).map(|k| first + k * period).collect();
            assert_eq!(done(&outcome), expected, "{operation} {}", way.network);
            assert!(expected.len() > 20, "{operation} {}", way.network);
            let latency = &picoseconds(&outcome, "operations", "latency_us")[1..expected.len()];
            assert!(latency.iter().all(|&took| took == period), "{operation} {}", way.network);
            let rate = experiment::figure(&outcome, "operations_per_second");
            assert_eq!(rate, expected.len() as f64 / 1e-3, "{operation} {}", way.network);
        }
    }
}

/// With `outstanding` operations under way, trains of operations are a round trip apart or at line rate, as packets of a window.
#[test]
fn more_outstanding_operations_do_more_up_to_line_rate() {
    for way in ways() {
        for outstanding in [2, 7, 100] {
            let keys = format!("start = '3us'\nbytes = '1000B'\noutstanding = {outstanding}");
            let done = done(&lone_loop(&way, &keys, "1ms"));
            let back = crossing(WEIGHTS.acknowledgement(), &way.links);
            let expected: Vec<u64> =
                (0..done.len() as u64).map(|i| arrival(i, outstanding, WEIGHTS, &way) + back).collect();
            assert_eq!(done, expected, "{} {outstanding}", way.network);
            assert!(done.len() as u64 > 3 * outstanding, "{} {outstanding}", way.network);
        }
    }
}
