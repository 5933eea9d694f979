//! Loops of operations: when they are issued and to whom, which fail, and how they end.

use std::collections::BTreeMap;

use crate::experiment::{
    self, figure, floats, integers, lower_bounds, picoseconds, run, run_on, run_seeded, texts, Outcome,
};

/// Traffic in a star of 100 Gb/s, with a row for every operation.
fn star(hosts: u32, keys: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'operations'\nduration = '2ms'\n{keys}\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         [transport.t]\nprotocol = 'none'\n[record]\noperations = true\n[[traffic]]\n{traffic}"
    )
}

/// Returns how many operations went from each initiator to each target.
fn by_pair(outcome: &Outcome) -> BTreeMap<(u64, u64), usize> {
    let pairs =
        integers(outcome, "operations", "initiator").iter().zip(integers(outcome, "operations", "target"));
    let mut counts = BTreeMap::new();
    for (&from, &to) in pairs {
        *counts.entry((from, to)).or_default() += 1;
    }
    counts
}

/// Returns when operations were issued, in order.
fn issued(outcome: &Outcome) -> Vec<u64> {
    let mut issued = picoseconds(outcome, "operations", "issued_us");
    issued.sort_unstable();
    issued
}

#[test]
fn poisson_operations_come_at_their_rate_and_are_spread_evenly() {
    // 100 operations in 2 ms from each of 4 initiators in 10 runs: 4000 in all, with a standard deviation of 63.
    let traffic = "pattern = 'open_loop'\nfrom = '0..4'\nto = '0..8'\nbytes = '100B'\nrate = '50k/s'";
    let mut counts = BTreeMap::new();
    let mut gaps = Vec::new();
    for seed in 0..10 {
        let outcome = run_seeded(&star(8, "", traffic), Some(seed));
        for (pair, count) in by_pair(&outcome) {
            *counts.entry(pair).or_insert(0) += count;
        }
        let issued = picoseconds(&outcome, "operations", "issued_us");
        let mut of_first: Vec<u64> = issued
            .iter()
            .zip(integers(&outcome, "operations", "initiator"))
            .filter(|(_, &initiator)| initiator == 0)
            .map(|(&at, _)| at)
            .collect();
        of_first.sort_unstable();
        gaps.extend(of_first.windows(2).map(|two| (two[1] - two[0]) as f64));
    }
    assert_eq!(counts.len(), 4 * 7, "every pair of two, and no host with itself");
    let all: usize = counts.values().sum();
    assert!(all.abs_diff(4000) < 3 * 63, "{all}");
    // Chi-square of 28 cells with a mean of 142.9: 27 degrees of freedom, standard deviation sqrt(2 * 27).
    let mean = all as f64 / 28.0;
    let chi_square: f64 = counts.values().map(|&count| (count as f64 - mean).powi(2) / mean).sum();
    assert!((chi_square - 27.0).abs() < 3.0 * 54f64.sqrt(), "{chi_square}");
    // Gaps are exponential: as long in standard deviation as in mean. The error of that is sqrt(2 / n).
    let mean_gap = experiment::mean(&gaps);
    let deviation = experiment::standard_error(&gaps) * (gaps.len() as f64).sqrt();
    assert!(
        (deviation / mean_gap - 1.0).abs() < 3.0 * (2.0 / gaps.len() as f64).sqrt(),
        "{deviation} {mean_gap}"
    );
}

#[test]
fn constant_operations_come_at_their_interval_from_the_start_to_the_stop() {
    let open = "pattern = 'open_loop'\nfrom = '0..2'\nto = 2\nbytes = '100B'\narrivals = 'constant'\n";
    let keys = "start = '7us'\nstagger = '1us'\nstop = '108us'\nrate = '50k/s'";
    // From 7 us and from 8 us on, each 20 us; that of 108 us no longer.
    let expected: Vec<u64> =
        [7, 8, 27, 28, 47, 48, 67, 68, 87, 88, 107].iter().map(|us| us * 1_000_000).collect();
    assert_eq!(issued(&run(&star(3, "", &format!("{open}{keys}")))), expected);
    // A third of the link in payload: 1200 B each 0.288 us, 1/0.288 of which no picosecond divides.
    let load = "bytes = '1200B'\nload = 0.3333\nstop = '1us'";
    let found = issued(&run(&star(3, "", &format!("{open}{load}").replace("bytes = '100B'\n", ""))));
    let gap = 1200.0 * 8.0 * 1e12 / (0.3333 * 100e9);
    let expected: Vec<u64> = (0..4).flat_map(|k| [(f64::from(k) * gap) as u64; 2]).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_flows_of_a_pair_take_turns() {
    let traffic =
        "pattern = 'open_loop'\nfrom = 0\nto = '1..3'\nbytes = '100B'\nrate = '1M/s'\nflows_per_pair = 3";
    let outcome = run(&star(3, "", traffic));
    let mut order: Vec<_> = picoseconds(&outcome, "operations", "issued_us")
        .into_iter()
        .zip(integers(&outcome, "operations", "flow"))
        .collect();
    order.sort_unstable();
    for first in [0, 3] {
        let flows = order.iter().map(|(_, &flow)| flow).filter(|flow| (first..first + 3).contains(flow));
        let flows: Vec<u64> = flows.collect();
        assert!(flows.len() > 900);
        assert!(flows.iter().zip((0..3).cycle()).all(|(&flow, turn)| flow == first + turn), "{flows:?}");
    }
}

#[test]
fn remote_targets_are_in_other_racks() {
    let scenario = star(
        8,
        "",
        "pattern = 'open_loop'\nfrom = '0..8'\nto = '0..8'\nremote = true\nbytes = '100B'\nrate = '1M/s'",
    );
    let racks = "topology = 'leaf_spine'\nleaves = 2\nspines = 1\nhosts_per_leaf = 4";
    let outcome = run(&scenario.replace("topology = 'star'\nhosts = 8", racks));
    let pairs = by_pair(&outcome);
    assert_eq!(pairs.len(), 8 * 4);
    assert!(pairs.keys().all(|(from, to)| from / 4 != to / 4), "{pairs:?}");
}

/// Ten frames an operation on a link of one frame in 335.84 ns; one operation each 3 us. What each waits grows by the
/// difference, so that operation k takes `latency + 358.4 ns * k`.
#[test]
fn operations_that_take_longer_than_their_deadline_have_failed() {
    const FRAME: u64 = (4096 + 64 + 38) * 80;
    const GAP: u64 = 3_000_000;
    const END: u64 = 2_000_000_000;
    let traffic = |more: &str| {
        format!(
            "pattern = 'open_loop'\nfrom = 0\nto = 1\nbytes = '40960B'\nrate = '333333/s'\n\
             arrivals = 'constant'\n{more}"
        )
    };
    let scenario = |more: &str| star(2, "", &traffic(more)).replace("'none'", "'none'\nheader = '64B'");
    let unlimited = run(&scenario(""));
    let latency = picoseconds(&unlimited, "operations", "latency_us")[0];
    assert!(10 * FRAME > GAP && figure(&unlimited, "failed_operations") == 0.0);
    // 333333 a second is 3.000003 us: three picoseconds in a million off the interval.
    let at = |k: u64| (k as f64 * (1e12 / 333_333.0)) as u64;
    let done = |k: u64| latency + 10 * FRAME * k;
    let (mut failed, mut decided, mut late_and_open) = (0, 0, 0);
    let deadline = 150_000_000;
    for k in (0..).take_while(|&k| at(k) < END) {
        let late = done(k).min(END) - at(k) > deadline;
        failed += u64::from(late);
        decided += u64::from(late || done(k) < END);
        late_and_open += u64::from(late && done(k) >= END);
    }
    assert!(failed > 0 && late_and_open > 0 && decided > failed);
    let outcome = run(&scenario("deadline = '150us'"));
    let found: u64 = integers(&outcome, "operations", "failed").iter().sum();
    assert_eq!(found, failed);
    assert_eq!(figure(&outcome, "failed_operations"), failed as f64 / decided as f64);
    assert_eq!(figure(&outcome, "operations"), (decided - late_and_open) as f64);
    // Failed or not, all are done sooner or later, and alike.
    assert_eq!(
        picoseconds(&outcome, "operations", "completed_us"),
        picoseconds(&unlimited, "operations", "completed_us")
    );
    let in_time = (decided - failed) as f64 / 2e-3;
    assert_eq!(figure(&outcome, "operations_per_second"), in_time);
}

#[test]
fn an_operation_that_takes_just_its_deadline_has_not_failed() {
    let traffic = "pattern = 'closed_loop'\nfrom = 0\nto = 1\nbytes = '1kB'\nstop = '1us'\n";
    let latency = picoseconds(&run(&star(2, "", traffic)), "operations", "latency_us")[0];
    for (deadline, failed) in [(latency, 0.0), (latency - 1, 1.0)] {
        let outcome = run(&star(2, "", &format!("{traffic}deadline = '{deadline}ps'")));
        assert_eq!(figure(&outcome, "failed_operations"), failed);
        assert_eq!(integers(&outcome, "operations", "failed"), [failed as u64]);
    }
}

#[test]
fn fairness_is_among_the_flows_that_have_data() {
    let traffic = "pattern = 'closed_loop'\nfrom = '0..3'\nto = 3\noperation = 'read'\nbytes = '64kB'";
    let jain = figure(&run(&star(4, "", traffic).replace("[record]", "[record]\nfairness = '1ms'")), "jain");
    // With the requests' flows among them it would be near a half.
    assert!(jain > 0.99, "{jain}");
}

#[test]
fn an_operation_beyond_the_backlog_fails_at_once() {
    // The target's link is down: nothing is ever done. Of 20 operations 5 are open, and 15 could not be.
    let traffic =
        "pattern = 'open_loop'\nfrom = 0\nto = 1\nbytes = '1kB'\nrate = '10k/s'\narrivals = 'constant'\n\
                   backlog = 5\n[[fault]]\nkind = 'down'\nlink = 'tor0>h1'";
    let outcome = run(&star(2, "", traffic));
    assert_eq!(issued(&outcome).len(), 5);
    assert_eq!(figure(&outcome, "failed_operations"), 1.0);
    let two_done = traffic.replace("kind = 'down'", "kind = 'down'\nat = '150us'");
    assert_eq!(figure(&run(&star(2, "", &two_done)), "failed_operations"), 13.0 / 15.0);
}

#[test]
fn reads_and_writes_over_lossy_links_are_all_done() {
    for pattern in ["'open_loop'\nrate = '100k/s'", "'closed_loop'\noutstanding = 3"] {
        for operation in ["write", "read"] {
            let traffic = format!(
                "pattern = {pattern}\nfrom = '0..2'\nto = '2..4'\noperation = '{operation}'\nbytes = '20kB'\n\
                 stop = '3ms'\n[[fault]]\nkind = 'loss'\nlink = 'h0-tor0'\nprobability = 0.05\n\
                 [[fault]]\nkind = 'loss'\nlink = 'h2-tor0'\nprobability = 0.05"
            );
            let lossy = star(4, "stop_when_complete = true", &traffic).replace("2ms", "100ms");
            let outcome = run(&lossy.replace("'none'", "'swift'"));
            let lost = figure(&outcome, "fault_losses");
            assert!(lost > 50.0, "{lost}");
            assert!(figure(&outcome, "simulated_us") < 99e3, "{pattern} {operation}");
            let rows = floats(&outcome, "operations", "completed_us");
            assert!(rows.iter().all(|us| us.is_finite()), "{pattern} {operation}");
            assert_eq!(figure(&outcome, "operations"), rows.len() as f64);
            assert!(rows.len() > 100, "{pattern} {operation}: {}", rows.len());
        }
    }
}

#[test]
fn the_flows_of_reads_say_what_they_carry() {
    let traffic =
        "pattern = 'closed_loop'\nfrom = 0\nto = '1..3'\noperation = 'read'\nbytes = '10kB'\nstop = '1us'\n\
                   [[traffic]]\npattern = 'closed_loop'\nfrom = 1\nto = 0\nbytes = '1kB'\nstop = '1us'\n\
                   [[traffic]]\npattern = 'incast'\nfrom = 2\nto = 0\nbytes = '7B'";
    let outcome = run(&star(3, "", traffic));
    let carries = ["requests", "answers", "requests", "answers", "writes", "data"];
    assert_eq!(texts(&outcome, "flows", "carries"), carries);
    assert_eq!(integers(&outcome, "flows", "from"), [0, 1, 0, 2, 1, 2]);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [64, 10_000, 64, 10_000, 1000, 7]);
    assert_eq!(integers(&outcome, "operations", "bytes").iter().sum::<u64>(), 21_000);
}

#[test]
fn figures_are_of_operations_issued_after_the_warm_up() {
    let traffic =
        "pattern = 'open_loop'\nfrom = 0\nto = 1\nbytes = '1kB'\nrate = '100k/s'\narrivals = 'constant'\n\
                   start = '9us'";
    let outcome = run(&star(2, "warmup = '400us'", traffic));
    // At 9 us, 19 us and so on; each takes between 1 and 9 us. That of 399 us is done after the warm-up, that of 1999 us
    // after the end.
    assert_eq!(issued(&outcome).len(), 200);
    assert_eq!(figure(&outcome, "operations"), 159.0);
    assert_eq!(figure(&outcome, "operations_per_second"), 160.0 / 1.6e-3);
}

#[test]
fn a_run_of_an_open_loop_ends_when_its_last_operation_is_done() {
    let traffic =
        "pattern = 'open_loop'\nfrom = 0\nto = 1\noperation = 'read'\nbytes = '1MB'\nrate = '10k/s'\n\
                   arrivals = 'constant'\nstop = '101us'";
    let outcome = run(&star(2, "stop_when_complete = true", traffic));
    // Issued at 0 and at 100 us; 245 frames of 335.84 ns and two links there and back.
    assert_eq!(integers(&outcome, "operations", "operation"), [0, 1]);
    assert_eq!(figure(&outcome, "simulated_us"), 190.0);
}

/// The same packets at the same times, one after another, in writes of three or of four: one of two is done at the end
/// of the run, after the third packet or after the fourth.
#[test]
fn the_digest_covers_when_operations_are_done() {
    let of_packets = |packets: u32| {
        let keys = format!("bytes = '{}B'\noutstanding = 2", 4096 * packets);
        let text = star(2, "", &format!("pattern = 'closed_loop'\nfrom = 0\nto = 1\n{keys}"));
        run(&text
            .replace("2ms", "26us")
            .replace("'none'", "'none'\nwindow = 1")
            .replace("[record]", "[record]\nfairness = '1us'"))
    };
    let (three, four) = (of_packets(3), of_packets(4));
    for outcome in [&three, &four] {
        assert_eq!(integers(outcome, "flows", "delivered_bytes"), [5 * 4096]);
        assert_eq!(figure(outcome, "operations"), 1.0);
    }
    assert_eq!(three.packet_hops, four.packet_hops);
    assert_ne!(three.digest, four.digest);
    assert_eq!(three.digest, of_packets(3).digest);
}

#[test]
fn rows_are_kept_only_on_request_and_change_nothing() {
    let traffic = "pattern = 'open_loop'\nfrom = 0\nto = 1\nbytes = '1kB'\nrate = '100k/s'";
    let recorded = star(2, "", traffic);
    let not = run(&recorded.replace("operations = true", "operations = false"));
    assert!(not.tables.iter().all(|table| table.name != "operations"));
    let recorded = run(&recorded);
    assert_eq!(recorded.digest, not.digest);
    assert_eq!(figure(&recorded, "latency_p99_us"), figure(&not, "latency_p99_us"));
}

/// Reads of 2500 B by requests of 100 B in a star of 80 Gb/s, where 1000 B take 100 ns and an acknowledgement 1 ns.
fn reads(hosts: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'reads'\nduration = '2ms'\n[network]\ntopology = 'star'\nhosts = 3\nrate = '80Gbps'\n\
         delay = '1us'\nmtu = '1000B'\nframing = '0B'\n{hosts}\n[transport.t]\nprotocol = 'none'\nheader = '0B'\n\
         ack = '10B'\n[record]\noperations = true\n[[traffic]]\n{traffic}\noperation = 'read'\nbytes = '2500B'\n\
         request_bytes = '100B'\n"
    )
}

const ONE_AT_A_TIME: &str = "pattern = 'open_loop'\nfrom = 0\nto = 1\narrivals = 'constant'\nrate = '10k/s'";

/// The latency that all operations of a run have that are done, in picoseconds.
fn only_latency(outcome: &Outcome) -> u64 {
    let mut latency = picoseconds(outcome, "operations", "latency_us");
    // An open one has none, which reads as zero.
    latency.retain(|latency| *latency > 0);
    assert!(latency.len() >= 19, "{latency:?}");
    assert!(latency.iter().all(|other| *other == latency[0]), "{latency:?}");
    latency[0]
}

#[test]
fn a_read_takes_its_path_and_the_service_at_its_target() {
    let ideal = |keys: &str| only_latency(&run(&reads(&format!("[host.default]\n{keys}"), ONE_AT_A_TIME)));
    // The request crosses two links; the answer's frames of 1000, 1000 and 500 B follow each other, and the last waits at
    // the switch for the one before.
    let path = 2 * (1_000_000 + 10_000) + 2_000_000 + 100_000 + 250_000;
    // At once, the answer waits until the request's acknowledgement has left, which a service longer than that hides.
    let ack = 1_000;
    assert_eq!(ideal(""), path + ack);
    assert_eq!(ideal("operation_service = '0us'"), path + ack);
    assert_eq!(ideal("operation_service = '300ps'"), path + ack);
    for service in [1_000, 2_000_000, 90_000_000] {
        assert_eq!(ideal(&format!("operation_service = '{service}ps'")), path + service);
    }
    // Of a snap host: a request sent, received, copied and counted as an operation; each packet of the answer sent in 40 ns
    // and waiting for the wire; the initiator's processor is busy from the first that arrives to the last.
    let snap = |service: u64| {
        ideal(&format!(
            "model = 'snap'\nreceive_packet = '300ns'\ncopy_rate = '80Gbps'\noperation = '250ns'\nreceive_ack = '100ns'\n\
             completion = '900ns'\ntransmit = '40ns'\njitter = '0us'\npause = '0us'\noperation_service = '{service}ps'"
        ))
    };
    let request = 40_000 + 2_020_000 + 300_000 + 10_000 + 250_000;
    let answer = 40_000 + 2_200_000 + (3 * 300_000 + 250_000 + 250_000);
    for service in [5_000_000, 5_000_001, 80_000_000] {
        assert_eq!(snap(service), request + service + answer);
    }
}

/// With 16 reads outstanding, each of which takes 100 us at the target and 4.37 us on the path: no read waits for another's
/// service.
#[test]
fn a_target_serves_any_number_of_reads_at_once() {
    for model in ["ideal", "snap"] {
        let hosts = format!("[host.default]\nmodel = '{model}'\noperation_service = '100us'");
        let traffic = "pattern = 'closed_loop'\nfrom = 0\nto = 1\noutstanding = 16";
        let text = reads(&hosts, traffic).replace("duration = '2ms'", "duration = '20ms'\nwarmup = '2ms'");
        let outcome = run(&text);
        let (rate, latency) =
            (figure(&outcome, "operations_per_second"), figure(&outcome, "latency_mean_us"));
        println!("{model}: {rate:.0} a second, {latency:.2} us");
        assert!((rate * latency / 1e6 - 16.0).abs() < 0.3, "{rate} a second, {latency} us");
        let most = if model == "ideal" { 106.0 } else { 140.0 };
        assert!((104.0..most).contains(&latency), "{latency}");
    }
}

/// Host 1 is as by default, host 2 takes 50 us to answer. Writes take no longer there.
#[test]
fn each_target_serves_as_its_kind_says() {
    let with = |hosts: &str, operation: &str| {
        let traffic = ONE_AT_A_TIME.replace("to = 1", "to = '1..3'");
        let text = reads(hosts, &traffic);
        run(&if operation == "read" {
            text
        } else {
            text.replace("operation = 'read'", "operation = 'write'").replace("request_bytes = '100B'\n", "")
        })
    };
    let slow =
        "[host.default]\noperation_service = '1us'\n[host.slow]\nhosts = 2\noperation_service = '50us'";
    let outcome = with(slow, "read");
    let targets = integers(&outcome, "operations", "target");
    let latency = picoseconds(&outcome, "operations", "latency_us");
    let mut met = [0; 3];
    for (&target, &latency) in targets.iter().zip(&latency).filter(|(_, latency)| **latency > 0) {
        let service = if target == 2 { 50_000_000 } else { 1_000_000 };
        assert_eq!(latency, 4_370_000 + service, "at host {target}");
        met[target as usize] += 1;
    }
    assert!(met[1] > 2 && met[2] > 2, "{met:?}");
    assert_eq!(with(slow, "write").digest, with("", "write").digest);
    assert_ne!(outcome.digest, with("", "read").digest);
}

#[test]
fn served_reads_are_the_same_on_any_number_of_threads() {
    let hosts = "[host.default]\noperation_service = '7us'\n[host.slow]\nhosts = [0, 2]\nmodel = 'snap'\n\
                 operation_service = '50us'";
    let traffic = "pattern = 'closed_loop'\nfrom = '0..3'\nto = '0..3'\noutstanding = 5\nflows_per_pair = 2";
    let text = reads(hosts, traffic);
    let alone = run_on(&text, None, 1);
    assert!(figure(&alone, "operations") > 1000.0);
    for threads in [2, 3, 7] {
        assert_eq!(alone.digest, run_on(&text, None, threads).digest, "{threads} threads");
    }
}

/// Reads are issued at 0 and at 100 us and are served until 80 us after that.
#[test]
fn a_read_that_is_being_served_is_open() {
    let hosts = "[host.default]\noperation_service = '80us'";
    let traffic = format!("{ONE_AT_A_TIME}\nstop = '101us'");
    let cut = run(&reads(hosts, &traffic).replace("'2ms'", "'150us'"));
    assert_eq!(picoseconds(&cut, "operations", "latency_us"), [84_370_000, 0]);
    assert_eq!(figure(&cut, "unfinished_operations"), 1.0);
    assert_eq!(floats(&cut, "operations", "age_us")[1], 50.0);
    let whole = reads(hosts, &traffic).replace("'2ms'", "'2ms'\nstop_when_complete = true");
    let whole = run(&whole);
    assert_eq!(figure(&whole, "operations"), 2.0);
    // A run ends at a multiple of 10 us.
    assert_eq!(figure(&whole, "simulated_us"), 190.0);
}

/// Reads are issued at 0 and at 100 us and take 84.37 us each; of the whole run, or of what begins with the second.
#[test]
fn a_wait_that_is_open_when_the_measurement_ends_counts_whole_if_it_ends() {
    let hosts = "[host.default]\noperation_service = '80us'";
    let text = reads(hosts, &format!("{ONE_AT_A_TIME}\nstop = '101us'"));
    let with = |duration: &str, keys: &str| {
        run(&text.replace("duration = '2ms'", &format!("duration = '{duration}'\n{keys}")))
    };
    for outcome in [with("2ms", "warmup = '90us'"), with("2ms", "warmup = '90us'\nmeasure_until = '150us'")] {
        assert_eq!(figure(&outcome, "operation_wait_max_us"), 84.37);
        assert!(lower_bounds(&outcome).is_empty());
    }
    // What is known of a wait that has no end is that it was 50 us long.
    let cut = with("150us", "warmup = '90us'");
    assert_eq!(figure(&cut, "operation_wait_max_us"), 50.0);
    assert!(lower_bounds(&cut).contains(&"operation_wait_max_us".to_string()));
    // The first was longer, so the second may not be the longest.
    let after = with("150us", "");
    assert_eq!(figure(&after, "operation_wait_max_us"), 84.37);
    assert!(!lower_bounds(&after).contains(&"operation_wait_max_us".to_string()));
    // One that begins after the measurement is none of its.
    let before = with("150us", "measure_until = '95us'");
    assert_eq!(figure(&before, "operation_wait_max_us"), 84.37);
    let before = with("2ms", "measure_until = '95us'\nwarmup = '90us'");
    assert!(figure(&before, "operation_wait_max_us").is_nan());
}

/// Operations of 1 us of the sender's rate come every half a microsecond for a millisecond. Operation k is issued at k/2
/// us and done at k us and a round trip, so it takes k/2 us and a round trip; at the end an open one is as old as the end
/// less k/2 us.
fn overload(end_us: u32) -> String {
    format!(
        "format = 1\nname = 'overload'\nduration = '{end_us}us'\n[network]\ntopology = 'star'\nhosts = 2\n\
         rate = '80Gbps'\nmtu = '1000B'\nframing = '0B'\n\
         [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '10B'\nrate = '8Gbps'\nrto = '10ms'\n\
         [record]\noperations = true\n[[traffic]]\npattern = 'open_loop'\nfrom = 0\nto = 1\nbytes = '1000B'\n\
         arrivals = 'constant'\nrate = '2M/s'\nstop = '1ms'\nbacklog = 4000"
    )
}

#[test]
fn operations_that_are_open_at_the_end_count_with_their_age() {
    const ISSUED: u32 = 2000;
    // Two frames of data, two acknowledgements of 10 B, four links of 1 us.
    const ROUND_TRIP: f64 = 0.2 + 0.002 + 4.0;
    let all = ["latency_mean_us", "latency_p50_us", "latency_p99_us", "latency_p999_us"];
    // When the run ends, and which figures it then leaves open.
    for (end, open) in [(1000, &all[..]), (1600, &["latency_mean_us", all[2], all[3]]), (2500, &[])] {
        let outcome = run(&overload(end));
        let (mut finished, mut ages) = (Vec::new(), Vec::new());
        for k in (0..ISSUED).map(f64::from) {
            if k + ROUND_TRIP < f64::from(end) {
                finished.push(k / 2.0 + ROUND_TRIP);
            } else {
                ages.push(f64::from(end) - k / 2.0);
            }
        }
        assert_eq!(figure(&outcome, "operations"), finished.len() as f64, "{end}");
        assert_eq!(figure(&outcome, "unfinished_operations"), ages.len() as f64, "{end}");
        assert_eq!(lower_bounds(&outcome), open, "{end}");
        let mut together = [finished.clone(), ages.clone()].concat();
        let mean = experiment::mean(&together);
        assert!((figure(&outcome, "latency_mean_us") / mean - 1.0).abs() < 1e-9, "{end}");
        together.sort_by(f64::total_cmp);
        for (name, rank) in [("latency_p50_us", 1000), ("latency_p99_us", 1980), ("latency_p999_us", 1998)] {
            let found = figure(&outcome, name) / together[rank - 1];
            assert!((1.0 - 1e-9..1.0 + 1.0 / 256.0).contains(&found), "{end} {name}: {found}");
        }
        let recorded = floats(&outcome, "operations", "age_us");
        assert!(recorded[..finished.len()].iter().all(|age| age.is_nan()), "{end}: what is done has no age");
        assert_eq!(recorded[finished.len()..], ages, "{end}");
        if ages.is_empty() {
            assert!(outcome.tables.iter().all(|table| table.name != "unfinished"));
        } else {
            assert_eq!(integers(&outcome, "unfinished", "operations"), [ages.len() as u64]);
            assert_eq!(floats(&outcome, "unfinished", "oldest_operation_us"), [ages[0]]);
        }
    }
}

/// An operation issued in the warm-up counts in no latency, be it done or not.
#[test]
fn operations_of_the_warm_up_are_not_unfinished() {
    let outcome = run(&format!("warmup = '200us'\n{}", overload(1000)));
    // 400 are issued in the first 200 us; 996 are done, of which 4.2 us are a round trip.
    assert_eq!(figure(&outcome, "operations"), 596.0);
    assert_eq!(figure(&outcome, "unfinished_operations"), 1004.0);
}

/// A flow of 100 kB is done before the end and one of 1 MB is not, each at 1000 B a microsecond.
#[test]
fn flows_that_are_under_way_at_the_end_count_with_their_age() {
    let table = |from: u32, bytes: &str, start: u32| {
        format!("[[traffic]]\npattern = 'incast'\nfrom = {from}\nto = 2\nbytes = '{bytes}'\nstart = '{start}us'\n")
    };
    let text = format!(
        "format = 1\nname = 'flows'\nduration = '500us'\n[network]\ntopology = 'star'\nhosts = 3\nrate = '80Gbps'\n\
         mtu = '1000B'\nframing = '0B'\n[transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '10B'\nrate = '8Gbps'\n{}{}",
        table(0, "100kB", 0),
        table(1, "1MB", 100),
    );
    for threads in [1, 2] {
        let outcome = run_on(&text, None, threads);
        // The last packet leaves at 99 us, and crosses two links.
        assert_eq!(picoseconds(&outcome, "flows", "fct_us")[0], 101_200_000);
        let ages = floats(&outcome, "flows", "age_us");
        assert!(ages[0].is_nan() && ages[1] == 400.0, "{ages:?}");
        assert_eq!(figure(&outcome, "unfinished_flows"), 1.0);
        let figures =
            ["fct_p50_us", "fct_mean_us", "fct_p99_us", "fct_max_us"].map(|name| figure(&outcome, name));
        assert_eq!(figures, [101.2, f64::midpoint(101.2, 400.0), 400.0, 400.0]);
        let open = ["fct_mean_us", "fct_p99_us", "fct_max_us", "slowdown_mean"];
        assert!(open.iter().all(|name| lower_bounds(&outcome).contains(&(*name).to_string())));
        assert!(!lower_bounds(&outcome).contains(&"fct_p50_us".to_string()));
        let row = ["traffic", "flows", "operations"].map(|of| integers(&outcome, "unfinished", of)[0]);
        assert_eq!(row, [1, 1, 0]);
        assert_eq!(floats(&outcome, "unfinished", "oldest_flow_us"), [400.0]);
    }
}
