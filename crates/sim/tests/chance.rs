//! Of a scenario that says it leaves nothing to chance, every seed gives the same run.

use std::path::Path;

use clearway_sim::scenario::load_text;

use crate::experiment::run_seeded;

fn leaves_nothing(text: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/networks");
    let loaded = load_text(text, "scenario", &folder, &[], None);
    loaded.unwrap_or_else(|problems| panic!("{problems}\n{text}")).scenario.leaves_nothing_to_chance()
}

fn alike(text: &str) -> bool {
    let digests = [1, 2, 3].map(|seed| run_seeded(text, Some(seed)).digest);
    digests.iter().all(|digest| *digest == digests[0])
}

const STAR: &str = "topology = 'star'\nhosts = 6";
const DUMBBELL: &str = "topology = 'dumbbell'\nleft = 3\nright = 3\nbottleneck = '10Gbps'";
const SWIFT: &str = "protocol = 'swift'";
const INCAST: &str = "pattern = 'incast'\nfrom = '0..5'\nto = 5\nbytes = '200kB'";

fn scenario(network: &str, transport: &str, traffic: &str, more: &str) -> String {
    format!(
        "format = 1\nname = 'chance'\nduration = '2ms'\n[network]\n{network}\nrate = '25Gbps'\n\
         [transport.t]\n{transport}\n[[traffic]]\n{traffic}\n{more}"
    )
}

#[test]
fn a_scenario_that_leaves_nothing_to_chance_is_the_same_under_every_seed() {
    let traffic = [
        INCAST.to_string(),
        format!("{INCAST}\nflows_per_pair = 3\nstagger = '3us'"),
        "pattern = 'all_to_all'".to_string(),
        "pattern = 'closed_loop'\nfrom = '0..3'\nto = '3..6'\nbytes = '20kB'\noutstanding = 3".to_string(),
    ];
    for network in [STAR, DUMBBELL] {
        for transport in
            [SWIFT, "protocol = 'dctcp'", "protocol = 'gcn'", "protocol = 'roce'\ncongestion = 'dcqcn'"]
        {
            for traffic in &traffic {
                let switch = "[switch.default]\nbuffer = '60kB'\necn = 'step'\necn_threshold = '20kB'";
                let text = scenario(network, transport, traffic, switch);
                assert!(leaves_nothing(&text), "{text}");
                assert!(alike(&text), "{text}");
            }
        }
    }
}

/// Each of these draws something, and makes another run of another seed.
#[test]
fn what_draws_leaves_something_to_chance() {
    let leaf_spine = "topology = 'leaf_spine'\nleaves = 2\nspines = 4\nhosts_per_leaf = 3";
    let red = "[switch.default]\necn = 'red'\necn_min = '5kB'\necn_max = '100kB'\necn_pmax = 0.5";
    let of = |traffic: &str, more: &str| scenario(STAR, SWIFT, traffic, more);
    let texts = [
        scenario(leaf_spine, SWIFT, "pattern = 'all_to_all'", ""),
        of(&format!("{INCAST}\nstart = '0us..100us'"), ""),
        scenario(DUMBBELL, SWIFT, "pattern = 'permutation'\nbytes = '20kB'", ""),
        of("pattern = 'poisson'\nload = 0.5\nsizes = 'fixed:20kB'", ""),
        of("pattern = 'open_loop'\nfrom = '0..3'\nto = '3..6'\nbytes = '20kB'\nload = 0.5", ""),
        of(INCAST, "[[fault]]\nkind = 'loss'\nlink = 'h1-tor0'\nprobability = 0.1"),
        of(INCAST, "[host.default]\nmodel = 'snap'"),
        of(INCAST, "[host.default]\nmodel = 'interrupts'"),
        of(INCAST, "[host.default]\ntimestamps = 'clock'\nclock_jitter = '5us'"),
        of(INCAST, "[[probe]]\nfrom = 0\nto = 1\ninterval = '10us'"),
        scenario(STAR, "protocol = 'dctcp'", INCAST, red),
    ];
    for text in texts {
        assert!(!leaves_nothing(&text), "{text}");
        assert!(text.contains("[[probe]]") || !alike(&text), "{text}");
    }
}
