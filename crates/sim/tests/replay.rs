//! Samples for a replay: what they add up to, where there is no row, windows, and what is refused.

use clearway_sim::check;

use crate::experiment::{floats, integers, run, run_on, texts, Outcome};

/// Two hosts send to a third with flow control and a buffer that two cannot fill, over a link that loses frames for a while.
fn incast(record: &str) -> String {
    format!(
        "format = 1\nname = 'replayed'\nduration = '400us'\n[network]\ntopology = 'star'\nhosts = 4\nrate = '8Gbps'\n\
         delay = '1us'\nmtu = '1000B'\n[transport.t]\nprotocol = 'dctcp'\n[switch.default]\nbuffer = '20kB'\necn = 'step'\n\
         ecn_threshold = '5kB'\n\
         [[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 3\nbytes = '60kB'\nstart = '21us'\n\
         [[fault]]\nkind = 'loss'\nlink = 'h0-tor0'\nprobability = 0.5\nat = '40us'\nuntil = '60us'\n[record]\n{record}\n"
    )
}

/// The sum of a column for each link.
fn sums(outcome: &Outcome, column: &str) -> Vec<u64> {
    let mut sums = vec![0; texts(outcome, "links", "link").len()];
    let links = integers(outcome, "replay", "link_number");
    links.iter().zip(integers(outcome, "replay", column)).for_each(|(&link, value)| sums[link as usize] += value);
    sums
}

#[test]
fn what_a_replay_has_of_a_link_adds_up_to_what_the_run_counted() {
    let outcome = run(&incast("replay = '7us'"));
    for (replayed, counted) in [
        ("sent_bytes", "wire_bytes"),
        ("dropped_frames", "drops"),
        ("lost_frames", "fault_losses"),
        ("marked_frames", "marks"),
    ] {
        let (sums, counts) = (sums(&outcome, replayed), integers(&outcome, "links", counted));
        assert_eq!(sums, counts, "{replayed}");
        assert!(counts.iter().sum::<u64>() > 0, "{counted}: the run has none");
    }
}
