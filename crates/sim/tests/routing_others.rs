//! Faults that are routed around beside flow control, timeslots, relays and jobs; and those that leave no way at all.

use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::check::load_text;
use clearway_sim::record::Stopped;

use crate::experiment::{figure, floats, goodput, integers, run, run_on};

const ROUTING: &str = "[routing]\ndetect = '50us'\nconverge = '300us'\n";

/// What ends a run before its time.
fn stopped(text: &str) -> String {
    let loaded = load_text(text, "scenario", Path::new("."), &[], None)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    match clearway_sim::run(&loaded.scenario, &mut |_| ControlFlow::Continue(())) {
        Err(Stopped::Standstill(why)) => why,
        other => panic!("{:?}\n{text}", other.map(|outcome| outcome.summary)),
    }
}

/// A lossless leaf-spine network whose senders fill every queue, so that links are paused when a switch dies and when it returns: none
/// stays paused, and every flow arrives whole.
#[test]
fn no_link_stays_paused_for_a_switch_that_died() {
    for (node, until) in [("spine0", "2500us"), ("tor1", "2500us"), ("spine1", "1030us"), ("h4", "3ms")] {
        let text = format!(
            "format = 1\nname = 'pauses'\nduration = '60ms'\nstop_when_complete = true\nallow_loss = true\n[network]\n\
             topology = 'leaf_spine'\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\nrate = '10Gbps'\n[switch.default]\nbuffer = '1MB'\n\
             pfc = 'static'\npfc_xoff = '20kB'\n[transport.t]\nprotocol = 'none'\nrto = '1ms'\nwindow = 400\n\
             [[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\nbytes = '2MB'\n\
             [[traffic]]\npattern = 'incast'\nfrom = '5..8'\nto = 1\nbytes = '2MB'\n{ROUTING}\
             [[fault]]\nkind = 'dead'\nnode = '{node}'\nat = '1ms'\nuntil = '{until}'\n"
        );
        let outcome = run(&text);
        assert_eq!(figure(&outcome, "completed"), 7.0, "{node}");
        assert!(figure(&outcome, "pause_share") > 0.0, "{node}");
        assert!(integers(&outcome, "faults", "lost_frames")[0] > 0, "{node}");
        assert_eq!(run_on(&text, None, 3).digest, outcome.digest, "{node}");
    }
}

/// A spine switch of a Fastpass network dies. Its packets keep to the paths that the arbiter gives them; it learns of each dead cable
/// and allots over the others, as much as these carry.
#[test]
fn an_arbiter_learns_of_a_dead_switch() {
    let flows = (0..4)
        .map(|host| format!("[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {}\n", host + 4))
        .collect::<Vec<_>>()
        .concat();
    let outcome = run(&format!(
        "format = 1\nname = 'slots'\nduration = '40ms'\nwarmup = '1ms'\n[network]\ntopology = 'leaf_spine'\nleaves = 4\nspines = 4\n\
         hosts_per_leaf = 4\nrate = '10Gbps'\nmtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n[arbiter]\n\
         at = 'h15'\n{flows}{ROUTING}[[fault]]\nkind = 'dead'\nnode = 'spine1'\nat = '8ms'\n[record]\nthroughput = '1ms'\n"
    ));
    let (before, after) = (goodput(&outcome, 3.0, 8.0), goodput(&outcome, 28.0, 40.0));
    assert!(after >= 0.95 * 0.75 * before, "{before} Gb/s before and {after} after");
    assert_eq!(figure(&outcome, "fallbacks"), 0.0);
}

/// Datacenters joined by relays, of which one fails and a bypass takes its place, while a switch of one datacenter dies and is routed
/// around: every flow arrives.
#[test]
fn relays_and_routes_fail_side_by_side() {
    let text = format!(
        "format = 1\nname = 'relays'\nduration = '100ms'\nstop_when_complete = true\nallow_loss = true\n[network]\n\
         topology = 'datacenters'\nk = 4\nlong_km = 20.0\nrelays = true\nrate = '10Gbps'\n[switch.default]\nbuffer = '1MB'\n\
         pfc = 'static'\npfc_xoff = '50kB'\n[transport.t]\nprotocol = 'none'\nrto = '2ms'\nwindow = 300\n\
         [[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 16\nbytes = '1MB'\n\
         [[traffic]]\npattern = 'incast'\nfrom = 20\nto = 5\nbytes = '1MB'\n{ROUTING}\
         [[fault]]\nkind = 'dead'\nnode = 'spine0'\nat = '300us'\nuntil = '2ms'\n\
         [[fault]]\nkind = 'down'\nlink = 'dci0-relay0'\nat = '600us'\nuntil = '900us'\n\
         [[fault]]\nkind = 'bypass'\nrelay = 'relay0'\nat = '700us'\nuntil = '3ms'\n"
    );
    let outcome = run(&text);
    assert_eq!(figure(&outcome, "completed"), 5.0);
    assert_eq!(run_on(&text, None, 2).digest, outcome.digest);
}

fn job(fault: &str) -> String {
    format!(
        "format = 1\nname = 'job'\nduration = '100ms'\nstop_when_complete = true\n[network]\ntopology = 'leaf_spine'\nleaves = 2\n\
         spines = 2\nhosts_per_leaf = 2\nrate = '10Gbps'\n[transport.t]\nprotocol = 'swift'\nmin_rto = '200us'\n\
         [[job]]\nkind = 'collective'\ncollective = 'all_reduce'\nbytes = '1MB'\niterations = 6\n{ROUTING}{fault}"
    )
}

/// The iteration in which the only spine switch dies, for half a millisecond, takes longer than the one before, and the job ends all the
/// same.
#[test]
fn an_iteration_tells_what_a_fault_cost() {
    let fault = "[[fault]]\nkind = 'dead'\nnode = 'spine0'\nat = '4ms'\nuntil = '4500us'\n";
    let outcome = run(&job(fault).replace("spines = 2", "spines = 1"));
    let slowdown = floats(&outcome, "faults", "iteration_slowdown")[0];
    let (ends, took) =
        (floats(&outcome, "iterations", "ended_us"), floats(&outcome, "iterations", "iteration_us"));
    let at = ends.iter().position(|ended| *ended > 4000.0).expect("an iteration ends after the fault");
    assert!(at > 0 && (slowdown - took[at] / took[at - 1]).abs() < 1e-9, "{slowdown} of {took:?}");
    assert!(slowdown > 1.3, "{slowdown} of {took:?}");
    assert_eq!(figure(&outcome, "unfinished_jobs"), 0.0);
}

/// A fault that switches route around is not there in the run of the job alone.
#[test]
fn a_job_alone_meets_no_fault_that_is_routed_around() {
    let fault = "[[fault]]\nkind = 'dead'\nnode = 'spine0'\nat = '4ms'\nuntil = '4500us'\n";
    let alone = |fault: &str| {
        let outcome =
            run(&format!("{}[record]\nalone = true\n", job(fault)).replace("spines = 2", "spines = 1"));
        (floats(&outcome, "jobs", "alone_us")[0], floats(&outcome, "jobs", "slowdown")[0])
    };
    let ((usual, none), (faulty, slowdown)) = (alone(""), alone(fault));
    assert_eq!((faulty, none), (usual, 1.0));
    assert!(slowdown > 1.05, "{slowdown}");
}

/// A leaf that is dead for good cuts its ranks off: the run says so when that is certain. So it does of flows that it waits for; and
/// where it waits for none, it goes on.
#[test]
fn what_is_cut_off_for_good_is_named() {
    let fault = "[[fault]]\nkind = 'dead'\nnode = 'tor1'\nat = '1ms'\n";
    let said = stopped(&job(fault));
    assert!(said.starts_with("job[0] (all_reduce ring) can never end: since 1ms no way joins h"), "{said}");
    assert!(said.contains("for fault[0] (dead of tor1), which has no end; give that fault an until, or the network another way"), "{said}");
    let flows = |ends: bool, fault: &str| {
        format!(
            "format = 1\nname = 'cut'\nduration = '20ms'\nstop_when_complete = {ends}\n[network]\ntopology = 'star'\nhosts = 4\n\
             [transport.t]\nprotocol = 'swift'\n[[traffic]]\npattern = 'all_to_all'\nbytes = '10MB'\n{ROUTING}{fault}"
        )
    };
    let dead = "[[fault]]\nkind = 'down'\nlink = 'tor0>h2'\nat = '100us'\n";
    let said = stopped(&flows(true, dead));
    assert!(
        said.contains(
            "and 2 more can never end: since 100us no way joins h0 and h2, for fault[0] (down of tor0>h2)"
        ),
        "{said}"
    );
    let outcome = run(&flows(false, dead));
    assert_eq!(figure(&outcome, "completed"), 6.0);
    // With an end to the fault there is nothing to name.
    let outcome =
        run(&flows(true, "[[fault]]\nkind = 'down'\nlink = 'tor0>h2'\nat = '100us'\nuntil = '1ms'\n"));
    assert_eq!(figure(&outcome, "completed"), 12.0);
}
