//! Collectives against closed forms on idle networks, framing counted.
//!
//! A link of rate B carries frames of 4096 bytes of payload and 66 of headers and framing (IPv4 20, UDP 8, Ethernet 38), and for each
//! frame an acknowledgement of 66 bytes comes back. Where every host sends as much as it receives, each uplink carries data and
//! acknowledgements alike, so a byte of payload takes (4096 + 66 + 66)/4096 of 8/B. A message of S bytes arrives after
//! `alpha + S * (4096 + 66 + 66)/4096 * 8/B`, where alpha is the delay of all L links and one frame's transmission over each
//! but the first. Sizes here are whole numbers of frames in each message.

use clearway_sim::record::Column;

use crate::experiment::{figure, floats, integers, run, run_on, table, Outcome};

const FRAME: f64 = 4096.0 + 66.0;
const ACK: f64 = 66.0;
const GBPS: f64 = 100.0;
const DELAY_US: f64 = 1.0;

const STAR: &str = "topology = 'star'\nhosts = 16";
/// Two hosts a rack, two racks a pod. No two flows of a ring share a link of the fabric.
const FAT_TREE: &str = "topology = 'fat_tree'\nk = 4";

fn collective(network: &str, protocol: &str, keys: &str) -> String {
    format!(
        "format = 1\nname = 'collective'\nduration = '1s'\nstop_when_complete = true\n[network]\n{network}\nrate = '{GBPS}Gbps'\n\
         delay = '{DELAY_US}us'\n[switch.default]\nbuffer = '64MB'\n[transport.t]\nprotocol = '{protocol}'\nheader = '28B'\n[[job]]\n\
         kind = 'collective'\n{keys}\n"
    )
}

/// The time of an iteration in microseconds.
fn time_us(outcome: &Outcome) -> f64 {
    floats(outcome, "jobs", "iteration_mean_us")[0]
}

/// The transmission time in microseconds of a number of bytes on the wire.
fn wire_us(bytes: f64) -> f64 {
    bytes * 8.0 / GBPS / 1e3
}

/// The time in microseconds for a payload where as much is received at the same time.
fn both_ways_us(payload: f64) -> f64 {
    wire_us(payload / 4096.0 * (FRAME + ACK))
}

/// The time in microseconds for a payload where nothing but acknowledgements comes back.
fn one_way_us(payload: f64) -> f64 {
    wire_us(payload / 4096.0 * FRAME)
}

/// From the last bit of a frame leaving its host to its arrival over `links` links.
fn alpha_us(links: f64) -> f64 {
    links * DELAY_US + (links - 1.0) * wire_us(FRAME)
}

#[track_caller]
fn assert_close(found: f64, expected: f64, about: &str) {
    let off = found / expected - 1.0;
    assert!(off.abs() < 0.01, "{about}: found {found} us, expected {expected} us, {:.2} % off", off * 100.0);
}

/// Bytes of the array: 256 frames for each of 16 ranks.
const BYTES: f64 = 16.0 * 256.0 * 4096.0;

#[test]
fn a_ring_takes_its_steps_and_its_share_of_the_array_in_each() {
    // 2(n-1)(alpha + S/nB) for an all-reduce, half of that for its two parts: no part of the array is passed on before it is there,
    // and while it is under way its sender sends the part behind it. Where neighbours are not equally far, the part counts whose
    // way is the longest: in the fat tree, every second hop stays in its rack (2 links), and of the others every second one in
    // its pod (4 links, or else 6).
    let hops = |network: &str, from: usize| match network {
        STAR => 2.0,
        _ => [2.0, 4.0, 2.0, 6.0][from % 4],
    };
    for network in [STAR, FAT_TREE] {
        for (kind, steps) in [("all_reduce", 30), ("reduce_scatter", 15), ("all_gather", 15)] {
            let way =
                |first: usize| (first..first + steps).map(|from| alpha_us(hops(network, from))).sum::<f64>();
            let expected = (0..16).map(way).fold(0.0, f64::max) + steps as f64 * both_ways_us(BYTES / 16.0);
            for protocol in ["none", "swift"] {
                let keys = format!("collective = '{kind}'\nbytes = '{BYTES}B'");
                let outcome = run(&collective(network, protocol, &keys));
                assert_close(time_us(&outcome), expected, &format!("{kind} of {protocol} on {network}"));
            }
        }
    }
}

#[test]
fn halving_and_doubling_takes_few_steps_for_the_same_bytes() {
    // 2 alpha log2 n + 2(n-1)/n S/B; half of that for each part. Recursive doubling sends the whole array in each of log2 n steps.
    let star = |keys: &str| time_us(&run(&collective(STAR, "none", keys)));
    let (alpha, whole) = (alpha_us(2.0), both_ways_us(BYTES));
    for (kind, steps) in [("all_reduce", 8.0), ("reduce_scatter", 4.0), ("all_gather", 4.0)] {
        let keys = format!("collective = '{kind}'\nbytes = '{BYTES}B'\nalgorithm = 'halving_doubling'");
        assert_close(star(&keys), steps * alpha + steps / 4.0 * 15.0 / 16.0 * whole, kind);
    }
    let keys = format!("collective = 'all_reduce'\nbytes = '{BYTES}B'\nalgorithm = 'recursive_doubling'");
    assert_close(star(&keys), 4.0 * (alpha + whole), "recursive doubling");
}

#[test]
fn an_all_to_all_fills_every_link_once() {
    // alpha + (n-1)/n S/B with all messages under way; pairwise exchanges wait at each of n-1 steps, for their message and for its
    // acknowledgement.
    let star = |keys: &str| {
        time_us(&run(&collective(
            STAR,
            "none",
            &format!("collective = 'all_to_all'\nbytes = '{BYTES}B'\n{keys}"),
        )))
    };
    let all = both_ways_us(BYTES * 15.0 / 16.0);
    let back = 2.0 * DELAY_US + wire_us(2.0 * ACK);
    assert_close(star("window = 16"), alpha_us(2.0) + all + back, "direct");
    assert_close(star("algorithm = 'pairwise'"), 15.0 * (alpha_us(2.0) + back) + all, "pairwise");
}

#[test]
fn trees_take_what_their_depth_and_their_chunks_say() {
    let star = |keys: &str| time_us(&run(&collective(STAR, "none", &format!("bytes = '{BYTES}B'\n{keys}"))));
    let (alpha, whole) = (alpha_us(2.0), one_way_us(BYTES));
    // A binomial tree of log2 n levels; the root sends the whole array to each child in turn, so the last one, its first child's,
    // comes after alpha + S/B a level. The messages of one rank leave by turns where all are ready, so that all end together:
    // the root is done after log2 n S/B, when its last child begins to have everything.
    let binomial = star("collective = 'broadcast'");
    assert!(binomial >= 4.0 * (alpha + whole) * 0.99 && binomial < 4.0 * (alpha + whole) * 2.5, "{binomial}");
    // A chain of 16 ranks in c chunks: the last rank has all after c - 1 chunks behind the first, which takes 15 hops.
    let chunk = both_ways_us(BYTES / 64.0);
    let chain = star("collective = 'broadcast'\nalgorithm = 'ring'\nchunks = 64");
    assert_close(chain, 15.0 * (alpha + chunk) + 63.0 * chunk, "chain");
    let chain = star("collective = 'reduce'\nalgorithm = 'ring'\nchunks = 64");
    assert_close(chain, 15.0 * (alpha + chunk) + 63.0 * chunk, "chain back");
}

#[test]
fn a_double_tree_pipelines_what_a_ring_does_in_steps() {
    // Near 2S/B with many chunks, and 2 log2 n latencies; a ring of the same ranks has 2(n-1) of them. So the tree wins where the
    // array is small, and comes near the ring's bandwidth where it is large.
    let star = |bytes: f64, keys: &str| {
        let keys = format!("collective = 'all_reduce'\nbytes = '{bytes}B'\n{keys}");
        run(&collective(STAR, "none", &keys))
    };
    let small = 16.0 * 4096.0;
    let (tree, ring) = (star(small, "algorithm = 'double_tree'\nchunks = 4"), star(small, ""));
    assert!(time_us(&tree) < time_us(&ring) / 2.0, "{} and {}", time_us(&tree), time_us(&ring));
    let large = star(4.0 * BYTES, "algorithm = 'double_tree'\nchunks = 128");
    let least = 2.0 * both_ways_us(4.0 * BYTES);
    assert!(
        time_us(&large) > least * 0.99 && time_us(&large) < least * 1.25,
        "{} and {least}",
        time_us(&large)
    );
}

#[test]
fn a_barrier_takes_a_message_for_each_doubling() {
    // Messages of a byte in frames of 67: their way is two links with a transmission each, four times, and the last is acknowledged.
    let outcome = run(&collective(STAR, "none", "collective = 'barrier'"));
    let message = 2.0 * (DELAY_US + wire_us(67.0));
    let ack = 2.0 * (DELAY_US + wire_us(66.0));
    assert_close(time_us(&outcome), 4.0 * message + ack, "barrier");
    assert!(floats(&outcome, "jobs", "busbw_gb_per_s")[0].is_nan());
    assert_eq!(crate::experiment::reason(&outcome, "busbw_gb_per_s").map(str::is_empty), Some(false));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes 11 s in debug builds: make test-release runs it")]
fn the_bus_carries_no_more_than_the_wire() {
    let most = GBPS / 8.0 * 4096.0 / FRAME;
    for (kind, more, factor) in [
        ("all_reduce", "algorithm = 'ring'", 30.0 / 16.0),
        ("all_reduce", "algorithm = 'ring'\nchunks = 8", 30.0 / 16.0),
        ("all_reduce", "algorithm = 'halving_doubling'\nchunks = 4", 30.0 / 16.0),
        ("all_reduce", "algorithm = 'double_tree'\nchunks = 64", 30.0 / 16.0),
        ("reduce_scatter", "chunks = 4", 15.0 / 16.0),
        ("all_gather", "chunks = 4", 15.0 / 16.0),
        ("all_to_all", "window = 4", 15.0 / 16.0),
        ("broadcast", "algorithm = 'ring'\nchunks = 64", 1.0),
        ("reduce", "algorithm = 'ring'\nchunks = 64", 1.0),
    ] {
        for protocol in ["none", "swift"] {
            let keys = format!("collective = '{kind}'\nbytes = '{}B'\niterations = 3\n{more}", 4.0 * BYTES);
            let outcome = run(&collective(STAR, protocol, &keys));
            let (algorithm, bus) = (
                floats(&outcome, "jobs", "algbw_gb_per_s")[0],
                floats(&outcome, "jobs", "busbw_gb_per_s")[0],
            );
            let about = format!("{kind} {more} of {protocol}: {bus} GB/s");
            assert!(bus > 0.5 * most && bus <= most, "{about}, the wire carries {most}");
            // nccl-tests: S/t, and its factor.
            assert!((algorithm - 4.0 * BYTES / time_us(&outcome) / 1e3).abs() < 1e-9 * algorithm, "{about}");
            assert!((bus / algorithm - factor).abs() < 1e-12, "{about}");
            assert!((figure(&outcome, "busbw_gb_per_s") - bus).abs() < 1e-12);
        }
    }
}

#[test]
fn groups_work_side_by_side() {
    let keys = |more: &str| format!("collective = 'all_reduce'\nbytes = '{BYTES}B'\n{more}");
    let groups = |more: &str| run(&collective(STAR, "none", &keys(more)));
    // Four groups of four on a star do not meet: 6 steps of a quarter.
    let step = alpha_us(2.0) + both_ways_us(BYTES / 4.0);
    for groups in [groups("group_size = 4"), groups("group_size = 4\ngroups = 'strided'")] {
        assert_close(time_us(&groups), 6.0 * step, "groups of four");
        assert_eq!(integers(&groups, "jobs", "ranks"), [16]);
        let of_bus =
            floats(&groups, "jobs", "busbw_gb_per_s")[0] / floats(&groups, "jobs", "algbw_gb_per_s")[0];
        assert!((of_bus - 1.5).abs() < 1e-12, "{of_bus}");
    }
    let pairs = |outcome: &Outcome| {
        let ends = integers(outcome, "flows", "from").iter().zip(integers(outcome, "flows", "to"));
        ends.map(|(from, to)| (*from, *to)).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&groups("group_size = 4"))[..4], [(0, 1), (1, 2), (2, 3), (3, 0)]);
    assert_eq!(pairs(&groups("group_size = 4\ngroups = 'strided'"))[..2], [(0, 4), (1, 5)]);
}

#[test]
fn a_collective_is_the_same_on_any_number_of_threads() {
    let text = collective(
        FAT_TREE,
        "swift",
        "collective = 'all_to_all'\nbytes = '4MB'\niterations = 3\nranks_per_host = 2\nlocal_rate = '800Gbps'\nplacement = 'random'\n\
         [[job]]\nkind = 'collective'\ncollective = 'all_reduce'\nalgorithm = 'double_tree'\nchunks = 8\nbytes = '3MB'\n\
         start = '7us'\niterations = 4",
    );
    let alone = run_on(&text, None, 1);
    assert_eq!(integers(&alone, "jobs", "iterations"), [3, 4]);
    for threads in [2, 3, 7] {
        let together = run_on(&text, None, threads);
        assert_eq!(alone.digest, together.digest);
        assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables));
    }
}

#[test]
fn a_run_without_jobs_has_no_tables_of_them() {
    let text = collective(STAR, "none", "collective = 'barrier'");
    let (head, _) = text.split_once("[[job]]").expect("a job");
    let outcome = run(&format!("{head}[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\nbytes = '1kB'\n"));
    assert!(outcome.tables.iter().all(|table| table.name != "jobs" && table.name != "iterations"));
    let with = run(&text);
    assert!(matches!(table(&with, "jobs").columns[0].1, Column::Integers(_)));
}
