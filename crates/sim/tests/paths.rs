//! Path selectors under several schemes: which paths packets take, and that reordering is not taken for loss.

use crate::experiment::{figure, floats, integers, run, run_on, texts};

fn fat_tree(transport: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'paths'\nduration = '5ms'\nstop_when_complete = true\n[network]\ntopology = 'fat_tree'\n\
         k = 4\nrate = '100Gbps'\ndelay = '1us'\nmtu = '4000B'\nframing = '0B'\n[switch.default]\nbuffer = '4MB'\n\
         ecn = 'red'\necn_min = '100kB'\necn_max = '400kB'\necn_pmax = 0.2\n[transport.t]\n{transport}\n{traffic}"
    )
}

const ONE_FLOW: &str = "[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 15\nbytes = '8MB'\n";
const PERMUTATION: &str = "[[traffic]]\npattern = 'permutation'\nbytes = '2MB'\n";
const SELECTORS: [&str; 4] = ["packet", "round_robin", "reps", "adaptive"];

/// Frames over each link whose ends begin so, where there were any.
fn over(text: &str, from: &str, to: &str) -> Vec<u64> {
    let outcome = run(text);
    let (link, frames) = (texts(&outcome, "links", "link"), integers(&outcome, "links", "frames"));
    let of = |(name, _): &(&&str, &u64)| {
        let (a, b) = name.split_once('>').expect("two ends");
        a.starts_with(from) && b.starts_with(to)
    };
    link.iter().zip(frames).filter(of).map(|(_, frames)| *frames).filter(|frames| *frames > 0).collect()
}

/// 2000 packets over two aggregation switches and four cores, in turn: each has its share, but for a cycle that has begun.
#[test]
fn round_robin_shares_to_the_packet() {
    let text = fat_tree(
        "protocol = 'none'\nwindow = 64\nheader = '0B'\nack = '64B'\nspray = 'round_robin'",
        ONE_FLOW,
    );
    let (up, top) = (over(&text, "tor0", "agg"), over(&text, "agg0", "spine"));
    assert_eq!((up.iter().sum::<u64>(), top.iter().sum::<u64>()), (2000, 1000));
    assert_eq!((up.as_slice(), top.as_slice()), ([1000, 1000].as_slice(), [500, 500].as_slice()));
}

/// Alone in the network a flow never finds a port busy where it chooses: the frame before has always left. It spreads all the same,
/// as ports that are alike are drawn.
#[test]
fn switches_choose_among_all_ports_that_are_free() {
    let text =
        fat_tree("protocol = 'none'\nwindow = 64\nheader = '0B'\nack = '64B'\nspray = 'adaptive'", ONE_FLOW);
    let (up, top) = (over(&text, "tor0", "agg"), over(&text, "agg", "spine"));
    // Up in one pod, and acknowledgements up in the other.
    assert_eq!((up.len(), top.len()), (2, 8));
    assert!(up.iter().all(|frames| frames.abs_diff(1000) < 150), "{up:?}");
}

/// Two flows of one rack that share both uplinks with a third which keeps to one: the switch sends the others around it.
#[test]
fn switches_send_packets_around_a_queue() {
    let fixed = "[transport.fixed]\nprotocol = 'none'\nwindow = 200\n[[traffic]]\ntransport = 'fixed'\npattern = 'incast'\n\
                 from = [0]\nto = 15\nbytes = '8MB'\n[[traffic]]\ntransport = 't'\npattern = 'incast'\nfrom = [1]\nto = 14\n\
                 bytes = '8MB'\n";
    let slowest = |spray: &str| {
        let transport = format!("protocol = 'none'\nwindow = 200\ndup_threshold = 64\nspray = '{spray}'");
        let outcome = run(&fat_tree(&transport, fixed));
        assert_eq!(figure(&outcome, "completed"), 2.0);
        floats(&outcome, "flows", "fct_us")[1]
    };
    // 8 MB take 640 us alone. By chance half of the packets share the fixed flow's links.
    let (chance, chosen) = (slowest("packet"), slowest("adaptive"));
    assert!(chosen < chance && chosen < 720.0, "{chosen} {chance}");
}

/// A flow without pauses keeps to one path; one that sends now and then takes several.
#[test]
fn a_flowlet_keeps_to_its_path() {
    let transport = |rate: &str| {
        format!("protocol = 'none'\nheader = '0B'\nack = '64B'\nrate = '{rate}'\nspray = 'flowlet'")
    };
    // A packet each 0.32 us, and each 16 us; the data's way up, and the acknowledgements'.
    assert_eq!(over(&fat_tree(&transport("100Gbps"), ONE_FLOW), "agg", "spine"), [2000, 2000]);
    let slow = ONE_FLOW.replace("8MB", "800kB");
    assert_eq!(over(&fat_tree(&transport("2Gbps"), &slow), "agg", "spine").len(), 8);
}

/// With a threshold beyond their reordering no scheme of selective repeat takes late packets for lost, under any selector, and all
/// are quicker than flows that keep to one path each.
#[test]
fn every_scheme_stands_every_selector() {
    let protocols = [
        "protocol = 'swift'\nbase_target = '50us'\nmin_rto = '10ms'\ninitial_rto = '10ms'\ndup_threshold = 128",
        "protocol = 'roce'\nrecovery = 'selective_repeat'\ncongestion = 'dcqcn'\ndcqcn = 'mellanox'\nwindow = 128\n\
         dup_threshold = 128\nrto = '10ms'",
        "protocol = 'dctcp'\nmin_rto = '10ms'\ninitial_rto = '10ms'\ndup_threshold = 128",
        "protocol = 'nscc'\nrto = '10ms'",
    ];
    for protocol in protocols {
        let last = |spray: &str| {
            let outcome = run(&fat_tree(&format!("{protocol}\nspray = '{spray}'"), PERMUTATION));
            assert_eq!(
                (figure(&outcome, "completed"), figure(&outcome, "drops")),
                (16.0, 0.0),
                "{protocol} {spray}"
            );
            assert_eq!(figure(&outcome, "retransmissions"), 0.0, "{protocol} {spray}");
            floats(&outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max)
        };
        let flow = last("flow");
        for spray in SELECTORS {
            let sprayed = last(spray);
            assert!(sprayed < 0.95 * flow, "{protocol} {spray}: {sprayed} of {flow}");
        }
    }
}

/// A path that loses everything: once a timeout has frozen it, REPS sends over those alone whose packets were acknowledged.
#[test]
fn reps_avoids_a_path_that_is_dead() {
    let fault = "[[fault]]\nkind = 'down'\nlink = 'agg0-spine0'\nat = '50us'\n";
    let lost = |spray: &str| {
        let transport = format!("protocol = 'nscc'\nspray = '{spray}'");
        let outcome = run(&fat_tree(&transport, &format!("{ONE_FLOW}{fault}")));
        (figure(&outcome, "fault_losses"), floats(&outcome, "flows", "fct_us")[0])
    };
    let (reps, random) = (lost("reps"), lost("packet"));
    assert!(reps.0 < 0.2 * random.0, "{reps:?} {random:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_outcome() {
    for spray in ["packet", "round_robin", "reps", "flowlet", "adaptive"] {
        for protocol in ["protocol = 'swift'\ndup_threshold = 16", "protocol = 'nscc'", "protocol = 'hpcc'"] {
            let loss = "[[fault]]\nkind = 'loss'\nlink = 'agg0-spine0'\nprobability = 0.01\n";
            let text = fat_tree(&format!("{protocol}\nspray = '{spray}'"), &format!("{PERMUTATION}{loss}"));
            let text = text.replace("2MB", "300kB");
            let alone = run_on(&text, None, 1);
            for threads in [2, 3, 7] {
                let together = run_on(&text, None, threads);
                assert_eq!(alone.digest, together.digest, "{protocol} {spray} {threads}");
                assert_eq!(
                    format!("{:?}", alone.tables),
                    format!("{:?}", together.tables),
                    "{protocol} {spray} {threads}"
                );
            }
        }
    }
}
