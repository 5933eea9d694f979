//! TIMELY in whole networks: a flow alone, the round trip that flows share, and a queue in place of a full buffer.

use crate::experiment::{figure, floats, picoseconds, run};

const NS: u64 = 1000;
const US: u64 = 1000 * NS;
/// A full frame of 1000 B on a link of 10 Gb/s.
const FRAME: u64 = 800 * NS;
/// From one host to the other: two transmissions and two links of 1 us.
const THERE: u64 = 2 * FRAME + 2 * US;

/// Flows into one host of a switch with 10 Gb/s to each, where a frame of 1000 B is all payload.
fn incast(hosts: u32, warmup: &str, transport: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'TIMELY'\nduration = '60ms'\nwarmup = '{warmup}'\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         rate = '10Gbps'\nmtu = '1000B'\nframing = '0B'\n[switch.default]\nbuffer = '5MB'\n[transport.t]\nheader = '0B'\n\
         ack = '10B'\n{transport}\n[[traffic]]\npattern = 'incast'\nto = 0\n{traffic}\n"
    )
}

/// Its round trip stays below `t_low`, so that nothing slows it down.
#[test]
fn a_flow_alone_has_the_rate_of_its_nic() {
    for packets in [1, 10, 1000] {
        let outcome = run(&incast(2, "0s", "protocol = 'timely'", &format!("bytes = '{packets}kB'")));
        assert_eq!(picoseconds(&outcome, "flows", "fct_us"), [(packets - 1) * FRAME + THERE]);
    }
}

/// Between the thresholds a queue that grows lowers the rates by its growth, so that what waits stays far below `t_high`; the link is
/// idle where all fall at once. Nothing may be lost: with go-back-N, a flow whose packets are refused has no round trip to learn from. Measured:
/// .93 to 1 of the link; with `t_low` at 100 us, which is five times the empty round trip, .74, as queues then grow long before any rate falls.
#[test]
fn what_waits_stays_below_the_upper_threshold_and_the_link_is_used() {
    for (hosts, low, high) in [(3, 50, 500), (5, 50, 500), (9, 50, 500), (9, 20, 200)] {
        let keys = format!("protocol = 'timely'\nt_low = '{low}us'\nt_high = '{high}us'");
        let lossless = "buffer = '5MB'\npfc = 'static'\npfc_xoff = '200kB'";
        let outcome = run(&incast(hosts, "30ms", &keys, "").replace("buffer = '5MB'", lossless));
        let share = floats(&outcome, "flows", "goodput_gbps").iter().sum::<f64>() / 10.0;
        let waits_us = figure(&outcome, "queue_mean_bytes") * 8.0 / 10e3;
        println!("{hosts} hosts: {share} of the link, {waits_us} us wait");
        assert!(share > 0.9, "{hosts} hosts: {share} of the link");
        assert!(waits_us < f64::from(high), "{hosts} hosts: {waits_us} us");
        assert_eq!(figure(&outcome, "drops"), 0.0);
    }
}

/// Without it the same flows fill the buffer and lose what finds no room.
#[test]
fn the_same_flows_without_it_fill_the_buffer() {
    let [timely, without] = ["timely", "roce"].map(|protocol| {
        let outcome = run(&incast(9, "0s", &format!("protocol = '{protocol}'"), "bytes = '3MB'"));
        (figure(&outcome, "drops"), figure(&outcome, "queue_mean_bytes"))
    });
    println!("{timely:?} {without:?}");
    assert!(without.0 > 1000.0 * timely.0.max(1.0), "{timely:?}, {without:?}");
}
