//! NSCC in whole networks, against arithmetic and the figures of ultraethernet/uet-htsim.

use crate::experiment::{figure, floats, integers, picoseconds, run, texts};

/// The network of htsim's default: a fat tree of 16 hosts with 100 Gb/s and 1 us, and queues of one bandwidth-delay product.
fn fat_tree(keys: &str, traffic: &str) -> String {
    let scenario = include_str!("../../../scenarios/nscc_one.toml");
    let (head, _) = scenario.split_once("[[traffic]]").expect("a table of traffic");
    format!("{}\n{keys}\n{traffic}", head.replace("\"1ms\"", "\"10ms\""))
}

/// `htsim_uec -tm connection_matrices/one.cm` prints `finished at 176.2 total messages 1 total packets 490`, when the sender has
/// the last acknowledgement. Here the receiver's time counts, before that acknowledgement takes six links of 1 us and six
/// transmissions of 64 B.
#[test]
fn one_flow_takes_as_long_as_in_htsim() {
    let outcome = run(include_str!("../../../scenarios/nscc_one.toml"));
    let [received] = picoseconds(&outcome, "flows", "fct_us")[..] else { panic!("one flow") };
    let (full, last) = (4150 * 80, (2_000_000 - 489 * 4086 + 64) * 80);
    assert_eq!(received, 489 * full + last + 5 * full + 6_000_000);
    let acknowledged = (received + 6 * (1_000_000 + 64 * 80)) as f64 / 1e6;
    assert!((acknowledged / 176.2 - 1.0).abs() < 0.001, "{acknowledged}");
    assert_eq!(integers(&outcome, "links", "frames")[0], 490);
    assert_eq!((figure(&outcome, "retransmissions"), figure(&outcome, "marks")), (0.0, 0.0));
}

/// Fifteen hosts to one: what arrives at the receiver's rate is all there is to have, and nothing is dropped.
#[test]
fn an_incast_fills_the_receivers_link_without_a_drop() {
    let outcome = run(&fat_tree("", "[[traffic]]\npattern = 'incast'\nto = 13\nbytes = '1MB'\n"));
    assert_eq!((figure(&outcome, "completed"), figure(&outcome, "drops")), (15.0, 0.0));
    assert_eq!(figure(&outcome, "timeouts_whole"), 0.0);
    let last = floats(&outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max);
    // 15 MB in packets of 4086 B, which take 332 ns each.
    let bound = (15_000_000.0_f64 / 4086.0) * 0.332;
    assert!((1.0..1.10).contains(&(last / bound)), "{last} of {bound}");
    // htsim with the same flows (`-end 5000`) has its last acknowledgement after 1272.36 us, and 771 NACKs.
    assert!((last / 1272.36 - 1.0).abs() < 0.05, "{last}");
    let trims = figure(&outcome, "trims");
    assert!((trims / 771.0 - 1.0).abs() < 0.1, "{trims}");
}

/// Packets on many paths share the network better than flows on one each, and REPS does so better than chance.
#[test]
fn a_permutation_is_quicker_on_many_paths() {
    let last = |spray: &str| {
        let text = fat_tree("", "[[traffic]]\npattern = 'permutation'\nbytes = '2MB'\n");
        let outcome = run(&text.replace("spray = \"packet\"", &format!("spray = \"{spray}\"")));
        assert_eq!((figure(&outcome, "completed"), figure(&outcome, "drops")), (16.0, 0.0), "{spray}");
        floats(&outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max)
    };
    let [flow, packet, reps, adaptive] = ["flow", "packet", "reps", "adaptive"].map(last);
    assert!(
        packet < 0.8 * flow && reps < 0.8 * flow && adaptive < 0.8 * flow,
        "{flow} {packet} {reps} {adaptive}"
    );
}

/// With an acknowledgement for 16,384 B htsim's receiver sends 124 of them in `one.cm`: for the first packet, every fourth after
/// it, and the last (`ACKs: 124`). The sender is as quick.
#[test]
fn there_are_as_many_acknowledgements_as_in_htsim() {
    let text = include_str!("../../../scenarios/nscc_one.toml");
    let sparse = run(&text.replace("protocol = \"nscc\"", "protocol = \"nscc\"\nack_every = 4"));
    let [received] = picoseconds(&sparse, "flows", "fct_us")[..] else { panic!("one flow") };
    assert_eq!(vec![received], picoseconds(&run(text), "flows", "fct_us"));
    let link = texts(&sparse, "links", "link");
    let acks =
        link.iter().zip(integers(&sparse, "links", "frames")).find(|(name, _)| name.starts_with("h13>"));
    assert_eq!(acks.map(|(_, frames)| *frames), Some(124));
}

/// Packets take few drawn paths (htsim's `-paths`), and flows then meet on some of them by chance: a permutation takes longer
/// the fewer there are.
#[test]
fn fewer_entropies_make_a_permutation_slower() {
    let last = |paths: u32| {
        let text = fat_tree("", "[[traffic]]\npattern = 'permutation'\nbytes = '2MB'\n")
            .replace(
                "topology = \"fat_tree\"\nk = 4",
                "topology = \"leaf_spine\"\nleaves = 4\nspines = 16\nhosts_per_leaf = 16",
            )
            .replace("spray = \"packet\"", &format!("spray = \"mixed\"\nack_every = 4\npaths = {paths}"));
        let outcome = run(&text);
        assert_eq!((figure(&outcome, "completed"), figure(&outcome, "drops")), (64.0, 0.0));
        floats(&outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max)
    };
    let [one, few, many] = [1, 8, 256].map(last);
    assert!(one > 1.5 * few && few > 1.02 * many, "{one} {few} {many}");
    // 2 MB take 162.6 us at full packets of 4150 B, and 4.2 us on the way.
    assert!((166.0..185.0).contains(&many), "{many}");
}
