//! Time series have a row for every sample, whether there was something or nothing.

use std::collections::BTreeSet;

use crate::experiment::{floats, integers, run, run_on, texts, Outcome};

/// Two hosts send 20 kB to a third at 8 Gb/s from 20 us on, and again from 120 us on: 40 us of frames each time. A fourth host
/// sends nothing and gets nothing. Acknowledgements of 1000 B are as long as data, and do not wait.
fn bursts(more: &str) -> String {
    let burst = |start: u32| {
        format!(
            "[[traffic]]\npattern = 'incast'\nfrom = '0..2'\nto = 2\nbytes = '20kB'\nstart = '{start}us'\n"
        )
    };
    format!(
        "format = 1\nname = 'bursts'\nduration = '200us'\n{more}\n[network]\ntopology = 'star'\nhosts = 4\nrate = '8Gbps'\n\
         delay = '1us'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '10B'\n\
         [record]\nqueues = '5us'\nlinks = '5us'\nrtt = '5us'\nthroughput = '5us'\n{}{}",
        burst(20),
        burst(120)
    )
}

const SAMPLES: usize = 40;

/// The values of a column at one port, after a check that there is one for each sample.
fn at_port(outcome: &Outcome, table: &str, link: &str, values: &[f64]) -> Vec<f64> {
    let rows = texts(outcome, table, "link").into_iter().zip(floats(outcome, table, "time_us")).zip(values);
    let (times, found): (Vec<f64>, Vec<f64>) =
        rows.filter(|((of, _), _)| *of == link).map(|((_, time), value)| (*time, *value)).unzip();
    assert_eq!(times, (1..=SAMPLES).map(|n| 5.0 * n as f64).collect::<Vec<_>>(), "{table} of {link}");
    found
}

fn as_floats(values: &[u64]) -> Vec<f64> {
    values.iter().map(|&value| value as f64).collect()
}

#[test]
fn a_queue_has_a_row_for_every_sample_empty_or_not() {
    for threads in [1, 3] {
        let outcome = run_on(&bursts(""), None, threads);
        let queued: BTreeSet<&str> = texts(&outcome, "queues", "link").into_iter().collect();
        assert_eq!(queued.into_iter().collect::<Vec<_>>(), ["tor0>h2"], "nothing waits elsewhere");
        let bytes =
            at_port(&outcome, "queues", "tor0>h2", &as_floats(integers(&outcome, "queues", "queue_bytes")));
        // Two frames come in the time of one. At 40 us, 18 of each have come whole, and of these 18 have left or are leaving.
        assert_eq!(bytes[7], 18_000.0);
        assert!(bytes[4..12].iter().all(|&bytes| bytes > 0.0), "{bytes:?}");
        assert_eq!(bytes[..4], [0.0; 4]);
        assert_eq!(bytes[12..24], [0.0; 12]);
        assert_eq!(bytes[32..], [0.0; 8]);
        assert_eq!(bytes[24..32], bytes[4..12]);
    }
}

#[test]
fn a_link_has_a_row_for_every_sample_idle_or_not() {
    let outcome = run(&bursts(""));
    let used: BTreeSet<&str> = texts(&outcome, "links_series", "link").into_iter().collect();
    assert_eq!(used.into_iter().collect::<Vec<_>>(), ["tor0>h0", "tor0>h1", "tor0>h2"]);
    let sent = integers(&outcome, "links_series", "sent_bytes");
    let to_receiver = at_port(&outcome, "links_series", "tor0>h2", &as_floats(sent));
    assert_eq!(to_receiver.iter().sum::<f64>(), 80_000.0);
    assert_eq!(to_receiver[16..24], [0.0; 8]);
    assert_eq!(to_receiver[..4], [0.0; 4]);
    let utilisation = floats(&outcome, "links_series", "utilisation");
    let of_acks = at_port(&outcome, "links_series", "tor0>h1", utilisation);
    assert!(of_acks[6] > 0.0 && of_acks[16..24] == [0.0; 8], "{of_acks:?}");
}

/// Where nothing was measured there is no time, and a count that says so.
#[test]
fn an_interval_without_a_round_trip_has_a_count_of_zero() {
    let outcome = run(&bursts(""));
    let counts = integers(&outcome, "rtt_series", "count");
    assert_eq!(counts.len(), SAMPLES);
    assert_eq!(counts.iter().sum::<u64>(), 80);
    for column in ["rtt_mean_us", "rtt_max_us"] {
        for (us, &count) in floats(&outcome, "rtt_series", column).iter().zip(counts) {
            assert_eq!(us.is_nan(), count == 0, "{column}: {us} of {count}");
        }
    }
    assert_eq!(counts[16..24], [0; 8]);
    assert_eq!(floats(&outcome, "throughput", "goodput_gbps").len(), SAMPLES);
}

/// A series is of the whole run: that the measurement begins within an interval takes nothing from it.
#[test]
fn the_end_of_the_warm_up_leaves_no_gap_in_round_trips() {
    let (whole, warmed) = (run(&bursts("")), run(&bursts("warmup = '33us'")));
    assert_eq!(integers(&whole, "rtt_series", "count"), integers(&warmed, "rtt_series", "count"));
    for column in ["rtt_mean_us", "rtt_max_us"] {
        let bits = |outcome| -> Vec<u64> {
            floats(outcome, "rtt_series", column).iter().map(|us| us.to_bits()).collect()
        };
        assert_eq!(bits(&whole), bits(&warmed), "{column}");
    }
}
