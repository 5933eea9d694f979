//! Series of chosen flows and of classes, held against arithmetic and against each other.

use crate::experiment::{explained, floats, integers, loaded, run, run_on, texts, Outcome};

/// A star of 8 Gb/s, a microsecond long, where a packet carries 1000 B and is 1100 B on the wire: 1.1 us of a link.
fn star(record: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'series'\nduration = '1ms'\n[network]\ntopology = 'star'\nhosts = 5\nrate = '8Gbps'\n\
         delay = '1us'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\nprotocol = 'none'\nheader = '100B'\nack = '100B'\n\
         {record}\n{traffic}"
    )
}

fn incast(from: &str, more: &str) -> String {
    format!("[[traffic]]\npattern = 'incast'\nfrom = {from}\nto = 4\n{more}\n")
}

/// The rows of a flow: times, and the values of a column.
fn of_flow(outcome: &Outcome, flow: u64, column: &str) -> Vec<f64> {
    let flows = integers(outcome, "flows_series", "flow");
    let rows = flows.iter().zip(floats(outcome, "flows_series", column));
    rows.filter(|(of, _)| **of == flow).map(|(_, value)| *value).collect()
}

#[test]
fn a_flow_alone_has_all_of_its_link_and_the_base_round_trip() {
    let outcome = run(&star("[record.flows]\nevery = '11us'\nflows = 0", &incast("[0]", "bytes = '300kB'")));
    let goodput = of_flow(&outcome, 0, "goodput_gbps");
    // 300 packets leave in 330 us, and 4.2 us of two delays and a second transmission later the last has arrived.
    assert_eq!(goodput.len(), 31);
    let line = 8.0 * 1000.0 / 1100.0;
    assert!(goodput[1..30].iter().all(|gbps| (gbps - line).abs() < 1e-9), "{goodput:?}");
    let sent = of_flow(&outcome, 0, "sent_gbps");
    assert!(sent[..30].iter().all(|gbps| (gbps - 8.0).abs() < 1e-9) && sent[30] == 0.0, "{sent:?}");
    let bytes: f64 = goodput.iter().map(|gbps| gbps * 11.0 * 125.0).sum();
    assert!((bytes - 300_000.0).abs() < 1e-6, "{bytes}");
    // A packet and an acknowledgement of 100 B over two links each.
    let base = 2.0 * (1.0 + 1.1) + 2.0 * (1.0 + 0.1);
    for column in ["rtt_mean_us", "rtt_max_us"] {
        let rtt = of_flow(&outcome, 0, column);
        assert!(rtt.iter().all(|us| (us - base).abs() < 1e-9), "{column}: {rtt:?}");
    }
    // Of the packets that left 1.1 us apart, the acknowledgements of the last five have not come after 6.4 us.
    let inflight = integers(&outcome, "flows_series", "inflight_packets");
    assert!(inflight[1..30].iter().all(|&packets| packets == 5), "{inflight:?}");
}

#[test]
fn flows_that_share_a_link_have_equal_parts_of_it() {
    let text = star("[record.flows]\nevery = '110us'\ntransport = 't'", &incast("'0..2'", "bytes = '200kB'"));
    let outcome = run(&text);
    let half = 8.0 * 1000.0 / 1100.0 / 2.0;
    for flow in [0, 1] {
        let goodput = of_flow(&outcome, flow, "goodput_gbps");
        assert!((goodput[1] - half).abs() < 0.02 * half, "{goodput:?}");
        let bytes: f64 = goodput.iter().map(|gbps| gbps * 110.0 * 125.0).sum();
        assert!((bytes - 200_000.0).abs() < 1e-6, "{bytes}");
    }
}

/// Where a run ends between two instants, the last step is shorter.
#[test]
fn the_last_step_ends_with_the_run() {
    let text = star("[record.flows]\nevery = '300us'\nfirst = 1", &incast("[0]", ""));
    let outcome = run(&text);
    assert_eq!(floats(&outcome, "flows_series", "time_us"), [300.0, 600.0, 900.0, 1000.0]);
    let goodput = of_flow(&outcome, 0, "goodput_gbps");
    let bytes =
        goodput.iter().zip([300.0, 300.0, 300.0, 100.0]).map(|(gbps, us)| gbps * us * 125.0).sum::<f64>();
    assert!((bytes - integers(&outcome, "flows", "delivered_bytes")[0] as f64).abs() < 1e-6, "{bytes}");
}

/// The windows and round-trip times are those of the other samples where these are taken at the same instants.
#[test]
fn windows_and_rates_are_those_of_all_flows() {
    let dcqcn = "roce'\ncongestion = 'dcqcn";
    for (protocol, own) in
        [("swift", "cwnd_packets"), ("dctcp", "cwnd_packets"), ("timely", "rate_gbps"), (dcqcn, "rate_gbps")]
    {
        let text = star(
            "[record]\nwindows = '20us'\nrtt = '20us'\nflows = { every = '20us', class = 'c' }\n\
             classes = '20us'\nthroughput = '20us'\n[class.c]",
            &incast("'0..4'", ""),
        );
        let outcome = run(&text.replace("protocol = 'none'", &format!("protocol = '{protocol}'")));
        for column in ["cwnd_packets", "rate_gbps"] {
            let bits = |table| -> Vec<u64> {
                floats(&outcome, table, column).iter().map(|value| value.to_bits()).collect()
            };
            assert_eq!(bits("flows_series"), bits("windows"), "{protocol}: {column}");
        }
        let measured = floats(&outcome, "flows_series", own);
        assert!(measured.iter().all(|value| *value > 0.0), "{protocol}: {measured:?}");
        let sum = |column: &str, instant: f64| -> f64 {
            let times = floats(&outcome, "flows_series", "time_us").iter().zip(floats(
                &outcome,
                "flows_series",
                column,
            ));
            times.filter(|(time, _)| **time == instant).map(|(_, value)| *value).sum()
        };
        let rows = floats(&outcome, "throughput", "time_us").iter().zip(floats(
            &outcome,
            "throughput",
            "goodput_gbps",
        ));
        for ((instant, gbps), of_class) in rows.zip(floats(&outcome, "classes_series", "goodput_gbps")) {
            assert!((sum("goodput_gbps", *instant) - gbps).abs() < 1e-9, "{protocol} at {instant} us");
            assert_eq!(gbps, of_class, "one class of one transport");
        }
        for column in ["rtt_mean_us", "rtt_max_us"] {
            assert_eq!(
                format!("{:?}", floats(&outcome, "classes_series", column)),
                format!("{:?}", floats(&outcome, "rtt_series", column))
            );
        }
    }
}

/// Two classes, of which one has data and its acknowledgements the other.
#[test]
fn hosts_send_what_classes_say() {
    let text = star("[record]\nclasses = '110us'\n[class.data]\n[class.acks]", &incast("[0]", ""));
    let text = text.replace("ack = '100B'", "ack = '100B'\nclass = 'data'\nack_class = 'acks'");
    let outcome = run(&text);
    let rows: Vec<(&str, f64)> = texts(&outcome, "classes_series", "class")
        .into_iter()
        .zip(floats(&outcome, "classes_series", "sent_gbps").iter().copied())
        .collect();
    assert_eq!(rows.len(), 18);
    for (class, gbps) in &rows[2..] {
        let expected = if *class == "data" { 8.0 } else { 8.0 / 11.0 };
        assert!((gbps - expected).abs() < 0.02 * expected, "{rows:?}");
    }
    let delivered: Vec<f64> = floats(&outcome, "classes_series", "goodput_gbps").to_vec();
    assert!(delivered.chunks(2).all(|of| of[0] > 7.0 && of[1] == 0.0), "{delivered:?}");
    let counts = integers(&outcome, "classes_series", "count");
    assert!(counts.chunks(2).all(|of| of[0] > 90 && of[1] == 0), "{counts:?}");
}

/// A flow that lost a packet says what it sent again.
#[test]
fn what_is_sent_again_is_counted() {
    let text = star("[record.flows]\nevery = '50us'\nflows = '0..4'", &incast("'0..4'", "bytes = '30kB'"))
        .replace("protocol = 'none'", "protocol = 'dctcp'\nmin_rto = '100us'")
        .replace("duration = '1ms'", "duration = '20ms'");
    let text = format!("{text}[switch.default]\nbuffer = '11kB'\n");
    let outcome = run(&text);
    let again = integers(&outcome, "flows_series", "retransmitted_bytes");
    let packets: u64 = integers(&outcome, "flows", "retransmissions").iter().sum();
    assert!(packets > 0);
    assert_eq!(again.iter().sum::<u64>(), packets * 1000);
}

#[test]
fn the_largest_and_the_first_are_chosen_by_what_is_asked_for() {
    let traffic: String = [(0, 10, 5), (1, 40, 0), (2, 20, 3), (3, 40, 1)]
        .map(|(from, kilobytes, start)| {
            incast(&format!("[{from}]"), &format!("bytes = '{kilobytes}kB'\nstart = '{start}us'"))
        })
        .concat();
    let chosen = |rule: &str| {
        let outcome = run(&star(&format!("[record.flows]\nevery = '5us'\n{rule}"), &traffic));
        let mut flows = integers(&outcome, "flows_series", "flow").to_vec();
        flows.sort_unstable();
        flows.dedup();
        flows
    };
    assert_eq!(chosen("largest = 1"), [1]);
    assert_eq!(chosen("largest = 3"), [1, 2, 3]);
    assert_eq!(chosen("first = 2"), [1, 3]);
    assert_eq!(chosen("flows = [2, '0..1']"), [0, 2]);
    assert_eq!(chosen("transport = 't'"), [0, 1, 2, 3]);
    assert_eq!(chosen("first = 2\ntransport = 't'"), [1, 3]);
}

/// A run that has series, even of flows that a first run has to tell, is the run without; also where it is stopped early or on
/// several threads, and where its flows are explained.
#[test]
fn series_of_the_slowest_flows_leave_the_run_as_it_is() {
    let traffic = incast("'0..4'", "bytes = '50kB'\nflows_per_pair = 3\nstart = '0us..100us'");
    let text = star("[record.flows]\nevery = '20us'\nslowest = 2", &traffic).replacen(
        "name",
        "stop_when_complete = true\nname",
        1,
    );
    let plain = run(&text.replace("[record.flows]\nevery = '20us'\nslowest = 2", ""));
    let outcome = run(&text);
    assert_eq!(outcome.digest, plain.digest);
    let slowdown = floats(&outcome, "flows", "slowdown");
    let mut order: Vec<u64> = (0..12).collect();
    order.sort_by(|&a, &b| slowdown[b as usize].total_cmp(&slowdown[a as usize]));
    let mut slowest = order[..2].to_vec();
    slowest.sort_unstable();
    let mut flows = integers(&outcome, "flows_series", "flow").to_vec();
    flows.sort_unstable();
    flows.dedup();
    assert_eq!(flows, slowest);
    let together = run_on(&text, None, 3);
    assert_eq!(format!("{:?}", outcome.tables), format!("{:?}", together.tables));
    assert_eq!(explained(&text, &[4, 7]).len(), 2);
}

/// Progress goes on through both runs, and neither goes back.
#[test]
fn two_runs_are_one_progress() {
    let text = star(
        "[record]\nfairness = '20us'\nflows = { every = '20us', slowest = 2 }",
        &incast("'0..4'", "bytes = '500kB'"),
    );
    let scenario = loaded(&text, None).scenario;
    let mut seen = Vec::new();
    let outcome = clearway_sim::run_on(&scenario, 1, &mut |at| {
        seen.push(at);
        std::ops::ControlFlow::Continue(())
    });
    outcome.expect("nothing interrupts it");
    let end = seen[0].end_ps;
    assert!(seen.iter().all(|at| at.end_ps == end && at.simulated_ps <= end));
    assert!(seen.windows(2).all(|pair| pair[0].simulated_ps <= pair[1].simulated_ps));
    assert!(seen.windows(2).all(|pair| pair[0].packet_hops <= pair[1].packet_hops));
    assert!(seen.iter().any(|at| at.simulated_ps > end / 4 && at.simulated_ps < end / 2));
    assert!(seen.last().is_some_and(|at| at.simulated_ps > end * 3 / 4));
}
