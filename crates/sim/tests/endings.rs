//! When a run ends with its flows, and what `stop` means for each kind of flow.

use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::record::Stopped;
use clearway_sim::scenario::load_text;

use crate::experiment::{figure, integers, part_of, run};

fn star(keys: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'endings'\nduration = '20ms'\n{keys}\n[network]\ntopology = 'star'\nhosts = 4\n\
         [transport.swift]\nprotocol = 'swift'\n[[traffic]]\nto = 3\n{traffic}"
    )
}

/// Ends on the first point of the 10 us grid after everything has happened.
fn end_us(traffic: &str) -> f64 {
    figure(&run(&star("stop_when_complete = true", traffic)), "simulated_us")
}

#[test]
fn a_run_of_endless_flows_ends_when_they_stop() {
    assert_eq!(end_us("pattern = 'incast'\nstop = '505us'"), 510.0);
}

#[test]
fn a_run_of_loops_ends_when_the_last_message_is_acknowledged() {
    let traffic = "pattern = 'closed_loop'\nfrom = '0..3'\nbytes = '100kB'\nstop = '505us'";
    let end = end_us(traffic);
    // Three messages of 8.4 us each are under way at the stop.
    assert!((520.0..600.0).contains(&end), "{end}");
}

#[test]
fn a_run_of_sized_flows_ends_when_they_have_arrived() {
    // Three times 25 frames of 335.84 ns behind one another, and two links of 1 us: 28 us.
    assert_eq!(end_us("pattern = 'incast'\nbytes = '102400B'"), 30.0);
}

/// Flows that would start at or after the stop are not there.
#[test]
fn no_flow_starts_after_the_stop() {
    let traffic = "pattern = 'incast'\nflows_per_pair = 10\nstagger = '10us'\nstop = '100us'";
    let outcome = run(&star("", traffic));
    assert_eq!(integers(&outcome, "flows", "flow").len(), 10);
    // 100 Gb/s for 100 us, and not for the 20 ms of the run.
    let delivered: u64 = integers(&outcome, "flows", "delivered_bytes").iter().sum();
    assert!(delivered < 1_400_000, "{delivered}");
}

/// The same load in two runs, of which one goes on for long after its traffic has stopped: steady-state figures are of the
/// time in which there was traffic, in both.
#[test]
fn steady_state_figures_end_with_the_traffic() {
    let traffic = "pattern = 'closed_loop'\nfrom = '0..3'\nbytes = '100kB'\nstop = '2ms'";
    let summaries = ["2ms", "20ms"]
        .map(|duration| run(&star("warmup = '400us'", traffic).replace("'20ms'", &format!("'{duration}'"))));
    let both = |name| summaries.each_ref().map(|outcome| figure(outcome, name));
    assert_eq!(both("simulated_us"), [2_000.0, 20_000.0]);
    assert_eq!(both("measured_from_us"), [400.0; 2]);
    assert_eq!(both("measured_until_us"), [2_000.0; 2]);
    for name in [
        "goodput_gbps",
        "rtt_mean_us",
        "rtt_p99_us",
        "jain",
        "utilisation_max",
        "queue_mean_bytes",
        "operations_per_second",
    ] {
        let [short, long] = both(name);
        assert_eq!(short, long, "{name}");
    }
    // A network that carries what it can: without the end, a tenth of it would be left.
    assert!(both("goodput_gbps")[1] > 90.0, "{:?}", both("goodput_gbps"));
    // Operations that were open when the measurement ended have their whole latency where the run goes on.
    let unfinished = both("unfinished_operations");
    assert!(unfinished[0] > 0.0 && unfinished[1] == 0.0, "{unfinished:?}");
    let ended = run(&star("warmup = '400us'\nmeasure_until = '1ms'", traffic));
    assert_eq!(figure(&ended, "measured_until_us"), 1_000.0);
}

#[test]
fn the_end_of_the_measurement_lies_after_the_warm_up_and_within_the_run() {
    for (keys, expected) in [
        ("warmup = '2ms'\nmeasure_until = '2ms'", "measure_until: found 2ms, expected more than warmup, 2ms"),
        (
            "measure_until = '21ms'",
            "measure_until: found 21ms, expected more than warmup, 0us, and at most duration, 20ms",
        ),
        ("warmup = '20ms'", "warmup: found 20ms, not below duration, 20ms: nothing is left to measure"),
    ] {
        let text = star(keys, "pattern = 'incast'");
        let error = load_text(&text, "scenario", Path::new("."), &[], None).expect_err(keys);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Nothing happens in this network for its first second, in which there are a million looks.
#[test]
fn a_quiet_run_can_be_stopped() {
    let text =
        star("", "pattern = 'incast'\nstart = '900ms'\n[record]\nfairness = '1us'").replace("20ms", "1s");
    let loaded = load_text(&text, "scenario", Path::new("."), &[], None).expect("a good scenario");
    let mut asked = 0;
    let outcome = clearway_sim::run(&loaded.scenario, &mut |_| {
        asked += 1;
        ControlFlow::Break(())
    });
    assert_eq!((outcome, asked), (Err(Stopped::Interrupted), 1));
}

/// What a run has measured when it is stopped is what the same run has whose duration ends there: digest, figures and
/// tables, with and without samples, paced hosts, operations, losses and PAUSEs, on any number of threads.
#[test]
fn a_run_that_is_stopped_keeps_what_a_shorter_one_has() {
    let cases = [
        ("", "pattern = 'incast'"),
        ("[switch.default]\nbuffer = '100kB'", "pattern = 'incast'\nflows_per_pair = 5\nbytes = '1MB'"),
        ("[record]\nqueues = '7us'\nrtt = '50us'\nwindows = '30us'", "pattern = 'incast'"),
        ("", "pattern = 'closed_loop'\nfrom = '0..3'\nbytes = '10kB'"),
        ("[host.default]\nmodel = 'snap'", "pattern = 'incast'\nflows_per_pair = 2"),
        ("[switch.default]\npfc = 'static'\npfc_xoff = '50kB'", "pattern = 'incast'\nflows_per_pair = 8"),
    ];
    for (tables, traffic) in cases {
        let text = |duration: &str| {
            star("warmup = '5us'", traffic).replace("'20ms'", &format!("'{duration}'"))
                + &format!("\n{tables}\n")
        };
        for (threads, asks) in [(1, 3), (1, 20), (2, 5), (3, 11)] {
            let part = part_of(&text("1s"), None, threads, asks);
            assert!(part.interrupted, "{traffic}");
            let end = figure(&part, "simulated_us");
            assert!(end > 0.0 && end < 1e6, "{end}");
            let shorter = run(&text(&format!("{:.0}ps", end * 1e6)));
            assert!(!shorter.interrupted);
            assert_eq!(part.digest, shorter.digest, "{traffic} until {end} us on {threads} threads");
            assert_eq!(format!("{:?}", part.summary), format!("{:?}", shorter.summary), "{traffic}");
            assert_eq!(format!("{:?}", part.tables), format!("{:?}", shorter.tables), "{traffic}");
        }
    }
}

/// However late a run is asked to stop, it is a part exactly where it ends before its time.
#[test]
fn a_run_that_is_stopped_at_its_end_is_whole() {
    let text = star("", "pattern = 'incast'\nbytes = '1MB'");
    let whole = figure(&run(&text), "simulated_us");
    for asks in 1.. {
        let part = part_of(&text, None, 1, asks);
        assert_eq!(part.interrupted, figure(&part, "simulated_us") < whole, "after {asks} asks");
        if !part.interrupted {
            assert!(asks > 1);
            break;
        }
    }
}
