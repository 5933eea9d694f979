//! Fastpass over links that fail: what still flows, what is avoided, and when it is used again.

use std::fmt::Write;

use crate::experiment::{figure, goodput, integers, run, texts, Outcome};

/// The least share of what living links carry that has to flow after a fault.
const ENOUGH: f64 = 0.95;

/// Returns four racks of `hosts` hosts, joined by `spines` spine switches at 10 Gb/s; rack 0 sends to rack 1, host by host. The
/// arbiter is at the last host.
fn two_racks(hosts: usize, spines: usize, duration: &str, rest: &str) -> String {
    let mut text = format!(
        "format = 1\nname = 'faults'\nduration = '{duration}'\nwarmup = '1ms'\n[network]\ntopology = 'leaf_spine'\nleaves = 4\n\
         spines = {spines}\nhosts_per_leaf = {hosts}\nrate = '10Gbps'\ndelay = '1us'\nmtu = '1448B'\n[transport.t]\n\
         protocol = 'fastpass'\nheader = '52B'\n{rest}\n[arbiter]\nat = 'h{}'\n[record]\nthroughput = '1ms'\n",
        4 * hosts - 1
    );
    for host in 0..hosts {
        write!(text, "[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {}\n", host + hosts)
            .expect("room");
    }
    text
}

/// A fault of a link between these two instants.
fn fault(kind: &str, link: &str, from: &str, until: &str) -> String {
    let until = if until.is_empty() { String::new() } else { format!("until = '{until}'\n") };
    format!("[[fault]]\n{kind}\nlink = '{link}'\nat = '{from}'\n{until}")
}

/// The links that an arbiter takes for failed at the end, in the order of their names.
fn failed(outcome: &Outcome) -> Vec<String> {
    let names = texts(outcome, "arbiters", "failed_links");
    let mut names: Vec<String> = names[0].split_whitespace().map(str::to_owned).collect();
    names.sort();
    names
}

/// The two directions of a cable that a fault's link names.
fn directions(link: &str) -> Vec<String> {
    match link.split_once('-') {
        Some((a, b)) => {
            let mut both = vec![format!("{a}>{b}"), format!("{b}>{a}")];
            both.sort();
            both
        }
        None => vec![link.to_owned()],
    }
}

/// A cable that is dead from 8 ms on costs what it carried, whichever it is and whatever the transport's patience; the links that
/// live are used, and 20 ms later nothing else is missing.
#[test]
fn a_dead_cable_costs_one_cable() {
    let links = ["tor0-spine0", "tor0>spine0", "spine0>tor0", "tor1-spine1", "spine1>tor1", "tor1>spine1"];
    // Hosts of a rack, spine switches, the share that three quarters of the cables or the like carry, and how many links to try.
    for (hosts, spines, living, tried) in [(4, 4, 0.75, 6), (8, 8, 0.875, 1), (4, 2, 0.5, 1)] {
        for (number, link) in links.into_iter().take(tried).enumerate() {
            let keys = if number % 2 == 0 { "rto = '5ms'\n" } else { "" };
            let dead = fault("kind = 'down'", link, "8ms", "");
            let outcome = run(&two_racks(hosts, spines, "40ms", &format!("{keys}{dead}")));
            let carries_data = !["spine0>tor0", "tor1>spine1"].contains(&link);
            let before = goodput(&outcome, 3.0, 8.0);
            let after = goodput(&outcome, 28.0, 40.0);
            let what = format!("{spines} spines, {hosts} hosts, {link}, {keys:?}");
            let living = if carries_data { living } else { 1.0 };
            assert!(after >= ENOUGH * living * before, "{what}: {before} Gb/s before and {after} after");
            let named = failed(&outcome);
            let dead = directions(link);
            assert!(named.iter().all(|name| dead.contains(name)), "{what}: {named:?} are avoided");
            assert!(named.contains(&dead[0]) || !carries_data, "{what}: {named:?}");
            assert_eq!(figure(&outcome, "fallbacks"), 0.0, "{what}");
        }
    }
}

/// A cable that is dead or loses one packet in twenty for 10 ms is used again within 20 ms of its return, and everything flows as
/// before.
#[test]
fn a_cable_that_returns_is_used_again() {
    for (kind, link) in [
        ("kind = 'down'", "tor0-spine0"),
        ("kind = 'down'", "spine3>tor1"),
        ("kind = 'loss'\nprobability = 0.05", "tor0>spine1"),
    ] {
        let outcome = run(&two_racks(4, 4, "50ms", &fault(kind, link, "8ms", "18ms")));
        let (before, meanwhile) = (goodput(&outcome, 3.0, 8.0), goodput(&outcome, 13.0, 18.0));
        let after = goodput(&outcome, 40.0, 50.0);
        assert!(after > 0.995 * before, "{link}: {before} Gb/s before, {after} after");
        assert!(meanwhile > 0.95 * 0.75 * before, "{link}: {meanwhile} Gb/s meanwhile");
        assert_eq!(failed(&outcome), [""; 0], "{link}");
    }
}

/// A single flow has all its host's link though one of the paths is dead: what one endpoint says of a link that nobody else uses
/// is believed.
#[test]
fn a_lone_flow_avoids_a_dead_link() {
    let text = two_racks(4, 4, "30ms", &fault("kind = 'down'", "tor0>spine2", "5ms", ""));
    let (alone, _) =
        text.match_indices("[[traffic]]").nth(1).map(|(second, _)| text.split_at(second)).expect("flows");
    let outcome = run(alone);
    assert!(goodput(&outcome, 15.0, 30.0) > 0.99 * goodput(&outcome, 2.0, 5.0));
    assert_eq!(failed(&outcome), ["tor0>spine2"]);
}

/// Where an arbiter is at a switch, nobody can try a failed link: it is avoided all the same, and gets packets after a probation.
#[test]
fn an_arbiter_at_a_switch_avoids_what_it_cannot_try() {
    let text = two_racks(4, 4, "40ms", &fault("kind = 'down'", "tor0>spine2", "5ms", ""));
    let outcome = run(&text.replace("at = 'h15'", "at = 'spine0'"));
    assert!(goodput(&outcome, 20.0, 40.0) > 0.95 * 0.75 * goodput(&outcome, 2.0, 5.0));
    // Nothing tells the link behind it from the dead one: all of what rack 0 sends to rack 1 that way passes both.
    let named = failed(&outcome);
    assert!(named.contains(&"tor0>spine2".to_owned()), "{named:?}");
    assert!(named.iter().all(|name| ["spine2>tor1", "tor0>spine2"].contains(&name.as_str())), "{named:?}");
}

/// Without fault isolation a dead cable is neither found nor avoided: slots go on being granted over it, and are lost.
#[test]
fn without_fault_isolation_nothing_is_found_or_avoided() {
    let text = two_racks(4, 4, "20ms", &fault("kind = 'down'", "tor0>spine2", "5ms", ""));
    let with = run(&text);
    assert_eq!(failed(&with), ["tor0>spine2"]);
    let without = run(&text.replace("at = 'h15'", "at = 'h15'\nfault_isolation = false"));
    assert_eq!(failed(&without), [""; 0]);
    assert_eq!(integers(&without, "arbiters", "paths_changed"), [0]);
    let lost = |outcome| figure(outcome, "fault_losses");
    assert!(lost(&without) > 5.0 * lost(&with), "{} and {} frames", lost(&without), lost(&with));
    // Until the fault there is no difference.
    assert_eq!(goodput(&with, 1.0, 5.0), goodput(&without, 1.0, 5.0));
}
