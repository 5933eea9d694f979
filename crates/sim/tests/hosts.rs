//! Hosts whose work takes time: against arithmetic.
//!
//! Star, 50 Gb/s, 2 us a link, frames of 4096 + 64 B and acknowledgements of 84 B: 9.35808 us there and back.

use crate::experiment::{figure, floats, integers, picoseconds, run};

/// Picoseconds there and back on the empty path: 2 x (665.6 ns + 2 us) and 2 x (13.44 ns + 2 us).
const PATH: u64 = 9_358_080;

/// One flow each of `from` runs a closed loop to the last host.
fn looped(hosts: u32, duration: &str, host: &str, transport: &str, bytes: &str, outstanding: u32) -> String {
    format!(
        "format = 1\nname = 'hosts'\nduration = '{duration}'\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         rate = '50Gbps'\ndelay = '2us'\nmtu = '4096B'\nframing = '0B'\n[host.default]\nmodel = 'snap'\n{host}\n\
         [transport.t]\nheader = '64B'\nack = '84B'\n{transport}\n[[traffic]]\npattern = 'closed_loop'\n\
         from = '0..{last}'\nto = {last}\nbytes = '{bytes}'\noutstanding = {outstanding}\n",
        last = hosts - 1
    )
}

/// Costs that are easy to add up: 4096 B are copied in 256 ns.
const COSTS: &str =
    "receive_packet = '300ns'\ncopy_rate = '128Gbps'\noperation = '250ns'\nreceive_ack = '100ns'\n\
                     completion = '900ns'\ntransmit = '40ns'\njitter = '0us'\npause = '0us'";

#[test]
fn a_lone_operation_takes_its_path_and_its_hosts_work() {
    let outcome =
        run(&(looped(2, "1ms", COSTS, "protocol = 'swift'", "4096B", 1) + "[record]\noperations = true"));
    let latency = picoseconds(&outcome, "operations", "latency_us");
    // Sent, received, copied, counted as an operation; its acknowledgement received, and the operation completed.
    let work = 40_000 + 300_000 + 256_000 + 250_000 + 100_000 + 900_000;
    // The last is still open.
    let (_, done) = latency.split_last().expect("operations");
    assert!(done.len() > 80);
    assert!(done.iter().all(|&latency| latency == PATH + work), "{latency:?}");
    // Each timestamp where the paper takes it: 806 ns of remote queuing are 0 us on the wire, the acknowledgement's
    // 1 us is the local part; the transmission's time is the fabric's.
    assert_eq!(figure(&outcome, "nic_delay_mean_us"), 0.806);
    assert_eq!(figure(&outcome, "endpoint_delay_mean_us"), 1.0);
    assert_eq!((figure(&outcome, "fabric_rtt_mean_us") * 1e6).round() as u64, PATH + 40_000 + 806_000);
}

/// Ten senders of one packet each to a receiver that takes 2.4 us a packet: its engine is never idle.
#[test]
fn an_engine_that_is_never_idle_is_the_bottleneck() {
    let costs = COSTS.replace("'300ns'", "'1894ns'");
    let outcome = run(&looped(11, "10ms", &costs, "protocol = 'none'\nwindow = 1", "4096B", 1));
    let operations = figure(&outcome, "operations");
    // A packet every 1894 + 256 + 250 ns.
    assert!((operations - 10e-3 / 2.4e-6).abs() <= 12.0, "{operations}");
    assert!((floats(&outcome, "hosts", "utilisation")[10] - 1.0).abs() < 0.002);
    // Little's law: ten frames go round in 24 us; what is not path or other work is the wait for the engine.
    let rtt = figure(&outcome, "rtt_mean_us");
    assert!((rtt - 24.0).abs() < 0.05, "{rtt}");
}

/// The engine takes 1.2 us for each packet received and 0.8 us for each sent: with both, in turn, 2 us for a pair.
#[test]
fn receiving_and_sending_share_the_engine() {
    let costs = "receive_packet = '1200ns'\ncopy_rate = '10Tbps'\noperation = '0ns'\nreceive_ack = '0ns'\n\
                 completion = '0ns'\ntransmit = '800ns'\njitter = '0us'\npause = '0us'";
    let base = looped(2, "10ms", costs, "protocol = 'none'\nwindow = 64", "4MB", 4);
    let both = format!(
        "{base}[[traffic]]\npattern = 'closed_loop'\nfrom = 1\nto = 0\nbytes = '4MB'\noutstanding = 4\n"
    );
    let frames = |text: &str| integers(&run(text), "hosts", "frames").to_vec();
    let [_, alone] = frames(&base)[..] else { panic!("two hosts") };
    assert!((alone as f64 - 10e-3 / 1.2e-6).abs() < 60.0, "{alone}");
    // Beside data each host receives as many acknowledgements, which cost nothing.
    for received in frames(&both) {
        assert!((received as f64 / 2.0 - 10e-3 / 2.0e-6).abs() < 60.0, "{received}");
    }
}

/// Swift takes any hole for a loss: a frame that jitter let overtake another of its flow would be sent again.
#[test]
fn jitter_keeps_the_order_of_a_flow() {
    let host = "jitter = '9us'\npause = '0us'";
    let outcome = run(&looped(3, "10ms", host, "protocol = 'swift'\nbase_target = '50us'", "64kB", 2));
    assert!(figure(&outcome, "goodput_gbps") > 40.0);
    assert_eq!(figure(&outcome, "retransmissions"), 0.0);
    // It is the fabric's, half of the most each way on average, beside path and queue.
    let outcome = run(&looped(2, "50ms", host, "protocol = 'none'\nwindow = 1", "4096B", 1));
    let fabric = figure(&outcome, "fabric_rtt_mean_us");
    // 2500 round trips: a standard error of 0.07 us; and at most 1 us is lost to rounding on the wire.
    assert!((fabric - PATH as f64 / 1e6 - 9.0).abs() < 1.3, "{fabric}");
}

/// Writes of one packet from host 0 to host 1, one every `gap_ns`, over three flows in turn. The hosts of kind `jittery`
/// have a jitter of 9 us and their processor takes 40 ns to send a packet, and nothing else costs anything. In the order in
/// which they were issued, what each took longer than the empty path and when it was done, in picoseconds.
fn waits_in_batches(jittery: u32, gap_ns: u32, duration: &str) -> Vec<(u64, u64)> {
    let outcome = run(&format!(
        "format = 1\nname = 'batches'\nduration = '{duration}'\n[network]\ntopology = 'star'\nhosts = 2\n\
         rate = '1Tbps'\ndelay = '1us'\nmtu = '100B'\nframing = '0B'\n[host.jittery]\nhosts = {jittery}\n\
         model = 'snap'\nreceive_packet = '0ns'\ncopy_rate = '10Tbps'\noperation = '0ns'\nreceive_ack = '0ns'\n\
         completion = '0ns'\ntransmit = '40ns'\njitter = '9us'\npause = '0us'\n[transport.t]\nprotocol = 'none'\n\
         header = '0B'\nack = '10B'\n[record]\noperations = true\n[[traffic]]\npattern = 'open_loop'\nfrom = 0\n\
         to = 1\nbytes = '100B'\narrivals = 'constant'\nrate = '{}/s'\nflows_per_pair = 3",
        1_000_000_000 / gap_ns
    ));
    assert_eq!(figure(&outcome, "retransmissions"), 0.0);
    // Two links of 1 us there and back, 100 B in 0.8 ns and 10 B in 0.08; and the processor's work where it is: sending, or
    // copying 100 B in 0.08 ns.
    let path = 4_000_000 + 2 * 880 + if jittery == 0 { 40_000 } else { 80 };
    let of = |name| picoseconds(&outcome, "operations", name);
    let mut all: Vec<_> = of("issued_us").into_iter().zip(of("latency_us")).collect();
    // The last are still open: they have no latency, which reads as zero.
    all.retain(|(_, latency)| *latency > 0);
    all.sort_unstable();
    all.into_iter().map(|(issued, latency)| (latency - path, issued + latency)).collect()
}

/// What a batch of frames takes to leave a NIC of 1 Tb/s one after the other, in picoseconds, at most: 90 of 100 B.
const BURST: u64 = 90 * 800;

/// Frames that come every `gap` while a batch is open wait its rest. If `jitter` is M gaps and the batch waits m gaps and a
/// part f of one, m + 1 frames wait (m + 1)(m / 2 + f) gaps. On average over m < M and f that is, for each frame,
/// (2 `jitter` + `gap`) / 6: half of the most if each is alone in its batch, a third in a dense stream.
#[test]
fn frames_of_a_batch_wait_for_its_first() {
    for jittery in [0, 1] {
        for (gap_ns, duration) in [(100, "20ms"), (3000, "100ms"), (9000, "200ms")] {
            let waits = waits_in_batches(jittery, gap_ns, duration);
            let mean = waits.iter().map(|(wait, _)| *wait as f64 / 1e6).sum::<f64>() / waits.len() as f64;
            let expected = (2.0 * 9.0 + f64::from(gap_ns) / 1e3) / 6.0;
            println!("every {gap_ns} ns, jitter at host {jittery}: {mean:.3} us, expected {expected:.3}");
            // At least 4300 batches, 1.1 us each for a dense stream, and 2.6 us for each of 22,000 lone frames.
            assert!((mean - expected).abs() < 0.07, "{mean}, expected {expected}");
        }
    }
}

#[test]
fn no_frame_waits_longer_than_the_jitter_and_none_overtakes_another_of_its_host() {
    for jittery in [0, 1] {
        let waits = waits_in_batches(jittery, 100, "2ms");
        assert!(waits.len() > 19_000);
        let longest = waits.iter().map(|(wait, _)| *wait).max().expect("writes");
        assert!((8_000_000..=9_000_000 + BURST).contains(&longest), "{longest}");
        assert!(waits.iter().any(|(wait, _)| *wait < 100_000 + BURST), "the last of a batch hardly waits");
        // Acknowledgements that come while host 0 sends a packet are served at one instant.
        let in_order = waits.windows(2).all(|two| two[0].1 <= two[1].1);
        assert!(in_order, "they are done in the order in which they were issued");
    }
}

#[test]
fn a_full_receive_queue_drops_and_all_is_delivered_in_the_end() {
    let host = "receive_packet = '3us'\nreceive_queue = '50kB'\njitter = '0us'\npause = '0us'";
    let text = looped(5, "20ms", host, "protocol = 'none'\nwindow = 16\nrto = '200us'", "400kB", 1)
        .replace("[[traffic]]", "[record]\nfairness = '1ms'\n[[traffic]]\nstop = '5ms'")
        .replace("[network]", "measure_until = '20ms'\n[network]");
    let outcome = run(&text);
    assert!(figure(&outcome, "host_drops") > 100.0);
    assert_eq!(figure(&outcome, "drops"), 0.0, "no switch drops");
    assert!(figure(&outcome, "retransmissions") >= figure(&outcome, "host_drops"));
    assert!(integers(&outcome, "hosts", "receive_queue_peak_bytes")[4] <= 50_000);
    // Every flow's messages are all there: 400 kB each.
    let delivered = integers(&outcome, "flows", "delivered_bytes");
    assert!(delivered.iter().all(|bytes| bytes % 400_000 == 0 && *bytes > 0), "{delivered:?}");
}

/// Pauses of 20 us, 400 a second: an engine runs 1 / (1 + 400 x 20 us) of the time.
#[test]
fn pauses_take_their_share_of_a_busy_engine() {
    let host = "receive_packet = '2us'\ncopy_rate = '10Tbps'\noperation = '0ns'\njitter = '0us'\n\
                pause = '200us'\npause_interval = '800us'";
    let text = looped(3, "400ms", host, "protocol = 'none'\nwindow = 64\nrto = '100ms'", "4MB", 4);
    let utilisation = floats(&run(&text), "hosts", "utilisation")[2];
    // 400 pairs of exponential times: a standard error of 0.8 * 0.2 * sqrt(2 / 400) = 0.011.
    assert!((utilisation - 0.8).abs() < 0.034, "{utilisation}");
}

/// Figure 17's knee: a target of 15 us is enough for ideal hosts and not for those of a real stack.
#[test]
fn a_low_target_starves_real_hosts_and_not_ideal_ones() {
    let swift = "protocol = 'swift'\nbase_target = '15us'\nflow_scaling = false\ntopology_scaling = false";
    let snap = looped(11, "20ms", "", swift, "64kB", 20);
    let ideal = snap.replace("model = 'snap'", "model = 'ideal'");
    let gbps = |text: &str| figure(&run(text), "goodput_gbps");
    let (ideal, real) = (gbps(&ideal), gbps(&snap));
    println!("at 15 us {ideal:.1} Gb/s with ideal hosts, {real:.1} with real ones");
    assert!(ideal > 45.0);
    assert!(real < 25.0);
    let higher = snap.replace("'15us'", "'30us'");
    assert!(gbps(&higher) > 47.5);
}

/// Three flows of ten packets at one host, which begin one after the other while the first is sent: when each was complete,
/// in frames' times from the first's start.
fn completions(host: &str) -> Vec<u64> {
    let flow = |to: u32, start_ns: u32| {
        format!(
            "[[traffic]]\npattern = 'incast'\nfrom = 0\nto = {to}\nbytes = '10kB'\nstart = '{start_ns}ns'\n"
        )
    };
    let flows = [flow(1, 10_000), flow(2, 10_100), flow(3, 10_200)].concat();
    let outcome = run(&format!(
        "format = 1\nname = 'order'\nduration = '1ms'\n[network]\ntopology = 'star'\nhosts = 4\nrate = '8Gbps'\ndelay = '1us'\n\
         mtu = '1kB'\nframing = '0B'\n[host.default]\n{host}\n[transport.t]\nprotocol = 'roce'\nheader = '0B'\nack = '1B'\n{flows}"
    ));
    let starts = picoseconds(&outcome, "flows", "start_us");
    let times = picoseconds(&outcome, "flows", "fct_us");
    // Two links of 1 us, and the frame once more at the switch.
    let done =
        starts.iter().zip(times).map(|(start, time)| start + time - 10_000_000 - 2_000_000 - 1_000_000);
    done.map(|time| time.div_ceil(1_000_000)).collect()
}

#[test]
fn a_host_serves_its_flows_in_turn_or_first_in_first_out() {
    assert_eq!(completions("flow_order = 'fifo'"), [10, 20, 30]);
    assert_eq!(completions("flow_order = 'round_robin'"), [26, 29, 30]);
    assert_eq!(completions(""), [26, 29, 30]);
    // Where a processor sends, it is that which asks the flows.
    let costs =
        "model = 'snap'\njitter = '0us'\npause = '0us'\nreceive_packet = '0ns'\ncopy_rate = '10Tbps'\n\
                 operation = '0ns'\nreceive_ack = '0ns'\ncompletion = '0ns'\ntransmit = '1us'\n";
    let [first, second, third] = completions(&format!("{costs}flow_order = 'fifo'"))[..] else { panic!() };
    assert!(first + 9 <= second && second + 9 <= third, "{first}, {second}, {third}");
    let in_turn = completions(costs);
    assert!(in_turn.iter().all(|&time| time > 25), "{in_turn:?}");
}
