//! When a run ends with its flows, and what `stop` means for each kind of flow.

mod experiment;

use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::record::Stopped;
use clearway_sim::scenario::load_text;
use experiment::{figure, integers, run};

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
