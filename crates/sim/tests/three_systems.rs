//! `scenarios/three_systems.toml`: Swift, Fastpass and Swing in one network, class by class, before, during and after an arbiter
//! and a relay fail. Bounds are arithmetic on the links that classes fill, not on how a congestion control gets there.

use std::path::Path;

use clearway_sim::check::load_text;
use clearway_sim::record::Stopped;

use crate::experiment::{floats, integers, texts, Outcome};

const SCENARIO: &str = include_str!("../../../scenarios/three_systems.toml");

/// Payload of a frame, and the bytes of one on the wire with each protocol: headers of 44, 64 and 52 B, and framing of 38.
const PAYLOAD: f64 = 1448.0;
const RDMA: f64 = 1530.0;
const SWIFT: f64 = 1550.0;
const SLOTTED: f64 = 1538.0;
/// The rate of a host's link in Gb/s.
const LINK: f64 = 10.0;

fn try_run(overrides: &[&str], threads: usize) -> Result<Outcome, Stopped> {
    let overrides: Vec<(String, Option<String>)> = overrides
        .iter()
        .map(|text| text.split_once('=').expect("a key and its value"))
        .map(|(key, value)| (key.into(), Some(value.into())))
        .collect();
    let loaded = load_text(SCENARIO, "scenario", Path::new("."), &overrides, None);
    let scenario = loaded.unwrap_or_else(|problems| panic!("{problems}")).scenario;
    clearway_sim::run_on(&scenario, threads, &mut |_| std::ops::ControlFlow::Continue(()))
}

/// Goodput of a transport in Gb/s, the mean of the samples after `from` and until `until`, in milliseconds.
fn goodput(outcome: &Outcome, transport: &str, (from, until): (f64, f64)) -> f64 {
    let (times, gbps) =
        (floats(outcome, "throughput", "time_us"), floats(outcome, "throughput", "goodput_gbps"));
    let rows = texts(outcome, "throughput", "transport").into_iter().zip(times.iter().zip(gbps));
    let within =
        rows.filter(|(of, (time, _))| *of == transport && **time > 1e3 * from && **time <= 1e3 * until);
    let all: Vec<f64> = within.map(|(_, (_, gbps))| *gbps).collect();
    assert!(!all.is_empty(), "{transport} from {from} to {until} ms");
    all.iter().sum::<f64>() / all.len() as f64
}

/// Returns what the two classes that share the link of host 16 take of it, in Gb/s on the wire.
fn shared_link(outcome: &Outcome, phase: (f64, f64)) -> f64 {
    (goodput(outcome, "rdma", phase) * RDMA + goodput(outcome, "beside", phase) * SWIFT) / PAYLOAD
}

/// Frames of a class that were dropped, on links that lead from a node that `on` accepts.
fn drops(outcome: &Outcome, class: &str, on: impl Fn(&str) -> bool) -> u64 {
    let (links, classes) = (texts(outcome, "link_classes", "link"), texts(outcome, "link_classes", "class"));
    let rows = links.into_iter().zip(classes).zip(integers(outcome, "link_classes", "drops"));
    rows.filter(|((link, of), _)| *of == class && on(link)).map(|(_, drops)| drops).sum()
}

const BEFORE: (f64, f64) = (3.0, 8.0);
/// From when the slots that the arbiter had granted ahead are over (50 us), until its hosts take it for dead (1 ms).
const SILENT: (f64, f64) = (8.5, 9.0);
const WITHOUT_ARBITER: (f64, f64) = (9.5, 14.0);
const ARBITER_BACK: (f64, f64) = (15.0, 18.0);
const WITHOUT_RELAY: (f64, f64) = (18.5, 24.0);
/// From when timeouts, of 4 ms, have sent again what the bypass let get lost.
const RELAY_BACK: (f64, f64) = (30.0, 40.0);

#[test]
fn every_class_gets_what_arithmetic_says_before_during_and_after_each_fault() {
    let outcome = try_run(&[], 1).expect("it may drop frames");
    for phase in [BEFORE, SILENT, WITHOUT_ARBITER, ARBITER_BACK, WITHOUT_RELAY, RELAY_BACK] {
        // Swift that has a link to itself fills it: neither fault is anything to it.
        let (alone, whole) = (goodput(&outcome, "swift", phase), LINK * PAYLOAD / SWIFT);
        assert!((alone / whole - 1.0).abs() < 0.01, "Swift has {alone} of {whole} Gb/s in {phase:?}");
        // Beside RDMA it has half of the link at least.
        let beside = goodput(&outcome, "beside", phase);
        assert!(beside > 0.99 * whole / 2.0, "Swift beside RDMA has {beside} Gb/s in {phase:?}");
        // The two fill it, but for when the relay is out: then go-back-N discards what follows a loss.
        let shared = shared_link(&outcome, phase);
        if phase == WITHOUT_RELAY {
            assert!(shared < 0.85 * LINK, "{shared} Gb/s though the relay is out");
        } else {
            assert!((shared / LINK - 1.0).abs() < 0.01, "{shared} of {LINK} Gb/s in {phase:?}");
            // RDMA has half of it at most, and how near it comes is DCQCN's: in three seeds 3.4 to 4.7 Gb/s.
            let (rdma, half) = (goodput(&outcome, "rdma", phase), LINK / 2.0 * PAYLOAD / RDMA);
            assert!((0.5 * half..1.01 * half).contains(&rdma), "RDMA has {rdma} of {half} Gb/s in {phase:?}");
        }
        // Eleven hosts with a full frame in every slot, which is 1 % longer than that; acknowledgements take some slots.
        let (slotted, every) = (goodput(&outcome, "slots", phase), 11.0 * 0.99 * LINK * PAYLOAD / SLOTTED);
        let expected = match phase {
            SILENT => 0.0..f64::MIN_POSITIVE,
            // By Swift, a path a flow by hash: some links carry two flows or three, some none.
            WITHOUT_ARBITER => 0.35 * every..0.9 * every,
            _ => 0.9 * every..every,
        };
        assert!(expected.contains(&slotted), "Fastpass has {slotted} of {every} Gb/s in {phase:?}");
    }
    let endpoints = |column| integers(&outcome, "endpoints", column).to_vec();
    assert_eq!((endpoints("fallbacks"), endpoints("returns")), (vec![1; 11], vec![1; 11]));
    assert_eq!((drops(&outcome, "slots", |_| true), drops(&outcome, "swift", |_| true)), (0, 0));
    // What is lost is lost in the relay that fails, and at the switch behind it, which has the room of a short link.
    let here = |link: &str| link.starts_with("dci1>") || link.starts_with("relay1>");
    let (behind, all) = (drops(&outcome, "rdma", here), drops(&outcome, "rdma", |_| true));
    assert!(behind > 0 && behind == all, "{behind} of {all} drops behind the relay");
}

#[test]
fn while_relays_live_no_lossless_class_drops_a_frame_whatever_the_arbiter_does() {
    let outcome =
        try_run(&["allow_loss=false", "fault[1].at=39ms", "fault[1].until=40ms", "duration=39ms"], 1);
    let outcome = outcome.expect("a lossless class drops nothing");
    assert_eq!(drops(&outcome, "rdma", |_| true), 0);
    // Not even when more RDMA begins, at line rate: four times what drains.
    let (burst, half) = (goodput(&outcome, "rdma", (19.0, 23.0)), LINK / 2.0 * PAYLOAD / RDMA);
    assert!((burst / half - 1.0).abs() < 0.03, "{burst} of {half} Gb/s");
}

#[test]
fn a_second_thread_changes_nothing() {
    let short = ["duration=22ms", "fault[1].until=20ms"];
    let [one, two] = [1, 2].map(|threads| try_run(&short, threads).expect("it may drop frames").digest);
    assert_eq!(one, two);
}
