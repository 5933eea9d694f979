//! Fastpass over links that fail: what still flows, what is avoided, and when it is used again.

mod experiment;

use experiment::{figure, floats, run, texts, Outcome};

/// The least share of what living links carry that has to flow after a fault.
const ENOUGH: f64 = 0.95;

/// Racks of so many hosts, joined by so many spine switches at 10 Gb/s, in which rack 0 sends to rack 1, host by host, for 100 ms.
/// The arbiter is at the last host.
fn two_racks(hosts: usize, spines: usize, rest: &str) -> String {
    let mut text = format!(
        "format = 1\nname = 'faults'\nduration = '100ms'\nwarmup = '1ms'\n[network]\ntopology = 'leaf_spine'\nleaves = 4\n\
         spines = {spines}\nhosts_per_leaf = {hosts}\nrate = '10Gbps'\ndelay = '1us'\nmtu = '1448B'\n[transport.t]\n\
         protocol = 'fastpass'\nheader = '52B'\n{rest}\n[arbiter]\nat = 'h{}'\n[record]\nthroughput = '1ms'\n",
        4 * hosts - 1
    );
    for host in 0..hosts {
        text += &format!("[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {}\n", host + hosts);
    }
    text
}

/// A fault of a link between these two instants.
fn fault(kind: &str, link: &str, from: &str, until: &str) -> String {
    let until = if until.is_empty() { String::new() } else { format!("until = '{until}'\n") };
    format!("[[fault]]\n{kind}\nlink = '{link}'\nat = '{from}'\n{until}")
}

/// The mean goodput between two instants, in milliseconds.
fn goodput(outcome: &Outcome, from: f64, until: f64) -> f64 {
    let times = floats(outcome, "throughput", "time_us").iter();
    let within: Vec<f64> = times
        .zip(floats(outcome, "throughput", "goodput_gbps"))
        .filter(|(&time, _)| time > 1000.0 * from && time <= 1000.0 * until)
        .map(|(_, gbps)| *gbps)
        .collect();
    within.iter().sum::<f64>() / within.len() as f64
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

/// A cable that is dead from 20 ms on costs what it carried, whichever it is and whatever the transport's patience; the links
/// that live are used, and 20 ms later nothing else is missing.
#[test]
fn a_dead_cable_costs_one_cable() {
    let links = ["tor0-spine0", "tor0>spine0", "spine0>tor0", "tor1-spine2", "spine2>tor1", "tor1>spine2"];
    for (hosts, spines) in [(4, 4), (8, 8), (4, 8), (4, 2)] {
        for link in links.into_iter().filter(|link| spines > 2 || link.contains("spine0")) {
            for keys in ["", "rto = '5ms'"] {
                let outcome = run(&two_racks(hosts, spines, &(keys.to_owned() + "\n" + &fault("kind = 'down'", link, "20ms", ""))));
                let before = goodput(&outcome, 5.0, 20.0);
                let carries_data = link.contains('-') || link == "tor0>spine0" || link == "spine2>tor1";
                let living = if carries_data && spines == hosts { (spines - 1) as f64 / spines as f64 } else { 1.0 };
                // Two spine switches carry twice as much each; half of that is left.
                let living = if spines == 2 && carries_data { 0.5 } else { living };
                let after = goodput(&outcome, 40.0, 100.0);
                let what = format!("{spines} spines, {hosts} hosts, {link}, {keys}");
                assert!(after >= ENOUGH * living * before, "{what}: {before} Gb/s before and {after} after");
                let named = failed(&outcome);
                assert!(
                    named.iter().all(|name| directions(link).contains(name)),
                    "{what}: {named:?} are avoided"
                );
                assert_eq!(figure(&outcome, "fallbacks"), 0.0, "{what}");
            }
        }
    }
}
