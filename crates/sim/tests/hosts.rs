//! Hosts whose work takes time: against arithmetic.
//!
//! Star, 50 Gb/s, 2 us a link, frames of 4096 + 64 B and acknowledgements of 84 B: 9.35808 us there and back.

mod experiment;

use experiment::{figure, floats, integers, picoseconds, run};

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

#[test]
fn a_full_receive_queue_drops_and_all_is_delivered_in_the_end() {
    let host = "receive_packet = '3us'\nreceive_queue = '50kB'\njitter = '0us'\npause = '0us'";
    let text = looped(5, "20ms", host, "protocol = 'none'\nwindow = 16\nrto = '200us'", "400kB", 1)
        .replace("[[traffic]]", "[record]\nfairness = '1ms'\n[[traffic]]\nstop = '5ms'");
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
