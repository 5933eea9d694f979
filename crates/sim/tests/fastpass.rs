//! Fastpass in the simulator: against arithmetic, without drops, over any number of threads, and when arbiters die.

mod experiment;

use experiment::{figure, integers, link_count, run, run_on, Outcome};

/// A network of 10 Gb/s whose full frames weigh 1538 B.
fn network(shape: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'fastpass'\nduration = '5ms'\nwarmup = '1ms'\n[network]\n{shape}\nrate = '10Gbps'\ndelay = '1us'\n\
         mtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n{rest}"
    )
}

/// The longest queue, in bytes, of all ports of switches.
fn longest_queue(outcome: &Outcome) -> u64 {
    let links = experiment::texts(outcome, "links", "link").iter();
    let peaks = integers(outcome, "links", "queue_peak_bytes").iter();
    links.zip(peaks).filter(|(link, _)| !link.starts_with('h')).map(|(_, peak)| *peak).max().unwrap_or(0)
}

fn drops(outcome: &Outcome) -> u64 {
    integers(outcome, "links", "drops").iter().sum()
}

#[test]
fn try_it() {
    for (what, text) in [
        ("rack", network("topology = 'star'\nhosts = 6", "[arbiter]\nat = 'h5'\n[[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\n")),
        ("leaf", network("topology = 'leaf_spine'\nleaves = 4\nspines = 4\nhosts_per_leaf = 4", "[arbiter]\nat = 'h3'\n[[traffic]]\npattern = 'permutation'\nhosts=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\n")),
        ("fat", network("topology = 'fat_tree'\nk = 4", "[arbiter]\nat = 'h3'\n[[traffic]]\npattern = 'permutation'\nhosts=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\n")),
        //("fat8", network("topology = 'fat_tree'\nk = 8", "[arbiter]\nat = 'spine0'\n[[traffic]]\npattern = 'permutation'\nhosts=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\n")),
        ("poisson", network("topology = 'fat_tree'\nk = 4", "[arbiter]\nat = 'h3'\n[[traffic]]\npattern = 'poisson'\nfrom=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\nto=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\nload=0.6\nsizes='websearch'\n")),
        ("crash", network("topology = 'fat_tree'\nk = 4", "[arbiter]\nat = ['h3', 'h7']\n[[traffic]]\npattern = 'permutation'\nhosts=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\n[[fault]]\nkind='crash'\narbiter=0\nat='2ms'\n")),
        ("dead", network("topology = 'fat_tree'\nk = 4", "[arbiter]\nat = ['h3']\n[[traffic]]\npattern = 'permutation'\nhosts=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\n[[fault]]\nkind='crash'\narbiter=0\nat='2ms'\n")),
        ("back", network("topology = 'fat_tree'\nk = 4", "[arbiter]\nat = ['h3']\n[[traffic]]\npattern = 'permutation'\nhosts=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\n[[fault]]\nkind='crash'\narbiter=0\nat='2ms'\nuntil='4ms'\n")),
        ("over", network("topology = 'leaf_spine'\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\noversubscription=2", "[arbiter]\nat = 'h3'\n[[traffic]]\npattern = 'permutation'\nhosts=[0,1,2,4,5,6,8,9,10,11,12,13,14,15]\n")),
        ("dumbbell", network("topology = 'dumbbell'\nleft=4\nright=4\nbottleneck='20Gbps'", "[arbiter]\nat = 'tor0'\n[[traffic]]\npattern = 'permutation'\n")),
    ] {
        let outcome = run(&text);
        println!("{what}: goodput {} longest queue {} drops {} rtx {} hops {}", figure(&outcome, "goodput_gbps"), longest_queue(&outcome), drops(&outcome), figure(&outcome, "retransmissions"), outcome.packet_hops);
        let links = experiment::texts(&outcome, "links", "link");
        for (i, link) in links.iter().enumerate() { let peak = integers(&outcome, "links", "queue_peak_bytes")[i]; if peak > 20000 { println!("{link} {peak} {} {}", experiment::floats(&outcome, "links", "utilisation")[i], experiment::floats(&outcome, "links", "queue_mean_bytes")[i]); } }
        for threads in [2, 3, 7] {
            let together = run_on(&text, None, threads);
            assert_eq!(outcome.digest, together.digest, "{what} on {threads}");
        }
    }
    let _ = link_count;
}
