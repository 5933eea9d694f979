//! Packets sprayed over all shortest paths.

use crate::experiment::{figure, floats, integers, run, run_on, texts};

fn fat_tree(spray: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'spray'\nduration = '5ms'\nstop_when_complete = true\n[network]\ntopology = 'fat_tree'\n\
         k = 4\nrate = '100Gbps'\ndelay = '1us'\nmtu = '4000B'\nframing = '0B'\n[switch.default]\nbuffer = '12MB'\n\
         [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '64B'\nwindow = 64\n{spray}\n{traffic}"
    )
}

const ONE_FLOW: &str = "[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 15\nbytes = '8MB'\n";

#[test]
fn one_flow_uses_all_shortest_paths_alike() {
    let outcome = run(&fat_tree("spray = 'packet'", ONE_FLOW));
    let (link, frames) = (texts(&outcome, "links", "link"), integers(&outcome, "links", "frames"));
    let over = |from: &str, to: &str| -> Vec<u64> {
        let of = |(name, _): &(&&str, &u64)| {
            let (a, b) = name.split_once('>').expect("two ends");
            a.starts_with(from) && b.starts_with(to)
        };
        link.iter().zip(frames).filter(of).map(|(_, frames)| *frames).filter(|frames| *frames > 0).collect()
    };
    // 2000 packets over two aggregation switches, and over four cores: each about its share, by a fair draw.
    let (up, top) = (over("tor", "agg"), over("agg", "spine"));
    assert_eq!((up.len(), top.len()), (2 + 2, 4 + 4), "{up:?} {top:?}");
    assert!(up.iter().all(|frames| frames.abs_diff(1000) < 100), "{up:?}");
    assert!(top.iter().all(|frames| frames.abs_diff(500) < 90), "{top:?}");
}

/// Each of four uplinks has a quarter of the hosts' rate: a flow that takes one of them needs four times as long as one that is
/// sprayed over all.
#[test]
fn no_sprayed_flow_is_quicker_than_its_ideal() {
    let text = |spray: &str| {
        format!(
            "format = 1\nname = 'spray'\nduration = '5ms'\nstop_when_complete = true\n[network]\n\
             topology = 'leaf_spine'\nleaves = 2\nspines = 4\nhosts_per_leaf = 1\nrate = '50Gbps'\n\
             [transport.t]\nprotocol = 'none'\nwindow = 64\n{spray}\n\
             [[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 1\nbytes = '41kB'\n"
        )
    };
    let slowdown = |spray: &str| figure(&run(&text(spray)), "slowdown_mean");
    assert_eq!(slowdown(""), 1.0);
    let sprayed = slowdown("spray = 'packet'");
    assert!((1.0..3.0).contains(&sprayed), "{sprayed}");
}

#[test]
fn a_flow_that_is_not_sprayed_keeps_to_one_path() {
    let outcome = run(&fat_tree("spray = 'flow'", ONE_FLOW));
    assert_eq!(outcome.digest, run(&fat_tree("", ONE_FLOW)).digest);
    let frames = integers(&outcome, "links", "frames");
    assert_eq!(frames.iter().filter(|frames| **frames > 0).count(), 12);
}

/// Sprayed packets overtake each other. With a threshold beyond their reordering none of them counts as lost; with one of
/// one packet some do.
#[test]
fn reordering_is_taken_for_loss_below_the_threshold_only() {
    let permutation = "[[traffic]]\npattern = 'permutation'\nbytes = '2MB'\n";
    let spurious = |threshold: u32| {
        let text = fat_tree("spray = 'packet'", permutation).replace(
            "protocol = 'none'",
            &format!("protocol = 'dctcp'\ndup_threshold = {threshold}\nmin_rto = '10ms'"),
        );
        let outcome = run(&text.replace("window = 64\n", ""));
        assert_eq!((figure(&outcome, "completed"), figure(&outcome, "drops")), (16.0, 0.0));
        (
            figure(&outcome, "retransmissions"),
            floats(&outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max),
        )
    };
    let (many, slow) = spurious(1);
    let (none, quick) = spurious(64);
    assert!(many > 0.0, "{many}");
    assert_eq!(none, 0.0);
    // 2 MB take 160 us: two thirds of the line rate for the last flow, with what spraying's draws leave uneven.
    assert!(quick < 240.0 && quick < slow, "{quick} {slow}");
}

#[test]
fn every_scheme_of_selective_repeat_waits_as_its_threshold_says() {
    let permutation = "[[traffic]]\npattern = 'permutation'\nbytes = '400kB'\n";
    let timers = "min_rto = '10ms'\ninitial_rto = '10ms'";
    for protocol in [
        format!("protocol = 'swift'\nbase_target = '50us'\n{timers}"),
        format!("protocol = 'reno'\n{timers}"),
        "protocol = 'none'\nwindow = 64\nrto = '10ms'".into(),
    ] {
        let spurious = |threshold: u32| {
            let keys = format!("{protocol}\ndup_threshold = {threshold}");
            let text = fat_tree("spray = 'packet'", permutation).replace("window = 64\n", "");
            let outcome = run(&text.replace("protocol = 'none'", &keys));
            assert_eq!((figure(&outcome, "completed"), figure(&outcome, "drops")), (16.0, 0.0), "{keys}");
            figure(&outcome, "retransmissions")
        };
        assert!(spurious(1) > 0.0, "{protocol}");
        assert_eq!(spurious(64), 0.0, "{protocol}");
    }
}

#[test]
fn sprayed_packets_are_the_same_on_any_number_of_threads() {
    let text = fat_tree("spray = 'packet'", "[[traffic]]\npattern = 'permutation'\nbytes = '200kB'\n");
    let alone = run_on(&text, None, 1);
    for threads in [2, 3, 7] {
        assert_eq!(alone.digest, run_on(&text, None, threads).digest);
    }
}

/// Eight drawn paths are at most eight of 64, and two of them may be one. Taken in turn, each has its share of the packets.
#[test]
fn packets_take_the_paths_that_their_flow_has_drawn() {
    let uplinks = |seed: u32| {
        let text = format!(
            "format = 1\nname = 'drawn'\nseed = {seed}\nduration = '5ms'\nstop_when_complete = true\n[network]\n\
             topology = 'leaf_spine'\nleaves = 2\nspines = 64\nhosts_per_leaf = 64\nrate = '100Gbps'\nmtu = '4000B'\n\
             [transport.t]\nprotocol = 'none'\nwindow = 64\nspray = 'round_robin'\npaths = 8\n\
             [[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 64\nbytes = '3.2MB'\n"
        );
        let outcome = run(&text);
        let (link, frames) = (texts(&outcome, "links", "link"), integers(&outcome, "links", "frames"));
        let up = |name: &str| name.starts_with("tor0>spine");
        let taken = link.iter().zip(frames).filter(|(name, frames)| up(name) && **frames > 0);
        taken.map(|(name, frames)| ((*name).to_owned(), *frames)).collect::<Vec<_>>()
    };
    let mut all = std::collections::BTreeSet::new();
    for seed in 1..=10 {
        let taken = uplinks(seed);
        // Seven of eight are different on average; three is beyond all chance.
        assert!((4..=8).contains(&taken.len()), "{taken:?}");
        assert_eq!(taken.iter().map(|(_, frames)| frames).sum::<u64>(), 800);
        assert!(taken.iter().all(|(_, frames)| frames % 100 == 0), "{taken:?}");
        all.extend(taken.into_iter().map(|(name, _)| name));
    }
    assert!(all.len() > 30, "{all:?}");
}
